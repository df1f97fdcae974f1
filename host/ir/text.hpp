// Text form of the graph: what `gantry opt` prints and tests/text/ read. print(parse(t)) == t for canonical t.
//
//   graph "resnet" opset "" 17 {
//     input %x: f32[1,3,224,224]
//     const %w: f32[2,2] = [1, 2, 3, 4]                 // up to 16 elements (print limit); else  = #<hex hash>
//     %y: f32[1,64,112,112] = onnx.Conv@11(%x, %w, _) {strides = [2, 2], auto_pad = "SAME"} "conv1"
//     %a, %b = onnx.com.example::Pair@1(%y) {regions...}
//     output "y" = %y
//   }
//
// _ is an omitted operand or result. Regions follow the attributes: `then_branch: { ... }`.
#pragma once

#include <string>
#include <string_view>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry {

struct PrintOptions {
  std::int64_t max_constant_elements = 16;  // larger constants print as a hash of their bytes
  bool node_names = true;
};

std::string print(const Graph& g, const PrintOptions& options = {});
/// Errors say line:column. A constant written as a hash parses to zeros of that type.
Result<Graph> parse(std::string_view text, std::string_view file_name = "<text>");

}  // namespace gantry
