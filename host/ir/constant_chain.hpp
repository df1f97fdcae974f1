// What a constant's handle points to: stored elements and a canonical list of transforms. Private to host/ir.
//
// Canonical order: a transform that moves elements (slice, reshape, permute) goes before one that changes them (cast,
// scale, shift) wherever the two commute, and a slice goes before a permute. So what moves elements is together at the
// front, merges, and is carried out as one strided copy; and two ways of writing one thing give equal lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/ir/constant.hpp"
#include "host/ir/type.hpp"

namespace gantry::detail {

struct Storage {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;          // packed; empty for strings and placeholders
  std::shared_ptr<const void> owner;         // of the bytes
  std::vector<std::string> strings;          // dtype string only
  std::optional<std::uint64_t> placeholder;  // no bytes: all elements are zero, and this stands for the contents
};

struct Shape {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
};

struct Chain {
  std::shared_ptr<const Storage> storage;
  std::vector<Transform> transforms;
  std::vector<Shape> before;  // parallel: what each transform is applied to
  Shape shape;                // the result
  std::int64_t elements = 0;  // of the result
};

/// Appends a transform that is known to fit, and keeps the list canonical.
void push(Chain& c, Transform t);

bool same_chain(const Chain& a, const Chain& b);  // floats by their bits
std::size_t hash_chain(const Chain& c);           // agrees with same_chain

/// Mixes 64 bits into a hash, the same on every machine.
std::uint64_t mix(std::uint64_t seed, std::uint64_t value);
std::uint64_t hash_bytes(std::uint64_t seed, std::span<const std::byte> bytes);

// Carrying out (constant_write.cpp).
Status write_chain(const Chain& c, std::span<std::byte> out);
/// Elements [first, first + count) as elements of type `to`, not packed (carrier_bytes(to) each).
Status read_chain(const Chain& c, std::int64_t first, std::int64_t count, DType to, std::byte* out);

}  // namespace gantry::detail

namespace gantry {

struct Constant::State {
  detail::Chain chain;
};

}  // namespace gantry
