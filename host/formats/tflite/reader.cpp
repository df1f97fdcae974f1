#include "host/formats/tflite/reader.hpp"

#include <map>
#include <set>
#include <tflite_generated.h>
#include <tuple>
#include <vector>

#include "host/formats/format.hpp"
#include "host/formats/tflite/checked_model.hpp"
#include "host/formats/tflite/options.hpp"
#include "host/formats/tflite/reader_bytes.hpp"
#include "host/formats/tflite/types.hpp"
#include "host/formats/tflite/writer.hpp"
#include "host/passes/states.hpp"

namespace gantry::tflite_format {
namespace {

namespace fb = flatbuffers;

constexpr std::size_t kMaxDepth = 64, kMaxMetadata = 1 << 20, kMaxMetadataTotal = 16 << 20;
constexpr std::uint64_t kMaxWork = 4'000'000;  // operators and tensors; a subgraph counts as often as it is used

class ModelReader {
 public:
  ModelReader(const tflite::Model& model, std::span<const std::byte> file, std::shared_ptr<const void> owner)
      : model_(model), file_(file), owner_(std::move(owner)), budget_(file.size()) {}

  Result<Graph> read() {
    const tflite::SubGraph& main = *model_.subgraphs()->Get(0);
    if (main.name()) g_.name = main.name()->str();
    if (model_.description()) g_.producer = model_.description()->str();
    GANTRY_TRY(read_signature());
    GANTRY_TRY(read_subgraph(main, g_.main(), 0));
    read_metadata();
    note_what_is_not_kept();
    return std::move(g_);
  }

 private:
  using Values = std::vector<ValueId>;  // by tensor

  Status read_subgraph(const tflite::SubGraph& s, RegionId region, std::size_t depth) {
    work_ += s.tensors()->size() + (s.operators() ? s.operators()->size() : 0);
    if (depth > kMaxDepth || work_ > kMaxWork) {
      return error(Code::input_malformed, "its subgraphs use each other without end, or too often");
    }
    for (const tflite::Tensor* t : *s.tensors()) {
      GANTRY_TRY(budget_.spend((t->shape() ? t->shape()->size() : 0) + (t->name() ? t->name()->size() : 0)));
    }
    Values values(s.tensors()->size());
    if (s.inputs()) {
      for (const std::int32_t t : *s.inputs()) {
        const tflite::Tensor& tensor = *s.tensors()->Get(static_cast<std::uint32_t>(t));
        values[static_cast<std::size_t>(t)] =
            g_.add_input(region, public_name(inputs_, t, tensor, depth), type_of(tensor));
      }
    }
    if (s.operators()) {
      for (const tflite::Operator* op : *s.operators()) GANTRY_TRY(read_operator(s, *op, region, values, depth));
    }
    if (s.outputs()) {
      for (const std::int32_t t : *s.outputs()) {
        const tflite::Tensor& tensor = *s.tensors()->Get(static_cast<std::uint32_t>(t));
        GANTRY_ASSIGN(const ValueId v, value(s, t, values));
        g_.add_output(region, public_name(outputs_, t, tensor, depth), v);
      }
    }
    return {};
  }

