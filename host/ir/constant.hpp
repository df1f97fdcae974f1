// A constant is an immutable handle: bytes that somebody owns, and a short canonical list of transforms that is carried
// out once, when a writer puts the constant in its place. Converters transpose, slice and scale weights by making
// handles; nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "host/ir/result.hpp"
#include "host/ir/type.hpp"

namespace gantry::detail {
struct Storage;
}

namespace gantry {

/// Axes in a new order: result axis i is source axis perm[i].
struct Permute {
  std::vector<std::int64_t> perm;
  bool operator==(const Permute&) const = default;
};
/// The same elements in row-major order under other dims.
struct Reshape {
  std::vector<std::int64_t> dims;
  bool operator==(const Reshape&) const = default;
};
/// result[i...] = source[starts + i * steps]; steps may be negative. All three have the source's rank.
struct Slice {
  std::vector<std::int64_t> starts, steps, sizes;
  bool operator==(const Slice&) const = default;
};
/// Element type conversion with C++ rules for in-range values; float to integer truncates, out of range saturates.
struct Cast {
  DType to;
  bool operator==(const Cast&) const = default;
};
/// x * vector[index along axis] (float types; in float32, for float64 in float64; rounded to the type).
struct ScaleAxis {
  std::int64_t axis;
  std::vector<float> vector;
  bool operator==(const ScaleAxis&) const = default;
};
/// x + vector[index along axis] (float types; as ScaleAxis).
struct ShiftAxis {
  std::int64_t axis;
  std::vector<float> vector;
  bool operator==(const ShiftAxis&) const = default;
};

using Transform = std::variant<Permute, Reshape, Slice, Cast, ScaleAxis, ShiftAxis>;

class Constant {
 public:
  Constant() = default;  // no constant
  // Dims and size of the data are checked: where they do not agree, the result is no constant (false).
  /// Takes `bytes` (packed, row-major, little-endian); their number must be packed_bytes(dtype, product of dims).
  static Constant own(DType dtype, std::vector<std::int64_t> dims, std::vector<std::byte> bytes);
  /// Bytes that `owner` keeps alive, e.g. a mapped file.
  static Constant view(DType dtype, std::vector<std::int64_t> dims, std::shared_ptr<const void> owner,
                       std::span<const std::byte> bytes);
  static Constant strings(std::vector<std::int64_t> dims, std::vector<std::string> values);  // dtype string
  /// All elements zero, without memory for them; `label` stands for contents that are not here (see content_hash).
  static Constant placeholder(DType dtype, std::vector<std::int64_t> dims, std::uint64_t label);
  /// T is float, double, (u)int8_t to (u)int64_t, or bool; the dtype follows from it.
  template <class T>
  static Constant of(std::vector<std::int64_t> dims, std::span<const T> values);
  template <class T>
  static Constant of(std::vector<std::int64_t> dims, std::initializer_list<T> values) {
    return of<T>(std::move(dims), std::span<const T>(values.begin(), values.size()));
  }

  explicit operator bool() const { return state_ != nullptr; }
  DType dtype() const;
  const std::vector<std::int64_t>& dims() const;
  Type type() const;
  std::int64_t elements() const;
  std::uint64_t byte_size() const;  // packed; 0 for strings

  // Handles with one transform more. The list stays canonical: neighbours that compose are merged (permute with
  // permute, reshape with reshape, scale with scale on one axis), identities vanish, a permute that moves only axes of
  // size 1 is a reshape. An error says what does not fit (axis, rank, size); nothing is read.
  Result<Constant> permute(std::span<const std::int64_t> perm) const;
  Result<Constant> reshape(std::vector<std::int64_t> dims) const;
  Result<Constant> slice(Slice s) const;
  Result<Constant> cast(DType to) const;
  Result<Constant> scale(std::int64_t axis, std::vector<float> vector) const;
  Result<Constant> shift(std::int64_t axis, std::vector<float> vector) const;

  /// Logical bytes if no transform but reshape is pending, else nullopt (also for strings and placeholders). Valid
  /// while the handle lives.
  std::optional<std::span<const std::byte>> direct() const;
  /// Carries out the transforms into `out`, of byte_size() bytes. One pass and no other memory if at most one transform
  /// moves elements; a temporary of the constant's size for each further one.
  Status write(std::span<std::byte> out) const;
  /// Logical elements [first, first + count) in row-major order, converted to T (as Cast does). T as for of().
  template <class T>
  Result<std::vector<T>> read(std::int64_t first, std::int64_t count) const;
  template <class T>
  Result<std::vector<T>> read() const {
    return read<T>(0, elements());
  }
  const std::vector<std::string>& string_values() const;  // dtype string only

  /// Same bytes in memory and same transforms: certainly equal. (Different handles may still hold equal values.)
  bool same(const Constant& other) const;
  std::size_t hash() const;  // agrees with same()
  /// Of the logical bytes or strings, the same on every machine; a placeholder's label. Reads everything.
  Result<std::uint64_t> content_hash() const;
  bool is_placeholder() const;  // stored elements are those of placeholder()
  const std::vector<Transform>& transforms() const;

 private:
  struct State;
  static Constant make(DType dtype, std::vector<std::int64_t> dims, detail::Storage s);
  Result<Constant> with(Transform t) const;
  Status check_axis(const char* what, std::int64_t axis, std::size_t size) const;

  std::shared_ptr<const State> state_;
};

}  // namespace gantry
