#include "host/layout/explain.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace gantry::layout {
namespace {

/// Whose turn it is at one operand of one operator of the model.
struct Place {
  std::size_t op = 0, operand = 0;
};

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] != 0 && shape[i] % kUnknownSize == 0 ? "?" : std::to_string(shape[i]));
  return text + "]";
}

class Explainer {
 public:
  Explainer(const Graph& g, const Model& m, const Candidates& c, const Orders& o, const Shapes& s,
            const ModelOptions& options, const CostModel& cost)
      : g_(g),
        m_(m),
        c_(c),
        o_(o),
        s_(s),
        options_(options),
        cost_(cost),
        makers_(m.roots.size()),
        readers_(m.roots.size()) {
    for (std::size_t i = 0; i < m.operators.size(); ++i)
      for (std::size_t k = 0; k < m.operators[i].operands.size(); ++k) {
        const Operand& operand = m.operators[i].operands[k];
        if (operand.result)
          makers_[operand.root] = Place{i, k};
        else
          readers_[operand.root].push_back({i, k});
      }
  }

  Move explain(const EmittedMove& e) const {
    const std::size_t root = e.to.root;
    Move move{.node = e.node, .transpose = e.transpose, .bytes = m_.roots[root].bytes};
    const auto text = [&](CopyKey key, const Shape& shape) {
      return e.transpose ? order_text(root, key.order) : shape_text(shape);
    };
    move.producer = {"TRANSPOSE", "", text(e.from, e.from_shape)};
    const bool by_maker = makers_[root] && e.from.order == o_.produced[root];
    if (by_maker) move.producer = side(*makers_[root], move.producer.order);
    std::vector<Place> wanted;
    for (const Place& p : readers_[root]) {
      if (order_of(p, o_.choice[p.op]) != e.to.order) continue;
      if (!e.transpose && s_.operators[p.op].shapes[p.operand] != e.to_shape) continue;
      wanted.push_back(p);
      move.consumers.push_back(side(p, text(e.to, e.to_shape)));
    }
    if (move.consumers.empty()) move.consumers.push_back({"TRANSPOSE", "", text(e.to, e.to_shape)});
    move.needs = e.transpose ? transpose_needs(root, e, wanted) : reshape_needs(move);
    return move;
  }

 private:
  std::size_t order_of(const Place& p, std::size_t choice) const { return c_.choices[p.op][choice][p.operand]; }

  Side side(const Place& p, std::string order) const {
    const Operator& op = m_.operators[p.op];
    const std::size_t position = op.operands[p.operand].position;
    if (op.kind == Operator::Kind::node)
      return {std::string(g_.node(op.node).op.name), std::string(g_.node(op.node).name), std::move(order)};
    for (const RegionId r : g_.regions()) {
      const Region& region = g_.region(r);
      if (op.kind == Operator::Kind::input && position < region.inputs.size() &&
          region.inputs[position] == op.operands[0].value)
        return {"input", region.input_names[position], std::move(order)};
    }
    const Value& v = g_.value(op.operands[0].value);
    const RegionId home = v.producer ? g_.node(v.producer).region : v.input_of ? v.input_of : g_.main();
    const auto& outputs = g_.region(home).outputs;
    return {
        op.kind == Operator::Kind::input ? "input" : "output",
        position < outputs.size() && op.kind == Operator::Kind::output ? outputs[position].name : std::string(v.name),
        std::move(order)};
  }

  /// The axes of the root's own value in this order: "d0 d2 d3 d1 (16 x 16 x 8)"; of a cut axis d1a, d1b.
  std::string order_text(std::size_t root, std::size_t order) const {
    const Placed& p = m_.placed.at(m_.roots[root].value);
    std::string names, sizes;
    for (const Seq::value_type atom : c_.orders[root][order]) {
      const std::size_t k = p.map.find(atom);
      const auto same = [&](const Atom& a) { return a.axis == p.atoms[k].axis; };
      std::string name = "d" + std::to_string(p.atoms[k].axis);
      if (std::ranges::count_if(p.atoms, same) > 1)
        name += static_cast<char>(
            'a' + (k - static_cast<std::size_t>(std::ranges::find_if(p.atoms, same) - p.atoms.begin())) % 26);
      names += (names.empty() ? "" : " ") + name;
      sizes += (sizes.empty() ? "" : " x ") + (p.atoms[k].size < 0 ? "?" : std::to_string(p.atoms[k].size));
    }
    return names + " (" + sizes + ")";
  }

