// Why a transpose or reshape is there: who makes the value, who reads it, what each can do, what an agreement would
// cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/layout/shapes.hpp"

namespace gantry::layout {

/// A transpose or reshape as the rewriter puts it in.
struct EmittedMove {
  NodeId node;
  bool transpose = false;
  CopyKey from, to;  // equal for a reshape
  Shape from_shape, to_shape;
};

/// An operator, input or output, and the order or shape that it makes or wants.
struct Side {
  std::string op, name, order;
};

struct Move {
  NodeId node;
  bool transpose = false;
  std::int64_t bytes = 0;
  Side producer;
  std::vector<Side> consumers;
  std::string needs;  // a sentence: what removing it would take
};

/// Orders are told as axes of the value as its maker has it in the source's graph ("d0 d2 d3 d1"), an axis that is cut
/// as d1a d1b. Linear in moves, readers and choices.
std::vector<Move> explain_moves(const Graph& g, const Model& m, const Candidates& c, const Orders& o, const Shapes& s,
                                const ModelOptions& options, const CostModel& cost,
                                const std::vector<EmittedMove>& emitted);

}  // namespace gantry::layout
