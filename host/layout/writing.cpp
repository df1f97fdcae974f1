#include "host/layout/writing.hpp"

#include <algorithm>
#include <limits>

namespace gantry::layout {
namespace {

constexpr std::int64_t kOuter = std::numeric_limits<std::int64_t>::max();

/// Labels of all operands in an order that agrees with each of them.
Seq merge_sequences(const std::vector<Seq>& sequences) {
  Seq out;
  std::vector<std::size_t> at(sequences.size(), 0);
  for (;;) {
    bool any = false;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      while (at[i] < sequences[i].size() && out.find(sequences[i][at[i]]) != Seq::npos) ++at[i];
      if (at[i] == sequences[i].size()) continue;
      const auto l = sequences[i][at[i]];
      bool first = true;  // nobody has it behind something that is still to come
      for (std::size_t j = 0; j < sequences.size() && first; ++j)
        for (std::size_t k = at[j]; k < sequences[j].size(); ++k) {
          if (sequences[j][k] == l) break;
          if (out.find(sequences[j][k]) == Seq::npos && sequences[j].find(l) != Seq::npos) first = false;
        }
      if (!first) continue;
      out.push_back(l);
      any = true;
      break;
    }
    if (!any) return out;
  }
}

}  // namespace

std::int64_t atom_size(const Root& r, std::size_t atom) { return r.atoms[atom] < 0 ? kUnknownSize : r.atoms[atom]; }

std::optional<std::vector<std::pair<std::size_t, std::size_t>>> cut_order(const Root& r, const Seq& order,
                                                                          const Shape& shape) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::size_t at = 0;
  for (std::int64_t d : shape) {
    if (d == 1) {
      out.emplace_back(at, at);
      continue;
    }
    const std::size_t begin = at;
    std::int64_t product = 1;
    while (product < d && at < order.size()) product *= atom_size(r, order[at++]);
    if (product != d) return std::nullopt;
    out.emplace_back(begin, at);
  }
  if (at != order.size()) return std::nullopt;
  return out;
}

Writer::Writer(const Graph& g, const Model& m, const Candidates& c, std::size_t op, std::size_t choice, int max_rank)
    : g_(g), m_(m), c_(c), op_(m.operators[op]), max_rank_(max_rank) {
  for (std::size_t k = 0; k < op_.operands.size(); ++k) {
    const Operand& o = op_.operands[k];
    copies_.push_back({o.root, c.choices[op][choice][k]});
    parsed_.push_back(*parse_order(op_, o, c.orders[o.root][copies_[k].order]));
  }
  find_rule_facts();
  find_sequence();
}

void Writer::find_rule_facts() {
  exact_ = op_.rule == nullptr || op_.kind != Operator::Kind::node;
  if (exact_) return;
  for (std::size_t s = 0; s < op_.segments.size(); ++s) {
    bool used = false;
    for (const Operand& o : op_.operands)
      for (std::size_t x : o.alternatives[0]) used = used || x == s;
    if (used && op_.dims[s] != 1) {
      free_segment_ = s;
      has_free_ = true;
    }
  }
  exact_ = !has_free_;
  const Node& n = g_.node(op_.node);
  for (const OperandPattern& p : op_.rule->operands) {
    for (const auto& [role, source] : p.roles) {
      alone_ = alone_ || role == "pick" || role == "drop" || role == "mirror" || role == "strides";
      reduces_ = reduces_ || role == "axes";
      drops_ = drops_ || role == "drop";
      if (role == "axis" && op_.operands.size() == 2) alone_ = true;
      if (role == "pick") drops_ = n.inputs.size() > 1 && g_.value(n.input(1)).type.rank() == 0;
    }
    broadcasts_ = broadcasts_ || (!p.none && p.roles.empty() && p.alternatives[0].items[0].name == "*" &&
                                  op_.rule->operands.size() > 1);
  }
  // The operators of other domains may say that a result has its first operand's rank, as those of QONNX do.
  strips_ = broadcasts_ && n.op.domain.empty();
  for (const OperandPattern& p : op_.rule->results)
    for (const Alternative& a : p.alternatives) linear_ = linear_ || a.flag == "linear";
  const auto is_float = [&](ValueId v) { return g_.value(v).type.dtype == DType::float32; };
  linear_ = linear_ && op_.operands.size() == 2 && is_float(n.output(0)) && is_float(n.input(1));
  flattens_ = linear_ || n.op.is("tflite", "FULLY_CONNECTED");
}

void Writer::find_sequence() {
  if (!has_free_) return;
  std::vector<Seq> sequences;
  for (const ParsedOrder& p : parsed_) sequences.push_back(p.parts[free_segment_]);
  std::stable_sort(sequences.begin(), sequences.end(), [](const Seq& a, const Seq& b) { return a.size() > b.size(); });
  sequence_ = merge_sequences(sequences);
}

