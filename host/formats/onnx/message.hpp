// Building the sentences of diagnostics.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace gantry::onnx_format {

namespace detail {
template <class T>
void append(std::string& text, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    text += std::string_view(part);
  } else {
    text += std::to_string(part);
  }
}
}  // namespace detail

/// The parts (strings and numbers) one after another.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}

/// Well-formed UTF-8 without the byte 0: names and symbols go into reports and other files.
bool is_text(std::string_view s);
/// Text from a hostile file as text; what is not becomes "?".
std::string as_text(std::string_view s);
/// The same in one line, without control bytes, for messages.
std::string printable(std::string_view s);
/// 'name', printable, and shortened if absurdly long.
std::string quote(std::string_view name);

}  // namespace gantry::onnx_format
