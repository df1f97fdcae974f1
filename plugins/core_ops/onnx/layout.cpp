// Layout rules of ONNX's own operators, for models that stay ONNX: in which orders of their axes each can run. The
// notation is in docs/layout.md. An operator that is not listed keeps its operands and results in logical order.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

constexpr LayoutRow kUnary[] = {
    {"Abs", "* -> *"},        {"Acos", "* -> *"},        {"Acosh", "* -> *"},       {"Asin", "* -> *"},
    {"Asinh", "* -> *"},      {"Atan", "* -> *"},        {"Atanh", "* -> *"},       {"BitwiseNot", "* -> *"},
    {"Cast", "* -> *"},       {"Ceil", "* -> *"},        {"Celu", "* -> *"},        {"Cos", "* -> *"},
    {"Cosh", "* -> *"},       {"Elu", "* -> *"},         {"Erf", "* -> *"},         {"Exp", "* -> *"},
    {"Floor", "* -> *"},      {"Gelu", "* -> *"},        {"HardSigmoid", "* -> *"}, {"HardSwish", "* -> *"},
    {"Identity", "* -> *"},   {"IsInf", "* -> *"},       {"IsNaN", "* -> *"},       {"LeakyRelu", "* -> *"},
    {"Log", "* -> *"},        {"Mish", "* -> *"},        {"Neg", "* -> *"},         {"Not", "* -> *"},
    {"Reciprocal", "* -> *"}, {"Relu", "* -> *"},        {"Round", "* -> *"},       {"Selu", "* -> *"},
    {"Shrink", "* -> *"},     {"Sigmoid", "* -> *"},     {"Sign", "* -> *"},        {"Sin", "* -> *"},
    {"Sinh", "* -> *"},       {"Softplus", "* -> *"},    {"Softsign", "* -> *"},    {"Sqrt", "* -> *"},
    {"Swish", "* -> *"},      {"Tan", "* -> *"},         {"Tanh", "* -> *"},        {"ThresholdedRelu", "* -> *"},
    {"Clip", "*, _, _ -> *"}, {"CastLike", "*, _ -> *"},
};

constexpr LayoutRow kBroadcasting[] = {
    {"Add", "*, * -> *"},        {"And", "*, * -> *"},         {"BitShift", "*, * -> *"},
    {"BitwiseAnd", "*, * -> *"}, {"BitwiseOr", "*, * -> *"},   {"BitwiseXor", "*, * -> *"},
    {"Div", "*, * -> *"},        {"Equal", "*, * -> *"},       {"Greater", "*, * -> *"},
    {"Less", "*, * -> *"},       {"LessOrEqual", "*, * -> *"}, {"GreaterOrEqual", "*, * -> *"},
    {"Mod", "*, * -> *"},        {"Mul", "*, * -> *"},         {"Or", "*, * -> *"},
    {"PRelu", "*, * -> *"},      {"Pow", "*, * -> *"},         {"Sub", "*, * -> *"},
    {"Xor", "*, * -> *"},        {"Where", "*, *, * -> *"},    {"Max", "* ... -> *"},
    {"Mean", "* ... -> *"},      {"Min", "* ... -> *"},        {"Sum", "* ... -> *"},
};

// The numbers of an axis follow it.
constexpr LayoutRow kOfAxes[] = {
    {"Concat", "*[axis=axis] ... -> *[axis=axis]"},
    {"Split", "*[axis=axis], _ -> *[axis=axis] ..."},
    {"Gather", "*[pick=axis], _ -> *"},
    {"CumSum", "*[axis=#1], _ -> *"},
    {"ReduceMax", "*[axes=#1], _ -> *"},
    {"ReduceMean", "*[axes=#1], _ -> *"},
    {"ReduceMin", "*[axes=#1], _ -> *"},
    {"ReduceProd", "*[axes=#1], _ -> *"},
    {"ReduceSum", "*[axes=#1], _ -> *"},
    {"ArgMax", "*[drop=axis] -> *; fixed: the axis stays"},
    {"ArgMin", "*[drop=axis] -> *; fixed: the axis stays"},
    {"Pad", "*[mirror=#1], _, _ -> *"},
    {"Tile", "*[repeats=#1], _ -> *"},
    {"Expand", "*[shape=#1], _ -> *"},
};

