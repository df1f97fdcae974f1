// TFLite operators that work element by element: type inference and the element types that LiteRT's kernels take.
// Source of the limits: LiteRT, tflite/kernels/<operator>.cc, each kernel's Prepare.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

constexpr auto kFloat = types(DType::float32);
constexpr auto kFloatInt = types(DType::float32, DType::int32, DType::int64, DType::int16, DType::int8, DType::uint8);
constexpr auto kBool = types(DType::boolean);
/// Kernels that take 8- and 16-bit integers too, but as quantized numbers, and crash without a scale.
constexpr auto kArithmetic = types(DType::float32, DType::int32, DType::int64);
constexpr auto kCompared = operand_types(DType::float32, DType::float16, DType::int32, DType::int64);
constexpr auto kEquated = operand_types(DType::float32, DType::float16, DType::int32, DType::int64, DType::boolean);
constexpr auto kBits = types(DType::int8, DType::int16, DType::int32, DType::uint8, DType::uint16, DType::uint32);
/// STABLEHLO_AND: both operands of one shape.
constexpr auto kIntegers = types(DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
                                 DType::uint32, DType::uint64, DType::boolean);
/// CAST: no uint64; int4 and uint4 only as operands, to float32.
constexpr auto kCastResult =
    types(DType::float32, DType::float16, DType::bfloat16, DType::float64, DType::int8, DType::int16, DType::int32,
          DType::int64, DType::uint8, DType::uint16, DType::uint32, DType::boolean);
constexpr auto kCastOperand = operand_types(DType::float32, DType::float16, DType::bfloat16, DType::float64,
                                            DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8,
                                            DType::uint16, DType::uint32, DType::boolean, DType::int4, DType::uint4);

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
GANTRY_DEFINE(tflite, "ABS", layout("* -> *"), infer(infer_like_first), limits(types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "NEG", layout("* -> *"), infer(infer_like_first),
              limits(types(DType::float32, DType::int32, DType::int64)), modular)
GANTRY_DEFINE(tflite, "SIGN", layout("* -> *"), infer(infer_like_first),
              limits(types(DType::float32, DType::float64, DType::int32)))
GANTRY_DEFINE(tflite, "EXP", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LOG", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "SQRT", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RSQRT", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "SQUARE", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "SIN", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "COS", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "FLOOR", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "CEIL", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "ROUND", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "TANH", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LOGISTIC", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU6", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU_N1_TO_1", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "RELU_0_TO_1", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LEAKY_RELU", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "ELU", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "GELU", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "HARD_SWISH", layout("* -> *"), infer(infer_like_first), limits(kFloat))
GANTRY_DEFINE(tflite, "LOGICAL_NOT", layout("* -> *"), infer(infer_like_first), limits(kBool))
GANTRY_DEFINE(tflite, "SOFTMAX", layout("L S -> L S"), infer(infer_like_first), limits(rank(1, 6), kFloat))
GANTRY_DEFINE(tflite, "LOG_SOFTMAX", layout("L S -> L S"), infer(infer_like_first), limits(rank(1, 6), kFloat))
GANTRY_DEFINE(tflite, "CUMSUM", layout("*[axis=#1], _ -> *"), infer(infer_like_first),
              limits(types(DType::float32, DType::int32, DType::int64)), modular)
GANTRY_DEFINE(tflite, "CAST", layout("* -> *"), infer(infer_cast), limits(kCastResult), kCastOperand)

// Two operands, broadcast as numpy does.
GANTRY_DEFINE(tflite, "ADD", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kArithmetic), modular)
GANTRY_DEFINE(tflite, "SUB", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kArithmetic), modular)
GANTRY_DEFINE(tflite, "MUL", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kArithmetic), modular)
GANTRY_DEFINE(tflite, "DIV", layout("*, * -> *"), infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "MAXIMUM", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kFloatInt), ordered)
GANTRY_DEFINE(tflite, "MINIMUM", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kFloatInt), ordered)
GANTRY_DEFINE(tflite, "SQUARED_DIFFERENCE", layout("*, * -> *"), infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "POW", layout("*, * -> *"), infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32)))
GANTRY_DEFINE(tflite, "FLOOR_DIV", layout("*, * -> *"), infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32, DType::int16, DType::int8)))
GANTRY_DEFINE(tflite, "FLOOR_MOD", layout("*, * -> *"), infer(infer_broadcast),
              limits(rank(0, 6), types(DType::float32, DType::int32, DType::int64, DType::int16, DType::int8)))
GANTRY_DEFINE(tflite, "PRELU", layout("*, * -> *"), infer(infer_like_first), limits(rank(0, 4), kFloat))
GANTRY_DEFINE(tflite, "LOGICAL_AND", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kBool))
GANTRY_DEFINE(tflite, "LOGICAL_OR", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kBool))
GANTRY_DEFINE(tflite, "EQUAL", layout("*, * -> *"), infer(infer_compare), limits(rank(0, 6)), kEquated, modular)
GANTRY_DEFINE(tflite, "NOT_EQUAL", layout("*, * -> *"), infer(infer_compare), limits(rank(0, 6)),
              operand_types(DType::float32, DType::int32, DType::int64, DType::boolean), modular)
GANTRY_DEFINE(tflite, "LESS", layout("*, * -> *"), infer(infer_compare), limits(rank(0, 6)), kCompared, ordered)
GANTRY_DEFINE(tflite, "LESS_EQUAL", layout("*, * -> *"), infer(infer_compare), limits(rank(0, 6)), kCompared, ordered)
GANTRY_DEFINE(tflite, "GREATER", layout("*, * -> *"), infer(infer_compare), limits(rank(0, 6)), kCompared, ordered)
GANTRY_DEFINE(tflite, "GREATER_EQUAL", layout("*, * -> *"), infer(infer_compare), limits(rank(0, 6)), kCompared,
              ordered)
GANTRY_DEFINE(tflite, "SELECT_V2", layout("*, *, * -> *"), infer(infer_select), limits(rank(0, 5)))
GANTRY_DEFINE(tflite, "BITWISE_XOR", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kBits), modular)
GANTRY_DEFINE(tflite, "RIGHT_SHIFT", layout("*, * -> *"), infer(infer_broadcast), limits(rank(0, 6), kBits))
GANTRY_DEFINE(tflite, "STABLEHLO_AND", layout("*, * -> *"), infer(infer_like_first), limits(kIntegers))
GANTRY_DEFINE(tflite, "STABLEHLO_MULTIPLY", layout("*, * -> *"), infer(infer_like_first), limits(types(DType::float64)))
GANTRY_DEFINE(tflite, "STABLEHLO_ADD", layout("*, * -> *"), infer(infer_like_first), limits(types(DType::float64)))
GANTRY_DEFINE(tflite, "ATAN2", layout("*, * -> *"), infer(infer_like_first), limits(kFloat))
