#include "host/formats/onnx/tensor.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

static_assert(std::endian::native == std::endian::little, "payloads are used as they lie in the file");

namespace {

using onnx::TensorProto;

Diagnostic malformed(std::string_view what, std::string_view why) {
  return error(Code::input_malformed, cat(what, " ", why));
}

Result<std::vector<std::int64_t>> dims_of(const google::protobuf::RepeatedField<std::int64_t>& dims,
                                          std::string_view what) {
  std::vector<std::int64_t> out(dims.begin(), dims.end());
  for (const std::int64_t d : out) {
    if (d < 0) return malformed(what, cat("has a dimension of negative size, ", d));
  }
  if (!element_count(out)) return malformed(what, "has more elements than can be counted");
  return out;
}

Result<std::uint64_t> bytes_needed(DType dtype, const std::vector<std::int64_t>& dims, std::string_view what) {
  const auto bytes = packed_bytes(dtype, static_cast<std::uint64_t>(*element_count(dims)));
  if (!bytes) return malformed(what, "has more bytes than can be counted");
  return *bytes;
}

std::span<const std::byte> as_bytes(std::string_view s) {
  return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}

Diagnostic wrong_size(std::string_view what, std::uint64_t have, std::uint64_t need, std::string_view unit) {
  return malformed(what, cat("has ", have, " ", unit, " of data, but its type and dimensions need ", need));
}

// `count` numbers of the wider type that the message has, narrowed to T's bits, as ONNX stores small integers.
template <class T, class Numbers>
std::vector<std::byte> narrowed(const Numbers& numbers) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(numbers.size()) * sizeof(T));
  std::byte* out = bytes.data();
  for (const auto number : numbers) {
    const T value = static_cast<T>(number);
    std::memcpy(out, &value, sizeof value);
    out += sizeof value;
  }
  return bytes;
}

// The data of the typed fields (float_data and so on) as packed bytes; which field holds a type is ONNX's rule.
std::vector<std::byte> typed_data(const TensorProto& tensor, DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64:
      return narrowed<float>(tensor.float_data());
    case DType::float64:
    case DType::complex128:
      return narrowed<double>(tensor.double_data());
    case DType::int64:
      return narrowed<std::int64_t>(tensor.int64_data());
    case DType::uint32:
      return narrowed<std::uint32_t>(tensor.uint64_data());
    case DType::uint64:
      return narrowed<std::uint64_t>(tensor.uint64_data());
    case DType::int32:
      return narrowed<std::int32_t>(tensor.int32_data());
    case DType::float16:
    case DType::bfloat16:
    case DType::int16:
    case DType::uint16:
      return narrowed<std::uint16_t>(tensor.int32_data());
    case DType::boolean:
      return narrowed<bool>(tensor.int32_data());
    case DType::int8:
    case DType::uint8:
    case DType::int4:  // a number of the field is a byte, of two elements
    case DType::uint4:
      return narrowed<std::uint8_t>(tensor.int32_data());
    case DType::undefined:
    case DType::string:
      break;
  }
  return {};
}

// How many of the fields that may hold data do.
int data_fields(const TensorProto& t, bool has_payload) {
  return int{has_payload} + int{!t.raw_data().empty()} + int{!t.float_data().empty()} + int{!t.int32_data().empty()} +
         int{!t.string_data().empty()} + int{!t.int64_data().empty()} + int{!t.double_data().empty()} +
         int{!t.uint64_data().empty()};
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size();
}

Result<ExternalPlace> place_of(const TensorProto& tensor, std::string_view what) {
  ExternalPlace place;
  bool has_location = false;
  for (const auto& entry : tensor.external_data()) {
    std::uint64_t number = 0;
    if (entry.key() == "location") {
      place.location = entry.value();
      has_location = true;
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!parse_number(entry.value(), number)) {
        return error(Code::input_external_data, cat(what, " has external data with an unreadable ", entry.key(), ": ",
                                                    quote(entry.value()), " is not a number"));
      }
      if (entry.key() == "offset") {
        place.offset = number;
      } else {
        place.length = number;
      }
    }
  }
  if (!has_location)
    return error(Code::input_external_data, cat(what, " keeps its data in another file, but does not say which"));
  return place;
}

}  // namespace

