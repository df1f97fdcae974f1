// A channel axis on its way through transposes and reshapes, arithmetic by constants along it, and the weights and bias
// that such arithmetic moves into. Private to host/passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/passes/tflite.hpp"

namespace gantry::passes {

bool no_activation(const Node& n);

/// The axis of `to` that holds exactly the elements' coordinate that `axis` of `from` holds, after a RESHAPE: it has
/// the same size, and as many elements before it or behind it. Axes of size 1 are not told apart.
std::optional<std::size_t> axis_after_reshape(const Type& from, std::size_t axis, const Type& to);

/// Where an axis of the operand is in the result of an operator that leaves it whole, and does the same to each place
/// along it: TRANSPOSE, RESHAPE, SLICE, STRIDED_SLICE, GATHER, and MEAN over other axes.
std::optional<std::size_t> moved_axis(const Graph& g, NodeId n, std::size_t axis);

/// The operand c as one number a channel, where it broadcasts to x along `axis` alone and does not enlarge x.
std::optional<std::vector<float>> along_channel(const Graph& g, ValueId c, const Type& x, std::size_t axis);

struct Arithmetic {
  ValueId x, c;
};
/// ADD and MUL with the constant on either side; SUB and DIV with the constant second.
std::optional<Arithmetic> arithmetic_of(const Graph& g, const Node& n);

bool finite(const std::vector<float>& v);

// ---- weights and bias ----

/// An operand, if it is a float32 constant that this node alone reads; else null.
const Constant* own_weights(const Graph& g, NodeId n, std::size_t operand);
/// A bias of one number a channel, zeros if there is none; nullopt if it is computed, or of another size.
std::optional<std::vector<float>> bias_of(const Graph& g, NodeId n, std::size_t operand, std::int64_t channels);
void set_bias(Graph& g, NodeId n, std::size_t operand, const std::vector<float>& bias);

}  // namespace gantry::passes
