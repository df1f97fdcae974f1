// Shapes of the values that a Loop carries from one iteration to the next.
#pragma once

#include "host/passes/semantics.hpp"

namespace gantry::onnx_format {

/// ONNX's own inference forgets the shapes of carried values, because a body may change them. Here a body is inferred
/// as if its carried values had the shapes that the loop begins with: those that come out as they went in keep them, by
/// induction, in the body and as results. Others stay as they were. Contradictions are left to inference proper.
void infer_loop_state(const Semantics& semantics, Graph& graph, NodeId loop);

/// How many iterations the loop runs, if its count is a constant and its condition stays true; else unknown.
Dim trip_count(const Graph& graph, NodeId loop);

}  // namespace gantry::onnx_format
