// Operators of ai.onnx.ml on features: element by element, along rows, and tables. Operators: ONNX operator
// specification, ai.onnx.ml.
#include "ml.hpp"

#include <algorithm>
#include <cmath>

namespace core_ops {
namespace {

Value vector_of(const Emit& emit, const std::vector<float>& v) {
  if (v.size() == 1) return emit.constant<float>({}, v);
  return emit.constant<float>({static_cast<std::int64_t>(v.size())}, v);
}

}  // namespace

/// 1 where x > threshold, else 0.
GANTRY_CONVERT(kMl, "Binarizer", since(1), to(tflite)) {
  const Value x = node.in(0);
  const Value above =
      emit.op("GREATER", {numbers_of(emit, x), emit.scalar(DType::float32, node.attr("threshold", 0.0f))});
  return emit.cast(emit.cast(above, DType::float32), x.dtype());
}

/// (x - offset) * scale along the last axis.
GANTRY_CONVERT(kMl, "Scaler", since(1), to(tflite)) {
  const Value x = numbers_of(emit, node.in(0));
  const auto offset = node.attr<std::vector<float>>("offset", {}), scale = node.attr<std::vector<float>>("scale", {});
  const Value centered = offset.empty() ? x : emit.sub(x, vector_of(emit, offset));
  return scale.empty() ? centered : emit.mul(centered, vector_of(emit, scale));
}

/// Each row divided by its greatest element, or by the L1 or L2 norm; a norm of 0 divides by 1.
GANTRY_CONVERT(kMl, "Normalizer", since(1), to(tflite)) {
  const Value x = numbers_of(emit, node.in(0));
  const std::string norm = node.attr("norm", "MAX");
  decline_if(norm != "MAX" && norm != "L1" && norm != "L2", "norm '", norm, "'");
  const Dims last{x.rank() - 1};
  Value n;
  if (norm == "MAX")
    n = reduce_axes(emit, "REDUCE_MAX", x, last, true);
  else if (norm == "L1")
    n = reduce_axes(emit, "SUM", emit.op("ABS", {x}), last, true);
  else
    n = emit.op("SQRT", {reduce_axes(emit, "SUM", emit.mul(x, x), last, true)});
  const Value one = emit.scalar(DType::float32, 1), zero = emit.scalar(DType::float32, 0);
  return emit.div(x, emit.op("SELECT_V2", {emit.op("EQUAL", {n, zero}), one, n}));
}

/// What equals replaced_value (which may be NaN) becomes imputed_value, one for all or one for each column.
GANTRY_CONVERT(kMl, "Imputer", since(1), to(tflite)) {
  const Value x = node.in(0);
  if (x.dtype() == DType::int64) {
    const Dims imputed = node.attr<Dims>("imputed_value_int64s");
    const Value is =
        emit.op("EQUAL", {x, emit.constant<std::int64_t>({}, {node.attr<std::int64_t>("replaced_value_int64", 0)})});
    return emit.op("SELECT_V2",
                   {is, imputed.size() == 1 ? emit.constant<std::int64_t>({}, imputed) : emit.i64(imputed), x});
  }
  decline_if(x.dtype() != DType::float32, "an operand of type ", name_of(x.dtype()));
  const float replaced = node.attr("replaced_value_float", 0.0f);
  const Value is = std::isnan(replaced) ? emit.op("NOT_EQUAL", {x, x})
                                        : emit.op("EQUAL", {x, emit.scalar(DType::float32, replaced)});
  return emit.op("SELECT_V2", {is, vector_of(emit, node.attr<std::vector<float>>("imputed_value_floats")), x});
}

/// Elements of the last axis; of a vector as one row.
GANTRY_CONVERT(kMl, "ArrayFeatureExtractor", since(1), to(tflite)) {
  const Value x = node.in(0), at = node.in(1);
  decline_if(x.dtype() == DType::string, "LiteRT has no operators on strings");
  const Value rows = x.rank() == 1 ? insert_axis(emit, x, 0) : x;
  decline_if(!at.is_static(), "the number of indices is not known");
  const Value flat = emit.reshape(emit.cast(at, DType::int32), {-1});
  return gather(emit, rows, flat, rows.rank() - 1);
}

/// Operands beside each other as float32, each cut or filled with zeros to its inputdimensions.
GANTRY_CONVERT(kMl, "FeatureVectorizer", since(1), to(tflite)) {
  const Dims widths = node.attr("inputdimensions", Dims{});
  std::vector<Value> parts;
  for (std::size_t i = 0; i < node.in_count(); ++i) {
    Value v = ml_rows(emit, node.in(i));
    if (i < widths.size() && widths[i] != v.dim(1)) {
      decline_if(v.dim(1) < 0, "the width of '", node.in(i).name(), "' is not known");
      const auto more = static_cast<std::int32_t>(widths[i] - v.dim(1));
      v = more < 0 ? slice_axis(emit, v, 1, 0, widths[i])
                   : emit.op("PAD", {v, emit.constant<std::int32_t>({2, 2}, {0, 0, 0, more})});
    }
    parts.push_back(v);
  }
  decline_if(parts.empty(), "no operands");
  return concatenation(emit, parts, 1);
}

/// A new last axis: 1 for the category, 0 for the others.
GANTRY_CONVERT(kMl, "OneHotEncoder", since(1), to(tflite)) {
  const Value x = node.in(0);
  decline_if(x.dtype() == DType::string || node.has_attr("cats_strings"), "LiteRT has no operators on strings");
  const Dims categories = node.attr<Dims>("cats_int64s");
  const Value numbers = emit.cast(x.dtype() == DType::float64 ? in_float32(emit, x) : x, DType::int64);
  return emit.cast(emit.op("EQUAL", {insert_axis(emit, numbers, x.rank()), emit.i64(categories)}), DType::float32);
}

namespace {

/// keys_* or values_* of a LabelEncoder as a constant of rank 1.
Value table(const Node& node, const Emit& emit, const std::string& name) {
  if (node.has_attr(name + "_int64s")) return emit.i64(node.attr<Dims>(name + "_int64s"));
  if (node.has_attr(name + "_floats")) {
    const auto v = node.attr<std::vector<float>>(name + "_floats");
    return emit.constant<float>({static_cast<std::int64_t>(v.size())}, v);
  }
  if (node.has_attr(name + "_tensor")) {
    const Value v = node.attr<Value>(name + "_tensor");
    decline_if(v.dtype() == DType::string, "LiteRT has no operators on strings");
    return emit.reshape(v, {v.elements()});
  }
  decline("LiteRT has no operators on strings");
}

Value default_label(const Node& node, const Emit& emit, DType t) {
  if (node.has_attr("default_tensor")) return emit.reshape(node.attr<Value>("default_tensor"), {});
  if (t == DType::float32) return emit.scalar(t, node.attr("default_float", -0.0f));
  decline_if(t != DType::int64, "labels of type ", name_of(t), " without default_tensor");
  return emit.constant<std::int64_t>({}, {node.attr<std::int64_t>("default_int64", -1)});
}

}  // namespace

/// values[i] where x == keys[i], else the default.
GANTRY_CONVERT(kMl, "LabelEncoder", since(2), to(tflite)) {
  Value x = node.in(0);
  Value keys = table(node, emit, "keys"), values = table(node, emit, "values");
  decline_if(keys.elements() != values.elements() || keys.elements() < 1, keys.elements(), " keys for ",
             values.elements(), " values");
  for (double k : is_float(keys.dtype()) ? keys.read<double>() : std::vector<double>{})
    decline_if(std::isnan(k), "NaN among the keys");
  const Value otherwise = default_label(node, emit, values.dtype());
  const DType t = is_float(x.dtype()) ? DType::float32 : computed_in(x.dtype());
  const Value hits = emit.op("EQUAL", {insert_axis(emit, emit.cast(x, t), x.rank()), emit.cast(keys, t)});
  const Value hit = emit.cast(hits, DType::float32);
  const Value at = emit.op("ARG_MAX", {hit, emit.constant<std::int32_t>({}, {x.rank()})}, {{"output_type", "INT32"}});
  const Value any = reduce_axes(emit, "REDUCE_ANY", hits, {x.rank()}, false);
  const Value label = gather(emit, values, at);
  return emit.op("SELECT_V2", {any, label, otherwise});
}

/// X W' + b
GANTRY_CONVERT(kMl, "LinearRegressor", since(1), to(tflite)) {
  const Value y =
      linear(emit, ml_rows(emit, node.in(0)), node.attr<std::int64_t>("targets", 1),
             node.attr<std::vector<float>>("coefficients"), node.attr<std::vector<float>>("intercepts", {}));
  return post_transform(emit, y, node.attr("post_transform", "NONE"));
}

/// Labels and scores. One score for two labels: the second label where it is above 0.
GANTRY_CONVERT(kMl, "LinearClassifier", since(1), to(tflite)) {
  decline_if(node.has_attr("classlabels_strings"), "LiteRT has no operators on strings");
  const Dims labels = node.attr<Dims>("classlabels_ints");
  const auto bias = node.attr<std::vector<float>>("intercepts", {});
  const auto weights = node.attr<std::vector<float>>("coefficients");
  const Value x = ml_rows(emit, node.in(0));
  decline_if(x.dim(1) < 1, "the number of features is not known");
  const std::int64_t classes = static_cast<std::int64_t>(weights.size()) / x.dim(1);
  const Value scores = linear(emit, x, classes, weights, bias);
  const std::string transform = node.attr("post_transform", "NONE");
  decline_if(classes == 1 && (labels.size() != 2 || (transform != "NONE" && transform != "LOGISTIC")), "one score for ",
             labels.size(), " labels with post_transform ", transform);
  std::vector<Value> results(node.out_count());
  const Value shown = post_transform(emit, scores, transform);
  const Value label = classes == 1 ? label_above(emit, scores, 0, labels) : greatest_label(emit, scores, labels);
  if (node.out(0)) results[0] = label;
  if (node.out(1)) results[1] = classes == 1 ? concatenation(emit, {emit.sub(1, shown), shown}, 1) : shown;
  return results;
}

}  // namespace core_ops
