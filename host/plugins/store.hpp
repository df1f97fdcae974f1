// All manifests of the search path, and the plugins that were opened so far. Private to host/plugins.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gantry/abi.h"
#include "host/plugins/descriptor.hpp"
#include "host/plugins/index.hpp"
#include "host/plugins/registry.hpp"

namespace gantry::plugins {

/// A plugin whose library is open and was checked.
struct OpenPlugin {
  const Manifest* manifest = nullptr;
  const gantry_plugin* descriptor = nullptr;
  struct Option {
    std::string_view name;
    gantry_attr_kind kind;
    OptionValue value;  // from the configuration, else the default
  };
  std::vector<Option> options;
  double seconds = 0;  // that opening took

  const std::string& id() const { return manifest->id; }
};

class PluginStore {
 public:
  /// Errors: config_unknown_key, config_bad_value where a setting fits no manifest.
  static Result<std::unique_ptr<PluginStore>> create(std::vector<Manifest> manifests, PluginSettings settings);

  const std::vector<Manifest>& manifests() const { return manifests_; }
  const ManifestIndex& index() const;
  std::optional<std::size_t> find(std::string_view id) const;
  /// Opens the library of a manifest, once. Errors: plugin_load, plugin_abi, plugin_mismatch.
  Result<const OpenPlugin*> open(std::size_t manifest);

 private:
  PluginStore(std::vector<Manifest> manifests, PluginSettings settings)
      : manifests_(std::move(manifests)), settings_(std::move(settings)), opened_(manifests_.size()) {}
  Status check_settings() const;
  Result<std::unique_ptr<OpenPlugin>> load(const Manifest& m) const;

  std::vector<Manifest> manifests_;
  PluginSettings settings_;
  std::vector<std::unique_ptr<OpenPlugin>> opened_;  // by manifest
  mutable std::unique_ptr<ManifestIndex> index_;     // made when first asked
};

}  // namespace gantry::plugins
