// The plugins in one conversion: which are opened, and what their converters, folders and patterns do to the graph.
// Private to host/plugins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/passes/extensions.hpp"
#include "host/plugins/call.hpp"
#include "host/plugins/definitions.hpp"
#include "host/plugins/store.hpp"

namespace gantry::plugins {

class Session final : public Extensions {
 public:
  /// All references must outlive the session; `source` may be null.
  Session(PluginStore& store, const std::vector<std::filesystem::path>& folders, const Semantics* source,
          Report& report)
      : store_(store), folders_(folders), report_(report), definitions_(source), active_(store.manifests().size()) {}

  Result<std::size_t> open_for(const Graph& g, std::string_view target) override;
  bool offers_converter(const Op& op, std::string_view target) const override;
  Result<Outcome> upgrade(Graph& g, NodeId n) override;
  Result<Outcome> convert(Graph& g, NodeId n, std::string_view target) override;
  Result<bool> fold(Graph& g, NodeId n) override;
  std::vector<PatternInfo> patterns(const Graph& g, std::string_view dialect) const override;
  Result<bool> apply(const PatternInfo& p, Graph& g, NodeId root) override;
  const Semantics& semantics() const override { return definitions_; }
  const Limits* limits(const Op& op) const override;
  std::string_view layout_rule(const Op& op) const override;
  void forbid_inexact_types() override { definitions_.strict_types = true; }
  std::vector<Diagnostic> take_messages() override { return std::exchange(messages_, {}); }

 private:
  struct Converter {
    const OpenPlugin* plugin;
    const gantry_converter* record;
  };
  struct Pattern {
    const OpenPlugin* plugin;
    const gantry_pattern* record;
  };
  // Converters of one operator in one form to one target, the highest priority first.
  struct Question {
    std::string dialect, domain, name, target;
    int version;
  };
  struct QuestionView {
    std::string_view dialect, domain, name, target;
    int version;
    QuestionView(const Op& op, std::string_view to)
        : dialect(op.dialect), domain(op.domain), name(op.name), target(to), version(op.version) {}
    QuestionView(const Question& q)  // NOLINT: for the hash table
        : dialect(q.dialect), domain(q.domain), name(q.name), target(q.target), version(q.version) {}
    bool operator==(const QuestionView&) const = default;
  };
  struct QuestionHash {
    using is_transparent = void;
    std::size_t operator()(const QuestionView& q) const noexcept {
      return (OpNameHash{}({q.dialect, q.domain, q.name}) * 31 + std::hash<std::string_view>{}(q.target)) * 31 +
             static_cast<std::size_t>(q.version);
    }
  };
  struct QuestionEqual {
    using is_transparent = void;
    bool operator()(const QuestionView& a, const QuestionView& b) const { return a == b; }
  };

  Status activate(std::size_t manifest, const std::string& reason, std::size_t& opened);
  Status add(const OpenPlugin& plugin);
  Result<const std::vector<Converter>*> converters(const Op& op, std::string_view target);
  Result<std::vector<Converter>> find_converters(const Op& op, std::string_view target) const;
  Result<Outcome> rewrite(Graph& g, NodeId n, std::string_view target);
  const Pattern* find_pattern(const PatternInfo& p) const;
  void keep_messages(Call& call);
  Status count_upgrades(NodeId from, const Call& call);

  PluginStore& store_;
  const std::vector<std::filesystem::path>& folders_;
  Report& report_;
  Definitions definitions_;
  std::vector<bool> active_;  // by manifest
  std::vector<const OpenPlugin*> plugins_;
  std::vector<Pattern> patterns_;  // highest priority first
  std::unordered_map<OpName, std::vector<Converter>, OpNameHash> converters_;
  std::unordered_map<Question, std::vector<Converter>, QuestionHash, QuestionEqual> answers_;
  std::unordered_map<NodeId, int> upgrades_;  // how many upgrades led to the node
  std::vector<Diagnostic> messages_;
  std::set<std::string> precision_;  // warnings of less precision that were given
};

}  // namespace gantry::plugins
