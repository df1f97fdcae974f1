// Axes as atoms. A TRANSPOSE only renames axes and a RESHAPE only regroups them: each axis is cut into atoms, the
// common refinement across every view that it passes through, and a value's layout is an order of its atoms.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "host/ir/graph.hpp"

namespace gantry::layout {

/// A piece of a logical axis: elements whose index along the axis differs by `inner` times 0 .. size - 1.
struct Atom {
  int axis = 0;
  std::int64_t inner = 1, size = 1;  // size -1: a dimension that is not known, one atom
};

struct AxisOf {
  ValueId value;
  int axis = 0;
  auto operator<=>(const AxisOf&) const = default;
};

/// Collects which axes are the same and which values are views of each other, then cuts.
class Axes {
 public:
  explicit Axes(const Graph& g);

  /// The two axes are one (of one size; otherwise, or where a size is 1, nothing is said).
  void tie(AxisOf a, AxisOf b);
  /// The axes are pieces of one, cut at multiples of `grain`: cuts that divide it are shared.
  void tie_partly(std::vector<AxisOf> axes, std::int64_t grain);
  /// y holds the elements of x in row-major order under another shape.
  void view(ValueId x, ValueId y);

  std::int64_t size(AxisOf a) const { return graph_.value(a.value).type.dims[static_cast<std::size_t>(a.axis)].size; }

  /// Cuts until nothing changes. Views whose factors do not nest (2 x 3 read as 3 x 2) become walls.
  void refine();
  bool is_wall(ValueId y) const { return walls_.contains(y); }
  /// Atoms of a value, outermost first, in logical order; axes of size 1 have none.
  std::vector<Atom> atoms(ValueId v) const;
  /// Axes of one class are the same; valid after all ties.
  std::size_t class_of(AxisOf a) const { return find(a); }
  /// Cuts of an axis (strictly between 1 and its size), ascending.
  std::set<std::int64_t> cuts(AxisOf a) const;

 private:
  struct View {
    ValueId x, y;
  };
  struct Partial {
    std::vector<AxisOf> axes;
    std::int64_t grain;
  };
  /// Number of the class of an axis.
  std::size_t find(AxisOf a) const;
  bool refine_view(const View& v, bool& wall);
  bool refine_partial(const Partial& p);
  bool boundaries(ValueId v, std::set<std::int64_t>& out) const;
  bool push(ValueId v, const std::set<std::int64_t>& at,
            std::map<std::pair<std::size_t, std::int64_t>, std::set<std::int64_t>>& add) const;

  const Graph& graph_;
  std::vector<std::size_t> first_;  // of each value: number of its axis 0
  mutable std::vector<std::size_t> parent_;
  std::vector<std::set<std::int64_t>> cuts_;  // of each class
  std::vector<View> views_;
  std::vector<Partial> partials_;
  std::set<ValueId> walls_;
};

}  // namespace gantry::layout
