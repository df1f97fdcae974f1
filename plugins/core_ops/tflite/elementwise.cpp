// TFLite operators that work element by element: type inference and the element types that LiteRT's kernels take.
// Source of the limits: LiteRT, tflite/kernels/<operator>.cc, each kernel's Prepare.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

constexpr auto kFloat = types(DType::float32);
constexpr auto kFloatInt = types(DType::float32, DType::int32, DType::int64, DType::int16, DType::int8, DType::uint8);
constexpr auto kBool = types(DType::boolean);

void infer_compare(const Node& node, const Infer& infer) {
  const auto a = node.in(0).type().dims, b = node.in(1).type().dims;
  infer.set(0, DType::boolean, a && b ? std::optional(broadcast(*a, *b)) : std::nullopt);
}

/// SELECT_V2(condition, x, y): element type of x, all three broadcast.
void infer_select(const Node& node, const Infer& infer) {
  std::optional<Dims> dims = Dims{};
  for (const Value& v : node.ins()) {
    const auto other = v.type().dims;
    if (dims && other)
      dims = broadcast(*dims, *other);
    else
      dims.reset();
  }
  infer.set(0, node.in(1).dtype(), dims);
}

DType dtype_from_tflite(std::string_view name) {
  for (gantry_dtype t = 1; t <= GANTRY_UINT4; ++t)
    if (Emit::tflite_dtype(static_cast<DType>(t)) == name) return static_cast<DType>(t);
  decline("unknown element type ", name);
}

void infer_cast(const Node& node, const Infer& infer) {
  infer.set(0, dtype_from_tflite(node.attr<std::string>("out_data_type")), node.in(0).type().dims);
}

}  // namespace

// One operand.
GANTRY_DEFINE(tflite, "ABS", infer(infer_like_first),
              limits(types(DType::float32, DType::int32, DType::int16, DType::int8)))
GANTRY_DEFINE(tflite, "NEG", infer(infer_like_first), limits(types(DType::float32, DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "SIGN", infer(infer_like_first), limits(types(DType::float32, DType::float64, DType::int32)))
GANTRY_DEFINE(tflite, "EXP", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LOG", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "SQRT", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RSQRT", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "SQUARE", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "SIN", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "COS", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "FLOOR", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "CEIL", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "ROUND", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "TANH", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LOGISTIC", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU6", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU_N1_TO_1", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU_0_TO_1", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LEAKY_RELU", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "ELU", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "GELU", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "HARD_SWISH", infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LOGICAL_NOT", infer(infer_like_first), limits(kBool))
GANTRY_DEFINE(tflite, "SOFTMAX", infer(infer_like_first), limits(rank(1, 6), kFloat))
GANTRY_DEFINE(tflite, "LOG_SOFTMAX", infer(infer_like_first), limits(rank(1, 6), kFloat))
GANTRY_DEFINE(tflite, "CUMSUM", infer(infer_like_first), limits(types(DType::float32, DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "CAST", infer(infer_cast))

// Two operands, broadcast as numpy does.
GANTRY_DEFINE(tflite, "ADD", infer(infer_broadcast), limits(rank(0, 6), kFloatInt))
GANTRY_DEFINE(tflite, "SUB", infer(infer_broadcast), limits(rank(0, 6), kFloatInt))
GANTRY_DEFINE(tflite, "MUL", infer(infer_broadcast), limits(rank(0, 6), kFloatInt))
GANTRY_DEFINE(tflite, "DIV", infer(infer_broadcast), limits(rank(0, 6), types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "MAXIMUM", infer(infer_broadcast), limits(rank(0, 6), kFloatInt))
GANTRY_DEFINE(tflite, "MINIMUM", infer(infer_broadcast), limits(rank(0, 6), kFloatInt))
GANTRY_DEFINE(tflite, "SQUARED_DIFFERENCE", infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "POW", infer(infer_broadcast), limits(rank(0, 6), types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "FLOOR_DIV", infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32, DType::int16, DType::int8)))
GANTRY_DEFINE(tflite, "FLOOR_MOD", infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32, DType::int64, DType::int16, DType::int8)))
GANTRY_DEFINE(tflite, "PRELU", infer(infer_like_first), limits(rank(0, 4), kFloat))
GANTRY_DEFINE(tflite, "LOGICAL_AND", infer(infer_broadcast), limits(rank(0, 4), kBool))
GANTRY_DEFINE(tflite, "LOGICAL_OR", infer(infer_broadcast), limits(rank(0, 4), kBool))
GANTRY_DEFINE(tflite, "EQUAL", infer(infer_compare), limits(rank(0, 4)))
GANTRY_DEFINE(tflite, "NOT_EQUAL", infer(infer_compare), limits(rank(0, 4)))
GANTRY_DEFINE(tflite, "LESS", infer(infer_compare), limits(rank(0, 4)))
GANTRY_DEFINE(tflite, "LESS_EQUAL", infer(infer_compare), limits(rank(0, 4)))
GANTRY_DEFINE(tflite, "GREATER", infer(infer_compare), limits(rank(0, 4)))
GANTRY_DEFINE(tflite, "GREATER_EQUAL", infer(infer_compare), limits(rank(0, 4)))
GANTRY_DEFINE(tflite, "SELECT_V2", infer(infer_select), limits(rank(0, 5)))
