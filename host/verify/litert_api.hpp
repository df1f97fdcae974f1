// What is used of LiteRT's C interface (litert/c/*.h of version 2.3): layouts of structures, and functions by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/ir/result.hpp"
#include "host/ir/type.hpp"
#include "host/verify/library.hpp"

namespace gantry::litert {

using Handle = void*;
inline constexpr int kOk = 0;
inline constexpr int kCpu = 1;  // kLiteRtHwAcceleratorCpu
inline constexpr unsigned kMaxRank = 8;
inline constexpr int kHostMemory = 1;  // kLiteRtTensorBufferTypeHostMemory
enum LockMode : int { kRead = 0, kWrite = 1 };
enum LogSeverity : int { kLogError = 3, kLogSilent = 4 };
enum ReporterMode : int { kReportToStderr = 1, kReportToBuffer = 2 };

struct Layout {
  std::uint32_t rank_and_flags = 0;  // 7 bits of rank, then one that says that there are strides
  std::int32_t dims[kMaxRank] = {};  // negative = unknown
  std::uint32_t strides[kMaxRank] = {};

  unsigned rank() const { return rank_and_flags & 0x7f; }
};
static_assert(sizeof(Layout) == 68);

struct RankedType {
  std::int32_t element = 0;
  Layout layout;
};
static_assert(sizeof(RankedType) == 72);

struct EnvironmentOption {
  enum Tag : int { kAutoRegisterAccelerators = 24, kMinLoggerSeverity = 25 };
  std::int32_t tag;
  std::int32_t padding = 0;
  std::int32_t value_type = 2;  // kLiteRtAnyTypeInt
  std::int32_t value_padding = 0;
  std::int64_t value;
};
static_assert(sizeof(EnvironmentOption) == 24);

/// The functions used here. All that return int return a LiteRtStatus.
struct Api {
  int (*create_environment)(int n, const EnvironmentOption*, Handle* environment);
  void (*destroy_environment)(Handle);
  int (*create_model)(Handle environment, const char* path, Handle* model);
  int (*create_model_of)(Handle environment, const void* bytes, std::size_t, Handle* model);  // does not copy them
  void (*destroy_model)(Handle);
  int (*create_options)(Handle* options);
  void (*destroy_options)(Handle);
  int (*set_accelerators)(Handle options, int set);
  int (*create_opaque)(const char* id, void* payload, void (*destroy)(void*), Handle* opaque);
  int (*add_opaque)(Handle options, Handle opaque);  // takes `opaque`
  int (*create_compiled)(Handle environment, Handle model, Handle options, Handle* compiled);
  void (*destroy_compiled)(Handle);
  int (*error_messages)(Handle compiled, char** text);  // to be freed
  int (*signature_count)(Handle model, std::size_t*);
  int (*signature)(Handle model, std::size_t index, Handle* signature);
  int (*signature_key)(Handle signature, const char**);
  int (*input_count)(Handle signature, std::size_t*);
  int (*output_count)(Handle signature, std::size_t*);
  int (*input_name)(Handle signature, std::size_t index, const char**);
  int (*output_name)(Handle signature, std::size_t index, const char**);
  int (*input_tensor)(Handle signature, std::size_t index, Handle* tensor);
  int (*output_tensor)(Handle signature, std::size_t index, Handle* tensor);
  int (*ranked_type)(Handle tensor, RankedType*);
  int (*resize_input)(Handle compiled, std::size_t signature, std::size_t index, const int* dims, std::size_t rank);
  int (*output_layouts)(Handle compiled, std::size_t signature, std::size_t n, Layout*, bool allocate);
  int (*input_requirements)(Handle compiled, std::size_t signature, std::size_t index, Handle* requirements);
  int (*output_requirements)(Handle compiled, std::size_t signature, std::size_t index, Handle* requirements);
  int (*create_buffer)(Handle environment, const RankedType*, Handle requirements, Handle* buffer);
  int (*create_sized_buffer)(Handle environment, int kind, const RankedType*, std::size_t bytes, Handle* buffer);
  void (*destroy_buffer)(Handle);
  int (*buffer_size)(Handle buffer, std::size_t*);
  int (*lock_buffer)(Handle buffer, void** address, int mode);
  int (*unlock_buffer)(Handle buffer);
  int (*run)(Handle compiled, std::size_t signature, std::size_t inputs, Handle*, std::size_t outputs, Handle*);
};

/// Errors: verify_runtime, naming the function that the library lacks.
Status bind(const Library& library, Api& api);

/// LiteRtStatus in words; the library does not export its own.
std::string status_text(int status);

/// A handle and what destroys it.
struct Destroy {
  void (*function)(Handle) = nullptr;
  void operator()(void* h) const { function(h); }
};
using Owned = std::unique_ptr<void, Destroy>;

/// Element type and dimensions; DType::undefined for strings, resources, variants and types of less than 8 bits.
Type to_type(const RankedType& type);
/// `dims` has kMaxRank entries at most, each of 32 bits.
void set_dims(Layout& layout, const std::vector<std::int64_t>& dims);

}  // namespace gantry::litert
