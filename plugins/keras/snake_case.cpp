#include "snake_case.hpp"

#include <cctype>

namespace gantry::keras {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

std::string snake_case(std::string_view class_name) {
  std::string spaced;  // (.)([A-Z][a-z]+) -> \1_\2
  const std::string_view s = class_name;
  for (std::size_t i = 0; i < s.size();) {
    spaced += s[i++];
    if (i + 1 < s.size() && is_upper(s[i]) && is_lower(s[i + 1])) {
      spaced += '_';
      spaced += s[i++];
      while (i < s.size() && is_lower(s[i])) spaced += s[i++];
    }
  }
  std::string out;  // ([a-z])([A-Z]) -> \1_\2
  for (std::size_t i = 0; i < spaced.size(); ++i) {
    if (i > 0 && is_lower(spaced[i - 1]) && is_upper(spaced[i])) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(spaced[i])));
  }
  return out;
}

}  // namespace gantry::keras