Seq Writer::segment(std::size_t s) const {
  Seq longest;
  for (const ParsedOrder& p : parsed_)
    if (p.parts[s].size() > longest.size()) longest = p.parts[s];
  return longest;
}

std::int64_t Writer::size(std::size_t label, std::size_t k) const {
  const Operand& o = op_.operands[k];
  std::int64_t n = 1;
  for (Seq::value_type a : o.groups[label]) n *= atom_size(m_.roots[o.root], a);
  return n;
}

Writing Writer::exact() const {
  Writing w;
  for (std::size_t k = 0; k < op_.operands.size(); ++k) {
    const Operand& o = op_.operands[k];
    Shape shape;
    if (op_.rule && op_.kind == Operator::Kind::node) {
      for (std::size_t s : o.alternatives[parsed_[k].alternative]) {
        std::int64_t d = 1;
        for (Seq::value_type l : parsed_[k].parts[s]) d *= size(l, k);
        shape.push_back(d);
      }
    } else {
      for (const Dim& d : g_.value(o.value).type.dims) shape.push_back(d.known() ? d.size : kUnknownSize);
      if (op_.channel_axis >= 0 && parsed_[k].alternative == 0) {  // stored with its channels moved
        const std::int64_t channels = shape[static_cast<std::size_t>(op_.channel_axis)];
        shape.erase(shape.begin() + op_.channel_axis);
        shape.insert(op_.channel_axis == 1 ? shape.end() : shape.begin() + 1, channels);
      }
    }
    w.shapes.push_back(std::move(shape));
  }
  return w;
}

std::vector<bool> Writer::signature(Seq::value_type label) const {
  std::vector<bool> s;
  for (const Operand& o : op_.operands) s.push_back(!o.groups[label].empty());
  for (const ConstantOperand& c : op_.constants)
    s.push_back(std::any_of(c.pieces.begin(), c.pieces.end(),
                            [&](const auto& p) { return p.label == static_cast<int>(label); }));
  return s;
}

/// Whether two neighbouring labels must stand in different dimensions.
bool Writer::breaks(Seq::value_type before, Seq::value_type after) const {
  const bool cut_before = op_.labels[before].inner == kOuter, cut_after = op_.labels[after].inner == kOuter;
  if (cut_after || (alone_ && cut_before)) return true;
  if (cut_before) {  // the block and what follows it: both must be where the other is, but for the block's own operands
    std::vector<bool> a = signature(before), b = signature(after);
    for (std::size_t k = 0; k < op_.operands.size(); ++k)
      if (a[k] && !b[k]) return true;
    return false;
  }
  return signature(before) != signature(after);
}

std::optional<Grouping> Writer::legal(const Grouping& g) const {
  Grouping out;
  for (const Seq& d : g) {
    if (d.empty()) {
      out.emplace_back();
      continue;
    }
    Seq now;
    for (Seq::value_type l : d) {
      if (!now.empty() && breaks(now.back(), l)) {
        out.push_back(now);
        now.clear();
      }
      now.push_back(l);
    }
    out.push_back(now);
  }
  if (linear_ && out.empty()) out.emplace_back();  // CONV_2D and FULLY_CONNECTED alike take no vector
  std::size_t others = 0;
  for (const Operand& o : op_.operands) others = std::max(others, o.alternatives[0].size() - 1);
  const int wanted = linear_ ? 0 : op_.dims[free_segment_];
  const std::size_t most = wanted > 0 ? static_cast<std::size_t>(wanted) : static_cast<std::size_t>(max_rank_) - others;
  for (auto it = std::find(out.begin(), out.end(), Seq()); out.size() > most && it != out.end();
       it = std::find(out.begin(), out.end(), Seq()))
    out.erase(it);
  if (out.size() > most) return std::nullopt;
  if (wanted > 0) out.insert(out.begin(), most - out.size(), Seq());
  return out;
}

std::optional<Grouping> Writer::coarsest() const { return legal(sequence_.empty() ? Grouping{} : Grouping{sequence_}); }

