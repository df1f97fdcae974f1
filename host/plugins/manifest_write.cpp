// Writing a manifest, and comparing one with what its library registers.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <tuple>

#include "host/plugins/manifest.hpp"

namespace gantry::plugins {
namespace {

std::string toml_quoted(std::string_view s) {
  std::string r = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      r += '\\';
      r += c;
    } else if (c == '\x7f' || (c >= 0 && c < ' ')) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(c));
      r += escape;
    } else {
      r += c;
    }
  }
  return r + '"';
}

std::string toml_list(const std::vector<std::string>& list) {
  std::string r = "[";
  for (const std::string& s : list) r += (r.size() > 1 ? ", " : "") + toml_quoted(s);
  return r + "]";
}

std::string_view group_name(ManifestRow::Kind kind) {
  switch (kind) {
    case ManifestRow::Kind::converter:
      return "converters";
    case ManifestRow::Kind::pattern:
      return "patterns";
    case ManifestRow::Kind::op_definition:
      return "operators";
  }
  return {};
}

bool same_group(const ManifestRow& a, const ManifestRow& b) {
  return a.kind == b.kind && a.dialect == b.dialect && a.domain == b.domain && a.target == b.target;
}

std::string cells(const ManifestRow& r) {
  const std::string priority = r.priority != 0 ? ", " + std::to_string(r.priority) : "";
  if (r.kind != ManifestRow::Kind::pattern) {
    return "[" + toml_quoted(r.op) + ", " + toml_quoted(versions_text(r)) + priority + "]";
  }
  std::string s = "[" + toml_quoted(r.name) + ", " + toml_quoted(r.op) + ", " + toml_quoted(versions_text(r));
  if (!r.also.empty() || r.priority != 0) s += ", " + toml_list(r.also);
  return s + priority + "]";
}

void write_rows(std::vector<ManifestRow> rows, std::string& out) {
  // By group first, which is not the order of the members.
  std::sort(rows.begin(), rows.end(), [](const ManifestRow& a, const ManifestRow& b) {
    const auto group = [](const ManifestRow& r) { return std::tie(r.kind, r.dialect, r.domain, r.target); };
    if (group(a) != group(b)) return group(a) < group(b);
    return a < b;
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ManifestRow& r = rows[i];
    if (i == 0 || !same_group(rows[i - 1], r)) {
      out += "\n[[" + std::string(group_name(r.kind)) + "]]\ndialect = " + toml_quoted(r.dialect) + "\n";
      if (!r.domain.empty()) out += "domain = " + toml_quoted(r.domain) + "\n";
      if (!r.target.empty()) out += "target = " + toml_quoted(r.target) + "\n";
      out += "rows = [\n";
    }
    out += "  " + cells(r) + ",\n";
    if (i + 1 == rows.size() || !same_group(r, rows[i + 1])) out += "]\n";
  }
}

}  // namespace

std::string versions_text(const ManifestRow& row) {
  std::string s = std::to_string(row.min_version);
  if (row.max_version == row.min_version) return s;
  s += '-';
  if (row.max_version != 0) s += std::to_string(row.max_version);
  return s;
}

std::string row_text(const ManifestRow& r) {
  const std::string op = Op{r.dialect, r.domain, r.op}.str() + "@" + versions_text(r);
  const std::string priority = r.priority != 0 ? ", priority " + std::to_string(r.priority) : "";
  switch (r.kind) {
    case ManifestRow::Kind::converter:
      return "converter " + op + " -> " + r.target + priority;
    case ManifestRow::Kind::pattern:
      return "pattern " + r.name + " on " + op + (r.also.empty() ? "" : " with " + toml_list(r.also)) + priority;
    case ManifestRow::Kind::op_definition:
      return "operator " + op;
  }
  return {};
}

std::vector<std::string> differences(const Manifest& manifest, const Manifest& library) {
  std::vector<std::string> found;
  const auto compare = [&](std::string_view what, const std::string& listed, const std::string& registered) {
    if (listed != registered) {
      found.push_back(std::string(what) + " is '" + listed + "' in the manifest, '" + registered + "' in the library");
    }
  };
  const auto abi = [](const Manifest& m) { return std::to_string(m.abi_major) + "." + std::to_string(m.abi_minor); };
  compare("id", manifest.id, library.id);
  compare("version", manifest.version, library.version);
  compare("abi", abi(manifest), abi(library));
  compare("depends", toml_list(manifest.depends), toml_list(library.depends));
  const auto only_in = [&](const auto& a, const auto& b, const auto& text, std::string_view note) {
    std::vector<typename std::decay_t<decltype(a)>::value_type> only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    for (const auto& x : only) found.push_back(text(x) + std::string(note));
  };
  only_in(manifest.rows, library.rows, row_text, " is in the manifest only");
  only_in(library.rows, manifest.rows, row_text, " is in the library only");
  const auto option = [](const ManifestOption& o) {
    return "option " + o.name + " (" + o.type + ", default " + o.default_text + ")";
  };
  std::vector<ManifestOption> listed = manifest.options, registered = library.options;
  for (auto* options : {&listed, &registered}) {
    for (ManifestOption& o : *options) o.help.clear();  // is for people, and may be worded anew by hand
    std::sort(options->begin(), options->end());
  }
  const auto format = [](const ManifestFormat& f) {
    return "format " + f.name + " (" + f.dialect + ", " + toml_list(f.extensions) + ", " + f.magic + ")";
  };
  only_in(manifest.formats, library.formats, format, " is in the manifest only");
  only_in(library.formats, manifest.formats, format, " is in the library only");
  only_in(listed, registered, option, " is in the manifest only");
  only_in(registered, listed, option, " is in the library only");
  return found;
}

}  // namespace gantry::plugins

namespace gantry {

std::string write_manifest(const Manifest& m) {
  using plugins::toml_quoted;
  std::string out = "manifest_version = " + std::to_string(plugins::kManifestVersion) + "\n";
  const auto line = [&](std::string_view key, const std::string& value) {
    out += std::string(key) + " = " + value + "\n";
  };
  line("id", toml_quoted(m.id));
  line("version", toml_quoted(m.version));
  line("abi", toml_quoted(std::to_string(m.abi_major) + "." + std::to_string(m.abi_minor)));
  line("library", toml_quoted(m.library));
  if (!m.license.empty()) line("license", toml_quoted(m.license));
  if (!m.description.empty()) line("description", toml_quoted(m.description));
  if (!m.depends.empty()) line("depends", plugins::toml_list(m.depends));
  std::vector<ManifestOption> options = m.options;
  std::sort(options.begin(), options.end());
  if (!options.empty()) {
    out += "options = [\n";
    for (const ManifestOption& o : options) {
      out += "  [" + toml_quoted(o.name) + ", " + toml_quoted(o.type) + ", " + toml_quoted(o.default_text) + ", " +
             toml_quoted(o.help) + "],\n";
    }
    out += "]\n";
  }
  if (!m.formats.empty()) {
    out += "formats = [\n";
    for (const ManifestFormat& f : m.formats) {
      out += "  [" + toml_quoted(f.name) + ", " + toml_quoted(f.dialect) + ", " + plugins::toml_list(f.extensions) +
             ", " + toml_quoted(f.magic) + "],\n";
    }
    out += "]\n";
  }
  plugins::write_rows(m.rows, out);
  return out;
}

}  // namespace gantry