  /// What one operator says when another one would rather have this order.
  std::string bound(const Place& p, bool makes) const {
    const Side s = side(p, "");
    const std::string who = s.op + (s.name.empty() ? "" : " '" + s.name + "'");
    const Operator& op = m_.operators[p.op];
    if (op.kind != Operator::Kind::node)
      return "the " + who + " keeps the source's order (--io-layout or layout.io_by_name would change it)";
    if (op.rule) return who + (makes ? " makes" : " reads") + " no such order by its layout rule";
    const Rule* rule = options_.rule ? options_.rule(g_.node(op.node).op) : nullptr;
    std::string reason;
    if (rule)
      for (const Variant& v : rule->variants)
        if (v.fixed) reason = v.reason;
    while (!reason.empty() && (reason.front() == ':' || reason.front() == ' ')) reason.erase(0, 1);
    return who + " is fixed to the source's order (" +
           (reason.empty() ? "it has no layout rule for this form" : reason) + ")";
  }

  /// What transposes of this root cost while operator `op` makes `choice`.
  std::int64_t cost_of(std::size_t root, std::size_t op, std::size_t choice) const {
    const auto now = [&](const Place& p) { return order_of(p, p.op == op ? choice : o_.choice[p.op]); };
    const std::size_t made = makers_[root] ? now(*makers_[root]) : o_.produced[root];
    std::set<std::size_t> wanted;
    for (const Place& p : readers_[root])
      if (now(p) != made) wanted.insert(now(p));
    return static_cast<std::int64_t>(wanted.size()) * (m_.roots[root].bytes + cost_.node);
  }

  /// Bytes more, all in all, if the operator alone changed so that this operand has `order`; nullopt: it cannot.
  std::optional<std::int64_t> exchange(const Place& p, std::size_t order) const {
    std::set<std::size_t> roots;
    for (const Operand& o : m_.operators[p.op].operands) roots.insert(o.root);
    const auto total = [&](std::size_t choice) {
      std::int64_t sum = 0;
      for (const std::size_t r : roots) sum += cost_of(r, p.op, choice);
      return sum;
    };
    const std::int64_t present = total(o_.choice[p.op]);
    std::optional<std::int64_t> best;
    std::size_t tried = 0;
    for (std::size_t choice = 0; choice < c_.choices[p.op].size() && tried < kMostTried; ++choice) {
      if (order_of(p, choice) != order) continue;
      ++tried;
      const std::int64_t more = total(choice) - present;
      if (!best || more < *best) best = more;
    }
    return best;
  }

  std::string transpose_needs(std::size_t root, const EmittedMove& e, const std::vector<Place>& wanted) const {
    std::string text;
    const auto add = [&](const Place& p, std::size_t order, bool makes) {
      const std::optional<std::int64_t> more = exchange(p, order);
      const Side s = side(p, "");
      if (!text.empty()) text += "; ";
      if (!more) {
        text += bound(p, makes);
        return;
      }
      const std::string who = s.op + (s.name.empty() ? "" : " '" + s.name + "'");
      text += who + (makes ? " could make" : " could take") + " the other order, ";
      text += *more > 0 ? "which would cost " + std::to_string(*more) + " bytes more in other transposes"
                        : "with as many bytes moved elsewhere";
    };
    if (makers_[root] && e.from.order == o_.produced[root]) add(*makers_[root], e.to.order, true);
    for (std::size_t i = 0; i < wanted.size() && i < kMostNamed; ++i) add(wanted[i], e.from.order, false);
    if (wanted.size() > kMostNamed) text += "; and " + std::to_string(wanted.size() - kMostNamed) + " more";
    return text.empty() ? "other copies of the value are made from it" : text;
  }

  static std::string reshape_needs(const Move& move) {
    return "the data stay where they are; " + move.producer.op + " and " + move.consumers[0].op +
           " would have to write the same dimensions, " + move.producer.order + " or " + move.consumers[0].order;
  }

  static constexpr std::size_t kMostNamed = 4, kMostTried = 64;

  const Graph& g_;
  const Model& m_;
  const Candidates& c_;
  const Orders& o_;
  const Shapes& s_;
  const ModelOptions& options_;
  const CostModel& cost_;
  std::vector<std::optional<Place>> makers_;
  std::vector<std::vector<Place>> readers_;
};

}  // namespace

std::vector<Move> explain_moves(const Graph& g, const Model& m, const Candidates& c, const Orders& o, const Shapes& s,
                                const ModelOptions& options, const CostModel& cost,
                                const std::vector<EmittedMove>& emitted) {
  std::vector<Move> moves;
  if (emitted.empty()) return moves;
  const Explainer explainer(g, m, c, o, s, options, cost);
  for (const EmittedMove& e : emitted) moves.push_back(explainer.explain(e));
  return moves;
}

}  // namespace gantry::layout
