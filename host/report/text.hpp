// Numbers and names for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gantry {

/// "0 B", "1.5 KiB", "44.6 MiB".
std::string size_text(std::uint64_t bytes);
/// "850 us", "12 ms", "0.84 s", "73 s".
std::string duration_text(double seconds);
/// Three significant digits: "0.0001", "3.12e-06", "inf".
std::string number_text(double x);
/// "1 node", "3 nodes"; `many` where an s is not enough.
std::string count_text(std::size_t n, std::string_view one, std::string_view many = {});
/// In one line: control characters, which could steer a terminal, as \xNN; what is longer than `limit` bytes loses its
/// middle (never within a UTF-8 character).
std::string one_line(std::string_view text, std::size_t limit = 400);

}  // namespace gantry
