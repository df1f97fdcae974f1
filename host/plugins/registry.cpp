#include "host/plugins/registry.hpp"

#include <utility>

#include "host/plugins/registry_impl.hpp"
#include "host/plugins/search.hpp"
#include "host/plugins/session.hpp"

namespace gantry {
namespace {

using plugins::SearchFolder;

class Discovery {
 public:
  explicit Discovery(Report& report) : report_(report) {}

  Status folder(const SearchFolder& f) {
    for (const std::filesystem::path& file : plugins::manifest_files(f.path)) {
      Result<Manifest> m = read_manifest(file);
      if (m.ok()) {
        add(*std::move(m));
        continue;
      }
      Diagnostic d = m.take_error();
      if (f.named) return d;
      d.code = Code::warn_plugin;
      d.severity = Severity::warning;
      d.message = "a plugin is skipped, since its manifest is wrong: " + d.message;
      report_.add(std::move(d));
    }
    return {};
  }
  std::vector<Manifest> take() { return std::move(found_); }

 private:
  void add(Manifest m) {
    for (const Manifest& first : found_) {
      if (first.id != m.id) continue;
      report_.add(note("the plugin is on the search path twice: " + first.file.string() + " is used, " +
                       m.file.string() + " is not")
                      .from_plugin(m.id));
      return;
    }
    found_.push_back(std::move(m));
  }

  Report& report_;
  std::vector<Manifest> found_;
};

}  // namespace

PluginRegistry::PluginRegistry(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PluginRegistry::~PluginRegistry() = default;

Result<std::unique_ptr<PluginRegistry>> PluginRegistry::discover(const PluginSearch& search, PluginSettings settings,
                                                                 Report& report) {
  for (const std::filesystem::path& folder : search.extra) {
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem)) {
      return error(Code::usage, "there is no folder of plugins at " + folder.string())
          .try_this("give an existing folder to --plugin-path, or make it");
    }
  }
  auto impl = std::make_unique<Impl>();
  Discovery discovery(report);
  for (const SearchFolder& f : plugins::search_folders(search)) {
    impl->folders.push_back(f.path);
    GANTRY_TRY(discovery.folder(f));
  }
  GANTRY_ASSIGN(impl->store, plugins::PluginStore::create(discovery.take(), std::move(settings)));
  return std::unique_ptr<PluginRegistry>(new PluginRegistry(std::move(impl)));
}

const std::vector<Manifest>& PluginRegistry::manifests() const { return impl_->store->manifests(); }

std::unique_ptr<Extensions> PluginRegistry::extensions(const Semantics* source, Report& report) {
  return std::make_unique<plugins::Session>(*impl_->store, impl_->folders, source, report);
}

const std::vector<std::filesystem::path>& PluginRegistry::folders() const { return impl_->folders; }

}  // namespace gantry
