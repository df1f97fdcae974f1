// Between the structs of gantry/abi.h and the host's own types. What a plugin passes may be anything: it is copied and
// checked here, and only then used. Private to host/plugins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gantry/abi.h"
#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::plugins {

/// Memory for the views that one call gives out; freed with it.
class Arena {
 public:
  /// Uninitialised memory for trivial types.
  template <class T>
  T* array(std::size_t n) {
    return static_cast<T*>(memory_.allocate(n * sizeof(T), alignof(T)));
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 2048> first_;
  std::pmr::monotonic_buffer_resource memory_{first_.data(), first_.size()};
};

// ---- from a plugin; errors of code plugin_failed that name `what` ----

Diagnostic wrong_argument(std::string text);

inline constexpr std::uint64_t kMostTextBytes = 1u << 20;
inline constexpr std::uint64_t kMostEntries = 1u << 20;  // operands, attributes, records
inline constexpr std::uint64_t kMostNumbers = 1u << 28;  // elements of a list of numbers
inline constexpr std::int32_t kMostRank = 255;

/// A copy of a struct, as far as its struct_size covers. All of today's fields must be covered: they are of the first
/// version of the ABI.
template <class T>
Result<T> take_struct(const T* from, std::string_view what) {
  if (!from) return wrong_argument(std::string(what) + " is null");
  if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) != 0)
    return wrong_argument(std::string(what) + " is misaligned");
  T copy{};
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < sizeof(T)) {
    return wrong_argument("struct_size of " + std::string(what) + " is " + std::to_string(size) + ", at least " +
                          std::to_string(sizeof(T)) + " is needed");
  }
  std::memcpy(&copy, from, sizeof(T));
  return copy;
}

/// Fills a struct of the plugin's, which must have set struct_size.
template <class T>
Status give_struct(const T& value, T* to, std::string_view what) {
  GANTRY_TRY(take_struct(to, what));
  const std::uint32_t size = to->struct_size;
  *to = value;
  to->struct_size = size < sizeof(T) ? size : static_cast<std::uint32_t>(sizeof(T));
  return {};
}

/// (pointer, length) as a span: not null unless empty, aligned, and not absurdly long.
template <class T>
Result<std::span<const T>> take_array(const T* data, std::uint64_t size, std::string_view what,
                                      std::uint64_t most = kMostEntries) {
  if (size == 0) return std::span<const T>{};
  if (size > most) return wrong_argument(std::string(what) + " has " + std::to_string(size) + " entries");
  if (!data) return wrong_argument(std::string(what) + " is null and has " + std::to_string(size) + " entries");
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0)
    return wrong_argument(std::string(what) + " is misaligned");
  return std::span<const T>(data, static_cast<std::size_t>(size));
}

/// UTF-8 text.
Result<std::string_view> take_text(gantry_str s, std::string_view what);
Result<std::string_view> take_name(gantry_str s, std::string_view what);  // not empty
Result<DType> take_dtype(gantry_dtype t, std::string_view what);
Result<Type> take_type(const gantry_type* t, std::string_view what);
/// Name and value; a tensor must be a constant of the graph.
Result<std::pair<std::string, Attr>> take_attr(const Graph& g, const gantry_attr& a);

// ---- to a plugin ----

inline gantry_str abi_text(std::string_view s) { return {s.data(), s.size()}; }
gantry_node_info node_view(const Graph& g, NodeId n, Arena& arena);
gantry_value_info value_view(const Graph& g, ValueId v, Arena& arena);
/// All but a tensor, whose `value` the caller sets.
gantry_attr attr_view(std::string_view name, const Attr& a, Arena& arena);

}  // namespace gantry::plugins
