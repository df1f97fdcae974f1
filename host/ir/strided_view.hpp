// Elements of a buffer seen through other dimensions, and the copying of them. Private to host/ir.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gantry::detail {

/// Element (i, j, ...) stands at base + offset + i * strides[0] + j * strides[1] + ... bytes.
struct StridedView {
  const std::byte* base = nullptr;  // null: all elements are zero
  std::int64_t offset = 0;
  std::int64_t element_bytes = 1;
  std::vector<std::int64_t> dims, strides;

  static StridedView contiguous(const std::byte* base, std::int64_t element_bytes, std::vector<std::int64_t> dims);
  std::int64_t elements() const;
  bool is_contiguous() const;
  void permute(std::span<const std::int64_t> perm);
  void slice(std::span<const std::int64_t> starts, std::span<const std::int64_t> steps,
             std::span<const std::int64_t> sizes);
  /// The same elements in row-major order under other dims of equal product, if strides can say so.
  std::optional<StridedView> reshape(const std::vector<std::int64_t>& new_dims) const;
  /// Without dimensions of size 1, neighbours merged where they are one run. Same elements in the same order.
  StridedView collapsed() const;
};

/// Copies elements [first, first + count) in row-major order to `out`. `v` must be collapsed. Works through tiles, so
/// that a transposition reads and writes whole cache lines.
void gather(const StridedView& v, std::int64_t first, std::int64_t count, std::byte* out);

}  // namespace gantry::detail
