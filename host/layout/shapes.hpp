// The second layout problem: once every value has an order, how its atoms are grouped into dimensions. A RESHAPE is
// needed exactly where two groupings of one stored copy differ. The same kind of labelling as the orders, for the same
// solver.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "host/layout/orders.hpp"

namespace gantry::layout {

using Shape = std::vector<std::int64_t>;
/// A partition of an operator's labels, in the order they are stored, into dimensions; an empty one is a dimension
/// of 1.
using Grouping = std::vector<Seq>;

/// Stands for a dimension that is not known: a prime above all real sizes, so that products can be told apart.
inline constexpr std::int64_t kUnknownSize = 2'147'483'647;

/// A stored copy: a root in one order.
struct CopyKey {
  std::size_t root = 0, order = 0;
  auto operator<=>(const CopyKey&) const = default;
};

/// How one operator is written: the shapes of its operands, and for operators with a free part the grouping behind
/// them.
struct Writing {
  Grouping grouping;
  std::vector<Shape> shapes;  // of each operand of the model's operator
  bool flat = false;          // FULLY_CONNECTED that joins its leading dimensions
  bool keep_dims = false;     // reductions
  int stripped = 0;           // ones that an operand or result lacks; breaks ties
};

struct Shapes {
  std::vector<Writing> operators;
  struct Transpose {
    CopyKey from, to;
    Shape from_shape, to_shape;
    std::vector<std::int64_t> perm;
  };
  std::vector<Transpose> transposes;
  std::size_t reshapes = 0;
  std::int64_t reshape_bytes = 0, cost = 0, lower_bound = 0;
  bool optimal = false;
  std::size_t dropped = 0;  // candidates that a cap kept out
};

struct ShapeOptions {
  CostModel cost;
  std::function<int(NodeId)> max_rank;  // of the operator's operands
  std::size_t per_copy = 48, per_operator = 96;
};

/// Errors: internal, if an operator cannot be written in its order.
Result<Shapes> solve_shapes(const Graph& g, const Model& m, const Candidates& c, const Orders& o,
                            const ShapeOptions& options, const SolverOptions& solver);

}  // namespace gantry::layout
