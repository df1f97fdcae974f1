// Element types, small helpers, and how a call into a plugin reaches the host.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "gantry/abi.h"

namespace gantry::sdk {

enum class DType : gantry_dtype {
  undefined = GANTRY_UNDEFINED,
  float32 = GANTRY_FLOAT32,
  float16 = GANTRY_FLOAT16,
  float64 = GANTRY_FLOAT64,
  bfloat16 = GANTRY_BFLOAT16,
  int8 = GANTRY_INT8,
  int16 = GANTRY_INT16,
  int32 = GANTRY_INT32,
  int64 = GANTRY_INT64,
  uint8 = GANTRY_UINT8,
  uint16 = GANTRY_UINT16,
  uint32 = GANTRY_UINT32,
  uint64 = GANTRY_UINT64,
  boolean = GANTRY_BOOL,
  string = GANTRY_STRING,
  complex64 = GANTRY_COMPLEX64,
  complex128 = GANTRY_COMPLEX128,
  int4 = GANTRY_INT4,
  uint4 = GANTRY_UINT4,
};

inline bool is_float(DType t) {
  return t == DType::float32 || t == DType::float16 || t == DType::float64 || t == DType::bfloat16;
}
inline bool is_integer(DType t) {
  return (t >= DType::int8 && t <= DType::uint64) || t == DType::int4 || t == DType::uint4;
}
/// Name as messages write it: float32, bool...
inline std::string_view name_of(DType t) {
  constexpr std::string_view names[] = {
      "undefined", "float32", "float16", "float64", "bfloat16", "int8",      "int16",      "int32", "int64", "uint8",
      "uint16",    "uint32",  "uint64",  "bool",    "string",   "complex64", "complex128", "int4",  "uint4"};
  const auto i = static_cast<std::size_t>(t);
  return i < std::size(names) ? names[i] : "?";
}
/// The DType of a C++ arithmetic type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::float32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::float64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? DType::int8 : sizeof(T) == 2 ? DType::int16 : sizeof(T) == 4 ? DType::int32 : DType::int64;
  else
    return sizeof(T) == 1   ? DType::uint8
           : sizeof(T) == 2 ? DType::uint16
           : sizeof(T) == 4 ? DType::uint32
                            : DType::uint64;
}

using Dims = std::vector<std::int64_t>;  // -1 = unknown

/// Thrown by decline().
struct Declined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The parts as one string, e.g. cat("rank ", 7, " is above ", 6).
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream s;
  (s << ... << parts);
  return s.str();
}
inline std::string text(const Dims& d) {
  std::string s = "[";
  for (std::size_t i = 0; i < d.size(); ++i) s += (i ? "," : "") + (d[i] < 0 ? "?" : std::to_string(d[i]));
  return s + "]";
}

/// This form cannot be handled, and why: what a person reads, e.g. decline("kernel_shape of rank ", 4).
template <class... Parts>
[[noreturn]] void decline(const Parts&... reason) {
  throw Declined(cat(reason...));
}
template <class... Parts>
void decline_if(bool condition, const Parts&... reason) {
  if (condition) decline(reason...);
}

inline gantry_str view(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view view(gantry_str s) { return {s.data ? s.data : "", static_cast<std::size_t>(s.size)}; }
inline gantry_ints view(const Dims& d) { return {d.data(), d.size()}; }

/// One call of the host into the plugin. Everything else here borrows it.
struct Call {
  const gantry_host* host;
  gantry_context* context;
  gantry_node node;

  /// Throws for a status that is not GANTRY_OK; the host already has the text of an error that it found.
  void check(gantry_status s) const {
    if (s == GANTRY_DECLINED) throw Declined("");
    if (s != GANTRY_OK) throw std::runtime_error("");
  }
  void note(std::string_view text) const { (void)host->message(context, GANTRY_NOTE, view(text)); }
  void warn(std::string_view text) const { (void)host->message(context, GANTRY_WARNING, view(text)); }

  /// An option that this plugin declared.
  template <class T>
  T option(std::string_view name) const {
    gantry_attr a{};
    a.struct_size = sizeof a;
    check(host->option(context, view(name), &a));
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(a.f);
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(a.i);
    else
      return T(view(a.s));
  }
};

}  // namespace gantry::sdk
