// What a registry is made of. Private to host/plugins.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "host/plugins/registry.hpp"
#include "host/plugins/store.hpp"

namespace gantry {

struct PluginRegistry::Impl {
  std::vector<std::filesystem::path> folders;
  std::unique_ptr<plugins::PluginStore> store;
};

}  // namespace gantry
