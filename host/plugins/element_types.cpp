#include "host/plugins/element_types.hpp"

#include <span>

#include "gantry/abi.h"

namespace gantry::plugins {
namespace {

using enum DType;

struct Way {
  DType from, via;
  bool bits = false, exact = true;
};

/// Elements are only moved: any type of the same size, else any that holds all values.
constexpr Way kMoves[] = {
    {uint64, int64, true},
    {float64, int64, true},
    {complex64, int64, true},
    {uint32, int32, true},
    {uint16, int16, true},
    {float16, int16, true},
    {bfloat16, int16, true},
    {uint8, int8, true},
    {int8, uint8, true},
    {boolean, uint8, true},
    {boolean, int8, true},
    {boolean, int32},
    {float16, float32},
    {bfloat16, float32},
    {int8, int32},
    {uint8, int32},
    {int16, int32},
    {uint16, int32},
    {int8, float32},
    {uint8, float32},
    {int16, float32},
    {uint16, float32},
    {uint32, int64},
    {boolean, float32},
    {float64, float32, false, false},
};
/// Elements are chosen by order.
constexpr Way kOrdered[] = {
    {float16, float32}, {bfloat16, float32}, {int8, int32},      {uint8, int32},
    {int16, int32},     {uint16, int32},     {uint32, int64},    {int8, float32},
    {uint8, float32},   {int16, float32},    {uint16, float32},  {int32, int64},
    {boolean, int32},   {boolean, uint8},    {boolean, float32}, {float64, float32, false, false},
};
/// Integers wrap: what wraps in the wider type wraps the same in the narrow.
constexpr Way kModular[] = {
    {uint64, int64, true},
    {uint32, int32, true},
    {uint32, int64},
    {int8, int32},
    {uint8, int32},
    {int16, int32},
    {uint16, int32},
    {int32, int64},
    {float16, float32},
    {bfloat16, float32},
    {float64, float32, false, false},
};
/// Any arithmetic: a wider number, rounded back.
constexpr Way kNumbers[] = {
    {float16, float32},
    {bfloat16, float32},
    {int8, int32},
    {uint8, int32},
    {int16, int32},
    {uint16, int32},
    {int8, int64},
    {uint8, int64},
    {int16, int64},
    {uint16, int64},
    {uint32, int64},
    {int32, int64},
    {float64, float32, false, false},
};

std::span<const Way> ways(std::uint32_t flags) {
  if (flags & GANTRY_OP_MOVES) return kMoves;
  if (flags & GANTRY_OP_ORDERED) return kOrdered;
  if (flags & GANTRY_OP_MODULAR) return kModular;
  return kNumbers;
}

}  // namespace

std::optional<Detour> find_detour(DType lacking, std::uint64_t allowed, std::uint32_t flags) {
  for (const Way& w : ways(flags)) {
    if (w.from == lacking && (allowed & GANTRY_DTYPE_BIT(static_cast<unsigned>(w.via))))
      return Detour{w.via, w.bits, w.exact};
  }
  return std::nullopt;
}

}  // namespace gantry::plugins
