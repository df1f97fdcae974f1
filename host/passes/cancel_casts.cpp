// Of two casts in a row the first is not needed where its type holds all values of the one before: CAST(CAST(x)) is one
// CAST of x, or x itself where it comes back to x's type. Two BITCASTs in a row are one, or none. What is left out is
// exact, so nothing changes but the number of nodes: float64 that is computed in float32 stays float32 between
// operators. Linear.
#include <array>
#include <utility>

#include "host/passes/passes.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

// Digits of the mantissa, and largest binary exponent.
struct Reach {
  unsigned digits, exponent;
  bool is_signed;
};

Reach reach(DType t) {
  switch (t) {
    case DType::float16:
      return {11, 15, true};
    case DType::bfloat16:
      return {8, 127, true};
    case DType::float32:
      return {24, 127, true};
    case DType::float64:
      return {53, 1023, true};
    case DType::boolean:
      return {1, 1, false};
    default:
      break;
  }
  const bool is_signed = t == DType::int8 || t == DType::int16 || t == DType::int32 || t == DType::int64;
  const unsigned bits = dtype_bits(t) - (is_signed ? 1 : 0);
  return {bits, bits, is_signed};
}

/// Whether every value of `from` is a value of `to`.
bool holds(DType to, DType from) {
  if (from == to) return true;
  const bool plain = dtype_bits(from) >= 8 && dtype_bits(to) >= 8 && from < DType::string && to < DType::string;
  if (!plain || to == DType::boolean || (is_float(from) && !is_float(to))) return false;
  const Reach a = reach(from), b = reach(to);
  return a.digits <= b.digits && a.exponent <= b.exponent && (b.is_signed || !a.is_signed);
}

void shorten(Graph& g, NodeId n, bool bits) {
  const NodeId before = producer_of(g, g.node(n).input(0), n);
  if (!before || !is_tflite(g.node(before), bits ? "BITCAST" : "CAST")) return;
  const ValueId x = g.node(before).input(0), middle = g.node(n).input(0), result = g.node(n).output(0);
  const Type from = g.value(x).type, over = g.value(middle).type, to = g.value(result).type;
  const auto same_size = [&](const Type& a, const Type& b) { return dtype_bits(a.dtype) == dtype_bits(b.dtype); };
  if (bits ? !same_size(from, over) || !same_size(over, to) : !holds(over.dtype, from.dtype)) return;
  if (from.dtype == to.dtype) {
    bypass(g, n, x);
  } else if (from.dtype != DType::boolean) {  // what is not 0 or 1 as a byte never becomes a number by two ways
    Attrs attrs = g.node(n).attrs;
    if (!bits) attrs["in_data_type"] = g.node(before).attrs.at("in_data_type");
    const std::array inputs = {x};
    const ValueId made = add_tflite(g, g.before(n), bits ? "BITCAST" : "CAST", inputs, to, g.node(n).name, attrs);
    bypass(g, n, made);
  }
}

}  // namespace

Status cancel_casts(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) {
    if (is_tflite(c.graph.node(n), "CAST")) shorten(c.graph, n, false);
    if (c.graph.contains(n) && is_tflite(c.graph.node(n), "BITCAST")) shorten(c.graph, n, true);
  });
  return {};
}

}  // namespace gantry::passes
