#include "host/ir/type.hpp"

#include <algorithm>
#include <array>

#include "host/ir/text_quote.hpp"

namespace gantry {
namespace {

struct Row {
  std::string_view name;
  unsigned bits;
};

// Indexed by DType.
constexpr std::array<Row, 19> kRows{{
    {"?", 0},    {"f32", 32}, {"f16", 16},   {"f64", 64}, {"bf16", 16}, {"i8", 8},   {"i16", 16},
    {"i32", 32}, {"i64", 64}, {"u8", 8},     {"u16", 16}, {"u32", 32},  {"u64", 64}, {"bool", 8},
    {"str", 0},  {"c64", 64}, {"c128", 128}, {"i4", 4},   {"u4", 4},
}};

const Row& row(DType t) {
  const auto i = static_cast<std::size_t>(t);
  return kRows[i < kRows.size() ? i : 0];
}

}  // namespace

std::string_view dtype_name(DType t) { return row(t).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto it = std::ranges::find(kRows, name, &Row::name);
  if (it == kRows.end()) return std::nullopt;
  return static_cast<DType>(it - kRows.begin());
}

unsigned dtype_bits(DType t) { return row(t).bits; }

bool is_float(DType t) {
  return t == DType::float32 || t == DType::float16 || t == DType::float64 || t == DType::bfloat16;
}

bool is_integer(DType t) { return (t >= DType::int8 && t <= DType::uint64) || t == DType::int4 || t == DType::uint4; }

Type Type::of(DType t, const std::vector<std::int64_t>& sizes) {
  Type r;
  r.dtype = t;
  r.ranked = true;
  r.dims.reserve(sizes.size());
  for (const std::int64_t n : sizes) r.dims.emplace_back(n < 0 ? -1 : n);
  return r;
}

bool Type::is_static() const { return ranked && std::ranges::all_of(dims, &Dim::known); }

std::vector<std::int64_t> Type::sizes() const {
  std::vector<std::int64_t> r;
  r.reserve(dims.size());
  for (const Dim& d : dims) r.push_back(d.known() ? d.size : -1);
  return r;
}

std::optional<std::int64_t> Type::elements() const {
  if (!is_static()) return std::nullopt;
  return element_count(sizes());
}

std::string Type::str() const {
  std::string s{dtype_name(dtype)};
  if (!ranked) return s + "[*]";
  s += '[';
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) s += ',';
    const Dim& d = dims[i];
    if (d.known()) {
      s += std::to_string(d.size);
    } else if (d.symbol.empty()) {
      s += '?';
    } else {
      s += detail::is_identifier(d.symbol) ? d.symbol : detail::quoted(d.symbol);
    }
  }
  return s + ']';
}

std::optional<std::uint64_t> packed_bytes(DType t, std::uint64_t n) {
  const unsigned bits = dtype_bits(t);
  if (bits == 0) return std::nullopt;
  if (bits < 8) return n / 2 + n % 2;  // int4 and uint4: two a byte
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(n, std::uint64_t{bits / 8}, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& dims) {
  // A zero anywhere makes the product zero; the others must still be valid sizes.
  if (std::ranges::any_of(dims, [](std::int64_t d) { return d < 0; })) return std::nullopt;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t n = 1;
  for (const std::int64_t d : dims) {
    if (__builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  return n;
}

}  // namespace gantry
