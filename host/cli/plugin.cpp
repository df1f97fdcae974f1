// gantry plugin list, show, manifest: what plugins there are, and what they bring.
#include <algorithm>
#include <cctype>

#include "host/cli/invocation.hpp"

namespace gantry::cli {
namespace {

using Kind = ManifestRow::Kind;

std::size_t count_rows(const Manifest& m, Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(m.rows.begin(), m.rows.end(), [&](const ManifestRow& r) { return r.kind == kind; }));
}

std::string abi_text(const Manifest& m) { return std::to_string(m.abi_major) + "." + std::to_string(m.abi_minor); }

std::string operator_text(const ManifestRow& r) {
  std::string text = r.dialect + "." + (r.domain.empty() ? "" : r.domain + "::") + r.op;
  if (r.kind == Kind::pattern) return text;
  text += "@" + std::to_string(r.min_version);
  if (r.max_version == 0) return text + "-";
  return r.max_version == r.min_version ? text : text + "-" + std::to_string(r.max_version);
}

/// Columns as wide as their widest cell, two spaces between.
std::string table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) row += line[i] + std::string(widths[i] + 2 - line[i].size(), ' ');
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

Status list(Invocation& run) {
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  std::vector<std::vector<std::string>> lines{
      {"ID", "VERSION", "ABI", "CONVERTERS", "DEFINITIONS", "PATTERNS", "LIBRARY", "FOLDER"}};
  for (const Manifest& m : plugins->manifests())
    lines.push_back({m.id, m.version, abi_text(m), std::to_string(count_rows(m, Kind::converter)),
                     std::to_string(count_rows(m, Kind::op_definition)), std::to_string(count_rows(m, Kind::pattern)),
                     m.library, m.file.parent_path().string()});
  if (lines.size() > 1) run.out(printable(table(lines)));
  run.summary =
      count_text(plugins->manifests().size(), "plugin") + " in " + count_text(plugins->folders().size(), "folder");
  return {};
}

Result<const Manifest*> find_plugin(const PluginRegistry& plugins, const std::string& id) {
  std::vector<std::string> ids;
  for (const Manifest& m : plugins.manifests()) {
    if (m.id == id) return &m;
    ids.push_back(m.id);
  }
  const std::string nearest = nearest_name(id, ids);
  return error(Code::plugin_missing, "no manifest on the search path is of a plugin " + id)
      .try_this(nearest.empty() ? "gantry plugin list shows what there is" : "did you mean " + nearest + "?");
}

std::string rows_text(const Manifest& m, Kind kind, const std::string& title) {
  std::vector<std::vector<std::string>> lines;
  for (const ManifestRow& r : m.rows) {
    if (r.kind != kind) continue;
    std::vector<std::string> line{"  " + operator_text(r)};
    if (kind == Kind::converter) {
      line.push_back("-> " + r.target);
      line.push_back(r.priority == 0 ? "" : "priority " + std::to_string(r.priority));
    } else if (kind == Kind::pattern) {
      std::string also;
      for (const std::string& op : r.also) also += (also.empty() ? "with " : ", ") + op;
      line.push_back(r.name);
      line.push_back(also);
      line.push_back(r.priority == 0 ? "" : "priority " + std::to_string(r.priority));
    }
    lines.push_back(std::move(line));
  }
  return lines.empty() ? std::string{} : title + "\n" + table(lines);
}

std::string options_text(const Manifest& m, const Config& config) {
  std::vector<std::vector<std::string>> lines;
  const auto& settings = config.plugin_settings(m.id);
  for (const ManifestOption& o : m.options) {
    const auto set = settings.find(o.name);
    lines.push_back({"  " + o.name, o.type, "default " + o.default_text,
                     set == settings.end() ? "" : "set at " + set->second.origin, o.help});
  }
  return lines.empty() ? std::string{} : "options, in [plugins.\"" + m.id + "\"]\n" + table(lines);
}

Status show(Invocation& run) {
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  GANTRY_ASSIGN(const Manifest* m, find_plugin(*plugins, run.args.get("ID")));
  std::string depends;
  for (const std::string& id : m->depends) depends += (depends.empty() ? "" : ", ") + id;
  std::vector<std::vector<std::string>> head{{m->id, m->version}};
  if (!m->description.empty()) head.push_back({m->description});
  std::string text = m->id + " " + m->version + "\n";
  if (!m->description.empty()) text += m->description + "\n";
  std::vector<std::vector<std::string>> facts{{"license", m->license},
                                              {"abi", abi_text(*m)},
                                              {"library", m->library},
                                              {"manifest", m->file.string()},
                                              {"depends on", depends}};
  std::erase_if(facts, [](const auto& line) { return line[1].empty(); });
  text += table(facts);
  text += rows_text(*m, Kind::converter, "converters");
  text += rows_text(*m, Kind::op_definition, "operator definitions");
  text += rows_text(*m, Kind::pattern, "patterns");
  text += options_text(*m, run.config);
  run.out(printable(text));
  run.summary = m->id + ", " + count_text(m->rows.size(), "row");
  return {};
}

Status manifest(Invocation& run) {
  GANTRY_ASSIGN(const Manifest m, describe_library(run.args.get("LIB")));
  const std::string text = write_manifest(m);
  const std::string& output = run.args.get("--output");
  if (!output.empty()) return write_text_file(output, text);
  run.out(text);
  return {};
}

}  // namespace

Command plugin_list_command() {
  return {
      .name = "plugin list",
      .help = "List the plugins on the search path",
      .positionals = {},
      .flags = plugin_flags() + common_flags(),
      .run = list,
  };
}

Command plugin_show_command() {
  return {
      .name = "plugin show",
      .help = "Show all that a plugin brings, and its options",
      .positionals = {{.name = "ID", .help = "Its identifier", .complete = Complete::none}},
      .flags = plugin_flags() + common_flags(),
      .run = show,
  };
}

Command plugin_manifest_command() {
  const std::vector<Flag> own{{.name = "--output",
                               .letter = "o",
                               .value = "FILE",
                               .help = "Write it here, not to stdout",
                               .complete = Complete::file}};
  return {
      .name = "plugin manifest",
      .help = "Open a plugin library and print its manifest",
      .usage = "LIB [-o FILE]",
      .positionals = {{.name = "LIB", .help = "The library: .so"}},
      .flags = own,
      .run = manifest,
      .uses_config = false,  // a build must not depend on whose machine it is
      .ends_with_line = false,
  };
}

}  // namespace gantry::cli
