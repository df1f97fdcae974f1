// Where manifests are looked for. Private to host/plugins.
#pragma once

#include <filesystem>
#include <vector>

#include "host/plugins/registry.hpp"

namespace gantry::plugins {

struct SearchFolder {
  std::filesystem::path path;
  bool named = false;  // by --plugin-path or GANTRY_PLUGIN_PATH: what is wrong there is an error
};

/// In the order in which they are searched: those of --plugin-path, of GANTRY_PLUGIN_PATH (separated by ':'), the
/// user's
/// ($XDG_DATA_HOME or ~/.local/share, then gantry/plugins), that of the installation. They need not exist. A folder
/// that comes twice is searched once.
std::vector<SearchFolder> search_folders(const PluginSearch& search);

/// The folder's *.gantry.toml, sorted by name; none if there is no such folder.
std::vector<std::filesystem::path> manifest_files(const std::filesystem::path& folder);

}  // namespace gantry::plugins
