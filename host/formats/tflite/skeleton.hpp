// The flatbuffer of a plan, complete but for the contents of large constants: their places are left untouched, so that
// they cost address space and no memory, and are listed for the file to be filled from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/formats/tflite/plan.hpp"

namespace gantry::tflite_format {

struct Limits {
  std::uint64_t inline_bytes = 2'000'000'000;  // larger files have their large constants after the flatbuffer
};

/// A constant that is to be written at `offset` of the file.
struct Payload {
  std::uint64_t offset = 0;
  const Constant* constant = nullptr;  // of the plan
};

class Skeleton {
 public:
  /// The plan and its graphs must outlive the skeleton. Errors: output_too_large; what Constant::write says.
  static Result<Skeleton> build(const ModelPlan& plan, const WriteOptions& options, const Limits& limits);
  Skeleton(Skeleton&&) noexcept;
  Skeleton& operator=(Skeleton&&) noexcept;
  ~Skeleton();

  /// The flatbuffer: the file from its start.
  std::span<const std::byte> bytes() const;
  /// By rising offset; either all inside the flatbuffer, or all after it.
  const std::vector<Payload>& payloads() const;
  std::uint64_t file_bytes() const;

 private:
  class Builder;
  explicit Skeleton(std::unique_ptr<Builder> builder);
  std::unique_ptr<Builder> builder_;
};

}  // namespace gantry::tflite_format
