// From a bound rule to labels and segments: what make_operator, fixed_operator and boundary_operator of binding.hpp do.
#include <algorithm>
#include <limits>

#include "host/layout/binding.hpp"

namespace gantry::layout {
namespace {

constexpr std::int64_t kOuter = std::numeric_limits<std::int64_t>::max();  // `inner` of a block label

/// Pattern item that an axis variable belongs to, e.g. "C" of "C0".
std::string item_of(const std::string& variable) {
  std::size_t n = variable.size();
  while (n > 1 && variable[n - 1] >= '0' && variable[n - 1] <= '9') --n;
  return variable.substr(0, n);
}
int distance_of(const std::string& variable) {
  const std::string digits = variable.substr(item_of(variable).size());
  return digits.empty() ? 0 : std::stoi(digits);
}

bool is_block(const BoundOperand& o, const std::string& variable) {
  for (const Item& i : o.pattern->alternatives[0].items)
    if (i.block && i.name == item_of(variable)) return true;
  return false;
}

class Maker {
 public:
  Maker(const Binding& b, const Axes& axes, const std::map<ValueId, Placed>& placed)
      : b_(b), axes_(axes), placed_(placed) {}

  std::optional<Operator> run() {
    op_.rule = b_.variant;
    for (const BoundOperand& o : b_.operands)
      if (!o.constant && !find_steps(o)) return std::nullopt;
    for (std::size_t i = 0; i < b_.operands.size(); ++i)
      if (!b_.operands[i].constant && !label_operand(i)) return std::nullopt;
    make_segments();
    std::size_t next = 0;
    for (std::size_t i = 0; i < b_.operands.size(); ++i) {
      if (b_.operands[i].constant) {
        if (!add_constant(i)) return std::nullopt;
      } else {
        op_.operands[next].alternatives = alternatives(i);
        ++next;
      }
    }
    return std::move(op_);
  }

 private:
  /// For cut variables: the largest step below which atoms are shared; the rest is one block.
  bool find_steps(const BoundOperand& o) {
    for (std::size_t i = 0; i < o.variables.size(); ++i) {
      const std::string& v = o.variables[i];
      const auto grain = b_.grain.find(v);
      const std::int64_t d = axes_.size({o.value, static_cast<int>(i)});
      if (grain == b_.grain.end()) {
        check_class(v, o, i, d);
        continue;
      }
      if (d == 1) continue;
      std::set<std::int64_t> shared;
      for (std::int64_t c : axes_.cuts({o.value, static_cast<int>(i)}))
        if (c != 0 && grain->second % c == 0) shared.insert(c);
      if (d > 1 && grain->second % d == 0) shared.insert(d);
      const auto it = steps_.find(v);
      if (it == steps_.end()) {
        steps_[v] = shared;
      } else {
        std::set<std::int64_t> both;
        std::set_intersection(shared.begin(), shared.end(), it->second.begin(), it->second.end(),
                              std::inserter(both, both.end()));
        it->second = both;
      }
    }
    return true;
  }

  /// Axes that should be one but are of different classes (an unknown size beside a known one): a block is always
  /// right.
  void check_class(const std::string& v, const BoundOperand& o, std::size_t axis, std::int64_t d) {
    if (d == 1 || is_block(o, v)) return;
    const std::size_t c = axes_.class_of({o.value, static_cast<int>(axis)});
    const auto [it, fresh] = classes_.emplace(v, c);
    if (!fresh && it->second != c) steps_[v] = {};
  }

  std::int64_t step_of(const std::string& v) const {
    const auto it = steps_.find(v);
    if (it == steps_.end()) return kOuter;
    return it->second.empty() ? 1 : *it->second.rbegin();
  }

  std::size_t label(const std::string& key, const std::string& variable, std::int64_t inner, std::int64_t size,
                    bool block) {
    const auto [it, fresh] = label_ids_.emplace(std::make_pair(key, inner), op_.labels.size());
    if (fresh) op_.labels.push_back({variable, inner, size, block});
    return it->second;
  }

