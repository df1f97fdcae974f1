// Operators that TFLite cannot express, by name and with the reason; and optional values, where they are plain tensors.
#include "ml.hpp"

namespace core_ops {
namespace {

constexpr std::string_view kStrings = "LiteRT has no operators on strings",
                           kSequences = "TFLite has no sequences of tensors";

constexpr Refused kRefused[] = {
    {"StringConcat", kStrings},
    {"StringSplit", kStrings},
    {"StringNormalizer", kStrings},
    {"RegexFullMatch", kStrings},
    {"ImageDecoder", "LiteRT decodes no images"},
    {"SequenceConstruct", kSequences},
    {"SequenceEmpty", kSequences},
    {"SequenceInsert", kSequences},
    {"SequenceErase", kSequences},
    {"SequenceAt", kSequences},
    {"SequenceLength", kSequences},
    {"SequenceMap", kSequences},
    {"SplitToSequence", kSequences},
    {"ConcatFromSequence", kSequences},
    {"Optional", "TFLite has no optional values"},
};
GANTRY_TABLE(onnx, kRefused, refuse, since(1), to(tflite))

constexpr std::string_view kMaps = "TFLite has no maps";
constexpr Refused kRefusedMl[] = {
    {"CastMap", kMaps},
    {"CategoryMapper", kStrings},
    {"DictVectorizer", kMaps},
    {"ZipMap", kMaps},
};
GANTRY_TABLE(kMl, kRefusedMl, refuse, to(tflite))

}  // namespace

/// True for a tensor, false where the operand is left out.
GANTRY_CONVERT(onnx, "OptionalHasElement", since(15), to(tflite)) {
  return emit.constant<bool>({}, {static_cast<bool>(node.in(0))});
}
GANTRY_CONVERT(onnx, "OptionalGetElement", since(15), to(tflite)) { return node.in(0); }

}  // namespace core_ops
