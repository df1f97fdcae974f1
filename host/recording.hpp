// What the report and the file's metadata tell of a graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/report/report.hpp"

namespace gantry::recording {

/// Counts the operators into `ops`. Returns how many nodes there are.
std::size_t count_ops(const Graph& g, std::map<std::string, std::size_t>& ops);
/// Operators, transposes and reshapes of the target.
void record_target(const Graph& g, Report& report);
/// Inputs or outputs: their names, their types as the graph has them.
std::vector<TensorRecord> ports(const Graph& g, bool inputs);
/// `now` gets the layout against what was before.
std::vector<TensorRecord> with_layout(std::vector<TensorRecord> now, const std::vector<TensorRecord>& before,
                                      const std::vector<IoRecord>& reordered, bool inputs);
/// "x: 0,2,3,1; y: 0,2,3,1": for each axis of a reordered input or output, which of the source's it is. Names get
/// `prefix` before them.
std::string reordered_text(const Report& report, const std::string& prefix);
std::uint64_t constant_bytes(const Graph& g);

}  // namespace gantry::recording
