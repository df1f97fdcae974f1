// What converters of Keras layers share. ONNX's image operators have the channels second, Keras mostly last: converters
// put transposes around them, which the layout engine removes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gantry/sdk.hpp>

namespace gantry::keras {

using namespace gantry::sdk;

inline constexpr Domain keras{"keras", ""};

/// A number that the configuration may write as an integer, a float, or a list of one.
double number(const Node& node, std::string_view name, double otherwise);
std::int64_t integer(const Node& node, std::string_view name, std::int64_t otherwise);
/// A list of `count` integers, of which one alone stands for all.
Dims integers(const Node& node, std::string_view name, std::size_t count, std::int64_t otherwise);
/// The axes in an attribute that is one or a list of them, from 0.
std::vector<std::int64_t> axes_in(const Node& node, std::string_view name, int rank);
/// 2 or 3.
int keras_version(const Node& node);
bool channels_first(const Node& node);
/// Tensors of the call, without weights. Declines arguments of the call that change what the layer does. Those that
/// are given by `keyword` come last.
std::vector<Value> operands(const Node& node, std::size_t least, std::size_t most, std::string_view keyword = {});
/// Weight i, in the order of roles_of.
Value weight(const Node& node, std::size_t i);
/// A converter that keeps to float32 operands calls it first: other types are cast.
Value float_operand(const Node& node, const Emit& emit);

/// The axes given come last, in the order given; and the inverse of a permutation.
Dims to_the_end(int rank, const Dims& axes);
Dims inverse(const Dims& perm);
/// x^2, as one operand: qonnx' cleanup renames only one of two.
Value square(const Emit& emit, const Value& x);
Dims identity_perm(int rank);
/// To channels second from channels last, and back.
Dims to_second(int rank);
Dims to_last(int rank);
/// With channels second, whatever the layer's data_format; and the inverse.
Value channels_second(const Node& node, const Emit& emit, const Value& x);
Value as_layer(const Node& node, const Emit& emit, const Value& y);

/// A weight under a new order of axes and new dims. If it is quantized (a chain of elementwise operators over a
/// constant), the constant and its scales are changed, and the chain stays between weight and user.
Value weight_as(const Emit& emit, const Value& w, const Dims& perm, const Dims& dims);

/// y = activation(x); by name, or as the configuration serializes it. Declines one that it does not know.
Value activation(const Node& node, const Emit& emit, const Value& x);
Value activation_by_name(const Emit& emit, const std::string& name, const Value& x, int keras_version);
/// The name in an attribute that holds an activation.
std::string activation_name(const Node& node, std::string_view attribute, const char* otherwise);

/// Sizes of a Reshape of x: axis 0 may be unknown.
Value reshape_rows(const Emit& emit, const Value& x, const Dims& rest);

}  // namespace gantry::keras
