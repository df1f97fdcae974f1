// Candidate shapes of stored copies, candidate writings of operators and of transposes, pushed to a fixed point.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "host/layout/shapes.hpp"
#include "host/layout/writing.hpp"

namespace gantry::layout {

/// A transpose written with its atoms in blocks, and so many dimensions of size 1 before them.
struct Blocks {
  std::set<Seq> blocks;
  std::size_t ones = 0;
  auto operator<=>(const Blocks&) const = default;
};

/// One operator with one choice of orders.
struct Context {
  Context(std::size_t op_, std::size_t choice_, Writer writer_)
      : op(op_), choice(choice_), writer(std::move(writer_)) {}
  std::size_t op, choice;
  Writer writer;
  std::vector<Writing> writings;
  std::set<Grouping> seen;
  std::set<std::pair<std::size_t, Shape>> done;
};

/// A transpose that may be needed, from one order of a root to another.
struct Mover {
  CopyKey from, to;
  std::vector<Blocks> labels;
  std::set<std::pair<int, Shape>> done;
  /// Shapes on both sides that have the same blocks: what one TRANSPOSE can do.
  struct Pair {
    Shape from, to;
  };
  std::vector<Pair> pairs;
};

class ShapeCandidates {
 public:
  /// `choices` lists, for each operator, the choices of orders that are thought of.
  ShapeCandidates(const Graph& g, const Model& m, const Candidates& c,
                  const std::vector<std::vector<std::size_t>>& choices, std::vector<Mover> movers,
                  const ShapeOptions& options);
  /// Finds all, and drops those that nobody needs.
  void find();

  /// perm of a TRANSPOSE from one shape to the other: result dimension i is operand dimension perm[i].
  std::vector<std::int64_t> permutation(const Mover& t, const Mover::Pair& l) const;

  std::vector<Context>& contexts() { return contexts_; }
  std::vector<Mover>& movers() { return movers_; }
  std::size_t dropped() const { return dropped_; }
  const Root& root(CopyKey k) const { return m_.roots[k.root]; }

 private:
  struct Side {
    Blocks blocks;
    bool whole = true;  // no dimension had to be cut
  };
  const Seq& order(CopyKey k) const { return c_.orders[k.root][k.order]; }
  void propagate();
  void fold_shapes();
  bool add_shape(CopyKey k, const Shape& s);
  void add_grouping(Context& op, const std::optional<Grouping>& g);
  void add_flat(Context& op);
  void visit(Context& op);
  void visit(Mover& t);
  void add_blocks(const Mover& t, bool to, const Blocks& label);
  std::vector<Mover::Pair> pairs(const Mover& t) const;
  std::optional<Side> side(const Mover& t, bool to, const Shape& shape) const;
  Shape shape_of(const Mover& t, bool to, const Blocks& b) const;

  const Model& m_;
  const Candidates& c_;
  const ShapeOptions& options_;
  std::vector<Context> contexts_;
  std::vector<Mover> movers_;
  std::map<CopyKey, std::vector<Shape>> shapes_;
  std::map<CopyKey, std::set<std::size_t>> users_;
  std::set<std::size_t> dirty_;
  std::size_t dropped_ = 0;
};

}  // namespace gantry::layout
