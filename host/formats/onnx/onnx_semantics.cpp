#include "host/formats/onnx/onnx_semantics.hpp"

#include <onnx/defs/schema.h>

namespace gantry::onnx_format {

bool OnnxSemantics::knows(const Op& op) const {
  if (op.dialect != "onnx") return false;
  return functions_.find(op.domain, op.name) || schemas_.find(op.domain, op.name, op.version);
}

bool OnnxSemantics::is_local(const Op& op) const { return op.dialect == "onnx" && functions_.find(op.domain, op.name); }

int OnnxSemantics::newest_version(const Op& op) const {
  if (op.dialect != "onnx") return 0;
  if (functions_.find(op.domain, op.name)) return op.version;
  const onnx::OpSchema* const schema = schemas_.newest(op.domain, op.name);
  return schema ? schema->since_version() : 0;
}

}  // namespace gantry::onnx_format
