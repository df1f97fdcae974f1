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

// Of matrices over one axis each, with the batch in front.
GANTRY_CONVERT(keras, "Dot", to(onnx)) {
  const std::vector<Value> in = operands(node, 2, 2);
  decline_if(integer(node, "normalize", 0) != 0, "Dot with normalize");
  const Dims axes = integers(node, "axes", 2, 1);
  decline_if(in[0].rank() != 3 || in[1].rank() != 3, "Dot of tensors of rank ", in[0].rank(), " and ", in[1].rank());
  const int a = normalize_axis(axes[0], 3), b = normalize_axis(axes[1], 3);
  decline_if(a == 0 || b == 0, "Dot over the batch");
  const Value left = a == 2 ? in[0] : emit.transpose(in[0], {0, 2, 1});
  const Value right = b == 1 ? in[1] : emit.transpose(in[1], {0, 2, 1});
  return emit.op("MatMul", {left, right});
}

}  // namespace