// Before opset 13 they took several axes as one.
constexpr LayoutRow kSoftmax[] = {
    {"Softmax", "*[axis=axis:-1] -> *"},
    {"LogSoftmax", "*[axis=axis:-1] -> *"},
    {"Hardmax", "*[axis=axis:-1] -> *"},
};

// Channels second, with one to three image axes. Weights are permuted with the channels; a grouped convolution keeps
// its channels in order, unless each is a group of its own.
#define IMAGE_OPERATOR(op) {op, "n C w! -> n C w!; n C h! w! -> n C h! w!; n C d! h! w! -> n C d! h! w!"}
#define CHANNEL_VECTORS(op, vectors)                                                 \
  {op, "n C, " vectors " -> n C; n C w!, " vectors " -> n C w!; n C h! w!, " vectors \
       " -> n C h! w!; "                                                             \
       "n C d! h! w!, " vectors " -> n C d! h! w!"}

constexpr LayoutRow kImage[] = {
    {"Conv",
     "n C w!, O C kw!, O -> n O w!; n C w!, C 1 kw!, C -> n C w!; n c! w!, o! i! kw!, o! -> n o! w!;"
     "n C h! w!, O C kh! kw!, O -> n O h! w!; n C h! w!, C 1 kh! kw!, C -> n C h! w!;"
     "n c! h! w!, o! i! kh! kw!, o! -> n o! h! w!;"
     "n C d! h! w!, O C kd! kh! kw!, O -> n O d! h! w!; n C d! h! w!, C 1 kd! kh! kw!, C -> n C d! h! w!;"
     "n c! d! h! w!, o! i! kd! kh! kw!, o! -> n o! d! h! w!"},
    {"ConvTranspose",
     "n c! w!, i! o! kw!, b! -> n o! w!; n c! h! w!, i! o! kh! kw!, b! -> n o! h! w!;"
     "n c! d! h! w!, i! o! kd! kh! kw!, b! -> n o! d! h! w!"},
    IMAGE_OPERATOR("AveragePool"),
    IMAGE_OPERATOR("LpPool"),
    IMAGE_OPERATOR("MaxPool"),
    IMAGE_OPERATOR("GlobalAveragePool"),
    IMAGE_OPERATOR("GlobalLpPool"),
    IMAGE_OPERATOR("GlobalMaxPool"),
    CHANNEL_VECTORS("BatchNormalization", "C, C, C, C"),
    CHANNEL_VECTORS("InstanceNormalization", "C, C"),
    {"LRN", "fixed: it sums over neighbouring channels"},
    {"DepthToSpace", "fixed: it cuts the channels"},
    {"SpaceToDepth", "fixed: it cuts the image axes"},
};

constexpr LayoutRow kResize[] = {
    {"Resize", "n C h! w!, _, _, _ -> n C h! w!; fixed: other axes are resized"},
};

constexpr LayoutRow kMatrix[] = {
    {"MatMul", "L K, K N -> L N; B M K, B K N -> B M N"},
    {"Gemm", "M K | K M {transA}, K N | N K {transB}, N -> M N; fixed: an addend of rank 2"},
};

constexpr LayoutRow kFixed[] = {
    {"Transpose", "fixed: the engine's own"},
    {"Reshape", "fixed: a wall where the engine cannot see through it"},
    {"Flatten", "fixed: a wall where the engine cannot see through it"},
    {"Squeeze", "fixed: a wall where the engine cannot see through it"},
    {"Unsqueeze", "fixed: a wall where the engine cannot see through it"},
    {"Shape", "fixed: yields the logical order"},
    {"Slice", "fixed: its axes are a list of their own"},
    {"LayerNormalization", "fixed: axes counted from one that may be in front"},
    {"If", "fixed: its subgraphs see the logical order"},
    {"Loop", "fixed: its subgraphs see the logical order"},
    {"Scan", "fixed: its subgraphs see the logical order"},
};

}  // namespace

GANTRY_LAYOUTS(onnx, kUnary)
GANTRY_LAYOUTS(onnx, kBroadcasting)
GANTRY_LAYOUTS(onnx, kOfAxes)
GANTRY_LAYOUTS(onnx, kSoftmax, since(13))
GANTRY_LAYOUTS(onnx, kImage)
GANTRY_LAYOUTS(onnx, kResize, since(11))
GANTRY_LAYOUTS(onnx, kMatrix)
GANTRY_LAYOUTS(onnx, kFixed)
