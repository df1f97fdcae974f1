#include "host/formats/tflite/types.hpp"

#include <cstring>
#include <limits>

#include "host/formats/tflite/schema.hpp"

namespace gantry::tflite_format {
namespace {

struct Pair {
  DType dtype;
  std::string_view name;
};
constexpr Pair kTypes[] = {
    {DType::float32, "FLOAT32"},       {DType::float16, "FLOAT16"}, {DType::float64, "FLOAT64"},
    {DType::bfloat16, "BFLOAT16"},     {DType::int8, "INT8"},       {DType::int16, "INT16"},
    {DType::int32, "INT32"},           {DType::int64, "INT64"},     {DType::uint8, "UINT8"},
    {DType::uint16, "UINT16"},         {DType::uint32, "UINT32"},   {DType::uint64, "UINT64"},
    {DType::boolean, "BOOL"},          {DType::string, "STRING"},   {DType::complex64, "COMPLEX64"},
    {DType::complex128, "COMPLEX128"}, {DType::int4, "INT4"},       {DType::uint4, "UINT4"},
};

void append_int32(std::string& s, std::uint64_t v) {
  const auto n = static_cast<std::uint32_t>(v);
  for (int shift = 0; shift < 32; shift += 8) s += static_cast<char>(n >> shift & 0xff);
}

std::uint64_t read_uint32(std::span<const std::byte> bytes, std::uint64_t at) {
  std::uint32_t n = 0;
  std::memcpy(&n, bytes.data() + at, sizeof n);
  return n;
}

}  // namespace

std::optional<std::int8_t> tensor_type(DType t) {
  for (const Pair& p : kTypes) {
    if (p.dtype == t) return static_cast<std::int8_t>(Schema::get().tensor_types().find(p.name));
  }
  return std::nullopt;
}

DType dtype(std::int8_t tensor_type) {
  const std::string_view name = tensor_type_name(tensor_type);
  for (const Pair& p : kTypes) {
    if (p.name == name) return p.dtype;
  }
  return DType::undefined;
}

std::string_view tensor_type_name(std::int8_t tensor_type) {
  const auto& names = Schema::get().tensor_types().values;
  const auto i = static_cast<std::size_t>(tensor_type);
  return tensor_type >= 0 && i < names.size() ? names[i] : std::string_view();
}

std::optional<std::string> pack_strings(std::span<const std::string> values) {
  std::uint64_t offset = 4 * (values.size() + 2);
  std::string out;
  append_int32(out, values.size());
  append_int32(out, offset);
  for (const std::string& v : values) {
    offset += v.size();
    append_int32(out, offset);
  }
  if (offset > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  for (const std::string& v : values) out += v;
  return out;
}

std::optional<std::uint64_t> string_count(std::span<const std::byte> bytes) {
  if (bytes.size() < 8) return std::nullopt;
  const std::uint64_t count = read_uint32(bytes, 0);
  if (count > bytes.size() / 4 || 4 * (count + 2) > bytes.size()) return std::nullopt;
  std::uint64_t end = 4 * (count + 2);
  for (std::uint64_t i = 0; i <= count; ++i) {
    const std::uint64_t offset = read_uint32(bytes, 4 + 4 * i);
    if (offset < end || offset > bytes.size()) return std::nullopt;
    end = offset;
  }
  return count;
}

std::optional<std::vector<std::string>> unpack_strings(std::span<const std::byte> bytes) {
  const auto count = string_count(bytes);
  if (!count) return std::nullopt;
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const std::uint64_t begin = read_uint32(bytes, 4 + 4 * i), end = read_uint32(bytes, 8 + 4 * i);
    values.emplace_back(reinterpret_cast<const char*>(bytes.data()) + begin, end - begin);
  }
  return values;
}

}  // namespace gantry::tflite_format
