#include "host/layout/binding.hpp"

#include <algorithm>
#include <numeric>

namespace gantry::layout {
namespace {

std::size_t rank_of(const Graph& g, ValueId v) { return g.value(v).type.rank(); }
std::int64_t size_of(const Graph& g, ValueId v, std::size_t axis) { return g.value(v).type.dims[axis].size; }

std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

/// Names for the axes of one operand; false if the pattern has another rank.
bool name_axes(const Alternative& a, std::size_t rank, std::vector<std::string>& out) {
  out.resize(rank);
  const bool has_rest = !a.items.empty() && a.items[0].rest;
  const std::size_t single = a.items.size() - (has_rest ? 1 : 0);
  if (has_rest ? rank < single : rank != single) return false;
  const std::size_t rest = rank - single;
  for (std::size_t i = 0; i < rest; ++i) out[i] = a.items[0].name + std::to_string(rest - 1 - i);
  for (std::size_t i = 0; i < single; ++i) out[rest + i] = a.items[i + (has_rest ? 1 : 0)].name + "0";
  return true;
}

const OperandPattern* with_roles(const Variant& v) {
  for (const auto* list : {&v.operands, &v.results})
    for (const OperandPattern& p : *list)
      if (!p.roles.empty()) return &p;
  return nullptr;
}

/// Where the operand with roles that take axes away stands; npos if there is none.
std::size_t taking_operand(const Variant& v) {
  for (std::size_t i = 0; i < v.operands.size(); ++i)
    for (const char* role : {"axes", "drop", "pick"})
      if (v.operands[i].roles.contains(role)) return i;
  return std::string::npos;
}

std::string star(std::size_t rank, std::size_t axis) { return "*" + std::to_string(rank - 1 - axis); }

/// Grains of the one axis of a joining, cutting or summing operator.
bool grain_of_axis(const Graph& g, const Node& n, Binding& b, const Source& s, bool whole) {
  const auto axis = read_source(g, n, s);
  if (!axis || axis->size() != 1) return false;
  std::int64_t grain = 0, sizes = 0;
  std::string variable;
  for (const BoundOperand& o : b.operands) {
    const std::size_t rank = rank_of(g, o.value);
    if (o.result && whole) continue;
    const auto at = normal_axis((*axis)[0], rank);
    if (!at) return false;
    variable = o.variables[*at];
    grain = std::gcd(grain, size_of(g, o.value, *at));
    ++sizes;
  }
  b.grain[variable] = whole || sizes == 2 ? 1 : std::max<std::int64_t>(1, grain);
  return true;
}

struct Tables {
  std::optional<std::vector<std::int64_t>> begin, strides, pads, repeats;
  bool mirror = false;
};

/// Grains of an operator with numbers for each axis: cuts must divide every offset.
bool grain_of_tables(const Graph& g, const Node& n, Binding& b, const std::map<std::string, Source>& roles) {
  Tables t;
  const auto read = [&](const char* role, std::optional<std::vector<std::int64_t>>& into) {
    const auto it = roles.find(role);
    if (it == roles.end()) return true;
    into = read_source(g, n, it->second);
    return into.has_value();
  };
  std::optional<std::vector<std::int64_t>> other;
  if (!read("begin", t.begin) || !read("strides", t.strides) || !read("repeats", t.repeats)) return false;
  if (!read("size", other) || !read("end", other) || !read("shape", other)) return false;
  t.mirror = roles.contains("mirror");
  if (!read(t.mirror ? "mirror" : "pads", t.pads)) return false;
  const ValueId x = n.input(0), y = n.output(0);
  if (roles.contains("shape")) return g.value(y).type.is_static();
  if (t.pads && t.pads->size() != 2 * rank_of(g, x)) return false;
  if (t.pads && n.op.dialect == "onnx") t.pads = pairs_of(*t.pads);
  if (rank_of(g, x) != rank_of(g, y)) return false;
  const std::size_t rank = rank_of(g, x);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t in = size_of(g, x, i), out = size_of(g, y, i);
    const auto entry = [&](const auto& table, std::size_t k, std::int64_t otherwise) {
      return table && k < table->size() ? (*table)[k] : otherwise;
    };
    const std::int64_t step = entry(t.strides, i, 1), repeat = entry(t.repeats, i, 1);
    std::int64_t begin = entry(t.begin, i, 0), before = entry(t.pads, 2 * i, 0), after = entry(t.pads, 2 * i + 1, 0);
    if (begin < 0) begin += in;
    const bool moved = t.pads ? before || after : t.repeats ? repeat != 1 : in != out || step != 1;
    if (!moved) continue;
    std::int64_t grain = 1;
    if (in >= 0 && out >= 0 && step == 1 && !t.mirror) {
      if (t.repeats)
        grain = in;
      else if (t.pads)
        grain = std::gcd(std::gcd(before, after), in);
      else
        grain = std::gcd(std::gcd(begin, in), out);
    }
    b.grain[star(rank, i)] = std::max<std::int64_t>(1, grain);
  }
  return true;
}

bool one_sized(const Graph& g, const Node& n, const Source& s) {
  const auto axis = read_source(g, n, s);
  if (!axis || axis->size() != 1) return false;
  const auto at = normal_axis((*axis)[0], rank_of(g, n.input(0)));
  return at && size_of(g, n.input(0), *at) == 1;
}

/// Whether all operands and results have size 1 along the axis, so that none of them has a dimension for it.
bool vanishes(const Graph& g, const Node& n, const Source& s) {
  const auto axis = read_source(g, n, s);
  if (!axis || axis->size() != 1) return false;
  const std::size_t rank = std::max(rank_of(g, n.input(0)), rank_of(g, n.output(0)));  // an ARG_MAX drops the axis
  const auto at = normal_axis((*axis)[0], rank);
  const auto is_one = [&](ValueId v) { return !v || rank_of(g, v) != rank || size_of(g, v, *at) == 1; };
  return at && std::ranges::all_of(n.inputs, is_one) && std::ranges::all_of(n.outputs, is_one);
}

bool read_grains(const Graph& g, const Node& n, Binding& b, const OperandPattern& p) {
  for (const auto& [role, source] : p.roles) {
    // An axis of size 1 is written nowhere for sure, so it cannot be named.
    if ((role == "pick" || role == "drop") && one_sized(g, n, source)) return false;
    // The shape of a runtime index is part of the result's: it must not be written with more ones.
    if (role == "pick" && n.inputs.size() > 1 && !g.value(n.input(1)).is_constant()) return false;
    if (role == "axis" && vanishes(g, n, source)) return false;
    if (role == "axis" && !grain_of_axis(g, n, b, source, false)) return false;
    if ((role == "pick" || role == "drop") && !grain_of_axis(g, n, b, source, true)) return false;
    if (role == "axes" && !read_source(g, n, source)) return false;
  }
  for (const char* role : {"begin", "pads", "mirror", "repeats", "shape"})
    if (p.roles.contains(role)) return grain_of_tables(g, n, b, p.roles);
  return true;
}

/// Adds operand or result i of the node; false if the variant does not fit.
bool bind_operand(const Graph& g, const Node& n, Binding& b, std::size_t i, bool result) {
  const ValueId v = result ? n.output(i) : n.input(i);
  if (!v) return true;
  const OperandPattern* p = result ? b.variant->result(i) : b.variant->operand(i);
  const Value& value = g.value(v);
  if (!p) return false;
  if (p->none) return value.is_constant() || (value.type.ranked && value.type.rank() == 0);
  if (!value.type.ranked) return false;
  BoundOperand o{v, result, value.is_constant(), i, p, logical_alternative(n, *p), {}};
  const std::size_t rank = value.type.rank();
  if (p->alternatives[0].items[0].name != "*") {
    if (!name_axes(p->alternatives[o.logical], rank, o.variables)) return false;
    for (std::size_t a = 0; a < rank; ++a)
      if (o.variables[a] == "10" && value.type.dims[a].size != 1) return false;
  } else if (const std::size_t taker = taking_operand(*b.variant); result && taker != std::string::npos) {
    const ValueId x = n.input(taker);
    const auto kept = kept_axes(g, n, b.variant->operands[taker], x, v);
    if (kept.size() != rank) return false;
    for (std::size_t a = 0; a < rank; ++a)
      o.variables.push_back(kept[a] < 0 ? "new" + std::to_string(a)
                                        : star(rank_of(g, x), static_cast<std::size_t>(kept[a])));
  } else {
    for (std::size_t a = 0; a < rank; ++a) o.variables.push_back(star(rank, a));
  }
  b.operands.push_back(std::move(o));
  return true;
}

/// A named variable has one size in all operands, but for axes of size 1 that broadcast.
bool sizes_agree(const Graph& g, const Binding& b) {
  std::map<std::string, std::int64_t> sizes;
  for (const BoundOperand& o : b.operands)
    for (std::size_t a = 0; a < o.variables.size(); ++a) {
      const std::string& v = o.variables[a];
      const auto& items = o.pattern->alternatives[0].items;
      const bool block =
          std::any_of(items.begin(), items.end(), [&](const Item& i) { return i.block && v == i.name + "0"; });
      if (v[0] == '*' || block) continue;
      std::int64_t& size = sizes.emplace(v, 1).first->second;
      const std::int64_t here = size_of(g, o.value, a);
      if (here != 1 && size != 1 && here != size) return false;
      if (here != 1)
        size = here;
      else if (o.result && size != 1)
        return false;
    }
  return true;
}

/// Axes that a node counts in numbers which no role of the variant reads: it must count from the first then.
bool counts_axes_unread(const Node& n, const Variant& v) {
  if (n.op.dialect != "tflite") return false;
  if (n.attr_or<std::int64_t>("batch_dims", 0) != 0) return true;
  return !with_roles(v) && n.attr_or<std::int64_t>("axis", 0) != 0;
}

/// Of constants alone nothing is laid out, and no operand says which axes there are.
bool reads_constants_only(const Graph& g, const Node& n) {
  return std::ranges::all_of(n.inputs, [&](ValueId v) { return !v || g.value(v).is_constant(); });
}

std::optional<Binding> bind_variant(const Graph& g, const Node& n, const Variant& v) {
  if (counts_axes_unread(n, v) || reads_constants_only(g, n)) return std::nullopt;
  Binding b;
  b.variant = &v;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    if (!bind_operand(g, n, b, i, false)) return std::nullopt;
  for (std::size_t i = 0; i < n.outputs.size(); ++i)
    if (!bind_operand(g, n, b, i, true)) return std::nullopt;
  if (const OperandPattern* p = with_roles(v))
    if (!read_grains(g, n, b, *p)) return std::nullopt;
  if (!sizes_agree(g, b)) return std::nullopt;
  return b;
}

}  // namespace

