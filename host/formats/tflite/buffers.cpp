#include "host/formats/tflite/buffers.hpp"

#include <algorithm>

#include "host/formats/tflite/types.hpp"

namespace gantry::tflite_format {
namespace {

constexpr std::uint64_t kSmall = 4096;  // constants up to this many bytes are compared by content

}  // namespace

std::uint32_t Buffers::add_bytes(std::string bytes) {
  if (const auto it = by_content_.find(bytes); it != by_content_.end()) return it->second;
  const std::uint32_t index = next();
  by_content_.emplace(buffers_.emplace_back(BufferPlan{.bytes = std::move(bytes)}).bytes, index);
  return index;
}

Result<std::uint32_t> Buffers::add(const Constant& c, std::string_view name) {
  if (c.dtype() == DType::string) {
    std::optional<std::string> packed = pack_strings(c.string_values());
    if (!packed) return error(Code::output_too_large, "the strings of " + std::string(name) + " exceed 2 GB");
    return add_bytes(*std::move(packed));
  }
  if (c.byte_size() <= kSmall) {
    std::string bytes(c.byte_size(), '\0');
    GANTRY_TRY(c.write(std::as_writable_bytes(std::span(bytes))));
    return add_bytes(std::move(bytes));
  }
  std::vector<std::uint32_t>& candidates = by_handle_[c.hash()];
  for (const std::uint32_t i : candidates) {
    if (buffers_[i].constant.same(c)) return i;
  }
  GANTRY_ASSIGN(std::uint32_t index, of_an_earlier_graph(c));
  if (index == 0) {
    index = next();
    buffers_.push_back({.constant = c});
    by_size_[c.byte_size()].push_back(index);
    candidates.push_back(index);
  }
  return index;
}

Result<std::uint32_t> Buffers::of_an_earlier_graph(const Constant& c) {
  const auto of_that_size = by_size_.find(c.byte_size());
  if (of_that_size == by_size_.end()) return std::uint32_t{0};
  for (const std::uint32_t i : of_that_size->second) {
    if (i >= earlier_) break;
    GANTRY_ASSIGN(const bool equal, same_bytes(buffers_[i].constant, c));
    if (equal) return std::uint32_t{i};
  }
  return std::uint32_t{0};
}

Result<bool> Buffers::same_bytes(const Constant& a, const Constant& b) {
  if (a.direct() && b.direct()) return std::ranges::equal(*a.direct(), *b.direct());
  GANTRY_ASSIGN(const std::uint64_t x, content_of(a));
  GANTRY_ASSIGN(const std::uint64_t y, content_of(b));
  if (x != y) return false;
  std::vector<std::byte> of_a(a.byte_size()), of_b(b.byte_size());
  GANTRY_TRY(a.write(of_a));
  GANTRY_TRY(b.write(of_b));
  return of_a == of_b;
}

Result<std::uint64_t> Buffers::content_of(const Constant& c) {
  std::vector<std::pair<Constant, std::uint64_t>>& known = contents_[c.hash()];
  for (const auto& [constant, content] : known)
    if (constant.same(c)) return std::uint64_t{content};
  GANTRY_ASSIGN(const std::uint64_t content, c.content_hash());
  known.emplace_back(c, content);
  return std::uint64_t{content};
}

}  // namespace gantry::tflite_format
