#include "host/verify/npy.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace gantry {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 64;  // NumPy's own limit

struct Descr {
  const char* code;  // without the byte order
  DType dtype;
  unsigned word;  // bytes that a byte order applies to
};

constexpr Descr kDescrs[] = {{"b1", DType::boolean, 1},   {"i1", DType::int8, 1},       {"i2", DType::int16, 2},
                             {"i4", DType::int32, 4},     {"i8", DType::int64, 8},      {"u1", DType::uint8, 1},
                             {"u2", DType::uint16, 2},    {"u4", DType::uint32, 4},     {"u8", DType::uint64, 8},
                             {"f2", DType::float16, 2},   {"f4", DType::float32, 4},    {"f8", DType::float64, 8},
                             {"c8", DType::complex64, 4}, {"c16", DType::complex128, 8}};

/// What the header says: a Python dictionary of three entries.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Reads just as much of Python's syntax as such a dictionary has.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  /// nullopt if it is no such dictionary.
  std::optional<Header> parse() {
    Header header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':') || !value(*key, header)) return std::nullopt;
      if (!take(',') && !next_is('}')) return std::nullopt;
    }
    return header;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip_space();
    return !rest_.empty() && rest_[0] == c;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> string() {
    const char quote = next_is('"') ? '"' : '\'';
    if (!take(quote)) return std::nullopt;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<std::int64_t> number() {
    skip_space();
    std::int64_t n = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (digits == 18) return std::nullopt;
      n = n * 10 + (rest_[digits] - '0');
    }
    rest_.remove_prefix(digits);
    if (digits == 0) return std::nullopt;
    take('L');  // Python 2
    return n;
  }

  std::optional<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> numbers;
    if (!take('(')) return std::nullopt;
    while (!take(')')) {
      const auto n = number();
      if (!n || numbers.size() == kMaxRank) return std::nullopt;
      numbers.push_back(*n);
      if (!take(',') && !next_is(')')) return std::nullopt;
    }
    return numbers;
  }

  bool value(const std::string& key, Header& header) {
    if (key == "descr") {
      if (next_is('[')) {  // a structure: its text is enough for the message
        header.descr = "a structure";
        const std::size_t end = rest_.rfind(']');
        if (end == std::string_view::npos) return false;
        rest_.remove_prefix(end + 1);
        return true;
      }
      header.descr = string();
      return header.descr.has_value();
    }
    if (key == "fortran_order") {
      header.fortran_order = take_word("True");
      return *header.fortran_order || take_word("False");
    }
    if (key == "shape") {
      header.shape = tuple();
      return header.shape.has_value();
    }
    return false;
  }

  std::string_view rest_;
};

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) n = n << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return n;
}

void swap_words(std::vector<std::byte>& bytes, unsigned word) {
  for (std::size_t i = 0; i + word <= bytes.size(); i += word) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + word));
  }
}

