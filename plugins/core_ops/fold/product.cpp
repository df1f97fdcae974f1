// Folding of products of constants (the tables of relative positions of some attention blocks are made so).
// Operators: ONNX operator specification, MatMul.
#include "fold.hpp"

namespace core_ops {
namespace {

constexpr std::int64_t kMostProducts = std::int64_t{1} << 26;

/// y[..., i, j] = sum over k of a[..., i, k] b[..., k, j]; leading axes broadcast.
template <class T>
std::vector<T> products(const std::vector<T>& a, const std::vector<T>& b, const Dims& batch,
                        const std::array<Dims, 2>& strides, std::int64_t m, std::int64_t k, std::int64_t n) {
  std::vector<T> y(static_cast<std::size_t>(count_of(batch) * m * n), 0);
  for_each_element(batch, strides, [&](std::int64_t at, const auto& from) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t l = 0; l < k; ++l) {
        const T x = a[static_cast<std::size_t>((from[0] * m + i) * k + l)];
        for (std::int64_t j = 0; j < n; ++j)
          y[static_cast<std::size_t>((at * m + i) * n + j)] +=
              x * b[static_cast<std::size_t>((from[1] * k + l) * n + j)];
      }
  });
  return y;
}

Results fold_matmul(const Node& node, const Emit& emit) {
  const Value a = node.in(0), b = node.in(1);
  Dims x = a.static_dims(), y = b.static_dims();
  decline_if(x.empty() || y.empty(), "MatMul of a scalar");
  if (x.size() == 1) x.insert(x.begin(), 1);
  if (y.size() == 1) y.push_back(1);
  const std::int64_t m = x[x.size() - 2], k = x.back(), n = y.back();
  const Dims ahead(x.begin(), x.end() - 2), behind(y.begin(), y.end() - 2);
  const Dims batch = broadcast(ahead, behind);
  decline_if(count_of(batch) * m * n > kMostProducts / std::max<std::int64_t>(1, k), "a large product is not folded");
  const std::array<Dims, 2> strides{broadcast_strides(ahead, batch), broadcast_strides(behind, batch)};
  const auto run = [&]<class T>(T) -> Value {
    return make(emit, a.dtype(), node.out().static_dims(),
                products(elements<T>(a), elements<T>(b), batch, strides, m, k, n));
  };
  return is_float(a.dtype()) ? run(0.0) : run(std::int64_t{0});
}

}  // namespace

GANTRY_DEFINE(onnx, "MatMul", fold(fold_matmul))

}  // namespace core_ops
