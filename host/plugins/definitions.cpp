#include "host/plugins/definitions.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "host/plugins/call.hpp"

namespace gantry::plugins {
namespace {

std::string_view view(gantry_str s) { return s.size ? std::string_view(s.data, s.size) : std::string_view{}; }

bool covers(const gantry_op_key& k, int version) {
  return version >= k.min_version && (k.max_version == 0 || version <= k.max_version);
}

bool overlap(const gantry_op_key& a, const gantry_op_key& b) {
  return (a.max_version == 0 || b.min_version <= a.max_version) &&
         (b.max_version == 0 || a.min_version <= b.max_version);
}

/// The newest form of which a definition tells.
int newest_of(const gantry_op_key& k) { return k.max_version != 0 ? k.max_version : k.min_version; }

std::string types_text(std::uint64_t bits) {
  std::string text;
  for (unsigned t = 0; t <= GANTRY_UINT4; ++t) {
    if (bits & GANTRY_DTYPE_BIT(t)) text += (text.empty() ? "" : ", ") + std::string(dtype_name(static_cast<DType>(t)));
  }
  return text;
}

}  // namespace

std::optional<Type> merge(const Type& a, const Type& b) {
  if (a.dtype != DType::undefined && b.dtype != DType::undefined && a.dtype != b.dtype) return std::nullopt;
  Type both = a.ranked ? a : b;
  both.dtype = a.dtype != DType::undefined ? a.dtype : b.dtype;
  if (!a.ranked || !b.ranked) return both;
  if (a.rank() != b.rank()) return std::nullopt;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    const Dim &x = a.dims[i], &y = b.dims[i];
    if (x.known() && y.known() && x.size != y.size) return std::nullopt;
    if (y.known() || (!x.known() && x.symbol.empty())) both.dims[i] = y;
  }
  return both;
}

Status Definitions::add(const OpenPlugin& plugin) {
  for (std::uint64_t i = 0; i < plugin.descriptor->operator_count; ++i) {
    const gantry_operator& o = *plugin.descriptor->operators[i];
    const OpName name(view(o.key.dialect), view(o.key.domain), view(o.key.op));
    std::vector<Definition>& forms = by_name_[name];
    for (const Definition& d : forms) {
      if (!overlap(d.record->key, o.key)) continue;
      return error(Code::plugin_conflict, "the operator " + Op{name.dialect, name.domain, name.name}.str() +
                                              " is defined by two plugins, " + d.plugin->id() + " and " + plugin.id())
          .from_plugin(plugin.id())
          .try_this("keep only one of " + d.plugin->manifest->file.string() + " and " + plugin.manifest->file.string() +
                    " on the search path");
    }
    forms.push_back({&plugin, &o, Limits{o.min_rank, o.max_rank, o.dtypes, o.operand_dtypes}});
  }
  return {};
}

const Definition* Definitions::find(const Op& op) const {
  const auto it = by_name_.find(OpName(op));
  if (it == by_name_.end()) return nullptr;
  const auto form =
      std::ranges::find_if(it->second, [&](const Definition& d) { return covers(d.record->key, op.version); });
  return form == it->second.end() ? nullptr : &*form;
}

bool Definitions::has(const OpName& op) const {
  if (by_name_.contains(op)) return true;
  return source_ && source_->newest_version(Op{op.dialect, op.domain, op.name}) > 0;
}

int Definitions::newest_version(const Op& op) const {
  const auto it = by_name_.find(OpName(op));
  int newest = 0;
  if (it == by_name_.end()) return newest;
  for (const Definition& d : it->second) {
    if (d.record->infer) newest = std::max(newest, newest_of(d.record->key));
  }
  return newest;
}

int Definitions::newest(const OpName& name) const {
  const Op op{name.dialect, name.domain, name.name};
  if (const int n = newest_version(op); n > 0) return n;
  return std::max(source_ ? source_->newest_version(op) : 0, 1);
}

bool Definitions::knows(const Op& op) const {
  const Definition* d = find(op);
  return d && d->record->infer;
}

bool Definitions::infers(const Op& op) const { return knows(op) || (source_ && source_->knows(op)); }