std::optional<std::vector<std::int64_t>> read_source(const Graph& g, const Node& n, const Source& s) {
  if (s.operand >= 0) {
    const ValueId v = n.input(static_cast<std::size_t>(s.operand));
    if (!v || !g.value(v).is_constant()) return std::nullopt;
    auto r = g.value(v).constant.read<std::int64_t>();
    return r.ok() ? std::optional(*r) : std::nullopt;
  }
  const Attr* a = n.attr(s.attribute);
  if (!a) return std::vector<std::int64_t>{s.otherwise};
  if (const auto* i = std::get_if<std::int64_t>(a)) return std::vector<std::int64_t>{*i};
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(a)) return *v;
  return std::nullopt;
}

std::size_t logical_alternative(const Node& n, const OperandPattern& p) {
  std::size_t plain = 0;
  for (std::size_t i = 0; i < p.alternatives.size(); ++i) {
    const std::string& flag = p.alternatives[i].flag;
    if (flag.empty())
      plain = i;
    else if (n.attr_or<std::int64_t>(flag, 0) != 0)
      return i;
  }
  return plain;
}

std::vector<std::int64_t> pairs_of(const std::vector<std::int64_t>& pads) {
  std::vector<std::int64_t> pairs;
  for (std::size_t i = 0; i < pads.size() / 2; ++i) {
    pairs.push_back(pads[i]);
    pairs.push_back(pads[i + pads.size() / 2]);
  }
  return pairs;
}

