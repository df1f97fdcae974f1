#include "host/ir/text_quote.hpp"

#include <algorithm>
#include <cstddef>

namespace gantry::detail {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length of the UTF-8 sequence at `s`, 0 if there is none (overlong forms and surrogates are none).
std::size_t utf8_length(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = at(0);
  if (c < 0x80) return 1;
  const std::size_t n = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (n == 0 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (c == 0xE0 && at(1) < 0xA0) || (c == 0xF0 && at(1) < 0x90);
  const bool surrogate = c == 0xED && at(1) >= 0xA0;
  const bool too_large = c == 0xF4 && at(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : n;
}

}  // namespace

bool is_identifier(std::string_view s) {
  return !s.empty() && is_letter(s[0]) && std::ranges::all_of(s, [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_plain_name(std::string_view s) {
  return !s.empty() &&
         std::ranges::all_of(s, [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '-'; });
}

bool is_utf8(std::string_view s) {
  while (!s.empty()) {
    const std::size_t n = utf8_length(s);
    if (n == 0) return false;
    s.remove_prefix(n);
  }
  return true;
}

std::string quoted(std::string_view s) {
  static constexpr char kHex[] = "0123456789abcdef";
  const bool escape_high = !is_utf8(s);
  std::string out = "\"";
  out.reserve(s.size() + 2);
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (u < 0x20 || u == 0x7f || (escape_high && u >= 0x80)) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

}  // namespace gantry::detail