std::optional<Grouping> Writer::lift(std::size_t k, const Shape& shape) const {
  const Operand& o = op_.operands[k];
  const Root& root = m_.roots[o.root];
  const Seq& order = c_.orders[o.root][copies_[k].order];
  const auto cut = cut_order(root, order, shape);
  if (!cut) return std::nullopt;
  // Labels at each atom; dimensions of the trailing single items are not the free part's.
  std::vector<Seq::value_type> label_at(order.size());
  for (std::size_t l = 0; l < o.groups.size(); ++l)
    for (Seq::value_type a : o.groups[l]) label_at[order.find(a)] = static_cast<Seq::value_type>(l);
  const std::size_t tail = o.alternatives[parsed_[k].alternative].size() - 1;
  Grouping dims;
  for (std::size_t d = 0; d < cut->size(); ++d) {
    const auto [begin, end] = (*cut)[d];
    if (begin == end) {
      if (d + tail < cut->size()) dims.emplace_back();
      continue;
    }
    Seq labels;
    for (std::size_t i = begin; i < end; ++i)
      if (labels.empty() || labels.back() != label_at[i]) labels.push_back(label_at[i]);
    const bool continues = !dims.empty() && !dims.back().empty() && dims.back().back() == labels[0];
    Seq free;
    for (Seq::value_type l : labels)
      if (sequence_.find(l) != Seq::npos) free.push_back(l);
    if (free.empty()) continue;
    if (continues)
      dims.back() += free.substr(1);
    else
      dims.push_back(free);
  }
  // Labels that the operand lacks get dimensions of their own, where the shape has a 1 for them.
  Grouping out;
  std::size_t next = 0;
  std::vector<Seq> ones;
  const auto gap = [&](std::size_t to) {
    if (to > next) {
      if (ones.empty()) ones.emplace_back();
      ones.back() = sequence_.substr(next, to - next);
    }
    out.insert(out.end(), ones.begin(), ones.end());
    ones.clear();
  };
  for (const Seq& d : dims) {
    if (d.empty()) {
      ones.emplace_back();
      continue;
    }
    Seq now;
    for (Seq::value_type l : d) {
      const std::size_t at = sequence_.find(l);
      if (!now.empty() && at != next) {
        out.push_back(now);
        now.clear();
      }
      if (now.empty()) gap(at);
      now.push_back(l);
      next = at + 1;
    }
    out.push_back(now);
  }
  gap(sequence_.size());
  return legal(out);
}

Shape Writer::project(const Grouping& g, std::size_t k) const {
  const Operand& o = op_.operands[k];
  Shape shape;
  for (std::size_t s : o.alternatives[parsed_[k].alternative]) {
    if (s == free_segment_) {
      for (const Seq& d : g) {
        std::int64_t n = 1;
        for (Seq::value_type l : d) n *= size(l, k);
        shape.push_back(n);
      }
    } else {
      std::int64_t n = 1;
      for (Seq::value_type l : parsed_[k].parts[s]) n *= size(l, k);
      shape.push_back(n);
    }
  }
  return shape;
}

std::vector<Writing> Writer::writings(const Grouping& g) const {
  Writing plain;
  plain.grouping = g;
  plain.keep_dims = true;
  for (std::size_t k = 0; k < op_.operands.size(); ++k) plain.shapes.push_back(project(g, k));
  // A dimension of the free part that the result lacks.
  const auto without = [&](std::size_t k, bool ones_too) {
    Shape s;
    std::size_t d = 0;
    for (std::size_t x : op_.operands[k].alternatives[parsed_[k].alternative]) {
      if (x != free_segment_) {
        s.push_back(plain.shapes[k][d++]);
        continue;
      }
      for (const Seq& dim : g) {
        const bool gone = !dim.empty() && std::all_of(dim.begin(), dim.end(),
                                                      [&](auto l) { return op_.operands[k].groups[l].empty(); });
        if (!gone && !(ones_too && dim.empty())) s.push_back(plain.shapes[k][d]);
        ++d;
      }
    }
    return s;
  };
  std::vector<Writing> out;
  if (!drops_) out.push_back(plain);
  if (reduces_ || drops_)
    for (bool ones_too : {false, true}) {
      if (drops_ && ones_too) continue;
      Writing w = plain;
      w.keep_dims = false;
      w.stripped = ones_too ? 1 : 0;
      for (std::size_t k = 0; k < op_.operands.size(); ++k)
        if (op_.operands[k].result) w.shapes[k] = without(k, ones_too);
      const bool needs_ones = ones_too && std::any_of(g.begin(), g.end(), [](const Seq& d) { return d.empty(); });
      if (!ones_too || needs_ones) out.push_back(w);
    }
  if (flattens_ && op_.operands.size() == 2) {
    Writing w = plain;
    w.flat = true;
    std::int64_t rows = 1;
    for (const Seq& d : g)
      for (Seq::value_type l : d) rows *= size(l, 1);
    w.shapes[1] = {rows, plain.shapes[1].back()};
    out.push_back(w);
  }
  if (strips_) {
    // Leading ones of an operand may go while another operand, or a constant, keeps the rank.
    std::vector<std::size_t> inputs;
    for (std::size_t k = 0; k < op_.operands.size(); ++k)
      if (!op_.operands[k].result) inputs.push_back(k);
    const bool constant = !op_.constants.empty();
    for (std::size_t k : inputs) {
      Writing w = plain;
      Shape& s = w.shapes[k];
      while ((constant || inputs.size() > 1) && !s.empty() && s[0] == 1) {
        s.erase(s.begin());
        ++w.stripped;
        out.push_back(w);
      }
    }
  }
  return out;
}

}  // namespace gantry::layout