std::vector<std::int64_t> permutation(const Graph& g, const Node& n) {
  std::vector<std::int64_t> perm;
  const std::size_t rank = g.value(n.input(0)).type.rank();
  if (n.op.dialect == "onnx") {
    for (std::size_t i = rank; i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
    perm = n.attr_or("perm", perm);
  } else if (auto p = read_source(g, n, {"", 1})) {
    perm = *p;
  }
  std::vector<bool> seen(rank);
  for (std::int64_t a : perm) {
    if (a < 0 || static_cast<std::size_t>(a) >= rank || seen[static_cast<std::size_t>(a)]) return {};
    seen[static_cast<std::size_t>(a)] = true;
  }
  return perm.size() == rank ? perm : std::vector<std::int64_t>{};
}

bool keeps_dims(const Node& n) {
  return n.op.dialect == "onnx" ? n.attr_or<std::int64_t>("keepdims", 1) != 0
                                : n.attr_or<std::int64_t>("keep_dims", 0) != 0;
}

std::vector<int> kept_axes(const Graph& g, const Node& n, const OperandPattern& p, ValueId x, ValueId y) {
  const std::size_t rank = rank_of(g, x), result = rank_of(g, y);
  std::vector<bool> gone(rank, false);
  bool removes = false;
  for (const char* role : {"axes", "drop", "pick"}) {
    const auto it = p.roles.find(role);
    if (it == p.roles.end()) continue;
    const auto axes = read_source(g, n, it->second);
    if (!axes) return {};
    if (role == std::string_view("pick") && n.inputs.size() > 1 && rank_of(g, n.input(1)) == 1) continue;
    if (role == std::string_view("axes") && keeps_dims(n)) continue;
    for (std::int64_t a : *axes) {
      const auto at = normal_axis(a, rank);
      if (!at) return {};
      gone[*at] = removes = true;
    }
  }
  std::vector<int> kept;
  if (!removes) {
    for (std::size_t i = 0; i < result; ++i)
      kept.push_back(static_cast<int>(i) + static_cast<int>(rank) - static_cast<int>(result));
    for (int& k : kept) k = std::max(k, -1);
    return kept;
  }
  for (std::size_t i = 0; i < rank; ++i)
    if (!gone[i]) kept.push_back(static_cast<int>(i));
  return kept;
}

std::optional<Binding> bind(const Graph& g, const Node& n, const Rule* rule) {
  if (!rule || !n.regions.empty()) return std::nullopt;
  if (n.op.is("tflite", "GATHER") && n.inputs.size() > 1 && !g.value(n.input(1)).is_constant() &&
      rank_of(g, n.input(1)) == 0)
    return std::nullopt;
  for (const Variant& v : rule->variants) {
    if (v.fixed) return std::nullopt;
    if (auto b = bind_variant(g, n, v)) return b;
  }
  return std::nullopt;
}

void tie_axes(const Binding& b, Axes& axes) {
  std::map<std::string, std::vector<AxisOf>> live;
  for (const BoundOperand& o : b.operands) {
    if (o.constant) continue;
    const Alternative& a = o.pattern->alternatives[0];
    for (std::size_t i = 0; i < o.variables.size(); ++i) {
      const std::string& v = o.variables[i];
      const bool block = std::any_of(a.items.begin(), a.items.end(),
                                     [&](const Item& item) { return item.block && v == item.name + "0"; });
      if (!block) live[v].push_back({o.value, static_cast<int>(i)});
    }
  }
  for (const auto& [variable, list] : live) {
    if (const auto it = b.grain.find(variable); it != b.grain.end()) {
      axes.tie_partly(list, it->second);
      continue;
    }
    const AxisOf* first = nullptr;
    for (const AxisOf& a : list) {
      if (axes.size(a) == 1) continue;
      if (first)
        axes.tie(*first, a);
      else
        first = &a;
    }
  }
}

std::vector<AxisOf> channel_axes(const Binding& b) {
  std::vector<AxisOf> out;
  for (const BoundOperand& o : b.operands) {
    const auto& items = o.pattern->alternatives[o.logical].items;
    const bool image = std::any_of(items.begin(), items.end(), [](const Item& i) { return i.block || i.dims > 0; });
    if (image && !o.constant && !items.back().block) out.push_back({o.value, static_cast<int>(o.variables.size()) - 1});
  }
  return out;
}

}  // namespace gantry::layout
