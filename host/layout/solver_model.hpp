// What the stages of the solver share: the problem in the form they work on, and the trail that leads from the labels
// of what is left back to the labels of what is gone. Private to host/layout/solver*.cpp and its tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "host/layout/solver.hpp"

namespace gantry::layout::solver {

using Index = std::uint32_t;
using Label = std::uint32_t;

/// Sum of two costs between 0 and kForbidden, which absorbs.
inline Cost add(Cost a, Cost b) { return std::min(a + b, kForbidden); }

/// Sum of any two costs, kept between -kForbidden and kForbidden.
inline Cost add_signed(Cost a, Cost b) {
  a = std::clamp(a, -kForbidden, kForbidden);
  b = std::clamp(b, -kForbidden, kForbidden);
  return a == kForbidden || b == kForbidden ? kForbidden : std::clamp(a + b, -kForbidden, kForbidden);
}

struct Edge {
  Index u, v;
  std::vector<Cost> table;  // [label of u][label of v]
};

/// A problem whose costs are all between 0 and kForbidden, with at most one table for two variables.
struct Model {
  std::vector<std::vector<Cost>> unary;
  std::vector<Edge> edges;
  Cost offset = 0;  // to add to every cost

  std::size_t size() const { return unary.size(); }
  std::size_t labels(std::size_t v) const { return unary[v].size(); }
};

/// The same problem: each list of costs is shifted to begin at 0, tables on one pair are added up.
Model make_model(const Problem& p);

/// Cost of a labelling without the offset; kForbidden if it is ruled out.
Cost evaluate(const Model& m, std::span<const Label> label);

/// Moves the minimum of each row, then of each column, to the costs of the variables. Rows and columns without an
/// allowed entry stay, and their labels become forbidden.
struct Moved {
  bool u = false, v = false;  // whether a cost of the variable changed
  bool all_supported = true;  // no label was met that is forbidden
};
Moved move_minima(std::vector<Cost>& u, std::vector<Cost>& v, std::vector<Cost>& table);

/// Moves the minima of all tables, and forbids labels without support, until nothing changes. The tables then have 0
/// for the labels that are forbidden. False if a variable has no label left.
bool make_consistent(Model& m);

/// What a stage says of a model. The costs leave the offset out.
struct Answer {
  bool feasible = false;
  std::vector<Label> label;  // of each variable, when feasible
  Cost cost = kForbidden;
  Cost lower_bound = 0;  // equal to the cost when that is proved to be the minimum

  bool proved() const { return cost == lower_bound; }
};

inline Answer infeasible() { return {false, {}, kForbidden, kForbidden}; }

/// The removals made so far, each a variable whose label is a function of the labels of at most two others (or of its
/// own label after renumbering). Replayed backwards once the variables left have their labels.
class Trail {
 public:
  void fix(Index v, Label label) { records_.push_back({v, v, v, 0, push(1, label)}); }
  /// label(v) = choice[label(p)]; p may be v itself, for labels that were renumbered.
  void follow(Index v, Index p, std::span<const Label> choice) {
    records_.push_back({v, p, p, 1, pool_.size()});
    pool_.insert(pool_.end(), choice.begin(), choice.end());
  }
  /// label(v) = choice[label(p) * stride + label(q)].
  void follow(Index v, Index p, Index q, Label stride, std::span<const Label> choice) {
    records_.push_back({v, p, q, stride, pool_.size()});
    pool_.insert(pool_.end(), choice.begin(), choice.end());
  }
  void replay(std::vector<Label>& label) const {
    for (auto r = records_.rbegin(); r != records_.rend(); ++r) {
      std::size_t at = r->begin;
      if (r->stride != 0) at += r->p == r->q ? label[r->p] : std::size_t{label[r->p]} * r->stride + label[r->q];
      label[r->v] = pool_[at];
    }
  }

 private:
  struct Record {
    Index v, p, q;
    Label stride;
    std::size_t begin;  // of its choices in pool_
  };
  std::size_t push(std::size_t n, Label label) {
    pool_.insert(pool_.end(), n, label);
    return pool_.size() - n;
  }
  std::vector<Record> records_;
  std::vector<Label> pool_;
};

}  // namespace gantry::layout::solver
