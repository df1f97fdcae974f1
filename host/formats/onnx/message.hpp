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

/// 'name' with control bytes replaced and shortened if absurdly long: names come from hostile files.
std::string quote(std::string_view name);

}  // namespace gantry::onnx_format
