// What the classifiers and regressors of ai.onnx.ml share.
#pragma once

#include "floats.hpp"

namespace core_ops {

inline constexpr Domain kMl = onnx_domain("ai.onnx.ml");

/// Any number as float32.
inline Value numbers_of(const Emit& emit, const Value& x) {
  return is_float(x.dtype()) ? in_float32(emit, x) : emit.cast(x, DType::float32);
}
/// The same as rows: a vector is one.
inline Value ml_rows(const Emit& emit, const Value& x) {
  const Value v = numbers_of(emit, x);
  decline_if(v.rank() != 1 && v.rank() != 2, "an operand of rank ", v.rank());
  return v.rank() == 1 ? insert_axis(emit, v, 0) : v;
}

/// NONE, LOGISTIC, SOFTMAX over the last axis.
inline Value post_transform(const Emit& emit, const Value& scores, const std::string& name) {
  if (name == "NONE") return scores;
  if (name == "LOGISTIC") return emit.op("LOGISTIC", {scores});
  if (name == "SOFTMAX") return emit.op("SOFTMAX", {scores}, {{"beta", 1.0f}});
  decline("post_transform ", name);
}

/// The label of the greatest score of each row; the first of equal ones.
inline Value greatest_label(const Emit& emit, const Value& scores, const Dims& labels) {
  const Value at = emit.op("ARG_MAX", {scores, emit.constant<std::int32_t>({}, {1})}, {{"output_type", "INT32"}});
  return gather(emit, emit.i64(labels), at);
}
/// One of two labels for each row of scores [n, 1].
inline Value label_above(const Emit& emit, const Value& scores, double threshold, const Dims& labels) {
  const Value above = emit.op("GREATER", {remove_axis(emit, scores, 1), emit.scalar(DType::float32, threshold)});
  return emit.op("SELECT_V2",
                 {above, emit.constant<std::int64_t>({}, {labels[1]}), emit.constant<std::int64_t>({}, {labels[0]})});
}

/// x [n, f] times weights [targets, f], plus a constant.
inline Value linear(const Emit& emit, const Value& x, std::int64_t targets, const std::vector<float>& weights,
                    std::vector<float> bias) {
  decline_if(targets < 1 || weights.size() % static_cast<std::size_t>(targets), weights.size(), " coefficients for ",
             targets, " results");
  const auto features = static_cast<std::int64_t>(weights.size()) / targets;
  decline_if(x.dim(1) >= 0 && x.dim(1) != features, features, " coefficients for ", x.dim(1), " features");
  bias.resize(static_cast<std::size_t>(targets), 0.0f);
  return emit.op("FULLY_CONNECTED",
                 {x, emit.constant<float>({targets, features}, weights), emit.constant<float>({targets}, bias)},
                 {{"keep_num_dims", true}, {"weights_format", "DEFAULT"}, no_activation()});
}

}  // namespace core_ops
