// Semantics of ONNX's own operators, by the ONNX library, and of a model's own functions.
#pragma once

#include <map>
#include <string>

#include "host/formats/onnx/functions.hpp"
#include "host/formats/onnx/schemas.hpp"
#include "host/formats/onnx/tensor.hpp"
#include "host/passes/semantics.hpp"

namespace gantry::onnx_format {

class OnnxSemantics final : public Semantics {
 public:
  OnnxSemantics() = default;
  /// With a model's functions; `tensors` is where the tensors in their bodies are.
  OnnxSemantics(FunctionTable functions, TensorSource tensors)
      : functions_(std::move(functions)), tensors_(std::move(tensors)) {}

  bool knows(const Op& op) const override;
  Status infer(Graph& g, NodeId n) const override;
  Result<bool> expand(Graph& g, NodeId n) const override;
  int newest_version(const Op& op) const override;
  bool is_local(const Op& op) const override;

  const Schemas& schemas() const { return schemas_; }
  const FunctionTable& functions() const { return functions_; }
  TensorSource& tensors() const { return tensors_; }

 private:
  Status put_body(Graph& g, NodeId n, const onnx::FunctionProto& body, const onnx::OpSchema* schema) const;

  Schemas schemas_;
  FunctionTable functions_;
  mutable TensorSource tensors_;  // remembers the external files that it has opened
};

}  // namespace gantry::onnx_format
