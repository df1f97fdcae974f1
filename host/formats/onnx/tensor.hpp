// TensorProto <-> Constant.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/formats/onnx/external.hpp"
#include "host/formats/onnx/wire.hpp"
#include "host/ir/constant.hpp"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace gantry::onnx_format {

/// Knows where the bytes of a model's tensors are: in the parsed message, cut out of the file, or in external files.
class TensorSource {
 public:
  /// `owner` keeps `file` alive; `folder` is where external data may lie (empty: nowhere).
  TensorSource(std::shared_ptr<const void> owner, std::span<const std::byte> file, std::vector<Payload> payloads,
               std::filesystem::path folder)
      : owner_(std::move(owner)), file_(file), payloads_(std::move(payloads)), external_(std::move(folder)) {}
  /// For messages that hold their data themselves.
  TensorSource() : TensorSource(nullptr, {}, {}, {}) {}

  /// Dimensions, element type and number of bytes are checked against each other. Large payloads become views. `what`
  /// names the tensor in errors ("tensor 'w'").
  Result<Constant> constant(const onnx::TensorProto& tensor, std::string_view what);
  /// All the elements, most of them zero. Errors also: input_too_large.
  Result<Constant> constant(const onnx::SparseTensorProto& tensor, std::string_view what);
  /// Files of external data that were read so far.
  std::vector<std::filesystem::path> external_files() const { return external_.files(); }

 private:
  Result<const Payload*> payload_of(const onnx::TensorProto& tensor, std::string_view what) const;
  Result<Constant> from_payload(const Payload& payload, DType dtype, std::vector<std::int64_t> dims,
                                std::string_view what) const;
  Result<Constant> from_external(const onnx::TensorProto& tensor, DType dtype, std::vector<std::int64_t> dims,
                                 std::string_view what);

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> file_;
  std::vector<Payload> payloads_;
  ExternalData external_;
  std::uint64_t dense_bytes_ = 0;  // made of sparse tensors so far
};

/// Element type, dimensions, and the data if asked for.
void to_proto(const Constant& constant, bool with_data, onnx::TensorProto& tensor);

}  // namespace gantry::onnx_format
