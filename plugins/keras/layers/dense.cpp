// Dense, Embedding, Dot.
#include "common.hpp"

using namespace gantry::keras;

namespace {

// y = x kernel + bias
GANTRY_CONVERT(keras, "Dense", to(onnx)) {
  const Value x = float_operand(node, emit);
  decline_if(x.rank() < 2, "Dense over a tensor of rank ", x.rank());
  Value y = emit.op("MatMul", {x, weight(node, 0)});
  if (integer(node, "use_bias", 1) != 0) y = emit.add(y, weight(node, 1));
  return activation(node, emit, y);
}

GANTRY_CONVERT(keras, "Embedding", to(onnx)) {
  decline_if(integer(node, "mask_zero", 0) != 0,
             "mask_zero masks steps of the layers behind it, which is not carried on; set it to False");
  const Value x = operands(node, 1, 1)[0];
  return emit.op("Gather", {weight(node, 0), emit.cast(x, DType::int64)}, {{"axis", 0}});
}

// [b, ..., n, ...] with the axis last: [b, rows, n], where rows are all others.
Value rows_of(const Emit& emit, const Value& x, int axis) {
  const Dims d = x.static_dims();
  const Dims perm = to_the_end(x.rank(), {axis});
  const auto last = static_cast<std::size_t>(axis);
  std::int64_t rows = 1;
  for (std::size_t i = 1; i < d.size(); ++i) rows *= i == last ? 1 : d[i];
  return emit.reshape(emit.transpose(x, perm), {d[0], rows, d[last]});
}

// x / |x|
Value unit(const Emit& emit, const Value& x, std::int64_t axis) {
  const Value squares = emit.op("ReduceSum", {square(emit, x), emit.i64({axis})}, {{"keepdims", 1}});
  return emit.div(x, emit.op("Sqrt", {emit.maximum(squares, 1e-12)}));
}

// Over one axis of each, with the batch in front: [b, x's others, y's others].
GANTRY_CONVERT(keras, "Dot", to(onnx)) {
  std::vector<Value> in = operands(node, 2, 2);
  const Dims axes = integers(node, "axes", 2, 1);
  const int a = normalize_axis(axes[0], in[0].rank()), b = normalize_axis(axes[1], in[1].rank());
  decline_if(a == 0 || b == 0, "Dot over the batch");
  if (integer(node, "normalize", 0) != 0) in = {unit(emit, in[0], a), unit(emit, in[1], b)};
  if (in[0].rank() == 3 && in[1].rank() == 3)
    return emit.op("MatMul", {a == 2 ? in[0] : emit.transpose(in[0], {0, 2, 1}),
                              b == 1 ? in[1] : emit.transpose(in[1], {0, 2, 1})});
  const Value x = rows_of(emit, in[0], a), y = rows_of(emit, in[1], b);
  const Value product = emit.op("MatMul", {x, emit.transpose(y, {0, 2, 1})});
  Dims dims{in[0].dim(0)};
  for (const auto& [v, axis] : {std::pair(in[0], a), std::pair(in[1], b)})
    for (int i = 1; i < v.rank(); ++i)
      if (i != axis) dims.push_back(v.dim(i));
  if (dims.size() == 1) dims.push_back(1);
  return emit.reshape(product, dims);
}

}  // namespace
