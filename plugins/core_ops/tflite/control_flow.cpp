// TFLite operators with subgraphs, and the one that writes a loop's results into place. Limits: LiteRT,
// tflite/kernels/{while,if,dynamic_update_slice}.cc.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

/// Its one subgraph says what it does.
GANTRY_DEFINE(tflite, "STABLEHLO_COMPOSITE", layout("fixed: its subgraph keeps the logical order"))

GANTRY_DEFINE(tflite, "WHILE", layout("fixed: its subgraphs keep the logical order"),
              note("operands, arguments and results are the same list; no captures"))
GANTRY_DEFINE(tflite, "IF", layout("fixed: its subgraphs keep the logical order"), operand_types(DType::boolean),
              note("the operands behind the condition are the branches' arguments"))
GANTRY_DEFINE(tflite, "DYNAMIC_UPDATE_SLICE", layout("fixed: indices name all axes"), infer(infer_like_first),
              limits(types(DType::float32, DType::float16, DType::int8, DType::int16, DType::int32, DType::int64,
                           DType::boolean)))
