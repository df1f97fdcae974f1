// Which plugins a graph needs, and opening them.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "host/plugins/session.hpp"

namespace gantry::plugins {
namespace {

std::string_view view(gantry_str s) { return s.size ? std::string_view(s.data, s.size) : std::string_view{}; }

// The operators of a graph: by name, and in which forms, each in the order of first occurrence.
struct Inventory {
  std::vector<Op> forms;
  std::unordered_set<OpName, OpNameHash> names;

  explicit Inventory(const Graph& g) {
    std::unordered_map<OpName, std::vector<int>, OpNameHash> versions;
    for (std::uint32_t i = 1; i < g.node_slots(); ++i) {
      if (!g.contains(NodeId{i})) continue;
      const Op& op = g.node(NodeId{i}).op;
      std::vector<int>& seen = versions[OpName(op)];
      if (std::ranges::find(seen, op.version) != seen.end()) continue;
      seen.push_back(op.version);
      forms.push_back(op);
      names.insert(OpName(op));
    }
  }
  /// `also` of a pattern: "Name" or "domain::Name".
  bool has(std::string_view dialect, std::string_view also) const {
    const std::size_t colons = also.rfind("::");
    const bool plain = colons == std::string_view::npos;
    return names.contains(
        OpName(dialect, plain ? std::string_view{} : also.substr(0, colons), plain ? also : also.substr(colons + 2)));
  }
};

bool wanted(const ManifestRow& row, const Op& op, std::string_view target, const Inventory& inventory) {
  if (!covers(row, op.version)) return false;
  switch (row.kind) {
    case ManifestRow::Kind::converter:
      return row.target == target || row.target == op.dialect;  // the latter is an upgrade
    case ManifestRow::Kind::op_definition:
      return true;
    case ManifestRow::Kind::pattern:
      return std::ranges::all_of(row.also, [&](const std::string& also) { return inventory.has(op.dialect, also); });
  }
  return false;
}

// "onnx.Conv, onnx.Relu and 5 more"
std::string reason_text(const std::vector<std::string>& asked) {
  constexpr std::size_t kNamed = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(asked.size(), kNamed); ++i) text += (i ? ", " : "") + asked[i];
  if (asked.size() > kNamed) text += " and " + std::to_string(asked.size() - kNamed) + " more";
  return text;
}

}  // namespace

Result<std::size_t> Session::open_for(const Graph& g, std::string_view target) {
  const Inventory inventory(g);
  std::vector<std::vector<std::string>> asked(active_.size());  // by manifest: operators, then patterns
  const auto ask = [&](bool for_patterns) {
    for (const Op& op : inventory.forms) {
      for (const ManifestIndex::Hit& hit : store_.index().find(OpName(op))) {
        const bool pattern = hit.row->kind == ManifestRow::Kind::pattern;
        if (active_[hit.manifest] || pattern != for_patterns || !wanted(*hit.row, op, target, inventory)) continue;
        std::vector<std::string>& list = asked[hit.manifest];
        std::string text = pattern ? "pattern " + hit.row->name : op.str();
        if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
      }
    }
  };
  ask(false);
  ask(true);
  std::size_t opened = 0;
  for (std::size_t m = 0; m < asked.size(); ++m) {
    if (!asked[m].empty()) GANTRY_TRY(activate(m, reason_text(asked[m]), opened));
  }
  if (opened != 0) answers_.clear();
  return opened;
}

// Depends may form a cycle: what is active already is not looked at again.
Status Session::activate(std::size_t manifest, const std::string& reason, std::size_t& opened) {
  if (active_[manifest]) return {};
  GANTRY_ASSIGN(const OpenPlugin* plugin, store_.open(manifest));
  active_[manifest] = true;
  ++opened;
  const Manifest& m = *plugin->manifest;
  // A plugin that read the file is in the report already.
  if (std::ranges::find(report_.plugins, m.id, &PluginRecord::id) == report_.plugins.end()) {
    report_.plugins.push_back({m.id, m.version, m.library, reason, plugin->seconds});
  }
  GANTRY_TRY(add(*plugin));
  for (const std::string& id : m.depends) {
    const auto other = store_.find(id);
    if (!other) {
      std::string searched;
      for (const auto& folder : folders_) searched += (searched.empty() ? "" : ", ") + folder.string();
      return error(Code::plugin_missing,
                   "it depends on the plugin " + id + ", which no manifest on the search path is of")
          .at(m.file.string())
          .from_plugin(m.id)
          .try_this("install that plugin, or name its folder with --plugin-path; searched: " + searched);
    }
    GANTRY_TRY(activate(*other, "plugin " + m.id, opened));
  }
  return {};
}

Status Session::add(const OpenPlugin& plugin) {
  GANTRY_TRY(definitions_.add(plugin));
  plugins_.push_back(&plugin);
  const gantry_plugin& d = *plugin.descriptor;
  for (std::uint64_t i = 0; i < d.converter_count; ++i) {
    const gantry_converter& c = *d.converters[i];
    converters_[OpName(view(c.key.dialect), view(c.key.domain), view(c.key.op))].push_back({&plugin, &c});
  }
  for (std::uint64_t i = 0; i < d.pattern_count; ++i) patterns_.push_back({&plugin, d.patterns[i]});
  // Plugins are opened in the order of the search path, so equal priorities stand in an order that does not vary.
  std::ranges::stable_sort(patterns_, std::greater{}, [](const Pattern& p) { return p.record->priority; });
  return {};
}

bool Session::offers_converter(const Op& op, std::string_view target) const {
  return std::ranges::any_of(store_.index().find(OpName(op)), [&](const ManifestIndex::Hit& hit) {
    return hit.row->kind == ManifestRow::Kind::converter && hit.row->target == target && covers(*hit.row, op.version);
  });
}

std::vector<PatternInfo> Session::patterns(const Graph& g, std::string_view dialect) const {
  std::vector<PatternInfo> found;
  if (patterns_.empty()) return found;
  const Inventory inventory(g);
  for (const Pattern& p : patterns_) {
    const gantry_pattern& r = *p.record;
    const Op root{view(r.root.dialect), view(r.root.domain), view(r.root.op)};
    if (root.dialect != dialect || !inventory.names.contains(OpName(root))) continue;
    bool all = true;
    for (std::uint64_t i = 0; i < r.also.size && all; ++i) all = inventory.has(dialect, view(r.also.data[i]));
    if (all) found.push_back({std::string(view(r.name)), p.plugin->id(), root});
  }
  return found;
}

}  // namespace gantry::plugins
