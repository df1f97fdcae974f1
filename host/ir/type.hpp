// Element types, dimensions and tensor types of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// Element type. The numbers are those of gantry_dtype in the plugin ABI and never change.
enum class DType : std::uint8_t {
  undefined = 0,
  float32 = 1,
  float16 = 2,
  float64 = 3,
  bfloat16 = 4,
  int8 = 5,
  int16 = 6,
  int32 = 7,
  int64 = 8,
  uint8 = 9,
  uint16 = 10,
  uint32 = 11,
  uint64 = 12,
  boolean = 13,
  string = 14,
  complex64 = 15,
  complex128 = 16,
  int4 = 17,   // two a byte, low nibble first
  uint4 = 18,  // two a byte, low nibble first
};

/// Short name as the text form writes it: f32, f16, f64, bf16, i8 ... u64, bool, str, c64, c128, i4, u4, "?".
std::string_view dtype_name(DType t);
std::optional<DType> dtype_from_name(std::string_view name);
/// Bits an element occupies in a packed buffer; 0 for undefined and string.
unsigned dtype_bits(DType t);
bool is_float(DType t);
bool is_integer(DType t);  // signed or unsigned, not boolean

/// One dimension: a size, or unknown with an optional symbol (ONNX dim_param). Equal symbols are equal sizes.
struct Dim {
  std::int64_t size = -1;  // >= 0 if known, -1 if not
  std::string symbol;      // only where size is unknown; "" = anonymous

  Dim() = default;
  Dim(std::int64_t n) : size(n) {}  // NOLINT: a number is a dimension
  static Dim named(std::string_view s) {
    Dim d;
    d.symbol = s;
    return d;
  }
  bool known() const { return size >= 0; }
  bool operator==(const Dim&) const = default;
};

/// Type of a value: element type and, where known, shape.
struct Type {
  DType dtype = DType::undefined;
  bool ranked = false;
  std::vector<Dim> dims;  // empty unless ranked

  static Type of(DType t, const std::vector<std::int64_t>& sizes);  // -1 = unknown
  static Type unranked(DType t) {
    Type r;
    r.dtype = t;
    return r;
  }

  std::size_t rank() const { return dims.size(); }
  bool is_static() const;                   // ranked and every dimension known
  std::vector<std::int64_t> sizes() const;  // -1 where unknown
  /// Number of elements if static.
  std::optional<std::int64_t> elements() const;
  std::string str() const;  // f32[1,N,?] or f32[*] if unranked
  bool operator==(const Type&) const = default;
};

/// Number of bytes of `n` packed elements (sub-byte types round up), or nullopt on overflow or a type without a size.
std::optional<std::uint64_t> packed_bytes(DType t, std::uint64_t n);
/// Product of sizes; nullopt if one is negative or the product overflows int64.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& dims);

}  // namespace gantry