Status Definitions::infer(Graph& g, NodeId n) const {
  const Definition* d = find(g.node(n).op);
  return d && d->record->infer ? infer_by(*d, g, n, false) : Status{};
}

Status Definitions::infer_emitted(Graph& g, NodeId n) const {
  const Definition* d = find(g.node(n).op);
  if (d && d->record->infer) return infer_by(*d, g, n, true);
  return source_ ? source_->infer(g, n) : Status{};
}

Status Definitions::infer_by(const Definition& d, Graph& g, NodeId n, bool strict) const {
  Call call(Call::Kind::infer, g, n, *d.plugin, *this, {});
  const gantry_status status = call.run(d.record->infer, d.record->infer_data);
  if (status == GANTRY_DECLINED) return strict ? Status(call.reason()) : Status{};
  if (status != GANTRY_OK) return call.failure();
  const std::span<const std::optional<Type>> types = call.types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ValueId v = g.node(n).outputs[i];
    if (!types[i] || !v) continue;
    const Type& known = g.value(v).type;
    std::optional<Type> both = merge(known, *types[i]);
    if (!both) {
      return call.about(error(Code::input_type, "result " + std::to_string(i) + " is said to be " + known.str() +
                                                    ", but follows to be " + types[i]->str()));
    }
    g.set_type(v, *std::move(both));
  }
  return {};
}

DType Definitions::lacking_type(const Graph& g, NodeId id) const {
  const Node& n = g.node(id);
  const Definition* d = find(n.op);
  if (!d) return DType::undefined;
  const auto lacks = [&](ValueId v, std::uint64_t allowed) {
    const DType t = v ? g.value(v).type.dtype : DType::undefined;
    return t != DType::undefined && allowed != 0 && !(allowed & GANTRY_DTYPE_BIT(static_cast<unsigned>(t)))
               ? t
               : DType::undefined;
  };
  const DType operand = lacks(n.input(0), d->limits.operand_dtypes);
  return operand != DType::undefined ? operand : lacks(n.output(0), d->limits.dtypes);
}

std::optional<Detour> Definitions::detour(const Op& op, DType lacking) const {
  const Definition* d = find(op);
  if (!d || op.dialect != "tflite" || op.name == "CAST" || op.name == "BITCAST") return std::nullopt;
  const std::uint64_t of_operands = d->limits.operand_dtypes, of_results = d->limits.dtypes;
  return find_detour(lacking, of_operands ? of_operands : of_results, d->record->flags);
}

Status Definitions::check_limits(const Graph& g, NodeId id) const {
  const Node& n = g.node(id);
  const Definition* d = find(n.op);
  if (!d) return {};
  const Limits& limits = d->limits;
  const auto too = [&](const std::string& takes, const std::string& is) {
    return error(Code::target_limit, std::string(n.op.name) + " takes " + takes + ", this is " + is);
  };
  const auto check_rank = [&](ValueId v) -> Status {
    if (!v || !g.value(v).type.ranked) return {};
    const auto rank = static_cast<int>(g.value(v).type.rank());
    if (limits.max_rank != 0 && rank > limits.max_rank) {
      return too("rank <= " + std::to_string(limits.max_rank), std::to_string(rank));
    }
    if (rank < limits.min_rank) return too("rank >= " + std::to_string(limits.min_rank), std::to_string(rank));
    return {};
  };
  for (const ValueId v : n.inputs) GANTRY_TRY(check_rank(v));
  for (const ValueId v : n.outputs) GANTRY_TRY(check_rank(v));
  const auto check_type = [&](ValueId v, std::uint64_t allowed) -> Status {
    if (allowed == 0 || !v) return {};
    const DType t = g.value(v).type.dtype;
    if (t == DType::undefined || (allowed & GANTRY_DTYPE_BIT(static_cast<unsigned>(t)))) return {};
    return too(types_text(allowed), std::string(dtype_name(t)));
  };
  GANTRY_TRY(check_type(n.output(0), limits.dtypes));
  return check_type(n.input(0), limits.operand_dtypes);
}

}  // namespace gantry::plugins