  bool label_operand(std::size_t index) {
    const BoundOperand& o = b_.operands[index];
    const Placed& p = placed_.at(o.value);
    Operand operand;
    operand.value = o.value;
    operand.root = p.root;
    operand.result = o.result;
    operand.position = o.position;
    std::map<std::size_t, Seq> groups;
    for (std::size_t k = 0; k < p.atoms.size(); ++k) {
      const Atom& a = p.atoms[k];
      const std::string& v = o.variables[static_cast<std::size_t>(a.axis)];
      std::size_t l = 0;
      if (is_block(o, v)) {
        l = label(v + "@" + std::to_string(index), v, kOuter, axes_.size({o.value, a.axis}), true);
      } else if (a.inner >= step_of(v)) {
        l = label(v, v, kOuter, 0, true);
      } else {
        l = label(v, v, a.inner, a.size, false);
        if (op_.labels[l].size != a.size) return false;
      }
      groups[l].push_back(p.map[k]);
    }
    operand.groups.resize(op_.labels.size());
    for (auto& [l, atoms] : groups) operand.groups[l] = atoms;
    op_.operands.push_back(std::move(operand));
    operand_index_.push_back(index);
    return true;
  }

  std::string segment_name(const std::string& variable, std::size_t operand, bool block) const {
    const std::string item = item_of(variable);
    return block                                                                ? item + "@" + std::to_string(operand)
           : b_.operands[operand].pattern->alternatives[0].items[0].name == "*" ? "*"
                                                                                : item;
  }

  /// One segment for each item; "!" items have one for each operand.
  void make_segments() {
    const std::size_t n = op_.labels.size();
    for (Operand& o : op_.operands) o.groups.resize(n);
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Label &x = op_.labels[a], &y = op_.labels[b];
      const int dx = distance_of(x.variable), dy = distance_of(y.variable);
      return dx != dy ? dx > dy : x.inner > y.inner;
    });
    for (std::size_t k = 0; k < op_.operands.size(); ++k) {
      const BoundOperand& o = b_.operands[operand_index_[k]];
      for (const Item& item : o.pattern->alternatives[0].items) {
        const std::size_t s =
            segment(item.block ? item.name + "@" + std::to_string(operand_index_[k]) : item.name, item.block);
        op_.dims[s] = item.rest ? item.dims : 1;
      }
    }
    for (std::size_t l : order)
      for (std::size_t k = 0; k < op_.operands.size(); ++k) {
        if (op_.operands[k].groups[l].empty()) continue;
        const BoundOperand& o = b_.operands[operand_index_[k]];
        op_
            .segments[segment(
                segment_name(op_.labels[l].variable, operand_index_[k], is_block(o, op_.labels[l].variable)), false)]
            .push_back(static_cast<Seq::value_type>(l));
        break;
      }
  }

  std::size_t segment(const std::string& name, bool fixed) {
    const auto [it, fresh] = segments_.emplace(name, op_.segments.size());
    if (fresh) {
      op_.segments.emplace_back();
      op_.fixed.push_back(fixed);
      op_.dims.push_back(1);
    }
    return it->second;
  }

  std::vector<std::vector<std::size_t>> alternatives(std::size_t index) {
    std::vector<std::vector<std::size_t>> out;
    for (const Alternative& a : b_.operands[index].pattern->alternatives) {
      std::vector<std::size_t> row;
      for (const Item& i : a.items)
        row.push_back(segment(i.block ? i.name + "@" + std::to_string(index) : i.name, i.block));
      out.push_back(std::move(row));
    }
    return out;
  }

  /// Cuts a constant's axes as the labels of their variables say.
  bool add_constant(std::size_t index) {
    const BoundOperand& o = b_.operands[index];
    ConstantOperand c;
    c.position = o.position;
    c.alternatives = alternatives(index);
    for (std::size_t i = 0; i < o.variables.size(); ++i) {
      const std::int64_t d = axes_.size({o.value, static_cast<int>(i)});
      const std::string& v = o.variables[i];
      std::vector<std::size_t> labels;  // outermost first
      if (!is_block(o, v))
        for (const auto& [key, l] : label_ids_)
          if (key.first == v) labels.insert(labels.begin(), l);
      if (d == 1 && labels.empty()) continue;
      if (d == 1) continue;
      if (labels.empty()) {
        c.pieces.push_back({static_cast<int>(i), d, -1});
        continue;
      }
      std::int64_t inner = 1;
      for (std::size_t l : labels)
        if (op_.labels[l].inner != kOuter) inner *= op_.labels[l].size;
      const bool has_outer = op_.labels[labels[0]].inner == kOuter;
      if (inner == 0 || d % inner || (!has_outer && d != inner)) return false;
      for (std::size_t l : labels) {
        const std::int64_t size = op_.labels[l].inner == kOuter ? d / inner : op_.labels[l].size;
        if (size != 1) c.pieces.push_back({static_cast<int>(i), size, static_cast<int>(l)});
      }
    }
    op_.constants.push_back(std::move(c));
    return true;
  }

