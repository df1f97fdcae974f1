#include "carrier.hpp"

#include <limits>

namespace core_ops {

DType carrier_of(DType t) {
  switch (t) {
    case DType::uint16:
      return DType::int16;
    case DType::uint32:
      return DType::int32;
    case DType::uint64:
    case DType::float64:
      return DType::int64;
    case DType::bfloat16:  // LiteRT's interfaces do not hand it out
    case DType::string:
    case DType::complex64:
    case DType::complex128:
    case DType::int4:
    case DType::uint4:
    case DType::undefined:
      decline("LiteRT's kernels that move elements take no ", name_of(t));
    default:
      return t;
  }
}

Value bitcast(const Emit& emit, const Value& v, DType to) {
  if (v.dtype() == to) return v;
  return emit.ops("BITCAST", 1, {v}, {}, {Type{to, v.type().dims}})[0];
}

namespace {

double lowest(DType t) {
  return t == DType::int64 ? static_cast<double>(std::numeric_limits<std::int64_t>::min())
                           : static_cast<double>(std::numeric_limits<std::int32_t>::min());
}

/// The bits of a float as a signed integer are in order but for the negative ones, which are in reverse: those become
/// lowest - bits - 1. The same again is the way back.
Value flip_negative(const Emit& emit, const Value& bits) {
  const DType t = bits.dtype();
  const Value flipped = emit.sub(emit.sub(emit.scalar(t, lowest(t)), bits), emit.scalar(t, 1));
  return emit.op("SELECT_V2", {emit.op("LESS", {bits, emit.scalar(t, 0)}), flipped, bits});
}

}  // namespace

Value ordered_integers(const Emit& emit, const Value& x) {
  switch (x.dtype()) {
    case DType::float32:
      return flip_negative(emit, bitcast(emit, x, DType::int32));
    case DType::float64:
      return flip_negative(emit, bitcast(emit, x, DType::int64));
    case DType::uint32:
    case DType::uint64: {
      const Value bits = carried(emit, x);
      return emit.add(bits, emit.scalar(bits.dtype(), lowest(bits.dtype())));
    }
    default:
      return x;
  }
}

Value from_ordered_integers(const Emit& emit, const Value& key, DType to) {
  if (is_float(to)) return bitcast(emit, flip_negative(emit, key), to);
  if (to == DType::uint32 || to == DType::uint64)
    return bitcast(emit, emit.add(key, emit.scalar(key.dtype(), lowest(key.dtype()))), to);
  return key;
}

Value sort_key(const Emit& emit, const Value& x, bool largest) {
  Value key = x;
  switch (x.dtype()) {
    case DType::float32:
      break;
    case DType::float16:
      key = emit.cast(x, DType::float32);
      break;
    case DType::int8:
    case DType::int16:
    case DType::uint8:
    case DType::uint16:
    case DType::boolean:
      key = emit.cast(x, DType::int32);
      break;
    case DType::int32:
    case DType::int64:
      break;
    case DType::uint32:
    case DType::uint64:
    case DType::float64:
      key = ordered_integers(emit, x);
      break;
    default:
      decline("LiteRT's TOPK_V2 cannot order ", name_of(x.dtype()));
  }
  if (largest) return key;
  if (key.dtype() == DType::float32) return emit.op("NEG", {key});
  return emit.sub(emit.scalar(key.dtype(), -1), key);  // -1 - x reverses the order of integers and does not overflow
}

Sorted top_k(const Emit& emit, const Value& x, const Value& k) {
  const auto r = emit.ops("TOPK_V2", 2, {x, k});
  return {r[0], r[1]};
}

}  // namespace core_ops
