// Random numbers. TFLite's generator is another than the source's, so results differ each time: only where the user
// allows it. Operators: ONNX operator specification.
#include "floats.hpp"
#include "runtime.hpp"

namespace core_ops {

GANTRY_OPTION("allow_random", false,
              "Map Random*, Bernoulli and Multinomial to TFLite's own random numbers (--allow-random)")

namespace {

void must_be_allowed(const Emit& emit) {
  decline_if(!emit.call().option<bool>("allow_random"),
             "random numbers of TFLite's generator are others; --allow-random takes them");
}

/// Two seeds of TFLite from ONNX's one; 0 and 0 is a new seed each time.
Attributes seeds(const Node& node) {
  const auto seed = static_cast<std::int64_t>(node.attr("seed", 0.0f));
  return {{"seed", seed}, {"seed2", seed}};
}

DType wanted(const Node& node, DType otherwise) {
  const auto t = node.attr<std::int64_t>("dtype", 0);
  return t ? Emit::from_onnx_dtype(t) : otherwise;
}

/// Numbers in [low, high), or of a normal distribution, as attributes say.
Value random(const Node& node, const Emit& emit, const Value& shape, DType t) {
  must_be_allowed(emit);
  if (node.op().starts_with("RandomNormal")) {
    const Value y = emit.op("RANDOM_STANDARD_NORMAL", {shape}, seeds(node));
    return from_float32(emit, emit.add(emit.mul(y, node.attr("scale", 1.0f)), node.attr("mean", 0.0f)), t);
  }
  const double low = node.attr("low", 0.0), high = node.attr("high", 1.0);
  const Value y = emit.op("RANDOM_UNIFORM", {shape}, seeds(node));
  return from_float32(emit, emit.add(emit.mul(y, high - low), low), t);
}

struct Row {
  std::string_view op;
};
Results of_shape(const Node& node, const Emit& emit, const Row&) {
  return random(node, emit, emit.i32(node.attr<Dims>("shape")), wanted(node, DType::float32));
}
constexpr Row kShaped[] = {{"RandomNormal"}, {"RandomUniform"}};
GANTRY_TABLE(onnx, kShaped, of_shape, to(tflite))

Results like(const Node& node, const Emit& emit, const Row&) {
  return random(node, emit, shape_of(emit, node.in(0)), wanted(node, node.in(0).dtype()));
}
constexpr Row kLike[] = {{"RandomNormalLike"}, {"RandomUniformLike"}};
GANTRY_TABLE(onnx, kLike, like, to(tflite))

void infer_random(const Node& node, const Infer& infer) {
  std::optional<Dims> dims;
  if (node.in(0).constant())
    dims = node.in(0).read<std::int64_t>();
  else if (node.in(0).is_static())
    dims = Dims(static_cast<std::size_t>(node.in(0).elements()), -1);
  infer.set(0, DType::float32, dims);
}

/// MULTINOMIAL(logits [n, classes], count)
void infer_multinomial(const Node& node, const Infer& infer) {
  const std::int64_t count = node.in(1).constant() ? node.in(1).scalar<std::int64_t>() : -1;
  const bool narrow = node.attr("output_type", "INT64") == "INT32";
  infer.set(0, narrow ? DType::int32 : DType::int64, Dims{node.in(0).dim(0), count});
}

}  // namespace

GANTRY_DEFINE(tflite, "RANDOM_UNIFORM", layout("fixed: makes its axes"), infer(infer_random))
GANTRY_DEFINE(tflite, "RANDOM_STANDARD_NORMAL", layout("fixed: makes its axes"), infer(infer_random))
GANTRY_DEFINE(tflite, "MULTINOMIAL", layout("fixed: draws along the last axis"), infer(infer_multinomial),
              operand_types(DType::float32, DType::int32))

/// 1 with the probability that the operand gives.
GANTRY_CONVERT(onnx, "Bernoulli", since(15), to(tflite)) {
  must_be_allowed(emit);
  const Value p = in_float32(emit, node.in(0));
  const Value draw = emit.op("RANDOM_UNIFORM", {shape_of(emit, p)}, seeds(node));
  const Value hit = emit.op("LESS", {draw, p});
  const DType t = wanted(node, node.in(0).dtype());
  return t == DType::boolean ? hit : emit.cast(hit, t);
}

/// Classes drawn from unnormalized log-probabilities.
GANTRY_CONVERT(onnx, "Multinomial", since(7), to(tflite)) {
  must_be_allowed(emit);
  const DType t = wanted(node, DType::int32);
  const Value count =
      emit.constant<std::int32_t>({}, {static_cast<std::int32_t>(node.attr<std::int64_t>("sample_size", 1))});
  return emit.cast(emit.op("MULTINOMIAL", {in_float32(emit, node.in(0)), count}, seeds(node)), t);
}

}  // namespace core_ops