/// From Fortran order (the first index runs fastest) to row-major order.
std::vector<std::byte> to_row_major(const std::vector<std::byte>& source, const std::vector<std::int64_t>& dims,
                                    std::size_t element) {
  std::vector<std::byte> result(source.size());
  std::vector<std::size_t> strides(dims.size()), index(dims.size(), 0);
  std::size_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    strides[i] = stride;
    stride *= static_cast<std::size_t>(dims[i]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < source.size(); to += element) {
    std::memcpy(&result[to], &source[from * element], element);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<std::size_t>(dims[axis])) break;
      from -= strides[axis] * static_cast<std::size_t>(dims[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

Diagnostic malformed(std::string_view place, std::string reason) {
  return error(Code::input_malformed, "not a whole .npy file: " + reason).at(place);
}

/// Tensor of the header's type and shape out of the bytes behind it.
Result<Tensor> read_data(const Header& header, std::span<const std::byte> data, std::string_view place) {
  const std::string& descr = *header.descr;
  const char order = descr.empty() ? '\0' : descr[0];
  const bool known_order = order == '<' || order == '>' || order == '|' || order == '=';
  const auto* found = std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr& d) {
    return known_order && std::string_view(descr).substr(1) == d.code;
  });
  if (found == std::end(kDescrs)) {
    return error(Code::input_type, "the element type '" + descr + "' of a .npy file is not a number's").at(place);
  }
  const auto elements = element_count(*header.shape);
  const auto bytes = elements ? packed_bytes(found->dtype, static_cast<std::uint64_t>(*elements)) : std::nullopt;
  if (!bytes) return malformed(place, "its shape is too large");
  if (*bytes > data.size()) {
    return malformed(place, "its shape needs " + std::to_string(*bytes) + " bytes, but only " +
                                std::to_string(data.size()) + " are there");
  }
  Tensor tensor{found->dtype, *header.shape, {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(*bytes)}};
  if (order == '>' && found->word > 1) swap_words(tensor.bytes, found->word);
  if (found->dtype == DType::boolean) {
    for (std::byte& b : tensor.bytes) b = b == std::byte{0} ? b : std::byte{1};
  }
  if (*header.fortran_order && tensor.dims.size() > 1) {
    tensor.bytes = to_row_major(tensor.bytes, tensor.dims, dtype_bits(tensor.dtype) / 8);
  }
  return tensor;
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  const auto failed = [&](const std::string& reason) {
    return error(Code::input_not_found, "the file cannot be read: " + reason).at(path.string());
  };
  std::error_code ec;
  const std::filesystem::file_status status = std::filesystem::status(path, ec);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return failed("it is no plain file");
  errno = 0;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return failed(std::strerror(errno));
  const auto size = static_cast<std::streamoff>(in.tellg());
  if (size < 0) return failed(std::strerror(errno));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!in) return failed(std::strerror(errno));
  return bytes;
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> file, std::string_view place) {
  if (file.size() < 10 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    return malformed(place, "it does not begin with NumPy's mark");
  }
  const auto version = std::to_integer<unsigned>(file[6]);
  if (version < 1 || version > 3) return malformed(place, "version " + std::to_string(version) + " is not known");
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (file.size() < start) return malformed(place, "it ends in its header");
  const std::uint64_t length = little_endian(file.subspan(8, length_bytes));
  if (length > file.size() - start) return malformed(place, "it ends in its header");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + start, length);
  const auto header = HeaderParser(text).parse();
  if (!header || !header->descr || !header->fortran_order || !header->shape) {
    return malformed(place, "its header is not {'descr': ..., 'fortran_order': ..., 'shape': ...}");
  }
  return read_data(*header, file.subspan(start + length), place);
}

Result<std::vector<std::byte>> to_npy(const Tensor& tensor) {
  const auto* found =
      std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr& d) { return d.dtype == tensor.dtype; });
  if (found == std::end(kDescrs)) {
    return error(Code::output_format,
                 "a .npy file cannot hold elements of type " + std::string(dtype_name(tensor.dtype)));
  }
  std::string text = std::string("{'descr': '") + (found->word > 1 ? '<' : '|') + found->code +
                     "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) text += (i ? ", " : "") + std::to_string(tensor.dims[i]);
  text += tensor.dims.size() == 1 ? ",), }" : "), }";
  text.append(63 - (kMagic.size() + 4 + text.size()) % 64, ' ');  // the data begin at a multiple of 64
  text += '\n';
  std::string head(kMagic);
  head += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  head += text;
  std::vector<std::byte> file(head.size() + tensor.bytes.size());
  std::memcpy(file.data(), head.data(), head.size());
  std::copy(tensor.bytes.begin(), tensor.bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(head.size()));
  return file;
}

Result<std::vector<NamedTensor>> read_numpy(const std::filesystem::path& path) {
  GANTRY_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
  if (bytes.size() >= 2 && bytes[0] == std::byte{'P'} && bytes[1] == std::byte{'K'}) {
    return parse_npz(bytes, path.string());
  }
  GANTRY_ASSIGN(Tensor tensor, parse_npy(bytes, path.string()));
  return std::vector<NamedTensor>{{path.stem().string(), std::move(tensor)}};
}

}  // namespace gantry