  const Binding& b_;
  const Axes& axes_;
  const std::map<ValueId, Placed>& placed_;
  Operator op_;
  std::vector<std::size_t> operand_index_;
  std::map<std::string, std::set<std::int64_t>> steps_;
  std::map<std::string, std::size_t> classes_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> label_ids_;  // (variable, inner), ascending by inner
  std::map<std::string, std::size_t> segments_;
};

/// Adds an operand whose axes are one block each, in one fixed segment.
void add_fixed(Operator& op, ValueId v, const Placed& p, bool result, std::size_t position) {
  Operand o;
  o.value = v;
  o.root = p.root;
  o.result = result;
  o.position = position;
  Seq segment;
  if (!p.map.empty()) {
    segment.push_back(static_cast<Seq::value_type>(op.labels.size()));
    op.labels.push_back({"x" + std::to_string(op.operands.size()), kOuter, 0, true});
  }
  o.alternatives = {{op.segments.size()}};
  op.segments.push_back(segment);
  op.fixed.push_back(true);
  op.dims.push_back(1);
  o.groups.resize(op.labels.size());
  if (!p.map.empty()) o.groups.back() = p.map;
  op.operands.push_back(std::move(o));
}

void same_length(Operator& op) {
  for (Operand& o : op.operands) o.groups.resize(op.labels.size());
}

}  // namespace

std::optional<Operator> make_operator(const Binding& b, const Axes& axes, const std::map<ValueId, Placed>& placed) {
  return Maker(b, axes, placed).run();
}

Operator fixed_operator(const Graph& g, const Node& n, const std::map<ValueId, Placed>& placed) {
  Operator op;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i] && !g.value(n.inputs[i]).is_constant())
      if (const auto p = placed.find(n.inputs[i]); p != placed.end()) add_fixed(op, n.inputs[i], p->second, false, i);
  for (std::size_t i = 0; i < n.outputs.size(); ++i)
    if (n.outputs[i]) add_fixed(op, n.outputs[i], placed.at(n.outputs[i]), true, i);
  same_length(op);
  return op;
}

Operator boundary_operator(Operator::Kind kind, ValueId v, std::size_t position, const Placed& p, Io io) {
  Operator op;
  op.kind = kind;
  const bool result = kind == Operator::Kind::input;
  if (io.layout == IoLayout::preserve) {
    add_fixed(op, v, p, result, position);
    return op;
  }
  const int channel = io.layout == IoLayout::nhwc ? 1 : io.rank - 1;
  op.channel_axis = channel;
  op.dims.assign(3, 1);
  Operand o;
  o.value = v;
  o.root = p.root;
  o.result = result;
  o.position = position;
  op.segments.resize(3);  // batch, channels, space
  op.fixed.assign(3, true);
  for (std::size_t k = 0; k < p.atoms.size(); ++k) {
    const std::size_t s = p.atoms[k].axis == 0 ? 0 : p.atoms[k].axis == channel ? 1 : 2;
    op.segments[s].push_back(static_cast<Seq::value_type>(k));
    op.labels.push_back({"x" + std::to_string(k), 1, p.atoms[k].size, false});
    o.groups.push_back(Seq(1, p.map[k]));
  }
  const std::vector<std::size_t> first{0, 1, 2}, end{0, 2, 1};
  const bool last_is_logical = io.layout == IoLayout::nchw;
  const auto& moved = last_is_logical ? first : end;
  const auto& logical = last_is_logical ? end : first;
  o.alternatives = {moved};
  if (!io.forced) o.alternatives.push_back(logical);
  op.operands.push_back(std::move(o));
  return op;
}

}  // namespace gantry::layout