Result<const Payload*> TensorSource::payload_of(const TensorProto& tensor, std::string_view what) const {
  const Payload* found = nullptr;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() != kPayloadKey) continue;
    std::size_t index = 0;
    if (found || !parse_number(entry.value(), index) || index >= payloads_.size()) {
      return malformed(what, "holds its data twice");
    }
    found = &payloads_[index];
  }
  return found;
}

Result<Constant> TensorSource::from_payload(const Payload& payload, DType dtype, std::vector<std::int64_t> dims,
                                            std::string_view what) const {
  const bool fits = payload.field == static_cast<std::uint32_t>(TensorProto::kRawDataFieldNumber) ||
                    (payload.field == static_cast<std::uint32_t>(TensorProto::kFloatDataFieldNumber)
                         ? dtype == DType::float32 || dtype == DType::complex64
                         : dtype == DType::float64 || dtype == DType::complex128);
  if (!fits) return malformed(what, cat("holds its data in a field that is not for ", dtype_name(dtype)));
  GANTRY_ASSIGN(const std::uint64_t need, bytes_needed(dtype, dims, what));
  if (payload.size != need) return wrong_size(what, payload.size, need, "bytes");
  return Constant::view(dtype, std::move(dims), owner_, file_.subspan(payload.offset, payload.size));
}

Result<Constant> TensorSource::from_external(const TensorProto& tensor, DType dtype, std::vector<std::int64_t> dims,
                                             std::string_view what) {
  GANTRY_ASSIGN(const ExternalPlace place, place_of(tensor, what));
  GANTRY_ASSIGN(const std::uint64_t need, bytes_needed(dtype, dims, what));
  if (need == 0) return Constant::own(dtype, std::move(dims), {});
  GANTRY_ASSIGN(const ExternalBytes found, external_.find(place, need, what));
  return Constant::view(dtype, std::move(dims), found.owner, found.bytes);
}

Result<Constant> TensorSource::constant(const TensorProto& tensor, std::string_view what) {
  GANTRY_ASSIGN(std::vector<std::int64_t> dims, dims_of(tensor.dims(), what));
  if (tensor.data_type() == TensorProto::UNDEFINED) return malformed(what, "has no element type");
  const DType dtype = dtype_of(tensor.data_type());
  if (dtype == DType::undefined) {
    return error(Code::unsupported_type, cat(what, " has elements of type ", onnx_dtype_name(tensor.data_type()),
                                             ", which Gantry does not handle"));
  }
  if (tensor.has_segment()) return malformed(what, "is a segment of a larger tensor, which ONNX does not define");

  GANTRY_ASSIGN(const Payload* const payload, payload_of(tensor, what));
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  const int fields = data_fields(tensor, payload != nullptr) + int{external};
  const auto count = static_cast<std::uint64_t>(*element_count(dims));
  if (fields > 1) return malformed(what, "holds its data more than once");
  if (external && dtype != DType::string) return from_external(tensor, dtype, std::move(dims), what);
  if (payload && dtype != DType::string) return from_payload(*payload, dtype, std::move(dims), what);

  if (dtype == DType::string) {
    if (static_cast<std::uint64_t>(tensor.string_data_size()) != count) {
      return wrong_size(what, static_cast<std::uint64_t>(tensor.string_data_size()), count, "strings");
    }
    return Constant::strings(std::move(dims), {tensor.string_data().begin(), tensor.string_data().end()});
  }
  GANTRY_ASSIGN(const std::uint64_t need, bytes_needed(dtype, dims, what));
  std::vector<std::byte> bytes;
  if (tensor.raw_data().empty()) {
    bytes = typed_data(tensor, dtype);
  } else {
    const auto raw = as_bytes(tensor.raw_data());
    bytes.assign(raw.begin(), raw.end());
  }
  if (bytes.empty() && fields == 1 && need != 0) {
    return malformed(what, cat("holds its data in a field that is not for ", dtype_name(dtype)));
  }
  if (bytes.size() != need) return wrong_size(what, bytes.size(), need, "bytes");
  return Constant::own(dtype, std::move(dims), std::move(bytes));
}

