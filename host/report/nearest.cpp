#include "host/report/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace gantry {
namespace {

constexpr std::size_t kLongestName = 128;  // nobody types more by mistake; keeps the table below small

std::string lower(std::string_view s) {
  std::string r(s);
  for (char& c : r) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return r;
}

/// Insertions, deletions, substitutions, and swaps of neighbours (optimal string alignment), each 1.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (equal ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string_view last_part(std::string_view key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
  if (wanted.empty() || wanted.size() > kLongestName) return {};
  const std::string low = lower(wanted);
  std::size_t best = 1 + low.size() / 4;  // what is farther is another word
  std::string nearest;
  for (const std::string& name : names) {
    if (name.size() > kLongestName) continue;
    const std::size_t d = distance(low, lower(name));
    if (d < best || (d == best && nearest.empty())) {
      best = d;
      nearest = name;
    }
  }
  if (!nearest.empty()) return nearest;
  // The right word in the wrong section, or without one.
  for (const std::string& name : names)
    if (name.find('.') != std::string::npos && last_part(lower(name)) == last_part(low)) return name;
  return {};
}

}  // namespace gantry
