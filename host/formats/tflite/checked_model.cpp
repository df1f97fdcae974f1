#include "host/formats/tflite/checked_model.hpp"

#include <algorithm>
#include <tflite_generated.h>
#include <vector>

#include "host/formats/tflite/options.hpp"
#include "host/formats/tflite/types.hpp"

namespace gantry::tflite_format {
namespace {

namespace fb = flatbuffers;

constexpr std::size_t kMaxFlatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

Diagnostic malformed(std::string what) { return error(Code::input_malformed, std::move(what)); }

std::string nth(std::string_view kind, std::size_t i) { return std::string(kind) + " " + std::to_string(i); }

class Checker {
 public:
  Checker(const tflite::Model& model, std::span<const std::byte> file)
      : model_(model), file_(file), budget_(file.size()) {}

  Status run() {
    if (model_.version() != 3) return malformed("schema version " + std::to_string(model_.version()) + " is not 3");
    if (!model_.subgraphs() || model_.subgraphs()->size() == 0) return malformed("the file has no subgraph");
    if (!model_.buffers()) return malformed("the file has no list of buffers");
    GANTRY_TRY(check_buffers());
    GANTRY_TRY(check_codes());
    for (std::size_t i = 0; i < model_.subgraphs()->size(); ++i) {
      Status s = check_subgraph(*model_.subgraphs()->Get(static_cast<fb::uoffset_t>(i)));
      if (!s.ok()) {
        Diagnostic d = s.take_error();
        d.message = nth("subgraph", i) + ": " + d.message;
        return d;
      }
    }
    return check_signatures_and_metadata();
  }

 private:
  Status check_buffers() {
    std::size_t i = 0;
    for (const tflite::Buffer* b : *model_.buffers()) {
      if (b->offset() > 1 && (b->offset() > file_.size() || b->size() > file_.size() - b->offset())) {
        return malformed(nth("buffer", i) + " lies outside the file");
      }
      ++i;
    }
    return {};
  }

  Status check_codes() {
    if (!model_.operator_codes()) return {};
    for (const tflite::OperatorCode* c : *model_.operator_codes()) {
      const OperatorInfo* op = operator_of(*c);
      if (!op) return malformed("operator code " + std::to_string(c->builtin_code()) + " is unknown");
      const bool named = c->custom_code() && c->custom_code()->size() > 0;
      if (op->name == "CUSTOM" && !named) return malformed("a custom operator has no name");
    }
    return {};
  }

  Status check_subgraph(const tflite::SubGraph& s) {
    if (!s.tensors()) return malformed("there is no list of tensors");
    std::size_t i = 0;
    ready_.assign(s.tensors()->size(), false);
    constant_.assign(s.tensors()->size(), false);
    for (const tflite::Tensor* t : *s.tensors()) {
      GANTRY_TRY(check_tensor(*t, i));
      ++i;
    }
    GANTRY_TRY(check_inputs(s));
    i = 0;
    if (s.operators()) {
      for (const tflite::Operator* op : *s.operators()) {
        GANTRY_TRY(check_operator(*op, i));
        ++i;
      }
    }
    return check_operands(s.outputs(), "the outputs", false);
  }

  Status check_tensor(const tflite::Tensor& t, std::size_t i) {
    const std::string what = nth("tensor", i);
    if (tensor_type_name(static_cast<std::int8_t>(t.type())).empty()) return malformed(what + " has an unknown type");
    if (t.buffer() >= std::max(model_.buffers()->size(), 1u))
      return malformed(what + " has a buffer that does not exist");
    if (t.shape()) {
      GANTRY_TRY(budget_.spend(t.shape()->size()));
      for (const std::int32_t d : *t.shape()) {
        if (d < 0) return malformed(what + " has a negative size");
      }
    }
    if (const auto* signature = t.shape_signature(); signature && signature->size() > 0) {
      const auto in_range = [](std::int32_t d) { return d >= -1; };
      if (!t.shape() || signature->size() != t.shape()->size() ||
          !std::all_of(signature->begin(), signature->end(), in_range)) {
        return malformed(what + " has a shape signature that does not go with its shape");
      }
    }
    const auto bytes = constant_bytes(model_, t, file_);
    if (!bytes && !t.is_variable() && t.external_buffer() == 0) return {};
    if (bytes) GANTRY_TRY(check_constant(t, *bytes, what));
    ready_[i] = constant_[i] = true;
    return {};
  }

