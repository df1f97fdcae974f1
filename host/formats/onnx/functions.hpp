// The functions that a model defines itself (ModelProto.functions).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/ir/result.hpp"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace gantry::onnx_format {

/// The operator's name in Gantry's graphs: with ":overload" behind it where a function has one.
std::string operator_name(const onnx::NodeProto& node);

class FunctionTable {
 public:
  FunctionTable();
  ~FunctionTable();
  FunctionTable(FunctionTable&&) noexcept;
  FunctionTable& operator=(FunctionTable&&) noexcept;

  /// Takes the functions out of the model. Refused: two of one name, calls in a circle, calls nested so deeply or so
  /// often that expanding the model would take unbounded memory (input_graph, input_too_large).
  static Result<FunctionTable> take(onnx::ModelProto& model);

  /// Null if the model defines no such function.
  const onnx::FunctionProto* find(std::string_view domain, std::string_view name) const;

  /// The functions that this one calls, directly or not, by the ONNX library's keys for them.
  using ByKey = std::unordered_map<std::string, const onnx::FunctionProto*>;
  ByKey called_by(const onnx::FunctionProto& function) const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
  std::map<std::string, const onnx::FunctionProto*, std::less<>> by_name_;  // "domain::name"
};

}  // namespace gantry::onnx_format
