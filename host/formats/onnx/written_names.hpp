// What the values and nodes of a graph are called in an ONNX file: outputs as the source has them, the rest as they
// are, everything once.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/ir/graph.hpp"

namespace gantry::onnx_format {

class WrittenNames {
 public:
  explicit WrittenNames(const Graph& g);

  /// "" for an omitted operand.
  const std::string& value(ValueId v) const;
  /// Name of output i of a region; of another name than its value where the value cannot be the output itself (it is an
  /// input, a constant, of another region, or an output already): then an Identity makes it.
  const std::string& output(RegionId r, std::size_t i) const { return outputs_.at(r)[i]; }
  /// Not given to any other node.
  std::string node(const Node& n);

 private:
  void main_ports();
  void inner_outputs(RegionId r);
  std::string unique(std::string wanted);

  const Graph& g_;
  std::unordered_map<ValueId, std::string> values_;
  std::unordered_map<RegionId, std::vector<std::string>> outputs_;
  std::unordered_set<std::string> taken_, nodes_;
  std::unordered_map<std::string, int> suffix_;  // last one tried
};

}  // namespace gantry::onnx_format
