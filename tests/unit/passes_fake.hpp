// Plugins for tests of the passes: what they know is set by the test.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/passes/pass.hpp"

namespace gantry::testing {

/// Semantics from tables by operator name.
class FakeSemantics : public Semantics {
 public:
  std::map<std::string, std::function<Status(Graph&, NodeId)>, std::less<>> inference;
  std::map<std::string, std::function<Result<bool>(Graph&, NodeId)>, std::less<>> bodies;

  bool knows(const Op& op) const override {
    return inference.find(op.name) != inference.end() || bodies.find(op.name) != bodies.end();
  }
  Status infer(Graph& g, NodeId n) const override {
    const auto it = inference.find(g.node(n).op.name);
    return it == inference.end() ? Status{} : it->second(g, n);
  }
  Result<bool> expand(Graph& g, NodeId n) const override {
    const auto it = bodies.find(g.node(n).op.name);
    if (it == bodies.end()) return false;
    return it->second(g, n);
  }
  int newest_version(const Op&) const override { return 1; }
};

class FakeExtensions : public Extensions {
 public:
  using NodeFunction = std::function<Result<Outcome>(Graph&, NodeId)>;

  std::map<std::string, NodeFunction, std::less<>> converters, upgrades;  // by operator name
  std::set<std::string, std::less<>> only_offered;                        // in a manifest, until open_for opens it
  std::map<std::string, std::function<Result<bool>(Graph&, NodeId)>, std::less<>> folders;
  std::vector<std::pair<PatternInfo, std::function<Result<bool>(Graph&, NodeId)>>> pattern_list;
  std::map<std::string, Limits, std::less<>> limit_table;
  FakeSemantics defined;
  std::size_t opens = 0;

  Result<std::size_t> open_for(const Graph&, std::string_view) override {
    ++opens;
    return std::exchange(only_offered, {}).size();
  }
  bool offers_converter(const Op& op, std::string_view) const override {
    return converters.find(op.name) != converters.end();
  }
  Result<Outcome> upgrade(Graph& g, NodeId n) override { return call(upgrades, g, n); }
  Result<Outcome> convert(Graph& g, NodeId n, std::string_view) override {
    if (only_offered.contains(g.node(n).op.name)) return Outcome{};
    return call(converters, g, n);
  }
  Result<bool> fold(Graph& g, NodeId n) override {
    const auto it = folders.find(g.node(n).op.name);
    if (it == folders.end()) return false;
    return it->second(g, n);
  }
  std::vector<PatternInfo> patterns(const Graph&, std::string_view dialect) const override {
    std::vector<PatternInfo> infos;
    for (const auto& [info, apply] : pattern_list) {
      if (info.root.dialect == dialect) infos.push_back(info);
    }
    return infos;
  }
  Result<bool> apply(const PatternInfo& p, Graph& g, NodeId root) override {
    for (const auto& [info, apply_it] : pattern_list) {
      if (info.name == p.name) return apply_it(g, root);
    }
    return false;
  }
  const Semantics& semantics() const override { return defined; }
  const Limits* limits(const Op& op) const override {
    const auto it = limit_table.find(op.name);
    return it == limit_table.end() ? nullptr : &it->second;
  }
  std::vector<Diagnostic> take_messages() override { return std::exchange(messages, {}); }

  std::vector<Diagnostic> messages;

 private:
  static Result<Outcome> call(const std::map<std::string, NodeFunction, std::less<>>& table, Graph& g, NodeId n) {
    const auto it = table.find(g.node(n).op.name);
    if (it == table.end()) return Outcome{};
    return it->second(g, n);
  }
};

/// A pass context with everything that it refers to.
struct Bench {
  explicit Bench(Graph graph_) : graph(std::move(graph_)) {}

  Status run(std::string_view pass) {
    PassContext c{.graph = graph,
                  .report = report,
                  .plugins = plugins,
                  .source = &source,
                  .target = "tflite",
                  .allow_custom = allow_custom,
                  .options = options};
    return run_pass(*find_pass(pass), c);
  }

  Graph graph;
  Report report;
  FakeExtensions plugins;
  FakeSemantics source;
  PassOptions options;
  bool allow_custom = false;
};

/// Replaces a node of one operand and one result by a chain of nodes of these operators; the type is kept.
inline Outcome replace_by_chain(Graph& g, NodeId n, std::string_view dialect, const std::vector<std::string>& names) {
  ValueId v = g.node(n).input(0);
  const ValueId result = g.node(n).output(0);
  const std::string node_name(g.node(n).name);
  for (const std::string& name : names) {
    const NodeId made = g.add_node(g.before(n), Op{dialect, "", name, 1}, std::array{v}, 1, {}, node_name);
    v = g.node(made).output(0);
    g.set_type(v, g.value(result).type);
  }
  g.replace_uses(result, v);
  g.erase_node(n);
  return {.kind = Outcome::Kind::done, .plugin = "test", .reasons = {}};
}

}  // namespace gantry::testing