  Status check_constant(const tflite::Tensor& t, std::span<const std::byte> bytes, const std::string& what) {
    const DType type = dtype(static_cast<std::int8_t>(t.type()));
    if (t.sparsity() || type == DType::undefined) return {};
    std::vector<std::int64_t> dims;
    if (t.shape()) dims.assign(t.shape()->begin(), t.shape()->end());
    const auto elements = element_count(dims);
    if (!elements) return malformed(what + " is too large");
    if (type == DType::string) {
      GANTRY_TRY(budget_.spend(bytes.size() / 4));
      const auto strings = string_count(bytes);
      if (!strings) return malformed(what + " does not hold strings");
      if (*strings != static_cast<std::uint64_t>(*elements))
        return malformed(what + " has another number of strings than its shape says");
      return {};
    }
    if (packed_bytes(type, static_cast<std::uint64_t>(*elements)) != bytes.size()) {
      return malformed(what + " is constant, with " + std::to_string(bytes.size()) +
                       " bytes, which is not what its type and shape ask for");
    }
    return {};
  }

  Status check_inputs(const tflite::SubGraph& s) {
    if (!s.inputs()) return {};
    GANTRY_TRY(budget_.spend(s.inputs()->size()));
    for (const std::int32_t t : *s.inputs()) {
      if (!exists(t)) return malformed("an input is a tensor that does not exist");
      if (constant_[static_cast<std::size_t>(t)])
        return malformed(nth("tensor", static_cast<std::size_t>(t)) + " is an input, but constant");
      if (ready_[static_cast<std::size_t>(t)])
        return malformed(nth("tensor", static_cast<std::size_t>(t)) + " is an input twice");
      ready_[static_cast<std::size_t>(t)] = true;
    }
    return {};
  }

  bool exists(std::int32_t t) const { return t >= 0 && static_cast<std::size_t>(t) < ready_.size(); }

  Status check_operands(const fb::Vector<std::int32_t>* operands, const std::string& what, bool may_omit) {
    if (!operands) return {};
    GANTRY_TRY(budget_.spend(operands->size()));
    for (const std::int32_t t : *operands) {
      if (t == -1 && may_omit) continue;
      if (!exists(t)) return malformed(what + " name a tensor that does not exist");
      if (!ready_[static_cast<std::size_t>(t)])
        return malformed(what + " name a tensor that nothing gave a value yet: " + std::to_string(t));
    }
    return {};
  }

  Status check_operator(const tflite::Operator& op, std::size_t i) {
    const std::string what = nth("operator", i);
    if (!model_.operator_codes() || op.opcode_index() >= model_.operator_codes()->size()) {
      return malformed(what + " has a code that does not exist");
    }
    GANTRY_TRY(check_operands(op.inputs(), what + ": its operands", true));
    if (op.outputs()) {
      for (const std::int32_t t : *op.outputs()) {
        if (!exists(t)) return malformed(what + ": a result is a tensor that does not exist");
        if (ready_[static_cast<std::size_t>(t)]) return malformed(what + ": its result has a value already");
        ready_[static_cast<std::size_t>(t)] = true;
      }
    }
    if (op.large_custom_options_offset() > 1)
      return malformed(what + ": options after the flatbuffer are not supported");
    return check_subgraph_options(op, what);
  }

  Status check_subgraph_options(const tflite::Operator& op, const std::string& what) {
    const OperatorInfo& info = *operator_of(*model_.operator_codes()->Get(op.opcode_index()));
    if (!info.options || std::ranges::none_of(info.options->fields, &FieldInfo::is_subgraph)) return {};
    const fb::Table* options = options_of(op, *info.options);
    if (!options) return malformed(what + " names no subgraph");
    GANTRY_TRY(budget_.spend(options_bytes(*options, *info.options)));
    GANTRY_ASSIGN(const ReadOptions read, read_options(*options, *info.options));
    for (const auto& [field, index] : read.subgraphs) {
      if (index < 0 || static_cast<std::uint32_t>(index) >= model_.subgraphs()->size()) {
        return malformed(what + " names a subgraph that does not exist");
      }
    }
    return {};
  }

