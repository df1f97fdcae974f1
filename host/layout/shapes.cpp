// The problem. Every operator and every transpose reads and makes stored copies under some shape; where the shape that
// is read is not the one that was made, a RESHAPE is paid, once for each copy and shape.
//
// The idea. A variable for each operator whose labels are its writings (writing.hpp), one for each transpose whose
// labels are partitions of its atoms into blocks that stay together, and for each copy and shape one that says whether
// it exists. Candidates: shapes that image operators, inputs and outputs demand, and the coarsest writing of each
// operator, lifted to groupings, refined until legal, projected onto the other operands, to a fixed point.
//
// It ends because shapes of a copy and groupings of an operator are capped and only grow; what a cap keeps out is
// counted.
#include "host/layout/shapes.hpp"

#include <algorithm>
#include <set>

#include "host/layout/writing.hpp"

namespace gantry::layout {
namespace {

constexpr Cost kByte = Cost{1} << 16;

/// A transpose written with its atoms in blocks, and so many dimensions of size 1 before them.
struct Blocks {
  std::set<Seq> blocks;
  std::size_t ones = 0;
  auto operator<=>(const Blocks&) const = default;
};

struct TransposeSide {
  Blocks blocks;
  bool whole = true;  // no dimension had to be cut
};

struct Mover {
  CopyKey from, to;
  std::vector<Blocks> labels;
  std::set<std::pair<int, Shape>> done;
};

struct OperatorState {
  Writer writer;
  std::vector<Grouping> groupings;
  std::vector<Writing> writings;
  std::set<Grouping> seen;
  std::set<std::pair<std::size_t, Shape>> done;
};

class Solver {
 public:
  Solver(const Graph& g, const Model& m, const Candidates& c, const Orders& o, const ShapeOptions& options)
      : g_(g), m_(m), c_(c), o_(o), options_(options) {
    for (std::size_t i = 0; i < m.operators.size(); ++i) {
      const NodeId n = m.operators[i].node;
      operators_.push_back(
          {Writer(g, m, c, i, o.choice[i], n && options.max_rank ? options.max_rank(n) : options.cost.max_rank),
           {},
           {},
           {},
           {}});
    }
    for (const Orders::Copy& copy : o.copies)
      movers_.push_back({{copy.root, o.produced[copy.root]}, {copy.root, copy.order}, {}, {}});
    for (std::size_t i = 0; i < operators_.size(); ++i)
      for (std::size_t k = 0; k < operators_[i].writer.operands(); ++k) users_[operators_[i].writer.copy(k)].insert(i);
    for (std::size_t t = 0; t < movers_.size(); ++t) {
      users_[movers_[t].from].insert(operators_.size() + t);
      users_[movers_[t].to].insert(operators_.size() + t);
    }
  }

  Result<Shapes> run(const SolverOptions& solver) {
    propagate();
    GANTRY_TRY(set_up());
    const Solution s = solve(problem_, solver);
    if (!s.feasible) return error(Code::internal, "layout: the shapes of the operators contradict each other");
    return read(s);
  }

 private:
  const Seq& order(CopyKey k) const { return c_.orders[k.root][k.order]; }
  const Root& root(CopyKey k) const { return m_.roots[k.root]; }

  // ---- candidates --------------------------------------------------------------------------------------------------

  bool add_shape(CopyKey k, const Shape& s) {
    auto& list = shapes_[k];
    if (std::find(list.begin(), list.end(), s) != list.end()) return true;
    if (s.size() > 8 || !cut_order(root(k), order(k), s)) return false;
    if (list.size() >= options_.per_copy) return ++dropped_, false;
    list.push_back(s);
    dirty_.insert(users_[k].begin(), users_[k].end());
    return true;
  }

  void add_grouping(OperatorState& op, const std::optional<Grouping>& g) {
    if (!g || !op.seen.insert(*g).second) return;
    if (op.groupings.size() >= options_.per_operator) {
      ++dropped_;
      return;
    }
    op.groupings.push_back(*g);
    for (Writing& w : op.writer.writings(*g)) {
      bool fits = true;
      for (std::size_t k = 0; k < w.shapes.size(); ++k) fits = add_shape(op.writer.copy(k), w.shapes[k]) && fits;
      if (fits) op.writings.push_back(std::move(w));
    }
  }

  void propagate() {
    for (OperatorState& op : operators_) {
      if (op.writer.is_exact()) {
        op.writings.push_back(op.writer.exact());
        for (std::size_t k = 0; k < op.writer.operands(); ++k) add_shape(op.writer.copy(k), op.writings[0].shapes[k]);
      } else {
        add_grouping(op, op.writer.coarsest());
      }
    }
    for (std::size_t t = 0; t < movers_.size(); ++t) dirty_.insert(operators_.size() + t);
    for (std::size_t round = 0; round < 20 && !dirty_.empty(); ++round) {
      std::vector<std::size_t> now(dirty_.begin(), dirty_.end());
      if (round % 2) std::reverse(now.begin(), now.end());
      dirty_.clear();
      for (std::size_t i : now) i < operators_.size() ? visit(operators_[i]) : visit(movers_[i - operators_.size()]);
    }
    if (!dirty_.empty()) ++dropped_;
  }

  void visit(OperatorState& op) {
    if (op.writer.is_exact()) return;
    for (std::size_t k = 0; k < op.writer.operands(); ++k) {
      const std::vector<Shape> list = shapes_[op.writer.copy(k)];
      for (const Shape& s : list)
        if (op.done.emplace(k, s).second) add_grouping(op, op.writer.lift(k, s));
    }
  }

  /// The blocks that a shape on one side of a transpose asks for, cut where the other side is not contiguous.
  std::optional<TransposeSide> side(const Mover& t, bool to, const Shape& shape) const {
    const Seq &here = order(to ? t.to : t.from), &there = order(to ? t.from : t.to);
    const auto cut = cut_order(root(t.from), here, shape);
    if (!cut) return std::nullopt;
    TransposeSide out;
    for (const auto& [begin, end] : *cut) {
      if (begin == end) {
        ++out.blocks.ones;
        continue;
      }
      Seq now;
      for (std::size_t i = begin; i < end; ++i) {
        if (!now.empty() && there.find(here[i]) != there.find(now.back()) + 1) {
          out.blocks.blocks.insert(now);
          out.whole = false;
          now.clear();
        }
        now.push_back(here[i]);
      }
      out.blocks.blocks.insert(now);
    }
    return out;
  }

  Shape shape_of(const Mover& t, bool to, const Blocks& b) const {
    const Seq& here = order(to ? t.to : t.from);
    std::vector<std::pair<std::size_t, std::int64_t>> dims;
    for (const Seq& block : b.blocks) {
      std::int64_t n = 1;
      for (Seq::value_type a : block) n *= atom_size(root(t.from), a);
      dims.emplace_back(here.find(block[0]), n);
    }
    std::sort(dims.begin(), dims.end());
    Shape shape(b.ones, 1);
    for (const auto& [at, n] : dims) shape.push_back(n);
    return shape;
  }

  void visit(Mover& t) {
    for (int to : {0, 1}) {
      std::vector<Shape> list = shapes_[to ? t.to : t.from];
      if (list.empty()) {
        std::int64_t n = 1;
        for (Seq::value_type a : order(t.from)) n *= atom_size(root(t.from), a);
        list.push_back({n});
      }
      for (const Shape& s : list) {
        if (!t.done.emplace(to, s).second) continue;
        const auto b = side(t, to != 0, s);
        if (!b || static_cast<int>(b->blocks.blocks.size()) > options_.cost.max_rank) continue;
        const std::size_t room = static_cast<std::size_t>(options_.cost.max_rank) - b->blocks.blocks.size();
        for (std::size_t ones : std::set<std::size_t>{0, std::min(room, b->blocks.ones)}) {
          const Blocks label{b->blocks.blocks, ones};
          if (std::find(t.labels.begin(), t.labels.end(), label) == t.labels.end()) t.labels.push_back(label);
          for (bool other : {false, true}) add_blocks(t, other, label);
        }
      }
    }
  }

  /// A shape of that side with these blocks, unless there is one.
  void add_blocks(const Mover& t, bool to, const Blocks& label) {
    for (const Shape& s : shapes_[to ? t.to : t.from])
      if (const auto b = side(t, to, s); b && b->whole && b->blocks == label) return;
    add_shape(to ? t.to : t.from, shape_of(t, to, label));
  }

  // ---- the labelling problem ----------------------------------------------------------------------------------------

  /// A label of a transpose: shapes on both sides with the same blocks.
  struct MoverLabel {
    Shape from, to;
  };

  std::vector<MoverLabel> labels_of(const Mover& t) {
    std::vector<MoverLabel> out;
    for (const Shape& a : shapes_[t.from]) {
      const auto x = side(t, false, a);
      if (!x || !x->whole) continue;
      for (const Shape& b : shapes_[t.to]) {
        const auto y = side(t, true, b);
        if (y && y->whole && y->blocks == x->blocks && a.size() <= static_cast<std::size_t>(options_.cost.max_rank))
          out.push_back({a, b});
      }
    }
    return out;
  }

  struct Port {
    std::size_t variable;
    std::vector<const Shape*> shapes;  // for each of the variable's labels
  };

  /// An operator that flattens its operand takes it in any shape.
  void add_flat_writings(OperatorState& op) {
    if (!op.writer.flattens() || op.writings.empty()) return;
    const auto flat = std::find_if(op.writings.begin(), op.writings.end(), [](const Writing& w) { return w.flat; });
    if (flat == op.writings.end()) return;
    Writing w = *flat;
    for (const Shape& s : shapes_[op.writer.copy(0)]) {
      w.shapes[0] = s;
      op.writings.push_back(w);
    }
  }

  Status set_up() {
    for (OperatorState& op : operators_) {
      if (op.writings.empty()) return error(Code::internal, "layout: an operator cannot be written in its order");
      add_flat_writings(op);
      std::vector<Cost> ties;
      for (const Writing& w : op.writings) ties.push_back(w.stripped);
      const std::size_t v = problem_.add_variable(std::move(ties));
      for (std::size_t k = 0; k < op.writer.operands(); ++k) {
        Port p{v, {}};
        for (const Writing& w : op.writings) p.shapes.push_back(&w.shapes[k]);
        const bool result = op.writer.op().operands[k].result;
        if (result)
          makers_[op.writer.copy(k)] = std::move(p);
        else
          readers_[op.writer.copy(k)].push_back(std::move(p));
      }
    }
    for (Mover& t : movers_) {
      mover_labels_.push_back(labels_of(t));
      if (mover_labels_.back().empty()) return error(Code::internal, "layout: a transpose cannot be written");
    }
    for (std::size_t t = 0; t < movers_.size(); ++t) {
      const auto& labels = mover_labels_[t];
      const std::size_t v = problem_.add_variable(std::vector<Cost>(labels.size(), 0));
      Port from{v, {}}, to{v, {}};
      for (const MoverLabel& l : labels) {
        from.shapes.push_back(&l.from);
        to.shapes.push_back(&l.to);
      }
      readers_[movers_[t].from].push_back(std::move(from));
      makers_[movers_[t].to] = std::move(to);
    }
    for (const auto& [key, ports] : readers_) add_copy(key, makers_.at(key), ports);
    return {};
  }

  Cost reshape_cost(CopyKey k) const {
    return (static_cast<Cost>(options_.cost.reshape * static_cast<double>(root(k).bytes)) + options_.cost.node) * kByte;
  }

  void add_copy(CopyKey key, const Port& made, const std::vector<Port>& readers) {
    const Cost cost = reshape_cost(key);
    if (readers.size() == 1 && made.shapes.size() * readers[0].shapes.size() <= 4096) {
      std::vector<Cost> table;
      for (const Shape* a : made.shapes)
        for (const Shape* b : readers[0].shapes) table.push_back(*a == *b ? 0 : cost);
      problem_.add_pair(made.variable, readers[0].variable, std::move(table));
      return;
    }
    std::map<Shape, std::size_t> exists;
    for (const Port& r : readers)
      for (const Shape* s : r.shapes)
        if (!exists.contains(*s)) exists.emplace(*s, problem_.add_variable({0, 0}));
    for (const auto& [shape, t] : exists) {
      std::vector<Cost> table;
      for (const Shape* a : made.shapes) table.insert(table.end(), {0, *a == shape ? 0 : cost});
      problem_.add_pair(made.variable, t, std::move(table));
      for (const Port& r : readers) {
        std::vector<Cost> needs;
        bool any = false;
        for (const Shape* s : r.shapes) {
          needs.insert(needs.end(), {*s == shape ? kForbidden : 0, 0});
          any = any || *s == shape;
        }
        if (any) problem_.add_pair(r.variable, t, std::move(needs));
      }
    }
  }

  Shapes read(const Solution& s) {
    Shapes out;
    for (std::size_t i = 0; i < operators_.size(); ++i) out.operators.push_back(operators_[i].writings[s.label[i]]);
    for (std::size_t t = 0; t < movers_.size(); ++t) {
      const MoverLabel& l = mover_labels_[t][s.label[operators_.size() + t]];
      out.transposes.push_back({movers_[t].from, movers_[t].to, l.from, l.to, permutation(movers_[t], l)});
    }
    for (const auto& [key, ports] : readers_) {
      const Port& made = makers_.at(key);
      std::set<Shape> wanted;
      for (const Port& p : ports) wanted.insert(*p.shapes[s.label[p.variable]]);
      wanted.erase(*made.shapes[s.label[made.variable]]);
      out.reshapes += wanted.size();
      out.reshape_bytes += static_cast<std::int64_t>(wanted.size()) * root(key).bytes;
      out.cost += static_cast<std::int64_t>(wanted.size()) * (reshape_cost(key) / kByte);
    }
    out.dropped = dropped_;
    out.optimal = s.optimal && dropped_ == 0;
    out.lower_bound = s.optimal ? out.cost : std::min(out.cost, s.lower_bound / kByte);
    return out;
  }

  /// perm of a TRANSPOSE from one shape to the other: result dimension i is operand dimension perm[i].
  std::vector<std::int64_t> permutation(const Mover& t, const MoverLabel& l) const {
    const auto a = *cut_order(root(t.from), order(t.from), l.from), b = *cut_order(root(t.from), order(t.to), l.to);
    std::vector<std::int64_t> ones, perm;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].first == a[i].second) ones.push_back(static_cast<std::int64_t>(i));
    std::size_t next_one = 0;
    for (const auto& [begin, end] : b) {
      if (begin == end) {
        perm.push_back(ones[next_one++]);
        continue;
      }
      const std::size_t at = order(t.from).find(order(t.to)[begin]);
      for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].first == at && a[i].first != a[i].second) perm.push_back(static_cast<std::int64_t>(i));
    }
    return perm;
  }

  const Graph& g_;
  const Model& m_;
  const Candidates& c_;
  const Orders& o_;
  const ShapeOptions& options_;
  std::vector<OperatorState> operators_;
  std::vector<Mover> movers_;
  std::map<CopyKey, std::vector<Shape>> shapes_;
  std::map<CopyKey, std::set<std::size_t>> users_;
  std::set<std::size_t> dirty_;
  std::size_t dropped_ = 0;
  Problem problem_;
  std::map<CopyKey, Port> makers_;
  std::map<CopyKey, std::vector<Port>> readers_;
  std::vector<std::vector<MoverLabel>> mover_labels_;
};

}  // namespace

Result<Shapes> solve_shapes(const Graph& g, const Model& m, const Candidates& c, const Orders& o,
                            const ShapeOptions& options, const SolverOptions& solver) {
  return Solver(g, m, c, o, options).run(solver);
}

}  // namespace gantry::layout
