// Every node to the target dialect. A node that cannot be converted does not end the walk: all such nodes are reported
// at once, equal ones together.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/passes/normalize.hpp"
#include "host/passes/passes.hpp"
#include "host/passes/problems.hpp"
#include "host/passes/sweep.hpp"

namespace gantry::passes {
namespace {

class Converter {
 public:
  explicit Converter(PassContext& c) : c_(c), normalizer_(c) {}

  Status region(RegionId r);
  /// Puts what could not be converted into the report; the first of it, or success.
  Status report() { return problems_.report(c_.report); }

 private:
  enum class Step : std::uint8_t { stays, replaced };

  bool left_inside(NodeId n) const;
  Result<Step> node(NodeId n, const Sweep& at);
  Result<Outcome> try_converters(NodeId n);
  Result<Step> expand(NodeId n, const Sweep& at, const Outcome& outcome);
  void make_custom(NodeId n);
  void cannot(NodeId n, const Outcome& outcome);
  Diagnostic no_converter(NodeId n);
  Diagnostic declined(NodeId n, const std::vector<Diagnostic>& reasons);
  void progress();

  PassContext& c_;
  Normalizer normalizer_;
  Problems problems_;
  std::set<std::string, std::less<>> never_opened_;           // operators that are offered, but no plugin opened
  std::set<std::string, std::less<>> custom_;                 // operators already warned of
  std::map<std::string, std::string, std::less<>> expanded_;  // source node -> why its converter declined
  std::size_t visited_ = 0;
};

std::string reasons_text(const std::vector<Diagnostic>& reasons) {
  std::vector<std::string_view> texts;
  for (const Diagnostic& d : reasons) {
    if (std::find(texts.begin(), texts.end(), d.message) == texts.end()) texts.push_back(d.message);
  }
  std::string text;
  for (const std::string_view t : texts) text.append(text.empty() ? "" : "; ").append(t);
  return text.empty() ? "no reason given" : text;
}

Status Converter::region(RegionId r) {
  Sweep s(c_.graph, r);
  while (const NodeId n = s.current()) {
    progress();
    const auto inner = c_.graph.node(n).regions;  // a copy: the graph grows meanwhile
    for (const auto& [attribute, id] : inner) GANTRY_TRY(region(id));
    if (c_.graph.node(n).op.dialect == c_.target) {
      s.advance();
      continue;
    }
    if (left_inside(n)) {  // the reason is known; a copy of it would tell it again
      s.advance();
      continue;
    }
    const Diagnostic where = about_node({}, c_.graph, n);
    Result<Step> step = node(n, s);
    Status status;
    if (!step.ok()) {
      status = step.take_error();
    } else if (*step == Step::replaced) {
      status = s.descend();
    } else {
      s.advance();
    }
    if (!status.ok()) {
      Diagnostic d = status.take_error();
      if (d.node.empty()) d.node = where.node;
      if (d.op.empty()) d.op = where.op;
      return d;
    }
  }
  return {};
}

// Whether something in the node's regions could not be converted.
bool Converter::left_inside(NodeId n) const {
  for (const auto& [attribute, inner] : c_.graph.node(n).regions) {
    for (NodeId m = c_.graph.region(inner).first; m; m = c_.graph.node(m).next) {
      if (c_.graph.node(m).op.dialect != c_.target || left_inside(m)) return true;
    }
  }
  return false;
}

Result<Converter::Step> Converter::node(NodeId n, const Sweep& at) {
  GANTRY_ASSIGN(const Outcome outcome, try_converters(n));
  if (outcome.kind == Outcome::Kind::done) return Step::replaced;
  GANTRY_ASSIGN(const Step step, expand(n, at, outcome));
  if (step == Step::replaced) return step;
  if (c_.allow_custom && c_.target == "tflite" && c_.graph.node(n).regions.empty()) {
    make_custom(n);
  } else {
    cannot(n, outcome);
  }
  return Step::stays;
}

// A function body may hold operators of plugins that were not needed so far: they are opened when the first is met.
Result<Outcome> Converter::try_converters(NodeId n) {
  GANTRY_ASSIGN(Outcome outcome, c_.plugins.convert(c_.graph, n, c_.target));
  const Op op = c_.graph.contains(n) ? c_.graph.node(n).op : Op{};
  if (outcome.kind != Outcome::Kind::none || !c_.plugins.offers_converter(op, c_.target)) return outcome;
  std::string key = op.str() + "@" + std::to_string(op.version);
  if (never_opened_.contains(key)) return outcome;
  GANTRY_ASSIGN(const std::size_t opened, c_.plugins.open_for(c_.graph, c_.target));
  if (opened > 0) return c_.plugins.convert(c_.graph, n, c_.target);
  never_opened_.insert(std::move(key));
  return outcome;
}

Result<Converter::Step> Converter::expand(NodeId n, const Sweep& at, const Outcome& outcome) {
  Graph& g = c_.graph;
  const Semantics* semantics = semantics_of(c_, g.node(n).op);
  if (!semantics || !g.node(n).regions.empty()) return Step::stays;  // a body would be made without the subgraphs
  const RegionId region = g.node(n).region;
  const std::string source_name(g.node(n).name);
  const std::string op = op_text(g.node(n).op);
  GANTRY_ASSIGN(const bool expanded, semantics->expand(g, n));
  if (!expanded) return Step::stays;
  if (outcome.kind == Outcome::Kind::declined && !source_name.empty()) {
    expanded_.emplace(source_name, "from the function body of " + op +
                                       ", whose converter declined: " + reasons_text(outcome.reasons));
  }
  GANTRY_TRY(normalizer_.range(region, at.before(), at.after()));
  return Step::replaced;
}

void Converter::make_custom(NodeId n) {
  const Op op = c_.graph.node(n).op;
  if (custom_.insert(op_text(op)).second) {
    c_.report.add(about_node(warning(Code::warn_custom, "left as the custom operator \"" + std::string(op.name) +
                                                            "\", which the runtime must be given"),
                             c_.graph, n));
  }
  c_.graph.set_op(n, Op{c_.target, "custom", op.name, 1});
}

void Converter::cannot(NodeId n, const Outcome& outcome) {
  Diagnostic d = outcome.kind == Outcome::Kind::declined ? declined(n, outcome.reasons) : no_converter(n);
  if (const auto it = expanded_.find(c_.graph.node(n).name); it != expanded_.end())
    d.message += " (" + it->second + ")";
  problems_.add(std::move(d));
}

Diagnostic Converter::no_converter(NodeId n) {
  const Op op = c_.graph.node(n).op;
  // An old form without a converter may have an upgrade that declined: then that reason is the one to tell.
  const Result<Outcome> upgrade = c_.plugins.upgrade(c_.graph, n);
  if (upgrade.ok() && upgrade->kind == Outcome::Kind::declined) return declined(n, upgrade->reasons);
  const bool offered = c_.plugins.offers_converter(op, c_.target);
  Diagnostic d = error(
      Code::unsupported_op,
      "no converter from " + std::string(op.dialect) + " to " + c_.target + " for " + op_description(op) +
          (offered ? ": the plugin that offers it could not be used" : ": no manifest on the search path offers it"));
  d.hint = "add the folder of a plugin that offers it with --plugin-path";
  if (c_.target == "tflite") d.hint += ", or leave it as a custom operator with --allow-custom";
  return about_node(std::move(d), c_.graph, n);
}

Diagnostic Converter::declined(NodeId n, const std::vector<Diagnostic>& reasons) {
  Diagnostic d =
      error(Code::declined, "cannot convert " + op_description(c_.graph.node(n).op) + ": " + reasons_text(reasons));
  if (!reasons.empty()) {
    d.plugin = reasons.front().plugin;
    d.hint = reasons.front().hint;
  }
  return about_node(std::move(d), c_.graph, n);
}

void Converter::progress() {
  constexpr std::size_t kEvery = 256;
  if (++visited_ % kEvery == 0 && c_.options.on_progress) {
    c_.options.on_progress("convert", std::min(visited_, c_.graph.live_nodes()), c_.graph.live_nodes());
  }
}

}  // namespace

Status convert(PassContext& c) {
  Converter converter(c);
  GANTRY_TRY(converter.region(c.graph.main()));
  return converter.report();
}

}  // namespace gantry::passes
