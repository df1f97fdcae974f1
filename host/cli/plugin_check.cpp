// gantry plugin check LIB: whether a library is a plugin that this Gantry would load.
#include "host/cli/invocation.hpp"
#include "host/plugins/elf.hpp"
#include "host/plugins/manifest.hpp"

namespace gantry::cli {
namespace {

constexpr std::string_view kEntry = "gantry_plugin_entry";
constexpr std::string_view kManifestExtension = ".gantry.toml";
constexpr std::size_t kSymbolsNamed = 5;

/// Only the entry may be exported: anything else could be taken for the symbol of another library.
Status check_symbols(const std::filesystem::path& library) {
  GANTRY_ASSIGN(const std::vector<std::string> names, plugins::exported_symbols(library));
  std::string others;
  std::size_t count = 0;
  bool has_entry = false;
  for (const std::string& name : names) {
    if (name == kEntry) {
      has_entry = true;
      continue;
    }
    if (++count <= kSymbolsNamed) others += (others.empty() ? "" : ", ") + name;
  }
  if (count > kSymbolsNamed) others += " and " + std::to_string(count - kSymbolsNamed) + " more";
  if (!has_entry)
    return error(Code::plugin_abi, "the library does not export " + std::string(kEntry))
        .at(library.string())
        .try_this("is it a plugin? GANTRY_PLUGIN(...) of the SDK makes the entry");
  if (count == 0) return {};
  return error(Code::plugin_abi, "the library exports more than " + std::string(kEntry) + ": " + others)
      .at(library.string())
      .try_this("build it with gantry_add_plugin(), which hides them");
}

Status run(Invocation& run) {
  const std::filesystem::path library = run.args.get("LIB");
  std::size_t problems = 0;
  const auto note = [&](std::string_view what, Status status) {
    run.out(printable(std::string(what) + ": " + (status.ok() ? "ok" : status.error().message) + "\n"));
    if (status.ok()) return true;
    ++problems;
    run.report.add(status.take_error());
    return false;
  };

  note("exported symbols", check_symbols(library));
  auto described = describe_library(library);
  if (!note("loads", described.ok() ? Status{} : Status(described.take_error()))) return {};

  std::filesystem::path file = library;
  file.replace_extension();
  file += kManifestExtension;
  auto manifest = read_manifest(file);
  if (!note("manifest", manifest.ok() ? Status{} : Status(manifest.take_error()))) return {};
  Status equal;
  for (const std::string& line : plugins::differences(*manifest, *described)) {
    Diagnostic d = error(Code::plugin_mismatch, line).at(file.string()).from_plugin(described->id);
    note("manifest agrees",
         std::move(d).try_this("gantry plugin manifest " + library.string() + " -o " + file.string()));
  }
  if (problems == 0) {
    note("manifest agrees", {});
    run.summary = described->id + " " + described->version + ", " + count_text(described->rows.size(), "row");
  }
  return {};
}

}  // namespace

Command plugin_check_command() {
  return {
      .name = "plugin check",
      .help = "Load a plugin library and compare it with its manifest",
      .positionals = {{.name = "LIB", .help = "The library: .so"}},
      .flags = common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
