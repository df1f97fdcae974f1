// A file taken apart with every index and size in it checked, so that whoever reads it on may trust them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "host/formats/tflite/schema.hpp"
#include "host/ir/result.hpp"

namespace tflite {
struct Model;
struct Operator;
struct OperatorCode;
struct SubGraph;
struct Tensor;
}  // namespace tflite
namespace flatbuffers {
class Table;
}

namespace gantry::tflite_format {

/// In a damaged or hostile file many tables may share one list, so that a small file stands for a huge graph. Whoever
/// walks a model pays for each element seen, from a purse that only such files empty.
class Budget {
 public:
  explicit Budget(std::size_t file_bytes);
  Status spend(std::uint64_t elements);

 private:
  std::uint64_t left_;
};

/// What check_model() promises of a model that it lets pass:
/// - it has subgraphs and buffers; each subgraph has tensors, inputs, outputs and operators, and each operator inputs,
///   outputs, a known code and options that are its own or none;
/// - indices of tensors, buffers, codes and subgraphs are in range; contents of buffers lie inside the file;
/// - an operand is a constant (here or in another file), an input of the subgraph, a variable, a result of an earlier
///   operator, or left out (-1); no tensor is a result twice;
/// - sizes are >= 0; constants have the bytes that their type and shape ask for (sparse ones are not looked into).
/// Errors: input_malformed.
Result<const tflite::Model*> check_model(std::span<const std::byte> file);

// Readers of fields whose meaning takes two places. The model passed check_model().

const OperatorInfo* operator_of(const tflite::OperatorCode& code);                           // null if it is unknown
const flatbuffers::Table* options_of(const tflite::Operator& op, const OptionsInfo& table);  // null: none of this kind
/// Contents of a tensor's buffer; nullopt if it is not constant.
std::optional<std::span<const std::byte>> constant_bytes(const tflite::Model& model, const tflite::Tensor& tensor,
                                                         std::span<const std::byte> file);
std::string name_of(const tflite::Tensor& tensor);

}  // namespace gantry::tflite_format
