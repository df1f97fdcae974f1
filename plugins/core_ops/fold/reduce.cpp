// Folding of reductions. Operators: ONNX operator specification, Reduce*.
#include <algorithm>
#include <limits>

#include "fold.hpp"

namespace core_ops {
namespace {

enum class Kind { sum, prod, max, min, mean };

template <Kind K, class T>
T start() {
  if constexpr (K == Kind::prod) return 1;
  if constexpr (K == Kind::max) return std::numeric_limits<T>::lowest();
  if constexpr (K == Kind::min) return std::numeric_limits<T>::max();
  return 0;
}

template <Kind K, class T>
T step(T a, T b) {
  if constexpr (K == Kind::prod) return a * b;
  if constexpr (K == Kind::max) return std::max(a, b);
  if constexpr (K == Kind::min) return std::min(a, b);
  return a + b;
}

template <Kind K>
Results fold_reduce(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const Dims dims = x.static_dims();
  const Dims axes = ints(node, 1, "axes").value_or(Dims{});
  if (axes.empty() && node.attr("noop_with_empty_axes", 0)) return x;
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (std::int64_t a : axes) reduced[static_cast<std::size_t>(normalize_axis(a, x.rank()))] = true;
  Dims kept = dims;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (reduced[i]) kept[i] = 1;
  const std::int64_t n = count_of(kept), folded = n ? count_of(dims) / n : 0;
  decline_if(folded == 0, "a reduction over no elements");
  const auto run = [&]<class T>(T) -> Value {
    const auto v = elements<T>(x);
    std::vector<T> out(static_cast<std::size_t>(n), start<K, T>());
    for_each_element(dims, std::array<Dims, 1>{broadcast_strides(kept, dims)}, [&](std::int64_t i, const auto& at) {
      T& o = out[static_cast<std::size_t>(at[0])];
      o = step<K>(o, v[static_cast<std::size_t>(i)]);
    });
    if (K == Kind::mean)
      for (T& o : out) o /= static_cast<T>(folded);
    return make(emit, x.dtype(), node.out().static_dims(), out);
  };
  return is_float(x.dtype()) ? run(0.0) : run(std::int64_t{0});
}

}  // namespace

GANTRY_DEFINE(onnx, "ReduceSum", fold(fold_reduce<Kind::sum>))
GANTRY_DEFINE(onnx, "ReduceProd", fold(fold_reduce<Kind::prod>))
GANTRY_DEFINE(onnx, "ReduceMax", fold(fold_reduce<Kind::max>))
GANTRY_DEFINE(onnx, "ReduceMin", fold(fold_reduce<Kind::min>))
GANTRY_DEFINE(onnx, "ReduceMean", fold(fold_reduce<Kind::mean>))

}  // namespace core_ops
