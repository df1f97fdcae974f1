// Small helpers of the subcommands: numbers and shapes from the command line, sizes for people, files written whole.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include "host/cli/invocation.hpp"
#include "host/formats/temporary_files.hpp"

namespace gantry::cli {
namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

template <class T>
Result<T> parse_number(std::string_view flag, std::string_view text, std::string_view kind) {
  T number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size())
    return error(Code::usage,
                 std::string(flag) + " wants " + std::string(kind) + ", not \"" + std::string(text) + "\"");
  return number;
}

Diagnostic bad_shape(const std::string& text, const std::string& why) {
  return error(Code::usage, "--shape " + text + ": " + why).try_this("for instance --shape image=1,3,224,224");
}

Result<std::vector<std::int64_t>> parse_dims(const std::string& whole, std::string_view text) {
  std::vector<std::int64_t> dims;
  if (text.empty()) return dims;  // a scalar
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto number = parse_number<std::int64_t>("--shape", word, "an integer");
    if (!number.ok() || *number < 0) return bad_shape(whole, "\"" + std::string(word) + "\" is not a dimension");
    dims.push_back(*number);
    if (comma == std::string_view::npos) return dims;
    text.remove_prefix(comma + 1);
  }
}

Diagnostic not_written(const std::filesystem::path& path, int number) {
  return error(Code::output_not_written, "cannot write " + path.string() + ": " + std::strerror(number))
      .at(path.string());
}

Status write_bytes(const std::filesystem::path& to, const std::filesystem::path& named, std::string_view text) {
  errno = 0;
  std::ofstream file(to, std::ios::binary | std::ios::trunc);
  if (!file.is_open()) return not_written(named, errno);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file.fail() ? Status(not_written(named, errno)) : Status{};
}

/// Bytes of the UTF-8 character that the text begins with; 0 if it is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  const std::size_t n = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool beyond = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : n;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = character(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const bool control = n == 1 && ((byte < 0x20 && byte != '\n') || byte == 0x7f);
    const bool control_too = n == 2 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;  // U+0080 to U+009F
    if (n == 0 || control || control_too) {
      for (const char c : text.substr(0, std::max<std::size_t>(n, 1))) {
        result += "\\x";
        result += digits[static_cast<unsigned char>(c) >> 4];
        result += digits[static_cast<unsigned char>(c) & 15];
      }
    } else {
      result += text.substr(0, n);
    }
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return result;
}

Status write_text_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code ec;
  const auto type = std::filesystem::status(path, ec).type();
  if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found)
    return write_bytes(path, path, text);
  std::filesystem::path target = path;  // a link stays one
  if (std::filesystem::is_symlink(path, ec) && type == std::filesystem::file_type::regular)
    target = std::filesystem::canonical(path, ec);
  std::filesystem::path aside = target;
  aside += ".tmp" + std::to_string(getpid());
  const TemporaryName registered(aside);
  Status written = write_bytes(aside, path, text);
  if (written.ok()) {
    std::filesystem::rename(aside, target, ec);
    if (!ec) return {};
    written = not_written(path, ec.value());
  }
  std::filesystem::remove(aside, ec);
  return written;
}

Result<Shapes> parse_shapes(const std::vector<std::string>& texts) {
  Shapes shapes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');  // a name may hold one, dimensions never do
    const bool bare = equals == std::string::npos;
    if (!bare && equals == 0) return bad_shape(text, "the name is missing");
    const std::string name = bare ? std::string{} : text.substr(0, equals);
    GANTRY_ASSIGN(std::vector<std::int64_t> dims,
                  parse_dims(text, std::string_view(text).substr(bare ? 0 : equals + 1)));
    if (!shapes.emplace(name, std::move(dims)).second) return bad_shape(text, "the shape of this input is given twice");
  }
  return shapes;
}

Result<std::vector<std::string>> parse_signatures(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    if (name.empty()) return error(Code::usage, "--signatures " + text + ": a name is empty");
    if (std::ranges::find(names, name) != names.end())
      return error(Code::usage, "two signatures are named \"" + name + "\"").try_this("give each a name of its own");
    names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

Result<double> parse_float(std::string_view flag, std::string_view text) {
  return parse_number<double>(flag, text, "a number");
}

Result<std::int64_t> parse_int(std::string_view flag, std::string_view text) {
  return parse_number<std::int64_t>(flag, text, "an integer");
}

}  // namespace gantry::cli