  Status read_operator(const tflite::SubGraph& s, const tflite::Operator& op, RegionId region, Values& values,
                       std::size_t depth) {
    const tflite::OperatorCode& code = *model_.operator_codes()->Get(op.opcode_index());
    const OperatorInfo& info = *operator_of(code);
    ReadOptions options;
    if (const fb::Table* table = info.options ? options_of(op, *info.options) : nullptr) {
      GANTRY_TRY(budget_.spend(options_bytes(*table, *info.options)));
      GANTRY_ASSIGN(options, read_options(*table, *info.options));
    }
    Op key{.dialect = "tflite", .domain = "", .name = info.name};
    std::string custom;
    if (info.name == "CUSTOM") {
      custom = code.custom_code()->str();
      key = {.dialect = "tflite", .domain = "custom", .name = custom, .version = code.version()};
      GANTRY_TRY(budget_.spend(custom.size() + (op.custom_options() ? op.custom_options()->size() : 0)));
      if (op.custom_options())
        options.attrs = read_custom_options({op.custom_options()->data(), op.custom_options()->size()});
    }
    GANTRY_TRY(budget_.spend(op.inputs() ? op.inputs()->size() : 0));
    std::vector<ValueId> operands;
    for (std::uint32_t i = 0; op.inputs() && i < op.inputs()->size(); ++i) {
      const std::int32_t t = op.inputs()->Get(i);
      if (t < 0) {
        operands.emplace_back();
      } else {
        GANTRY_ASSIGN(operands.emplace_back(), value(s, t, values));
      }
    }
    std::vector<std::uint32_t> results;  // tensors
    if (op.outputs()) results.assign(op.outputs()->begin(), op.outputs()->end());
    // What reads a variable after the operator that changes it reads another value than before.
    if (const States states = states_of(key, options.attrs); results.size() == states.results) {
      for (const std::size_t i : states.operands) {
        if (i < operands.size() && operands[i])
          results.push_back(static_cast<std::uint32_t>(op.inputs()->Get(static_cast<std::uint32_t>(i))));
      }
    }
    const NodeId n = g_.add_node(g_.end(region), key, operands, results.size(), std::move(options.attrs));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ValueId v = values[results[i]] = g_.node(n).outputs[i];
      const tflite::Tensor& tensor = *s.tensors()->Get(results[i]);
      if (const std::string name = name_of(tensor); !name.empty()) g_.set_name(v, name);
      g_.set_type(v, type_of(tensor));
    }
    for (const auto& [field, index] : options.subgraphs) {
      const tflite::SubGraph& inner = *model_.subgraphs()->Get(static_cast<std::uint32_t>(index));
      GANTRY_TRY(budget_.spend(inner.name() ? inner.name()->size() : 0));
      const RegionId r = g_.add_region(n, field, inner.name() ? inner.name()->str() : std::string());
      GANTRY_TRY(read_subgraph(inner, r, depth + 1));
    }
    return {};
  }

  // The value of a tensor; a constant is made when it is first used.
  Result<ValueId> value(const tflite::SubGraph& s, std::int32_t t, Values& values) {
    ValueId& v = values[static_cast<std::size_t>(t)];
    if (v) return v;
    const tflite::Tensor& tensor = *s.tensors()->Get(static_cast<std::uint32_t>(t));
    const std::string name = name_of(tensor);
    const auto bytes = constant_bytes(model_, tensor, file_);
    const Type type = type_of(tensor);
    const std::string what = "tensor \"" + name + "\"";
    if (tensor.external_buffer() != 0)
      return error(Code::input_external_data, what + " lies in another file, which is not read");
    if (!bytes) return error(Code::unsupported_op, what + " is a variable, which the graph does not have");
    if (tensor.sparsity())
      return error(Code::unsupported_type, what + " is a sparse constant, which the graph does not have");
    if (type.dtype == DType::undefined) {
      return error(Code::unsupported_type, what + " is a constant of type " +
                                               std::string(tensor_type_name(static_cast<std::int8_t>(tensor.type()))));
    }
    std::vector<std::int64_t> dims;
    if (tensor.shape()) dims.assign(tensor.shape()->begin(), tensor.shape()->end());
    if (type.dtype == DType::string) GANTRY_TRY(budget_.spend(bytes->size()));
    Constant c = type.dtype == DType::string ? Constant::strings(std::move(dims), *unpack_strings(*bytes))
                                             : Constant::view(type.dtype, std::move(dims), owner_, *bytes);
    // Each subgraph has tensors of its own; in the graph one constant serves all regions.
    ValueId& known = constants_[{tensor.buffer(), name, type.str()}];
    if (!known) known = g_.add_constant(std::move(c), name);
    v = known;
    return v;
  }

  static Type type_of(const tflite::Tensor& t) {
    Type type;
    type.dtype = dtype(static_cast<std::int8_t>(t.type()));
    type.ranked = t.shape() || t.has_rank();
    const auto* signature = t.shape_signature();
    const bool has_signature = signature && signature->size() > 0;
    for (std::uint32_t i = 0; t.shape() && i < t.shape()->size(); ++i) {
      const bool known = !has_signature || signature->Get(i) >= 0;
      type.dims.push_back(known ? Dim(t.shape()->Get(i)) : Dim());
    }
    return type;
  }

