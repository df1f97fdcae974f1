// Text form of the graph: what `gantry opt` prints and tests/text/ read. print(parse(t)) == t for canonical t.
//
//   graph "resnet" opset "" 17, "com.example" 1 {
//     source "resnet.onnx"                              // where known; so are `producer "..."`, `meta "key" = "value"`
//     input %x: f32[N,3,224,224]                        // and "source's name" if that is another
//     const %w: f32[2,2] = [1, 2, 3, 4]                 // up to 16 elements (print limit); else  = #<hex hash>
//     %y: f32[N,64,112,112] = onnx.Conv@11(%x, %w, _) {auto_pad = "SAME", strides = [2, 2]} "conv1"
//     %a, %b = onnx.com.example::Pair@1(%y) {alpha = 1.0, value = i64[1] = [3]} body: "name of the region" {
//       input %i: i64[]
//       output "i" = %i
//     }
//     output "y" = %y
//   }
//
// _ is an omitted operand or result. The name of a node follows its attributes, then come its regions. A type that is
// wholly unknown is not written. Types: f32[1,N,?], f32[] a scalar, f32[*] of unknown rank, ?[*] of unknown element
// type. Attributes: 3 is an integer and 3.0 (1e+20, inf, nan) a float; empty lists say of what: ints[], floats[],
// strs[]. Words that are not plain are quoted ("a b", %"onnx::Conv_1", f32["2*N"]); strings escape \" \\ \n \r \t \xHH.
// From // to the end of a line is a comment.
#pragma once

#include <string>
#include <string_view>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry {

struct PrintOptions {
  std::int64_t max_constant_elements = 16;  // larger constants print as a hash of their bytes
  bool node_names = true;
  bool model_info = true;  // source, producer and metadata
};

std::string print(const Graph& g, const PrintOptions& options = {});
/// Errors say file:line:column in Diagnostic::place. A constant written as a hash parses to a placeholder with it:
/// zeros that print as that hash again. Regions nest at most 64 deep. Text may come from anywhere.
Result<Graph> parse(std::string_view text, std::string_view file_name = "<text>");

}  // namespace gantry
