#include "host/plugins/search.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gantry::plugins {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".gantry.toml";

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::string_view(value) : std::string_view{};
}

fs::path user_data() {
  const std::string_view xdg = environment("XDG_DATA_HOME");
  if (!xdg.empty() && xdg.front() == '/') return xdg;  // a relative one is to be ignored, says the XDG specification
  const std::string_view home = environment("HOME");
  return home.empty() ? fs::path{} : fs::path(home) / ".local/share";
}

}  // namespace

std::vector<SearchFolder> search_folders(const PluginSearch& search) {
  std::vector<SearchFolder> folders;
  const auto add = [&](const fs::path& path, bool named) {
    if (path.empty()) return;
    std::error_code problem;
    fs::path full = fs::weakly_canonical(path, problem);
    if (problem) full = fs::absolute(path, problem).lexically_normal();
    if (!full.has_filename()) full = full.parent_path();  // a/b/ is a/b
    const bool known = std::ranges::any_of(folders, [&](const SearchFolder& f) { return f.path == full; });
    if (!known) folders.push_back({full, named});
  };
  for (const fs::path& path : search.extra) add(path, true);
  if (!search.defaults) return folders;
  for (std::string_view list = environment("GANTRY_PLUGIN_PATH"); !list.empty();) {
    const std::size_t end = std::min(list.find(':'), list.size());
    add(list.substr(0, end), true);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  if (const fs::path data = user_data(); !data.empty()) add(data / "gantry/plugins", false);
  if (!search.executable.empty()) add(search.executable.parent_path() / "../lib/gantry/plugins", false);
  return folders;
}

std::vector<fs::path> manifest_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem)) {
    if (it->path().native().ends_with(kEnding)) files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace gantry::plugins
