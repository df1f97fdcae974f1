// The operators of QONNX: types and layout. Their parameters are operands: scale, zero point, bit width.
#include "emit.hpp"

using namespace gantry::quant;

namespace {

void infer_float(const Node& node, const Infer& infer) { infer.set(0, DType::float32, node.in(0).type().dims); }

// Older files have them in other domains.
struct Old {
  std::string_view op;
};
constexpr Old kOld[] = {{"Quant"}, {"IntQuant"}, {"BipolarQuant"}, {"Trunc"}};
// A newer name, which the consumers do not know: cleanup folds such weights away, FINN and QuantToQCDQ pass them over.
constexpr Old kNew[] = {{"IntQuant"}};

std::string_view name_of_now(std::string_view op) { return op == "IntQuant" ? "Quant" : op; }

Results renamed(const Node& node, const Emit& emit, const Old& row) {
  return emit.make(kQonnx, name_of_now(row.op), 1, node.ins(), attributes_of(node), {}, 1);
}

Results named(const Node& node, const Emit& emit, const Old& row) {
  return emit.make(kQonnx, name_of_now(row.op), 1, node.ins(), attributes_of(node), {}, node.version());
}

}  // namespace

GANTRY_TABLE(onnx_domain("onnx.brevitas"), kOld, renamed, to(onnx))
GANTRY_TABLE(onnx_domain("finn.custom_op.general"), kOld, renamed, to(onnx))
GANTRY_TABLE(qonnx, kNew, named, to(onnx))

GANTRY_DEFINE(qonnx, "Quant", infer(infer_float), layout("*, *, *, _ -> *"))
GANTRY_DEFINE(qonnx, "IntQuant", infer(infer_float), layout("*, *, *, _ -> *"))
GANTRY_DEFINE(qonnx, "BipolarQuant", infer(infer_float), layout("*, * -> *"))
GANTRY_DEFINE(qonnx, "Trunc", infer(infer_float), layout("*, *, *, _, _, _ -> *"))
GANTRY_DEFINE(qonnx, "FloatQuant", infer(infer_float), layout("*, *, _, _, _, _ -> *"))
