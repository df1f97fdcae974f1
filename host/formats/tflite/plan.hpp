// Everything that is decided before a byte is encoded: which subgraphs, tensors, buffers and operator codes the file
// has, and under which index. Plain data; skeleton.cpp turns it into a flatbuffer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/formats/tflite/schema.hpp"
#include "host/formats/tflite/writer.hpp"
#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::tflite_format {

/// A buffer of the file: a constant, or bytes that are at hand (small constants, strings, metadata).
struct BufferPlan {
  Constant constant;
  std::string bytes;  // if there is no constant
  std::uint64_t size() const { return constant ? constant.byte_size() : bytes.size(); }
};

struct TensorPlan {
  std::string name;
  ValueId value;
  std::uint32_t buffer = 0;  // 0: not a constant
  bool is_variable = false;  // an operator changes it
};

struct OperatorPlan {
  NodeId node;
  std::uint32_t code = 0;  // index into ModelPlan::codes
  std::vector<std::int32_t> inputs, outputs;
};

struct SubgraphPlan {
  const Graph* graph = nullptr;
  RegionId region;
  std::string name;
  std::vector<TensorPlan> tensors;
  std::vector<std::int32_t> inputs, outputs;
  std::vector<OperatorPlan> operators;
};

/// A main subgraph under the name that the runtime asks for it.
struct SignaturePlan {
  std::string name;
  std::size_t subgraph = 0;
};

struct CodePlan {
  const OperatorInfo* op = nullptr;
  std::string custom;  // name of a custom operator
  int version = 1;
};

struct ModelPlan {
  std::vector<SubgraphPlan> subgraphs;  // those of a graph one after another, its main one first
  std::vector<SignaturePlan> signatures;
  std::map<const Graph*, std::vector<std::int32_t>> subgraph_of;  // by the index of a region
  std::deque<BufferPlan> buffers;                                 // the first is the empty one
  std::vector<CodePlan> codes;
  std::vector<std::pair<std::string, std::uint32_t>> metadata;  // name and buffer
  std::string min_runtime_version;
  std::uint64_t weight_bytes = 0;  // of constants, each counted once

  /// More bytes than the file has without the contents of buffers; an upper bound.
  std::uint64_t structure_bytes() const;
};

/// The graphs are different ones, and outlive the plan. Constants that hold the same bytes are one buffer, also those
/// of different graphs.
Result<ModelPlan> plan_model(std::span<const SignatureGraph> graphs);

}  // namespace gantry::tflite_format
