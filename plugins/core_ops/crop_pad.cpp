// CenterCropPad: an axis that is too long is cut on both sides, one that is too short padded with zeros; an odd rest
// goes to the end. Operator: ONNX operator specification, CenterCropPad.
#include "slice.hpp"

namespace core_ops {

GANTRY_CONVERT(onnx, "CenterCropPad", since(18), to(tflite)) {
  const Value x = node.in(0), shape = int_vector(emit, node.in(1));
  const int rank = x.rank();
  Dims axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.attr("axes", axes);
  decline_if(length_of(shape) != static_cast<std::int64_t>(axes.size()), length_of(shape), " sizes for ", axes.size(),
             " axes");
  Extents begin(static_cast<std::size_t>(rank), 0), size, pads(2 * begin.size(), 0);
  for (int i = 0; i < rank; ++i) size.push_back(extent_of(emit, x, i));
  for (std::size_t j = 0; j < axes.size(); ++j) {
    const auto i = static_cast<std::size_t>(normalize_axis(axes[j], rank));
    const Extent n = size[i], wanted = element(emit, shape, static_cast<std::int64_t>(j));
    begin[i] = halved(emit, less_by(emit, n, wanted));
    size[i] = smaller(emit, n, wanted);
    const Extent missing = less_by(emit, wanted, n);
    pads[2 * i] = halved(emit, missing);
    pads[2 * i + 1] = less_by(emit, missing, pads[2 * i]);
  }
  bool whole = true, grows = false;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    whole = whole && begin[i].known == 0 && size[i].known == x.dim(static_cast<int>(i));
    grows = grows || pads[2 * i].known != 0 || pads[2 * i + 1].known != 0;
  }
  const Value cropped = whole ? x : emit.op("SLICE", {x, vector_of(emit, begin), vector_of(emit, size)});
  if (!grows) return cropped;
  return emit.op("PADV2", {cropped, emit.reshape(vector_of(emit, pads), {rank, 2}), emit.numbers(x.dtype(), {1}, {0})});
}

}  // namespace core_ops
