// Bits of integers. AND is the one bitwise kernel for every width; the others follow by arithmetic, which wraps:
// a | b = a + b - (a & b), a ^ b = a + b - 2 (a & b), ~a = -1 - a. Operators: ONNX operator specification, ai.onnx.
#include <limits>

#include "integers.hpp"

namespace core_ops {
namespace {

/// a as if broadcast with b. STABLEHLO_AND takes equal shapes only.
Value spread(const Emit& emit, const Value& a, const Value& b) {
  if (a.is_static() && b.is_static() && a.dims() == b.dims()) return a;
  return emit.add(a, emit.mul(b, 0));
}

Value bitwise_and(const Emit& emit, const Value& a, const Value& b) {
  return emit.op("STABLEHLO_AND", {spread(emit, a, b), spread(emit, b, a)});
}

struct Row {
  std::string_view op;
  int sum, both;  // sum * (a + b) + both * (a & b)
};
Results bitwise(const Node& node, const Emit& emit, const Row& row) {
  const DType t = node.in(0).dtype();
  const Value a = widen(emit, node.in(0)), b = widen(emit, node.in(1)), both = bitwise_and(emit, a, b);
  if (row.sum == 0) return narrow(emit, both, t);
  return narrow(emit, emit.add(emit.add(a, b), emit.mul(both, row.both)), t);
}
constexpr Row kBitwise[] = {{"BitwiseAnd", 0, 1}, {"BitwiseOr", 1, -1}, {"BitwiseXor", 1, -2}};
GANTRY_TABLE(onnx, kBitwise, bitwise, since(18), to(tflite))

constexpr int kMost = 62;  // the highest power of two that is an int64 above 0

/// 2^y, 0 <= y <= 64, of int64: 2^64 is 0.
Value power_of_two(const Emit& emit, const Value& y) {
  std::vector<std::int64_t> table;
  for (int i = 0; i <= kMost; ++i) table.push_back(std::int64_t{1} << i);
  table.push_back(std::numeric_limits<std::int64_t>::min());
  table.push_back(0);
  return emit.op("GATHER", {emit.constant<std::int64_t>({65}, table), emit.cast(y, DType::int32)},
                 {{"axis", 0}, {"batch_dims", 0}});
}

/// floor(x / 2^y) of int64, with y <= 62.
Value floor_shift(const Emit& emit, const Value& x, const Value& y) {
  const Value p = power_of_two(emit, y);
  return divide_exactly(emit, emit.sub(x, emit.op("FLOOR_MOD", {x, p})), p, 63);
}

/// Shifts by the width and more leave nothing, or of a negative number its sign.
Value shift_right(const Emit& emit, const Value& x, const Value& y, DType t) {
  const Value zero = emit.mul(x, 0), none = emit.scalar(DType::int64, 0);
  if (t != DType::uint64) {
    const Value z = floor_shift(emit, x, emit.minimum(y, kMost));
    const Value sign = select(emit, is_negative(emit, x), emit.add(zero, -1), zero);
    return select(emit, emit.op("GREATER", {y, emit.scalar(DType::int64, kMost)}), sign, z);
  }
  const Value rest = emit.maximum(emit.sub(y, 1), 0);
  const Value z = floor_shift(emit, half_unsigned(emit, x), emit.minimum(rest, kMost));
  const Value shifted = select(emit, emit.op("GREATER", {rest, emit.scalar(DType::int64, kMost)}), zero, z);
  return select(emit, emit.op("EQUAL", {y, none}), x, shifted);
}

}  // namespace

GANTRY_CONVERT(onnx, "BitwiseNot", since(18), to(tflite)) {
  return narrow(emit, emit.sub(-1, widen(emit, node.in(0))), node.in(0).dtype());
}

GANTRY_CONVERT(onnx, "BitShift", since(11), to(tflite)) {
  const DType t = node.in(0).dtype();
  const Value x = emit.cast(widen(emit, node.in(0)), DType::int64),
              by = emit.cast(widen(emit, node.in(1)), DType::int64);
  const Value most = emit.scalar(DType::int64, 64);
  const Value y = select(emit, is_negative(emit, by), emit.add(emit.mul(by, 0), most), emit.minimum(by, most));
  if (node.attr<std::string>("direction") == "LEFT") return narrow(emit, emit.mul(x, power_of_two(emit, y)), t);
  return narrow(emit, shift_right(emit, x, y, t), t);
}

GANTRY_CONVERT(onnx, "BitCast", since(1), to(tflite)) {
  const DType t = Emit::from_onnx_dtype(node.attr<std::int64_t>("to")), from = node.in(0).dtype();
  decline_if(from == DType::string || t == DType::string || from >= DType::int4 || t >= DType::int4,
             "TFLite's BITCAST takes whole bytes");
  return bitcast(emit, node.in(0), t);
}

}  // namespace core_ops
