// Which opset a graph is written in.
#pragma once

#include <map>
#include <string>

#include "host/formats/onnx/schemas.hpp"
#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::onnx_format {

/// Version to import of each domain that occurs ("" for ai.onnx, always there): of ai.onnx the newest form of any node,
/// and not below the source's. Errors of code output_format, on the node: a form that means something else by then.
Result<std::map<std::string, std::int64_t>> opsets_to_write(const Graph& g, const Schemas& schemas);

/// Lowest IR version that an opset of ai.onnx may be used with.
int ir_version_of(std::int64_t opset);

}  // namespace gantry::onnx_format
