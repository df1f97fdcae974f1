#include "onnx_support.hpp"

#include <fstream>
#include <unistd.h>

#include <onnx/defs/parser.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"

namespace gantry::onnx_format {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gantry-onnx-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Folder::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
  return path_ / name;
}

std::string model_bytes(std::string_view text, const std::function<void(onnx::ModelProto&)>& edit) {
  std::string whole(text);
  if (whole.find("ir_version") == std::string::npos) whole = "<ir_version: 10, opset_import: [\"\" : 17]>\n" + whole;
  onnx::ModelProto model;
  onnx::OnnxParser parser(whole.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) ADD_FAILURE() << status.ErrorMessage();
  if (edit) edit(model);
  return model.SerializeAsString();
}

Result<ReadResult> read_bytes(std::string_view bytes, const ReadOptions& options) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return read(owner, std::as_bytes(std::span(*owner)), "model.onnx", {}, options);
}

ReadResult read_model(std::string_view text, const ReadOptions& options) {
  Result<ReadResult> result = read_bytes(model_bytes(text), options);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().node << ": " << result.error().message;
    return {};
  }
  const Status sound = verify(result->graph);
  EXPECT_TRUE(sound.ok()) << sound.error().message << "\n" << print(result->graph);
  return *std::move(result);
}

Diagnostic refused(std::string_view bytes, const ReadOptions& options) {
  Result<ReadResult> result = read_bytes(bytes, options);
  if (!result.ok()) return result.take_error();
  ADD_FAILURE() << "was read:\n" << print(result->graph);
  return {};
}

Status infer_all(const ReadResult& model, Graph& graph) {
  for (const NodeId n : graph.nodes(graph.main())) GANTRY_TRY(model.semantics->infer(graph, n));
  return {};
}

std::string type_of(const Graph& graph, std::string_view value) {
  const ValueId id = graph.find_value(value);
  return id ? graph.value(id).type.str() : "none";
}

NodeId node_of(const Graph& graph, std::string_view op) {
  NodeId found;
  for (const RegionId region : graph.regions()) {
    for (const NodeId n : graph.nodes(region)) {
      if (graph.node(n).op.name != op) continue;
      EXPECT_FALSE(found) << "two nodes " << op;
      found = n;
    }
  }
  EXPECT_TRUE(found) << "no node " << op;
  return found;
}

}  // namespace gantry::onnx_format
