#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {

std::string quote(std::string_view name) {
  constexpr std::size_t kMost = 200;
  std::string text = "'";
  for (const char c : name.substr(0, kMost)) {
    const auto u = static_cast<unsigned char>(c);
    text += u < 0x20 || u == 0x7F ? '?' : c;
  }
  if (name.size() > kMost) text += "...";
  return text += '\'';
}

}  // namespace gantry::onnx_format
