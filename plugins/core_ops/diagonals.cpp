// Operators that know where an element stands: Trilu, EyeLike, Hardmax, CumProd. Operators: ONNX operator
// specification.
#include <algorithm>

#include "integers.hpp"

namespace core_ops {
namespace {

/// column - row of every element of the last two axes, of int32.
Value offsets(const Emit& emit, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int32_t> d;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) d.push_back(static_cast<std::int32_t>(c - r));
  return emit.constant<std::int32_t>({rows, columns}, d);
}

}  // namespace

/// x where column - row >= k (upper) or <= k, else 0.
GANTRY_CONVERT(onnx, "Trilu", since(14), to(tflite)) {
  const Value x = node.in(0), k = node.in(1);
  decline_if(x.rank() < 2 || x.rank() > 5, "Trilu of rank ", x.rank());
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  decline_if(rows < 0 || columns < 0, "a matrix of unknown size; give input shapes with --shape");
  const bool upper = node.attr("upper", 1) != 0;
  Value bound = emit.scalar(DType::int32, 0);
  if (k && k.constant()) {
    const std::int64_t most = rows + columns;
    bound = emit.scalar(DType::int32, static_cast<double>(std::clamp(k.scalar<std::int64_t>(), -most, most)));
  } else if (k) {
    bound = emit.cast(emit.reshape(k, {}), DType::int32);
  }
  const Value keep = emit.op(upper ? "GREATER_EQUAL" : "LESS_EQUAL", {offsets(emit, rows, columns), bound});
  return select(emit, keep, x, emit.scalar(x.dtype(), 0));
}

GANTRY_CONVERT(onnx, "EyeLike", since(9), to(tflite)) {
  const Dims dims = node.in(0).static_dims();
  decline_if(dims.size() != 2, "EyeLike of rank ", dims.size());
  const auto k = node.attr<std::int64_t>("k", 0);
  std::vector<double> eye;
  for (std::int64_t r = 0; r < dims[0]; ++r)
    for (std::int64_t c = 0; c < dims[1]; ++c) eye.push_back(c - r == k ? 1 : 0);
  return emit.numbers(node.out().dtype(), dims, eye);
}

/// 1 at the first of the greatest elements along an axis, else 0.
GANTRY_CONVERT(onnx, "Hardmax", since(13), to(tflite)) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("axis", -1), x.rank());
  const std::int64_t n = x.dim(axis);
  decline_if(n < 0, "Hardmax along an axis of unknown size; give input shapes with --shape");
  const Value at = emit.op("ARG_MAX", {x, emit.constant<std::int32_t>({}, {axis})}, {{"output_type", "INT32"}});
  std::vector<std::int32_t> places(static_cast<std::size_t>(n));
  std::iota(places.begin(), places.end(), 0);
  Dims along(static_cast<std::size_t>(x.rank() - axis), 1);
  along[0] = n;
  return emit.cast(emit.op("EQUAL", {insert_axis(emit, at, axis), emit.constant<std::int32_t>(along, places)}),
                   x.dtype());
}

namespace {

/// Elements moved by `by` along an axis, ones where nothing came from.
Value shifted(const Emit& emit, const Value& x, int axis, std::int64_t by, bool reverse) {
  Dims begin(static_cast<std::size_t>(x.rank()), 0), size = x.static_dims(), ones = size;
  const auto a = static_cast<std::size_t>(axis);
  ones[a] = std::min(by, size[a]);
  size[a] -= ones[a];
  std::int64_t count = 1;
  for (std::int64_t d : ones) count *= d;
  const Value fill = emit.numbers(x.dtype(), ones, std::vector<double>(static_cast<std::size_t>(count), 1));
  if (size[a] == 0) return fill;
  if (reverse) begin[a] = ones[a];
  const Value kept = emit.op("SLICE", {x, emit.i32(begin), emit.i32(size)});
  return emit.op("CONCATENATION", reverse ? std::vector{kept, fill} : std::vector{fill, kept},
                 {{"axis", axis}, no_activation()});
}

}  // namespace

/// Running products by doubling: after step s each element is the product of the 2 s up to it.
GANTRY_CONVERT(onnx, "CumProd", since(1), to(tflite)) {
  const int axis = normalize_axis(node.in(1).scalar<std::int64_t>(), node.in(0).rank());
  const DType t = node.in(0).dtype();
  Value x = is_integer(t) ? widen(emit, node.in(0)) : node.in(0);
  const bool reverse = node.attr("reverse", 0) != 0;
  if (node.attr("exclusive", 0) != 0) x = shifted(emit, x, axis, 1, reverse);
  const std::int64_t n = x.static_dims()[static_cast<std::size_t>(axis)];
  for (std::int64_t step = 1; step < n; step *= 2) x = emit.mul(x, shifted(emit, x, axis, step, reverse));
  return is_integer(t) ? narrow(emit, x, t) : x;
}

}  // namespace core_ops
