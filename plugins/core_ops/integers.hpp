// Integer arithmetic that no single kernel does: division of every width, and unsigned 64-bit numbers, which LiteRT
// only moves.
#pragma once

#include "carrier.hpp"
#include "common.hpp"

namespace core_ops {

inline bool is_unsigned(DType t) {
  return t == DType::uint8 || t == DType::uint16 || t == DType::uint32 || t == DType::uint64;
}
/// Integers where arithmetic is done: uint64 as the int64 of the same bits, narrow ones in int32, uint32 in int64.
Value widen(const Emit& emit, const Value& v);
/// Back again; integers wrap.
Value narrow(const Emit& emit, const Value& v, DType to);
/// As widen, but uint64 keeps its order: 0 becomes the lowest int64. narrow_key is the inverse.
Value order_key(const Emit& emit, const Value& v);
Value from_order_key(const Emit& emit, const Value& v, DType to);

/// a / b where b divides a, of int64, |a / b| < 2^bits.
Value divide_exactly(const Emit& emit, const Value& a, const Value& b, int bits);
/// a / b of any integer type, toward zero.
Value divide_integers(const Emit& emit, const Value& a, const Value& b);
/// a - b * (a / b), toward zero or (floor) with the sign of b.
Value remainder_of_integers(const Emit& emit, const Value& a, const Value& b, bool floor);
/// x / 2 of the uint64 whose bits the int64 x has.
Value half_unsigned(const Emit& emit, const Value& x);

/// SELECT_V2.
inline Value select(const Emit& emit, const Value& condition, const Value& yes, const Value& no) {
  return emit.op("SELECT_V2", {condition, yes, no});
}
inline Value is_negative(const Emit& emit, const Value& v) { return emit.op("LESS", {v, emit.scalar(v.dtype(), 0)}); }

}  // namespace core_ops
