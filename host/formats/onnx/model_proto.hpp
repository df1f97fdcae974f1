// A graph as a ModelProto, without the large payloads of its constants.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace onnx {
class ModelProto;
}

namespace gantry::onnx_format {

/// A constant whose payload is not in the message.
struct LargeConstant {
  std::string name;
  Constant constant;
};

struct WrittenModel {
  std::unique_ptr<onnx::ModelProto> proto;
  std::vector<LargeConstant> large;  // in the order of the graph's ids
  std::uint64_t weight_bytes = 0;    // of all constants
};

/// Everything but the constants of `most_inline` bytes or more, which are initializers all the same.
WrittenModel make_model(const Graph& g, const std::map<std::string, std::int64_t>& opsets, std::uint64_t most_inline);

/// ONNX's own checker. Errors: output_format, with its words.
Status check_model(WrittenModel& model);

}  // namespace gantry::onnx_format
