// The operators of QONNX: types and layout. Their parameters are operands: scale, zero point, bit width.
#include "emit.hpp"

using namespace gantry::quant;

namespace {

void infer_float(const Node& node, const Infer& infer) { infer.set(0, DType::float32, node.in(0).type().dims); }

}  // namespace

GANTRY_DEFINE(qonnx, "Quant", infer(infer_float), layout("*, *, *, _ -> *"))
GANTRY_DEFINE(qonnx, "IntQuant", infer(infer_float), layout("*, *, *, _ -> *"))
GANTRY_DEFINE(qonnx, "BipolarQuant", infer(infer_float), layout("*, * -> *"))
GANTRY_DEFINE(qonnx, "Trunc", infer(infer_float), layout("*, _, _, _, _, _ -> *; fixed: scales of an axis"))
GANTRY_DEFINE(qonnx, "FloatQuant", infer(infer_float), layout("*, *, _, _, _, _ -> *"))
