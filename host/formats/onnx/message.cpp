#include "host/formats/onnx/message.hpp"

#include <algorithm>

namespace gantry::onnx_format {

namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7F; }

// Bytes of the UTF-8 character that s begins with; 0 if it begins with none.
std::size_t character(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > s.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned char second = byte(1);  // too long a form, surrogates, beyond the last code point
  const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

}  // namespace

bool is_text(std::string_view s) {
  while (!s.empty()) {
    const std::size_t length = character(s);
    if (length == 0 || s[0] == '\0') return false;
    s.remove_prefix(length);
  }
  return true;
}

std::string as_text(std::string_view s) {
  std::string text;
  text.reserve(s.size());
  while (!s.empty()) {
    const std::size_t length = character(s);
    const bool wrong = length == 0 || s[0] == '\0';
    text += wrong ? "?" : s.substr(0, length);
    s.remove_prefix(wrong ? 1 : length);
  }
  return text;
}

std::string printable(std::string_view s) {
  std::string text = as_text(s);
  std::ranges::replace_if(text, [](char c) { return is_control(static_cast<unsigned char>(c)); }, '?');
  return text;
}

std::string quote(std::string_view name) {
  constexpr std::size_t kMost = 200;
  if (name.size() <= kMost) return cat("'", printable(name), "'");
  return cat("'", printable(name.substr(0, kMost)), "...'");
}

}  // namespace gantry::onnx_format
