// Reads whatever comes as an ONNX model from memory, then infers and expands what was read.
// Seeds: tests/fuzz/corpus/onnx_reader/, made by make_onnx_seeds.py.
#include <cstdint>
#include <cstdlib>

#include "host/formats/onnx/reader.hpp"
#include "host/ir/verifier.hpp"

using namespace gantry;

namespace {

void work_on(onnx_format::ReadResult& model) {
  Graph& graph = model.graph;
  for (const NodeId n : graph.nodes(graph.main())) {
    if (!model.semantics->infer(graph, n).ok()) return;
  }
  for (const NodeId n : graph.nodes(graph.main())) {
    if (!model.semantics->expand(graph, n).ok()) return;
  }
  if (!verify(graph).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  // The reader may keep views of the bytes: they live as long as the result does.
  Result<onnx_format::ReadResult> model = onnx_format::read(nullptr, bytes, "fuzz.onnx", {});
  if (model.ok()) {
    if (!verify(model->graph).ok()) std::abort();
    work_on(*model);
  } else if (model.error().message.empty()) {
    std::abort();
  }
  return 0;
}
