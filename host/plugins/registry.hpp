// The plugins on the search path: their manifests are read at once, their libraries opened when a model needs them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"
#include "host/passes/extensions.hpp"
#include "host/report/report.hpp"

namespace gantry {

/// A value of a plugin's option, as the configuration gave it.
struct PluginSettingValue {
  std::variant<bool, std::int64_t, double, std::string> value;
  std::string origin;  // for errors: file:line:column, --set
};
using PluginSettings =
    std::map<std::string, std::map<std::string, PluginSettingValue>>;  // plugin id -> option -> value

struct PluginSearch {
  std::vector<std::filesystem::path> extra;  // --plugin-path, first
  bool defaults = true;                      // GANTRY_PLUGIN_PATH, XDG folder, install folder
  std::filesystem::path executable;          // for the install folder: <exe>/../lib/gantry/plugins
};

/// One row of a manifest (or of a descriptor): what is offered.
struct ManifestRow {
  enum class Kind : std::uint8_t { converter, pattern, op_definition };
  Kind kind = Kind::converter;
  std::string dialect, domain, op;
  int min_version = 1, max_version = 0;  // 0 = no end
  std::string target;                    // converters
  int priority = 0;
  std::string name;               // patterns
  std::vector<std::string> also;  // patterns
  auto operator<=>(const ManifestRow&) const = default;
};

struct ManifestOption {
  std::string name, type, default_text, help;
  auto operator<=>(const ManifestOption&) const = default;
};

struct ManifestFormat {
  std::string name, dialect;
  std::vector<std::string> extensions;
  std::string magic;  // bytes in hexadecimal
  auto operator<=>(const ManifestFormat&) const = default;
};

struct Manifest {
  std::filesystem::path file;                              // where it was read
  std::string id, version, license, description, library;  // library: file name beside the manifest
  int abi_major = 0, abi_minor = 0;
  std::vector<std::string> depends;
  std::vector<ManifestRow> rows;
  std::vector<ManifestOption> options;
  std::vector<ManifestFormat> formats;
};

/// Errors: plugin_manifest with file:line:column.
Result<Manifest> read_manifest(const std::filesystem::path& file);
/// TOML text, stable order.
std::string write_manifest(const Manifest& m);
/// Opens a library and lists what it registers. Errors: plugin_load, plugin_abi.
Result<Manifest> describe_library(const std::filesystem::path& library);

class PluginRegistry {
 public:
  /// Reads all manifests on the search path. A broken one is an error if its folder was named by --plugin-path or
  /// GANTRY_PLUGIN_PATH, else a warning in the report. Two equal keys of equal priority: plugin_conflict, when needed.
  static Result<std::unique_ptr<PluginRegistry>> discover(const PluginSearch& search, PluginSettings settings,
                                                          Report& report);
  ~PluginRegistry();

  const std::vector<Manifest>& manifests() const;
  /// The format of a file that a plugin reads: by its first bytes, then by its extension. null if none does.
  const ManifestFormat* format_of(const std::filesystem::path& path, std::span<const std::byte> bytes) const;
  /// Reads a file of such a format; `owner` keeps `bytes` alive. Types may be unknown. Errors: input_malformed,
  /// declined and what opening the plugin gives.
  Result<Graph> read(const ManifestFormat& format, const std::filesystem::path& path, std::shared_ptr<const void> owner,
                     std::span<const std::byte> bytes, Report& report);
  /// Dialects from one to another, both included, by the fewest steps that converters offer; empty if there is no way.
  std::vector<std::string> dialect_path(std::string_view from, std::string_view to) const;
  /// Extensions of one conversion; `source` (may be null) infers operators of the reader's dialect.
  std::unique_ptr<Extensions> extensions(const Semantics* source, Report& report);
  /// Folders that were searched, in order (for "no manifest on the search path offers it").
  const std::vector<std::filesystem::path>& folders() const;

 private:
  struct Impl;
  explicit PluginRegistry(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry
