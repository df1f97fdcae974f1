// The problem. Every operator and every transpose reads and makes stored copies under some shape; where the shape that
// is read is not the one that was made, a RESHAPE is paid, once for each copy and shape.
//
// The idea. A variable for each operator whose labels are its writings (writing.hpp), one for each transpose whose
// labels are pairs of shapes with the same blocks, and a star (star.hpp) for each stored copy.
#include "host/layout/shapes.hpp"

#include <algorithm>

#include "host/layout/shape_candidates.hpp"
#include "host/layout/star.hpp"

namespace gantry::layout {
namespace {

constexpr Cost kByte = Cost{1} << 16;

std::vector<std::vector<std::size_t>> one_choice(const Orders& o) {
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t c : o.choice) out.push_back({c});
  return out;
}

std::vector<Mover> movers_of(const Orders& o) {
  std::vector<Mover> out;
  for (const Orders::Copy& copy : o.copies)
    out.push_back({{copy.root, o.produced[copy.root]}, {copy.root, copy.order}, {}, {}});
  return out;
}

class ShapeProblem {
 public:
  ShapeProblem(ShapeCandidates& candidates, const CostModel& cost) : candidates_(candidates), cost_(cost) {}

  Status set_up() {
    for (Context& op : candidates_.contexts()) {
      if (op.writings.empty()) return error(Code::internal, "layout: an operator cannot be written in its order");
      std::vector<Cost> ties;
      for (const Writing& w : op.writings) ties.push_back(w.stripped);
      const std::size_t v = problem_.add_variable(std::move(ties));
      for (std::size_t k = 0; k < op.writer.operands(); ++k) {
        ShapePort p{v, {}};
        for (const Writing& w : op.writings) p.shapes.push_back(&w.shapes[k]);
        if (op.writer.op().operands[k].result)
          makers_[op.writer.copy(k)] = std::move(p);
        else
          readers_[op.writer.copy(k)].push_back(std::move(p));
      }
    }
    for (const Mover& t : candidates_.movers()) {
      if (t.pairs.empty()) return error(Code::internal, "layout: a transpose cannot be written");
      const std::size_t v = problem_.add_variable(std::vector<Cost>(t.pairs.size(), 0));
      ShapePort from{v, {}}, to{v, {}};
      for (const Mover::Pair& l : t.pairs) {
        from.shapes.push_back(&l.from);
        to.shapes.push_back(&l.to);
      }
      readers_[t.from].push_back(std::move(from));
      makers_[t.to] = std::move(to);
    }
    for (const auto& [key, ports] : readers_) add_copy(key, makers_.at(key), ports);
    return {};
  }

  const Problem& problem() const { return problem_; }

  Shapes read(const Solution& s) {
    Shapes out;
    const auto& contexts = candidates_.contexts();
    for (std::size_t i = 0; i < contexts.size(); ++i) out.operators.push_back(contexts[i].writings[s.label[i]]);
    for (std::size_t t = 0; t < candidates_.movers().size(); ++t) {
      const Mover& mover = candidates_.movers()[t];
      const Mover::Pair& l = mover.pairs[s.label[contexts.size() + t]];
      out.transposes.push_back({mover.from, mover.to, l.from, l.to, candidates_.permutation(mover, l)});
    }
    for (const auto& [key, ports] : readers_) {
      const ShapePort& made = makers_.at(key);
      std::set<Shape> wanted;
      for (const ShapePort& p : ports) wanted.insert(*p.shapes[s.label[p.variable]]);
      wanted.erase(*made.shapes[s.label[made.variable]]);
      out.reshapes += wanted.size();
      out.reshape_bytes += static_cast<std::int64_t>(wanted.size()) * candidates_.root(key).bytes;
      out.cost += static_cast<std::int64_t>(wanted.size()) * (reshape_cost(key) / kByte);
    }
    out.dropped = candidates_.dropped();
    out.optimal = s.optimal && exact_ && out.dropped == 0;
    out.lower_bound = !exact_ ? 0 : s.optimal ? out.cost : std::min(out.cost, s.lower_bound / kByte);
    return out;
  }

 private:
  /// Shapes of one operand, for each label of the operator's variable.
  struct ShapePort {
    std::size_t variable;
    std::vector<const Shape*> shapes;
  };

  Cost reshape_cost(CopyKey k) const {
    return (static_cast<Cost>(cost_.reshape * static_cast<double>(candidates_.root(k).bytes)) + cost_.node) * kByte;
  }

  void add_copy(CopyKey key, const ShapePort& made, const std::vector<ShapePort>& readers) {
    std::map<Shape, std::size_t> forms;
    const auto port = [&](const ShapePort& p) {
      Port out{p.variable, {}};
      for (const Shape* s : p.shapes) out.form.push_back(forms.emplace(*s, forms.size()).first->second);
      return out;
    };
    std::vector<Port> ports;
    for (const ShapePort& p : readers) ports.push_back(port(p));
    const Cost cost = reshape_cost(key);
    exact_ = add_star(problem_, port(made), ports, [cost](std::size_t, std::size_t) { return cost; }) && exact_;
  }

  ShapeCandidates& candidates_;
  const CostModel& cost_;
  Problem problem_;
  std::map<CopyKey, ShapePort> makers_;
  std::map<CopyKey, std::vector<ShapePort>> readers_;
  bool exact_ = true;
};

}  // namespace

Result<Shapes> solve_shapes(const Graph& g, const Model& m, const Candidates& c, const Orders& o,
                            const ShapeOptions& options, const SolverOptions& solver) {
  ShapeCandidates candidates(g, m, c, one_choice(o), movers_of(o), options);
  candidates.find();
  ShapeProblem problem(candidates, options.cost);
  GANTRY_TRY(problem.set_up());
  const Solution s = solve(problem.problem(), solver);
  if (!s.feasible) return error(Code::internal, "layout: the shapes of the operators contradict each other");
  return problem.read(s);
}

}  // namespace gantry::layout
