// Layers that do nothing at inference, merges, shapes.
#include <algorithm>

#include "common.hpp"

using namespace gantry::keras;

namespace {

struct Row {
  std::string_view op;
};

// ---- nothing at inference ----

constexpr Row kNothing[] = {{"Dropout"},      {"SpatialDropout1D"}, {"SpatialDropout2D"}, {"SpatialDropout3D"},
                            {"AlphaDropout"}, {"GaussianNoise"},    {"GaussianDropout"},  {"ActivityRegularization"},
                            {"Identity"},     {"RandomFlip"},       {"RandomRotation"},   {"RandomTranslation"},
                            {"RandomZoom"},   {"RandomContrast"},   {"RandomBrightness"}, {"InputLayer"}};

Results nothing(const Node& node, const Emit&, const Row&) { return operands(node, 1, 1)[0]; }
GANTRY_TABLE(keras, kNothing, nothing, to(onnx))

// ---- what no file holds ----

constexpr Row kPython[] = {
    {"Lambda"}, {"TFOpLambda"}, {"SlicingOpLambda"}, {"TensorFlowOpLayer"}, {"TorchModuleWrapper"}};

Results python(const Node& node, const Emit&, const Row&) {
  decline("a ", node.op(), " layer is Python code, which is not in the file; use Keras' own layers, or a plugin");
}
GANTRY_TABLE(keras, kPython, python, to(onnx))

GANTRY_CONVERT(keras, "Masking", to(onnx)) {
  decline("masks are not carried on; leave the layer out where no step is masked");
  return Value();
}

// ---- merges ----

// Operands of one rank broadcast as they do in ONNX; one of a lower rank gets axes behind the batch.
std::vector<Value> merged(const Node& node, const Emit& emit, std::size_t least) {
  std::vector<Value> all = operands(node, least, 1000);
  int most = 0;
  for (const Value& v : all) most = std::max(most, v.rank());
  for (Value& v : all) {
    const int rank = v.rank();
    if (rank == most) continue;
    Dims rest(static_cast<std::size_t>(most - rank), 1);
    for (int i = 1; i < rank; ++i) rest.push_back(v.dim(i));
    decline_if(rank == 0 || std::ranges::count(rest, -1) > 0, "tensors of rank ", most, " and ", rank, " are merged");
    v = reshape_rows(emit, v, rest);
  }
  return all;
}

struct Merge {
  std::string_view op, onnx;
};
constexpr Merge kMerges[] = {
    {"Add", "Add"}, {"Multiply", "Mul"}, {"Subtract", "Sub"}, {"Maximum", "Max"}, {"Minimum", "Min"}};

Results merge(const Node& node, const Emit& emit, const Merge& row) {
  const std::vector<Value> all = merged(node, emit, 1);
  decline_if(row.op == "Subtract" && all.size() != 2, "Subtract takes two tensors");
  Value y = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) y = emit.op(row.onnx, {y, all[i]});
  return y;
}
GANTRY_TABLE(keras, kMerges, merge, to(onnx))

// (a + b + ...) / n
GANTRY_CONVERT(keras, "Average", to(onnx)) {
  const std::vector<Value> all = merged(node, emit, 1);
  Value y = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) y = emit.add(y, all[i]);
  return emit.div(y, static_cast<double>(all.size()));
}

GANTRY_CONVERT(keras, "Concatenate", to(onnx)) {
  const std::vector<Value> all = operands(node, 1, 1000);
  return emit.op("Concat", all, {{"axis", std::int64_t{normalize_axis(integer(node, "axis", -1), all[0].rank())}}});
}

// ---- shapes ----

std::int64_t product(const Dims& d) {
  std::int64_t n = 1;
  for (const std::int64_t x : d) n *= x;
  return n;
}

GANTRY_CONVERT(keras, "Flatten", to(onnx)) {
  Value x = operands(node, 1, 1)[0];
  if (channels_first(node) && x.rank() > 1) x = emit.transpose(x, to_last(x.rank()));
  Dims rest = x.dims();
  if (rest.empty()) decline("a scalar cannot be flattened");
  rest.erase(rest.begin());
  return reshape_rows(emit, x, {std::ranges::find(rest, -1) == rest.end() ? product(rest) : -1});
}

GANTRY_CONVERT(keras, "Reshape", to(onnx)) {
  const Dims target = node.attribute_kind("target_shape") == GANTRY_ATTR_INTS ? node.attr<Dims>("target_shape")
                                                                              : integers(node, "target_shape", 1, -1);
  return reshape_rows(emit, operands(node, 1, 1)[0], target);
}

// dims count from 1: axis 0 is the batch.
GANTRY_CONVERT(keras, "Permute", to(onnx)) {
  const Value x = operands(node, 1, 1)[0];
  Dims perm = integers(node, "dims", static_cast<std::size_t>(std::max(1, x.rank() - 1)), 1);
  perm.insert(perm.begin(), 0);
  return emit.transpose(x, perm);
}

// [b, c] -> [b, n, c]
GANTRY_CONVERT(keras, "RepeatVector", to(onnx)) {
  const Value x = operands(node, 1, 1)[0];
  decline_if(x.rank() != 2, "RepeatVector of rank ", x.rank());
  const Value rows = reshape_rows(emit, x, {1, x.dim(1)});
  return emit.op("Tile", {rows, emit.i64({1, integer(node, "n", 1), 1})});
}

// [b, t, ...] -> [b * t, ...]
GANTRY_CONVERT(keras, "TimeDistributedBegin", to(onnx)) {
  const Value x = node.in(0);
  Dims dims = x.dims();
  decline_if(dims.size() < 2 || dims[1] < 0, "TimeDistributed over an unknown number of steps");
  const std::int64_t rows = dims[0] < 0 ? -1 : dims[0] * dims[1];
  dims.erase(dims.begin());
  dims[0] = rows;
  return emit.reshape(x, dims);
}

GANTRY_CONVERT(keras, "TimeDistributedEnd", to(onnx)) {
  const Value y = node.in(0), x = node.in(1);
  Dims dims = y.dims();
  decline_if(dims.empty(), "TimeDistributed of a scalar");
  dims[0] = x.dim(1);
  dims.insert(dims.begin(), x.dim(0) < 0 ? -1 : x.dim(0));
  return emit.reshape(y, dims);
}

}  // namespace
