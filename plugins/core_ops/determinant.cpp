// Det. Minors of the first k rows over every set of k columns, from those of k - 1 rows: no division, so no pivots.
// With n columns there are at most C(n, n/2) sets, which bounds n. Operator: ONNX operator specification, Det.
#include <algorithm>
#include <bit>

#include "floats.hpp"

namespace core_ops {
namespace {

constexpr std::int64_t kLargest = 10;

/// Sets of k columns out of n, as bits, in rising order.
std::vector<unsigned> sets_of(std::int64_t n, int k) {
  std::vector<unsigned> sets;
  for (unsigned s = 0; s < 1u << n; ++s)
    if (std::popcount(s) == k) sets.push_back(s);
  return sets;
}

Value pick(const Emit& emit, const Value& v, const std::vector<std::int32_t>& at) {
  const auto count = static_cast<std::int64_t>(at.size());
  return emit.op("GATHER", {v, emit.constant<std::int32_t>({count}, at)}, {{"axis", 1}, {"batch_dims", 0}});
}

}  // namespace

/// minor(k rows, S) = sum over j in S of +- a[k, j] * minor(k - 1 rows, S without j)
GANTRY_CONVERT(onnx, "Det", since(11), to(tflite)) {
  const Value x = in_float32(emit, node.in(0));
  const int rank = x.rank();
  decline_if(rank < 2, "an operand of rank ", rank);
  const std::int64_t n = x.dim(-1);
  decline_if(n < 1 || n != x.dim(-2), "matrices of ", text(x.dims()));
  decline_if(n > kLargest, "determinants of ", n, " x ", n, "; up to ", kLargest, " are computed");
  Dims batch = x.dims();
  batch.resize(batch.size() - 2);
  const Value flat = reshape_one_unknown(emit, x, {-1, n * n});
  Value minors = slice_axis(emit, flat, 1, 0, n);
  for (int k = 2; k <= n; ++k) {
    const std::vector<unsigned> before = sets_of(n, k - 1), now = sets_of(n, k);
    std::vector<std::int32_t> factor, minor;
    std::vector<float> sign;
    for (unsigned s : now) {
      int position = 0;
      for (int j = 0; j < n; ++j) {
        if (!(s >> j & 1)) continue;
        factor.push_back(static_cast<std::int32_t>((k - 1) * n + j));
        const auto at = std::lower_bound(before.begin(), before.end(), s & ~(1u << j));
        minor.push_back(static_cast<std::int32_t>(at - before.begin()));
        sign.push_back((k - 1 - position) % 2 ? -1.0f : 1.0f);
        ++position;
      }
    }
    const auto terms = static_cast<std::int64_t>(sign.size());
    const Value signs = emit.constant<float>({terms}, sign);
    const Value products = emit.mul(emit.mul(pick(emit, flat, factor), signs), pick(emit, minors, minor));
    minors = reduce_axes(emit, "SUM", reshape_one_unknown(emit, products, {-1, terms / k, k}), {2}, false);
  }
  return from_float32(emit, reshape_one_unknown(emit, minors, batch), node.in(0).dtype());
}

}  // namespace core_ops
