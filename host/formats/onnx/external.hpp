// External data: files beside the model that hold the payloads of its tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/formats/format.hpp"
#include "host/ir/result.hpp"

namespace gantry::onnx_format {

/// Where a tensor says that its payload lies.
struct ExternalPlace {
  std::string location;  // path relative to the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // absent: as long as the tensor
};

struct ExternalBytes {
  std::shared_ptr<const MappedFile> owner;
  std::span<const std::byte> bytes;
};

/// Maps the files of one model's folder, each once.
class ExternalData {
 public:
  /// An empty folder allows no external data at all.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The `size` bytes of a tensor. The path, symbolic links followed, may not leave the folder. `what` names the tensor
  /// in errors, which are of code input_external_data.
  Result<ExternalBytes> find(const ExternalPlace& place, std::uint64_t size, std::string_view what);

  /// What was opened so far.
  std::vector<std::filesystem::path> files() const;

 private:
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location, std::string_view what);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
};

}  // namespace gantry::onnx_format
