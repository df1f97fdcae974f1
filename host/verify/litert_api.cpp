#include "host/verify/litert_api.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gantry::litert {

namespace {

/// By the value of TfLiteType.
constexpr DType kElements[] = {DType::undefined, DType::float32, DType::int32,      DType::uint8,     DType::int64,
                               DType::undefined, DType::boolean, DType::int16,      DType::complex64, DType::int8,
                               DType::float16,   DType::float64, DType::complex128, DType::uint64,    DType::undefined,
                               DType::undefined, DType::uint32,  DType::uint16,     DType::undefined, DType::bfloat16};

constexpr std::pair<int, const char*> kStatuses[] = {{1, "invalid argument"},
                                                     {2, "out of memory"},
                                                     {3, "runtime failure"},
                                                     {4, "missing input tensor"},
                                                     {5, "unsupported"},
                                                     {6, "not found"},
                                                     {8, "wrong version"},
                                                     {500, "the file cannot be read"},
                                                     {501, "invalid flatbuffer"},
                                                     {504, "compilation failed"},
                                                     {1000, "index out of bounds"},
                                                     {1001, "invalid type"},
                                                     {1002, "invalid graph"}};

}  // namespace

Status bind(const Library& library, Api& api) {
  GANTRY_TRY(library.bind("LiteRtCreateEnvironment", api.create_environment));
  GANTRY_TRY(library.bind("LiteRtDestroyEnvironment", api.destroy_environment));
  GANTRY_TRY(library.bind("LiteRtCreateModelFromFile", api.create_model));
  GANTRY_TRY(library.bind("LiteRtCreateModelFromBuffer", api.create_model_of));
  GANTRY_TRY(library.bind("LiteRtDestroyModel", api.destroy_model));
  GANTRY_TRY(library.bind("LiteRtCreateOptions", api.create_options));
  GANTRY_TRY(library.bind("LiteRtDestroyOptions", api.destroy_options));
  GANTRY_TRY(library.bind("LiteRtSetOptionsHardwareAccelerators", api.set_accelerators));
  GANTRY_TRY(library.bind("LiteRtCreateOpaqueOptions", api.create_opaque));
  GANTRY_TRY(library.bind("LiteRtAddOpaqueOptions", api.add_opaque));
  GANTRY_TRY(library.bind("LiteRtCreateCompiledModel", api.create_compiled));
  GANTRY_TRY(library.bind("LiteRtDestroyCompiledModel", api.destroy_compiled));
  GANTRY_TRY(library.bind("LiteRtCompiledModelGetErrorMessages", api.error_messages));
  GANTRY_TRY(library.bind("LiteRtGetNumModelSignatures", api.signature_count));
  GANTRY_TRY(library.bind("LiteRtGetModelSignature", api.signature));
  GANTRY_TRY(library.bind("LiteRtGetSignatureKey", api.signature_key));
  GANTRY_TRY(library.bind("LiteRtGetNumSignatureInputs", api.input_count));
  GANTRY_TRY(library.bind("LiteRtGetNumSignatureOutputs", api.output_count));
  GANTRY_TRY(library.bind("LiteRtGetSignatureInputName", api.input_name));
  GANTRY_TRY(library.bind("LiteRtGetSignatureOutputName", api.output_name));
  GANTRY_TRY(library.bind("LiteRtGetSignatureInputTensorByIndex", api.input_tensor));
  GANTRY_TRY(library.bind("LiteRtGetSignatureOutputTensorByIndex", api.output_tensor));
  GANTRY_TRY(library.bind("LiteRtGetRankedTensorType", api.ranked_type));
  GANTRY_TRY(library.bind("LiteRtCompiledModelResizeInputTensor", api.resize_input));
  GANTRY_TRY(library.bind("LiteRtGetCompiledModelOutputTensorLayouts", api.output_layouts));
  GANTRY_TRY(library.bind("LiteRtGetCompiledModelInputBufferRequirements", api.input_requirements));
  GANTRY_TRY(library.bind("LiteRtGetCompiledModelOutputBufferRequirements", api.output_requirements));
  GANTRY_TRY(library.bind("LiteRtCreateManagedTensorBufferFromRequirements", api.create_buffer));
  GANTRY_TRY(library.bind("LiteRtCreateManagedTensorBuffer", api.create_sized_buffer));
  GANTRY_TRY(library.bind("LiteRtDestroyTensorBuffer", api.destroy_buffer));
  GANTRY_TRY(library.bind("LiteRtGetTensorBufferPackedSize", api.buffer_size));
  GANTRY_TRY(library.bind("LiteRtLockTensorBuffer", api.lock_buffer));
  GANTRY_TRY(library.bind("LiteRtUnlockTensorBuffer", api.unlock_buffer));
  return library.bind("LiteRtRunCompiledModel", api.run);
}

std::string status_text(int status) {
  for (const auto& [value, text] : kStatuses) {
    if (value == status) return text;
  }
  return "status " + std::to_string(status);
}

Type to_type(const RankedType& t) {
  const bool known = t.element >= 0 && t.element < static_cast<std::int32_t>(std::size(kElements));
  std::vector<std::int64_t> sizes;
  for (unsigned i = 0; i < t.layout.rank() && i < kMaxRank; ++i) sizes.push_back(std::max(t.layout.dims[i], -1));
  return Type::of(known ? kElements[t.element] : DType::undefined, sizes);
}

void set_dims(Layout& layout, const std::vector<std::int64_t>& dims) {
  layout = {};
  layout.rank_and_flags = static_cast<std::uint32_t>(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) layout.dims[i] = static_cast<std::int32_t>(dims[i]);
}

}  // namespace gantry::litert
