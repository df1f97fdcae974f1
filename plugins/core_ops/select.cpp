// Gather. Operator: ONNX operator specification, ai.onnx.
#include "common.hpp"

namespace core_ops {

/// Negative indices count from the end; constants are brought into range, others by a SELECT.
GANTRY_CONVERT(onnx, "Gather", since(1), to(tflite)) {
  const Value x = node.in(0);
  Value indices = node.in(1);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const std::int64_t n = x.dim(axis);
  if (indices.constant()) {
    Dims at = indices.read<std::int64_t>();
    for (std::int64_t& i : at) {
      decline_if(i < 0 && n < 0, "negative indices into an axis of unknown size");
      if (i < 0) i += n;
      decline_if(i < 0 || (n >= 0 && i >= n), "an index is out of range for an axis of size ", n);
    }
    indices = emit.constant<std::int32_t>(indices.dims(), std::vector<std::int32_t>(at.begin(), at.end()));
  } else {
    decline_if(n < 0, "indices that may be negative into an axis of unknown size");
    const Value wrapped = emit.add(indices, static_cast<double>(n));
    indices = emit.op("SELECT_V2", {emit.op("LESS", {indices, emit.scalar(indices.dtype(), 0)}), wrapped, indices});
  }
  return emit.op("GATHER", {x, indices}, {{"axis", axis}, {"batch_dims", 0}});
}

}  // namespace core_ops
