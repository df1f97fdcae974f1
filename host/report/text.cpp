#include "host/report/text.hpp"

#include <cmath>
#include <cstdio>
#include <iterator>

namespace gantry {

namespace {

std::string printed(const char* format, double x) {
  char text[48];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (amount >= 1023.95 && unit + 1 < std::size(kUnits)) {  // that and more would print as 1024.0
    amount /= 1024;
    ++unit;
  }
  return printed("%.1f ", amount) + kUnits[unit];
}

std::string duration_text(double seconds) {
  if (seconds < 0.0009995) return printed("%.0f us", seconds * 1e6);
  if (seconds < 0.0995) return printed("%.0f ms", seconds * 1e3);
  if (seconds < 9.995) return printed("%.2f s", seconds);
  return printed("%.0f s", seconds);
}

std::string number_text(double x) { return printed("%.3g", x); }

std::string count_text(std::size_t n, std::string_view one, std::string_view many) {
  std::string text = std::to_string(n) + " ";
  if (n == 1 || many.empty()) {
    text += one;
    if (n != 1) text += 's';
  } else {
    text += many;
  }
  return text;
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      line += c == '\n' ? "; " : escaped;
    } else {
      line += c;
    }
  }
  if (line.size() <= limit) return line;
  std::size_t head = limit / 2, tail = line.size() - limit / 2;
  while (head > 0 && continues_character(line[head])) --head;
  while (tail < line.size() && continues_character(line[tail])) ++tail;
  return line.substr(0, head) + "..." + line.substr(tail);
}

}  // namespace gantry
