// Bytes between the two halves of this program: numbers, texts and tensors, one after the other. Reading never goes
// beyond the end, since what sends may be a process that a runtime has damaged.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/verify/tensor.hpp"

namespace gantry {

class WireWriter {
 public:
  void number(std::uint64_t n) { append(&n, sizeof n); }
  void bytes(std::span<const std::byte> b) {
    number(b.size());
    append(b.data(), b.size());
  }
  void text(std::string_view s) { bytes(std::as_bytes(std::span(s.data(), s.size()))); }
  void tensor(const Tensor& t) {
    number(static_cast<std::uint64_t>(t.dtype));
    number(t.dims.size());
    for (const std::int64_t d : t.dims) number(static_cast<std::uint64_t>(d));
    bytes(t.bytes);
  }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  void append(const void* data, std::size_t n) {
    const auto* p = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), p, p + n);
  }
  std::vector<std::byte> out_;
};

/// After a read beyond the end everything is zero or empty, and good() is false.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> in) : in_(in) {}

  std::uint64_t number() {
    std::uint64_t n = 0;
    const auto b = take(sizeof n);
    if (!b.empty()) std::memcpy(&n, b.data(), sizeof n);
    return n;
  }
  std::vector<std::byte> bytes() {
    const auto b = take(number());
    return {b.begin(), b.end()};
  }
  std::string text() {
    const auto b = take(number());
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  /// A number of things that follow, each of at least 8 bytes.
  std::uint64_t count() {
    const std::uint64_t n = number();
    if (n > in_.size() / sizeof n) good_ = false;
    return good_ ? n : 0;
  }
  Tensor tensor() {
    Tensor t;
    t.dtype = static_cast<DType>(number());
    t.dims.resize(count());
    for (std::int64_t& d : t.dims) d = static_cast<std::int64_t>(number());
    t.bytes = bytes();
    return t;
  }
  bool good() const { return good_; }

 private:
  std::span<const std::byte> take(std::uint64_t n) {
    if (n > in_.size()) good_ = false;
    if (!good_) return {};
    const auto part = in_.first(n);
    in_ = in_.subspan(n);
    return part;
  }
  std::span<const std::byte> in_;
  bool good_ = true;
};

}  // namespace gantry