  Status check_signatures_and_metadata() const {
    if (model_.signature_defs()) {
      for (const tflite::SignatureDef* s : *model_.signature_defs()) {
        if (s->subgraph_index() >= model_.subgraphs()->size())
          return malformed("a signature names a subgraph that does not exist");
        if (!s->signature_key()) return malformed("a signature has no key");
        GANTRY_TRY(check_signature(s->inputs(), s->subgraph_index()));
        GANTRY_TRY(check_signature(s->outputs(), s->subgraph_index()));
      }
    }
    if (!model_.metadata()) return {};
    for (const tflite::Metadata* m : *model_.metadata()) {
      if (m->buffer() >= model_.buffers()->size()) return malformed("metadata name a buffer that does not exist");
    }
    return {};
  }

  Status check_signature(const fb::Vector<fb::Offset<tflite::TensorMap>>* names, std::uint32_t subgraph) const {
    const std::size_t tensors = model_.subgraphs()->Get(subgraph)->tensors()->size();
    if (!names) return {};
    for (const tflite::TensorMap* n : *names) {
      if (n->tensor_index() >= tensors) return malformed("a signature names a tensor that does not exist");
      if (!n->name()) return malformed("a signature has an entry without a name");
    }
    return {};
  }

  const tflite::Model& model_;
  std::span<const std::byte> file_;
  Budget budget_;
  std::vector<bool> ready_, constant_;  // of the subgraph at hand: has a value; has it from the start
};

}  // namespace

Budget::Budget(std::size_t file_bytes)
    : left_(std::min<std::uint64_t>(16 * std::uint64_t{file_bytes} + (1 << 20), 1u << 30)) {}

Status Budget::spend(std::uint64_t elements) {
  if (elements > left_) return malformed("parts of it are used too often");
  left_ -= elements;
  return {};
}

const OperatorInfo* operator_of(const tflite::OperatorCode& code) {
  // The old field is one byte, and the new one is 0 in files from before it: the larger of the two counts.
  return Schema::get().find(std::max<std::int32_t>(code.deprecated_builtin_code(), code.builtin_code()));
}

const fb::Table* options_of(const tflite::Operator& op, const OptionsInfo& table) {
  const bool first = table.union_number == 1;
  const int type = first ? static_cast<int>(op.builtin_options_type()) : static_cast<int>(op.builtin_options_2_type());
  if (type != table.union_type) return nullptr;
  return static_cast<const fb::Table*>(first ? op.builtin_options() : op.builtin_options_2());
}

std::optional<std::span<const std::byte>> constant_bytes(const tflite::Model& model, const tflite::Tensor& tensor,
                                                         std::span<const std::byte> file) {
  if (tensor.buffer() == 0) return std::nullopt;
  const tflite::Buffer& b = *model.buffers()->Get(tensor.buffer());
  if (b.data()) return std::as_bytes(std::span(b.data()->data(), b.data()->size()));
  if (b.offset() > 1) return file.subspan(b.offset(), b.size());
  return std::nullopt;
}

std::string name_of(const tflite::Tensor& tensor) { return tensor.name() ? tensor.name()->str() : std::string(); }

Result<const tflite::Model*> check_model(std::span<const std::byte> file) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  if (file.size() < 8 || !tflite::ModelBufferHasIdentifier(data)) return malformed("this is not a TFLite file");
  // The flatbuffer is at the start; contents of buffers may follow it beyond what one may hold.
  fb::Verifier verifier(data, std::min(file.size(), kMaxFlatbuffer));
  if (!tflite::VerifyModelBuffer(verifier))
    return malformed("the file is cut off or damaged: it is not a sound flatbuffer");
  const tflite::Model* model = tflite::GetModel(data);
  GANTRY_TRY(Checker(*model, file).run());
  return model;
}

}  // namespace gantry::tflite_format
