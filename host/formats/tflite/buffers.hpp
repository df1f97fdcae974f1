// Which buffer of the file a constant is: every distinct one has one.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/formats/tflite/plan.hpp"

namespace gantry::tflite_format {

/// Constants are known by their handles, small ones by their bytes. Handles into different files are never the same:
/// those of a further graph are compared with the earlier graphs' by their bytes.
class Buffers {
 public:
  explicit Buffers(std::deque<BufferPlan>& buffers) : buffers_(buffers) { buffers_.emplace_back(); }

  std::uint32_t add_bytes(std::string bytes);
  /// Errors: output_too_large (`name` is for the message); what Constant::write says.
  Result<std::uint32_t> add(const Constant& c, std::string_view name);
  /// What is added now is of a further graph.
  void next_graph() { earlier_ = next(); }

 private:
  std::uint32_t next() const { return static_cast<std::uint32_t>(buffers_.size()); }
  /// The buffer of an earlier graph that has these bytes, 0 if none has.
  Result<std::uint32_t> of_an_earlier_graph(const Constant& c);
  Result<bool> same_bytes(const Constant& a, const Constant& b);
  Result<std::uint64_t> content_of(const Constant& c);

  std::deque<BufferPlan>& buffers_;  // elements do not move
  std::unordered_map<std::string_view, std::uint32_t> by_content_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> by_handle_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_size_;  // large constants, by rising index
  std::unordered_map<std::size_t, std::vector<std::pair<Constant, std::uint64_t>>> contents_;  // by handle
  std::uint32_t earlier_ = 0;  // buffers below this are of earlier graphs
};

}  // namespace gantry::tflite_format
