// GridSample: an image of 2 or 3 axes read at points of a grid, in [-1, 1]. Each tap is padded on its own, as ONNX's
// reference does. Operator: ONNX operator specification, GridSample.
#include "sampling.hpp"

namespace core_ops {
namespace {

Sampling read_sampling(const Node& node) {
  const std::string mode = node.attr("mode", "linear"), padding = node.attr("padding_mode", "zeros");
  Sampling s;
  s.align_corners = node.attr("align_corners", 0) != 0;
  if (mode == "nearest")
    s.kernel = Kernel::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    s.kernel = Kernel::cubic;
  else
    decline_if(mode != "linear" && mode != "bilinear", "mode '", mode, "' is not known");
  if (padding == "border")
    s.border = Border::clamp;
  else if (padding == "reflection")
    s.border = Border::reflect;
  else
    decline_if(padding != "zeros", "padding_mode '", padding, "' is not known");
  return s;
}

/// From [-1, 1] to elements: -1 and 1 are the centres of the outermost elements, or their outer edges.
Value denormalized(const Emit& emit, const Value& g, const Extent& size, bool align_corners) {
  const Operand n = as_float(emit, size);
  const Value one = emit.add(g, 1);
  if (!align_corners) return emit.mul(emit.sub(emit.mul(one, n), 1), 0.5);
  const Operand last = n.is_number() ? Operand(n.number() - 1) : Operand(emit.sub(n, 1));
  return emit.mul(emit.mul(one, 0.5), last);
}

}  // namespace

GANTRY_CONVERT(onnx, "GridSample", since(16), to(tflite)) {
  const Value x = node.in(0), grid = as_float32(emit, node.in(1));
  const int rank = x.rank();
  const auto axes = static_cast<std::size_t>(rank - 2);
  decline_if(rank < 3 || grid.dim(-1) != rank - 2, "a grid of ", text(grid.dims()), " for an image of ",
             text(x.dims()));
  decline_if(x.dtype() != DType::float32 && x.dtype() != DType::float16, "GridSample of ", name_of(x.dtype()));
  const Sampling s = read_sampling(node);
  const Image image = image_of(emit, as_float32(emit, x));
  Extents shape = extents_of(emit, grid, 0, rank - 1);
  const Extent points = product(emit, Extents(shape.begin() + 1, shape.end()));
  const Value g = reshape_to(emit, grid, {shape[0], points, rank - 2});
  const auto columns = emit.ops("UNPACK", axes, {g}, {{"num", rank - 2}, {"axis", 2}});  // innermost axis first
  std::vector<Taps> taps;
  for (std::size_t a = 0; a < axes; ++a) {
    const Value c = denormalized(emit, columns[axes - 1 - a], image.sizes[a], s.align_corners);
    taps.push_back(taps_of(emit, image, a, c, s));
  }
  const Value y = interpolate(emit, image, taps, emit.reshape(batch_places(emit, image), {-1, 1}));
  shape.push_back(x.dim(1));
  const Value last = reshape_to(emit, emit.cast(y, x.dtype()), shape);
  return emit.transpose(last, to_channels_first(rank));
}

}  // namespace core_ops
