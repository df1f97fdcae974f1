// DepthToSpace and SpaceToDepth as views: the block's axes are split off, moved, and joined; the kernels would need
// channels-last, and know no CRD. Operators: ONNX operator specification, ai.onnx.
#include "runtime.hpp"

namespace core_ops {

GANTRY_CONVERT(onnx, "DepthToSpace", since(1), to(tflite)) {
  const Value x = node.in(0);
  const auto b = node.attr<std::int64_t>("blocksize");
  decline_if(x.rank() != 4 || b < 1 || x.dim(1) < 0 || x.dim(1) % (b * b), "blocksize ", b, " does not fit ",
             text(x.dims()));
  const Extent n = extent_of(emit, x, 0), c = x.dim(1) / (b * b), h = extent_of(emit, x, 2), w = extent_of(emit, x, 3);
  const bool crd = node.attr("mode", "DCR") == "CRD";
  const Value split = reshape_to(emit, x, crd ? Extents{n, c, b, b, h, w} : Extents{n, b, b, c, h, w});
  const Value moved = emit.transpose(split, crd ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2});
  return reshape_to(emit, moved, {n, c, times(emit, h, b), times(emit, w, b)});
}

GANTRY_CONVERT(onnx, "SpaceToDepth", since(1), to(tflite)) {
  const Value x = node.in(0);
  const auto b = node.attr<std::int64_t>("blocksize");
  decline_if(x.rank() != 4 || b < 1 || (x.dim(2) >= 0 && x.dim(2) % b) || (x.dim(3) >= 0 && x.dim(3) % b), "blocksize ",
             b, " does not fit ", text(x.dims()));
  const Extent n = extent_of(emit, x, 0), c = extent_of(emit, x, 1), h = over(emit, extent_of(emit, x, 2), b),
               w = over(emit, extent_of(emit, x, 3), b);
  const bool crd = node.attr("mode", "DCR") == "CRD";
  const Value split = reshape_to(emit, x, {n, c, h, b, w, b});
  const Value moved = emit.transpose(split, crd ? Dims{0, 1, 3, 5, 2, 4} : Dims{0, 3, 5, 1, 2, 4});
  return reshape_to(emit, moved, {n, times(emit, c, b * b), h, w});
}

}  // namespace core_ops