namespace {

constexpr std::uint64_t kMostDense = std::uint64_t{256}
                                     << 20;  // bytes in all: a small file must not ask for endless memory

// Linear index of the i-th element; `indices` has one number an element, or one for every axis.
Result<std::uint64_t> linear_index(const std::vector<std::int64_t>& indices, std::size_t i,
                                   const std::vector<std::int64_t>& dims, bool linear, std::string_view what) {
  const std::vector<std::int64_t> whole{*element_count(dims)};
  const std::vector<std::int64_t>& extents = linear ? whole : dims;
  std::int64_t index = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const std::int64_t at = indices[i * extents.size() + k];
    if (at < 0 || at >= extents[k]) return malformed(what, cat("has an element outside of its dimensions, at ", at));
    index = index * extents[k] + at;
  }
  return static_cast<std::uint64_t>(index);
}

}  // namespace

Result<Constant> TensorSource::constant(const onnx::SparseTensorProto& sparse, std::string_view what) {
  GANTRY_ASSIGN(std::vector<std::int64_t> dims, dims_of(sparse.dims(), what));
  GANTRY_ASSIGN(const Constant values, constant(sparse.values(), what));
  const unsigned bits = dtype_bits(values.dtype());
  if (bits < 8) return malformed(what, cat("is sparse, which ", dtype_name(values.dtype()), " cannot be"));
  GANTRY_ASSIGN(const std::uint64_t need, bytes_needed(values.dtype(), dims, what));
  dense_bytes_ += std::min(need, kMostDense + 1);
  if (dense_bytes_ > kMostDense) {
    return error(Code::input_too_large, cat(what, " is sparse and would take ", need, " bytes with its zeros"));
  }

  std::vector<std::int64_t> indices;
  const auto count = static_cast<std::size_t>(values.elements());
  bool linear = true;
  if (count != 0) {
    GANTRY_ASSIGN(const Constant positions, constant(sparse.indices(), cat("indices of ", what)));
    linear = positions.dims().size() == 1;
    const std::size_t expected = linear ? count : count * dims.size();
    if (positions.dtype() != DType::int64 || static_cast<std::size_t>(positions.elements()) != expected) {
      return malformed(what, cat("is sparse, but its indices are not ", expected, " numbers of type i64"));
    }
    GANTRY_ASSIGN(indices, positions.read<std::int64_t>());
  }
  std::vector<std::byte> packed(values.byte_size());
  GANTRY_TRY(values.write(packed));
  std::vector<std::byte> dense(need);
  const std::size_t size = bits / 8;
  for (std::size_t i = 0; i < count; ++i) {
    GANTRY_ASSIGN(const std::uint64_t at, linear_index(indices, i, dims, linear, what));
    std::memcpy(dense.data() + at * size, packed.data() + i * size, size);
  }
  return Constant::own(values.dtype(), std::move(dims), std::move(dense));
}

void to_proto(const Constant& constant, bool with_data, TensorProto& tensor) {
  tensor.set_data_type(onnx_number_of(constant.dtype()));
  for (const std::int64_t d : constant.dims()) tensor.add_dims(d);
  if (!with_data) return;
  if (constant.dtype() == DType::string) {
    for (const std::string& s : constant.string_values()) tensor.add_string_data(s);
    return;
  }
  std::string& raw = *tensor.mutable_raw_data();
  raw.resize(constant.byte_size());
  if (!constant.write({reinterpret_cast<std::byte*>(raw.data()), raw.size()}).ok()) raw.clear();
}

}  // namespace gantry::onnx_format
