#include "host/verify/compare.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "host/ir/float16.hpp"

namespace gantry {

namespace {

template <class T>
T load(const std::vector<std::byte>& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

using Number = std::complex<double>;

/// Element i as a number; int64 and uint64 may be rounded.
Number element(const Tensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::float32:
      return load<float>(t.bytes, i);
    case DType::float16:
      return f16_to_f32(load<std::uint16_t>(t.bytes, i));
    case DType::float64:
      return load<double>(t.bytes, i);
    case DType::bfloat16:
      return bf16_to_f32(load<std::uint16_t>(t.bytes, i));
    case DType::int8:
      return load<std::int8_t>(t.bytes, i);
    case DType::int16:
      return load<std::int16_t>(t.bytes, i);
    case DType::int32:
      return load<std::int32_t>(t.bytes, i);
    case DType::int64:
      return static_cast<double>(load<std::int64_t>(t.bytes, i));
    case DType::uint8:
      return load<std::uint8_t>(t.bytes, i);
    case DType::uint16:
      return load<std::uint16_t>(t.bytes, i);
    case DType::uint32:
      return load<std::uint32_t>(t.bytes, i);
    case DType::uint64:
      return static_cast<double>(load<std::uint64_t>(t.bytes, i));
    case DType::boolean:
      return load<std::uint8_t>(t.bytes, i) != 0 ? 1 : 0;
    case DType::complex64:
      return load<std::complex<float>>(t.bytes, i);
    case DType::complex128:
      return load<std::complex<double>>(t.bytes, i);
    default:
      return std::numeric_limits<double>::quiet_NaN();  // excluded before
  }
}

bool is_nan(const Number& n) { return std::isnan(n.real()) || std::isnan(n.imag()); }

/// |a - b|: 0 if equal or both NaN, infinity if that cannot be said as a number.
double distance(const Number& a, const Number& b) {
  if (a == b || (is_nan(a) && is_nan(b))) return 0;
  const double d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

double distance_at(const Tensor& a, const Tensor& b, std::size_t i) {
  if (a.dtype == b.dtype && (a.dtype == DType::int64 || a.dtype == DType::uint64)) {
    const auto x = load<std::uint64_t>(a.bytes, i), y = load<std::uint64_t>(b.bytes, i);
    const bool less = a.dtype == DType::int64 ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) : x < y;
    return static_cast<double>(less ? y - x : x - y);
  }
  return distance(element(a, i), element(b, i));
}

std::string number_text(const Number& n) {
  char text[64];
  if (n.imag() == 0) {
    std::snprintf(text, sizeof text, "%.7g", n.real());
  } else {
    std::snprintf(text, sizeof text, "%.7g%+.7gi", n.real(), n.imag());
  }
  return text;
}

/// The indices of element i, as [1,0,3].
std::string index_text(const std::vector<std::int64_t>& dims, std::size_t i) {
  std::string text;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(dims[axis]);
    text = std::to_string(i % size) + (text.empty() ? "" : ",") + text;
    i /= size;
  }
  return "[" + text + "]";
}

bool comparable(const Tensor& t) {
  const auto elements = element_count(t.dims);
  return dtype_bits(t.dtype) >= 8 && elements &&
         packed_bytes(t.dtype, static_cast<std::uint64_t>(*elements)) == t.bytes.size();
}

}  // namespace

OutputComparison compare(std::string name, const Tensor& reference, const Tensor& candidate, double atol, double rtol) {
  OutputComparison result;
  result.name = std::move(name);
  const double infinity = std::numeric_limits<double>::infinity();
  if (reference.dims != candidate.dims || !comparable(reference) || !comparable(candidate)) {
    result.max_abs = result.max_rel = infinity;
    result.note = candidate.type_text() + ", but the reference gives " + reference.type_text();
    return result;
  }
  if (reference.dtype != candidate.dtype) {
    result.note = candidate.type_text() + ", while the reference gives " + reference.type_text();
  }
  const auto elements = static_cast<std::size_t>(*element_count(reference.dims));
  std::size_t different = 0, worst = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double d = distance_at(candidate, reference, i);
    if (d == 0) continue;
    const double size = std::abs(element(reference, i));
    if (d > result.max_abs) {
      result.max_abs = d;
      worst = i;
    }
    if (size > atol && std::isfinite(size)) result.max_rel = std::max(result.max_rel, d / size);
    const double allowed = atol + (rtol == 0 ? 0 : rtol * size);
    if (!(d <= allowed && std::isfinite(d))) ++different;
  }
  result.ok = different == 0;
  if (!result.ok) {
    result.note += (result.note.empty() ? "" : "; ") + std::to_string(different) + " of " + std::to_string(elements) +
                   " elements differ, most at " + index_text(reference.dims, worst) + ": " +
                   number_text(element(candidate, worst)) + ", not " + number_text(element(reference, worst));
  }
  return result;
}

}  // namespace gantry
