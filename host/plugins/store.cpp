#include "host/plugins/store.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/plugins/library.hpp"
#include "host/plugins/manifest.hpp"
#include "host/report/nearest.hpp"

namespace gantry::plugins {
namespace {

using Setting = decltype(PluginSettingValue::value);

/// The setting as an option of that type, or nothing if it is of another. A whole number is a float too.
std::optional<OptionValue> convert(const Setting& s, std::string_view type) {
  if (const bool* b = std::get_if<bool>(&s); b && type == "bool") return std::int64_t{*b};
  if (const std::int64_t* i = std::get_if<std::int64_t>(&s)) {
    if (type == "int") return *i;
    if (type == "float") return static_cast<double>(*i);
  }
  if (const double* f = std::get_if<double>(&s); f && type == "float") return *f;
  if (const std::string* t = std::get_if<std::string>(&s); t && type == "string") return *t;
  return std::nullopt;
}

Diagnostic with_nearest(Diagnostic d, std::string_view wanted, const std::vector<std::string>& names,
                        std::string otherwise) {
  const std::string nearest = nearest_name(wanted, names);
  d.hint = nearest.empty() ? std::move(otherwise) : "did you mean '" + nearest + "'?";
  return d;
}

constexpr std::size_t kMostDifferences = 10;

Diagnostic mismatch(const Manifest& m, const std::filesystem::path& library,
                    const std::vector<std::string>& differences) {
  std::string text = "what the library registers differs from its manifest:";
  for (std::size_t i = 0; i < std::min(differences.size(), kMostDifferences); ++i) text += "\n  " + differences[i];
  if (differences.size() > kMostDifferences) {
    text += "\n  and " + std::to_string(differences.size() - kMostDifferences) + " more";
  }
  return error(Code::plugin_mismatch, text)
      .at(m.file.string())
      .from_plugin(m.id)
      .try_this("write the manifest anew: gantry plugin manifest " + library.string() + " -o " + m.file.string());
}

}  // namespace

Result<std::unique_ptr<PluginStore>> PluginStore::create(std::vector<Manifest> manifests, PluginSettings settings) {
  std::unique_ptr<PluginStore> store(new PluginStore(std::move(manifests), std::move(settings)));
  GANTRY_TRY(store->check_settings());
  return store;
}

const ManifestIndex& PluginStore::index() const {
  if (!index_) index_ = std::make_unique<ManifestIndex>(manifests_);
  return *index_;
}

std::optional<std::size_t> PluginStore::find(std::string_view id) const {
  const auto it = std::ranges::find(manifests_, id, &Manifest::id);
  if (it == manifests_.end()) return std::nullopt;
  return static_cast<std::size_t>(it - manifests_.begin());
}

Status PluginStore::check_settings() const {
  for (const auto& [id, values] : settings_) {
    const auto manifest = find(id);
    if (!manifest) {
      std::vector<std::string> ids;
      for (const Manifest& m : manifests_) ids.push_back(m.id);
      const std::string origin = values.empty() ? std::string() : values.begin()->second.origin;
      return with_nearest(error(Code::config_unknown_key, "no manifest on the search path is of the plugin '" + id +
                                                              "', for which options are set")
                              .at(origin),
                          id, ids, "gantry plugin list shows the plugins that were found");
    }
    const std::vector<ManifestOption>& options = manifests_[*manifest].options;
    for (const auto& [name, value] : values) {
      const auto option = std::ranges::find(options, name, &ManifestOption::name);
      if (option == options.end()) {
        std::vector<std::string> names;
        for (const ManifestOption& o : options) names.push_back(o.name);
        return with_nearest(
            error(Code::config_unknown_key, "the plugin has no option '" + name + "'").at(value.origin).from_plugin(id),
            name, names, "gantry plugin show " + id + " lists its options");
      }
      if (convert(value.value, option->type)) continue;
      return error(Code::config_bad_value, "the option '" + name + "' must be of type " + option->type)
          .at(value.origin)
          .from_plugin(id)
          .try_this(name + " = " + option->default_text + " is the default");
    }
  }
  return {};
}

Result<const OpenPlugin*> PluginStore::open(std::size_t manifest) {
  std::unique_ptr<OpenPlugin>& slot = opened_[manifest];
  if (!slot) {
    const auto began = std::chrono::steady_clock::now();
    Result<std::unique_ptr<OpenPlugin>> loaded = load(manifests_[manifest]);
    if (!loaded.ok()) {
      Diagnostic d = loaded.take_error();
      d.plugin = manifests_[manifest].id;
      return d;
    }
    slot = *std::move(loaded);
    slot->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  return slot.get();
}

Result<std::unique_ptr<OpenPlugin>> PluginStore::load(const Manifest& m) const {
  const std::filesystem::path library = m.file.parent_path() / m.library;
  GANTRY_ASSIGN(const gantry_plugin* descriptor, open_library(library));
  GANTRY_TRY(check_descriptor(descriptor, library));
  const std::vector<std::string> found = differences(m, manifest_of(*descriptor, library));
  if (!found.empty()) return mismatch(m, library, found);
  auto plugin = std::make_unique<OpenPlugin>();
  plugin->manifest = &m;
  plugin->descriptor = descriptor;
  const auto settings = settings_.find(m.id);
  for (std::uint64_t i = 0; i < descriptor->option_count; ++i) {
    const gantry_option& o = *descriptor->options[i];
    const std::string_view name(o.name.data, o.name.size);
    const std::string_view default_text(o.default_text.size ? o.default_text.data : "", o.default_text.size);
    std::optional<OptionValue> value = parse_default(o.kind, o.boolean != 0, default_text);
    if (settings != settings_.end()) {
      const auto set = settings->second.find(std::string(name));
      if (set != settings->second.end()) value = convert(set->second.value, option_type(o));
    }
    plugin->options.push_back({name, o.kind, *std::move(value)});
  }
  return plugin;
}

}  // namespace gantry::plugins

namespace gantry {

Result<Manifest> describe_library(const std::filesystem::path& library) {
  GANTRY_ASSIGN(const gantry_plugin* descriptor, plugins::open_library(library));
  GANTRY_TRY(plugins::check_descriptor(descriptor, library));
  return plugins::manifest_of(*descriptor, library);
}

}  // namespace gantry
