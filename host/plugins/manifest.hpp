// What the parts of host/plugins share about manifests besides registry.hpp. Private to host/plugins.
#pragma once

#include <filesystem>
#include <string>

#include "host/plugins/registry.hpp"

namespace gantry::plugins {

inline constexpr int kManifestVersion = 1;

/// As read_manifest; `file` is for messages and Manifest::file. Rows come sorted.
Result<Manifest> manifest_from_text(const std::string& text, const std::filesystem::path& file);

/// "6-", "6", "6-12": as in a manifest.
std::string versions_text(const ManifestRow& row);
/// One row for people: converter onnx.Relu@6- -> tflite, pattern conv_batch_norm on onnx.Conv@1-.
std::string row_text(const ManifestRow& row);
/// What differs between a manifest and what its library registers, one line each; empty if nothing does.
std::vector<std::string> differences(const Manifest& manifest, const Manifest& library);

}  // namespace gantry::plugins
