// Running converters, folders and patterns.
#include "host/plugins/session.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gantry::plugins {
namespace {

// An upgrade leads to the newest form, so chains are short; one that does not end is stopped here.
constexpr int kMostUpgrades = 32;

std::string_view view(gantry_str s) { return s.size ? std::string_view(s.data, s.size) : std::string_view{}; }

bool covers(const gantry_op_key& k, int version) {
  return version >= k.min_version && (k.max_version == 0 || version <= k.max_version);
}

}  // namespace

Result<std::vector<Session::Converter>> Session::find_converters(const Op& op, std::string_view target) const {
  std::vector<Converter> found;
  const auto it = converters_.find(OpName(op));
  if (it == converters_.end()) return found;
  std::ranges::copy_if(it->second, std::back_inserter(found), [&](const Converter& c) {
    return view(c.record->target) == target && covers(c.record->key, op.version);
  });
  std::ranges::sort(found, std::greater{}, [](const Converter& c) { return c.record->priority; });
  const auto twice = std::ranges::adjacent_find(found, {}, [](const Converter& c) { return c.record->priority; });
  if (twice == found.end()) return found;
  const OpenPlugin &a = *twice->plugin, &b = *std::next(twice)->plugin;
  return error(Code::plugin_conflict, "two plugins convert " + op.str() + "@" + std::to_string(op.version) + " to " +
                                          std::string(target) + " with the same priority " +
                                          std::to_string(twice->record->priority) + ": " + a.id() + " and " + b.id())
      .from_plugin(a.id())
      .try_this("give one of them a higher priority, or take one of " + a.manifest->file.string() + " and " +
                b.manifest->file.string() + " off the search path");
}

Result<const std::vector<Session::Converter>*> Session::converters(const Op& op, std::string_view target) {
  const auto known = answers_.find(QuestionView(op, target));
  if (known != answers_.end()) return &known->second;
  GANTRY_ASSIGN(std::vector<Converter> found, find_converters(op, target));
  Question q{std::string(op.dialect), std::string(op.domain), std::string(op.name), std::string(target), op.version};
  return &answers_.emplace(std::move(q), std::move(found)).first->second;
}

Result<Outcome> Session::rewrite(Graph& g, NodeId n, std::string_view target) {
  GANTRY_ASSIGN(const std::vector<Converter>* candidates, converters(g.node(n).op, target));
  const bool is_upgrade = g.node(n).op.dialect == target;
  Outcome outcome;
  for (const Converter& c : *candidates) {
    Call call(Call::Kind::convert, g, n, *c.plugin, definitions_, target);
    const gantry_status status = call.run(c.record->convert, c.record->data);
    if (status == GANTRY_DECLINED) {
      outcome.kind = Outcome::Kind::declined;
      outcome.reasons.push_back(call.reason());
      continue;
    }
    if (status != GANTRY_OK) return call.failure();
    if (is_upgrade) GANTRY_TRY(count_upgrades(n, call));
    GANTRY_TRY(call.commit_results());
    keep_messages(call);
    outcome.kind = Outcome::Kind::done;
    outcome.plugin = c.plugin->id();
    outcome.reasons.clear();
    return outcome;
  }
  return outcome;
}

// Of equal warnings about precision the first of each source operator is enough.
void Session::keep_messages(Call& call) {
  for (Diagnostic& d : call.take_messages()) {
    if (d.code == Code::warn_precision && !precision_.insert(d.op + ": " + d.message).second) continue;
    messages_.push_back(std::move(d));
  }
}

Status Session::count_upgrades(NodeId from, const Call& call) {
  const auto it = upgrades_.find(from);
  const int count = it == upgrades_.end() ? 1 : it->second + 1;
  if (count > kMostUpgrades) {
    return call.about(error(Code::plugin_failed, "upgrades of this operator lead to one another without end"));
  }
  for (const NodeId n : call.made_nodes()) upgrades_.emplace(n, count);
  return {};
}

Result<Outcome> Session::upgrade(Graph& g, NodeId n) { return rewrite(g, n, g.node(n).op.dialect); }

Result<Outcome> Session::convert(Graph& g, NodeId n, std::string_view target) {
  if (g.node(n).op.dialect == target) return Outcome{};  // it is there
  return rewrite(g, n, target);
}

Result<bool> Session::fold(Graph& g, NodeId n) {
  const Definition* d = definitions_.find(g.node(n).op);
  if (!d || !d->record->fold) return false;
  Call call(Call::Kind::fold, g, n, *d->plugin, definitions_, {});
  const gantry_status status = call.run(d->record->fold, d->record->fold_data);
  if (status == GANTRY_DECLINED) return false;
  if (status != GANTRY_OK) return call.failure();
  GANTRY_TRY(call.commit_results());
  keep_messages(call);
  return true;
}

const Session::Pattern* Session::find_pattern(const PatternInfo& p) const {
  const auto it = std::ranges::find_if(patterns_, [&](const Pattern& known) {
    const gantry_pattern& r = *known.record;
    return view(r.name) == p.name && known.plugin->id() == p.plugin &&
           p.root.is(view(r.root.dialect), view(r.root.op), view(r.root.domain));
  });
  return it == patterns_.end() ? nullptr : &*it;
}

Result<bool> Session::apply(const PatternInfo& info, Graph& g, NodeId root) {
  const Pattern* p = find_pattern(info);
  if (!p) return error(Code::internal, "there is no pattern '" + info.name + "'").from_plugin(info.plugin);
  const Op& op = g.node(root).op;
  if (!op.is(info.root.dialect, info.root.name, info.root.domain) || !covers(p->record->root, op.version)) return false;
  Call call(Call::Kind::pattern, g, root, *p->plugin, definitions_, op.dialect);
  const gantry_status status = call.run(p->record->rewrite, p->record->data);
  if (status == GANTRY_DECLINED) return false;
  if (status != GANTRY_OK) return call.failure();
  if (!call.commit_replacements()) return false;
  keep_messages(call);
  return true;
}

const Limits* Session::limits(const Op& op) const {
  const Definition* d = definitions_.find(op);
  return d ? &d->limits : nullptr;
}

std::string_view Session::layout_rule(const Op& op) const {
  const Definition* d = definitions_.find(op);
  return d && d->record->layout.size ? std::string_view(d->record->layout.data, d->record->layout.size)
                                     : std::string_view{};
}

}  // namespace gantry::plugins