  // The first signature of the main subgraph has the names that people know.
  Status read_signature() {
    if (!model_.signature_defs()) return {};
    for (const tflite::SignatureDef* s : *model_.signature_defs()) {
      if (s->subgraph_index() != 0) continue;
      GANTRY_TRY(read_names(s->inputs(), inputs_));
      return read_names(s->outputs(), outputs_);
    }
    return {};
  }

  using Names = std::multimap<std::int32_t, std::string>;
  Status read_names(const fb::Vector<fb::Offset<tflite::TensorMap>>* list, Names& names) {
    if (!list) return {};
    for (const tflite::TensorMap* n : *list) {
      GANTRY_TRY(budget_.spend(n->name()->size()));
      names.emplace(static_cast<std::int32_t>(n->tensor_index()), n->name()->str());
    }
    return {};
  }

  // A tensor that is an output twice has two names in the signature: each is given once.
  static std::string public_name(Names& names, std::int32_t t, const tflite::Tensor& tensor, std::size_t depth) {
    const auto it = depth == 0 ? names.find(t) : names.end();
    if (it == names.end()) return name_of(tensor);
    std::string name = std::move(it->second);
    names.erase(it);
    return name;
  }

  void read_metadata() {
    if (!model_.metadata()) return;
    std::size_t total = 0;
    for (const tflite::Metadata* m : *model_.metadata()) {
      const auto* data = model_.buffers()->Get(m->buffer())->data();
      if (!m->name() || !data || data->size() > kMaxMetadata || total + data->size() > kMaxMetadataTotal) continue;
      total += data->size();
      std::string text(data->begin(), data->end());
      if (m->name()->str() == "min_runtime_version") text.resize(std::min(text.find('\0'), text.size()));
      g_.metadata[m->name()->str()] = std::move(text);
    }
  }

  // The graph has no place for these. inspect does not mind; the writer refuses such a graph.
  void note_what_is_not_kept() {
    std::set<std::string_view> found;
    for (const tflite::SubGraph* s : *model_.subgraphs()) {
      for (const tflite::Tensor* t : *s->tensors()) {
        const tflite::QuantizationParameters* q = t->quantization();
        if (q && ((q->scale() && q->scale()->size() > 0) || q->details())) found.insert("quantization parameters");
      }
      if (!s->operators()) continue;
      for (const tflite::Operator* op : *s->operators()) {
        if (op->intermediates() && op->intermediates()->size() > 0) found.insert("intermediate tensors");
      }
    }
    if (model_.signature_defs() && model_.signature_defs()->size() > 1) found.insert("further signatures");
    std::string list;
    for (const std::string_view f : found) list += (list.empty() ? "" : ", ") + std::string(f);
    if (!list.empty()) g_.metadata[std::string(kNotKept)] = list;
  }

  const tflite::Model& model_;
  std::span<const std::byte> file_;
  std::shared_ptr<const void> owner_;
  Graph g_;
  Names inputs_, outputs_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, ValueId> constants_;  // by buffer, name and type
  Budget budget_;
  std::uint64_t work_ = 0;
};

Diagnostic at_file(Diagnostic d, const std::filesystem::path& path) {
  if (d.place.empty()) d.place = path.string();
  return d;
}

}  // namespace

Result<Graph> read_bytes(std::span<const std::byte> file, std::shared_ptr<const void> owner) {
  GANTRY_ASSIGN(const tflite::Model* model, check_model(file));
  return ModelReader(*model, file, std::move(owner)).read();
}

Result<Graph> read(const std::filesystem::path& path) {
  GANTRY_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  Result<Graph> g = read_bytes(file->bytes(), file);
  if (!g.ok()) return at_file(g.take_error(), path);
  g->source = path.filename().string();
  return g;
}

Result<std::vector<std::string>> signatures(const std::filesystem::path& path) {
  GANTRY_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  Result<const tflite::Model*> model = check_model(file->bytes());
  if (!model.ok()) return at_file(model.take_error(), path);
  std::vector<std::string> names;
  if (const auto* all = (*model)->signature_defs()) {
    for (const tflite::SignatureDef* s : *all) names.push_back(s->signature_key()->str());
  }
  return names;
}

Status verify_file(const std::filesystem::path& path) {
  GANTRY_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  Result<const tflite::Model*> model = check_model(file->bytes());
  if (!model.ok()) return at_file(model.take_error(), path);
  return {};
}

}  // namespace gantry::tflite_format
