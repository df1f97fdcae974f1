// Operators of com.microsoft that have no meaning in plain arithmetic of a fixed graph, by name and with the reason.
#include "common.hpp"

namespace transformer {
namespace {

constexpr std::string_view kSearch = "a search that runs subgraphs until an end token",
                           kStrings = "LiteRT has no operators on strings",
                           kSparse = "TFLite takes no sparse tensors at run time",
                           kPacked = "tokens without padding: the number of rows of every sequence is data",
                           kExperts = "which experts a token goes to is data", kHash = "a hash of bits, no arithmetic",
                           kDevice = "numbers in a format of one processor", kPaged = "a cache in pages",
                           kVendor = "a graph that another runtime has compiled", kRandom = "draws random numbers";
constexpr Refused kRefused[] = {
    {"BeamSearch", kSearch},
    {"GreedySearch", kSearch},
    {"Sampling", kSearch},
    {"WhisperBeamSearch", kSearch},
    {"BifurcationDetector", kSearch},
    {"NGramRepeatBlock", kSearch},
    {"Tokenizer", kStrings},
    {"SparseToDenseMatMul", kSparse},
    {"SparseAttention", kSparse},
    {"RemovePadding", kPacked},
    {"RestorePadding", kPacked},
    {"PackedAttention", kPacked},
    {"PackedMultiHeadAttention", kPacked},
    {"PagedAttention", kPaged},
    {"MoE", kExperts},
    {"QMoE", kExperts},
    {"MurmurHash3", kHash},
    {"NGramHashMapping", kHash},
    {"BitmaskDropout", kRandom},
    {"BitmaskBiasDropout", kRandom},
    {"QuantizeBFP", kDevice},
    {"DequantizeBFP", kDevice},
    {"QuantizeWithOrder", kDevice},
    {"DequantizeWithOrder", kDevice},
    {"QOrderedAttention", kDevice},
    {"QOrderedGelu", kDevice},
    {"QOrderedLayerNormalization", kDevice},
    {"QOrderedLongformerAttention", kDevice},
    {"QOrderedMatMul", kDevice},
    {"GemmFloat8", kDevice},
    {"MatMulBnb4", kDevice},
    {"MatMulFpQ4", kDevice},
    {"EPContext", kVendor},
    {"Snpe", kVendor},
    {"DynamicTimeWarping", "a path whose length is data"},
    {"LongformerAttention", "which tokens are global is data"},
    {"DecoderMaskedSelfAttention", "a cache whose keys are in the order of one processor's registers"},
    {"DecoderAttention", "whether there is a cache is an operand"},
    {"DynamicQuantizeLSTM", "its state is rounded to 8 bits in every step, by a scale of that step"},
    {"AttnLSTM", "attention inside each step of an LSTM"},
    {"MaxpoolWithMask", "the reference says nothing of the mask: it is for internal use"},
    {"WordConvEmbedding", "the length of a word is data"},
};
GANTRY_TABLE(kMicrosoft, kRefused, refuse, since(1), to(tflite))

}  // namespace
}  // namespace transformer
