#include "host/formats/onnx/reader.hpp"

#include <algorithm>
#include <set>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/nodes.hpp"
#include "host/formats/onnx/onnx_semantics.hpp"
#include "host/formats/onnx/types.hpp"
#include "host/formats/onnx/wire.hpp"

namespace gantry::onnx_format {

namespace {

using onnx::ModelProto;

constexpr int kMostMessageDepth = 200;  // above the depth of the walk over the file

// ---- bytes -> ModelProto ----

Status check_format(std::span<const std::byte> bytes, const std::filesystem::path& name) {
  const std::string shown = quote(name.filename().string());
  if (detect_format(bytes, name) == FileFormat::empty) return error(Code::input_format, cat(shown, " is empty"));
  const std::string other = describe_bytes(bytes);
  if (other.empty()) return {};
  return error(Code::input_format, cat(shown, " is not an ONNX model: it is ", other));
}

Result<std::unique_ptr<ModelProto>> parse(const std::string& bytes) {
  auto model = std::make_unique<ModelProto>();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMostMessageDepth);
  if (!model->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return error(Code::input_malformed, "the file is broken: it is not a valid protobuf message of ONNX")
        .try_this("fetch or export the model again");
  }
  return model;
}

// ---- the model around the graph ----

Status check_model(const ModelProto& model) {
  if (!model.has_graph()) {
    return error(Code::input_malformed, "the file holds no ONNX graph")
        .try_this("is it the file of another framework?");
  }
  if (!model.has_ir_version()) return error(Code::input_malformed, "the model does not say its IR version");
  if (model.ir_version() < 1 || model.ir_version() > onnx::Version::IR_VERSION) {
    return error(Code::input_opset, cat("the model is of ONNX IR version ", model.ir_version(),
                                        "; this build knows versions 1 to ", int{onnx::Version::IR_VERSION}));
  }
  if (model.graph().output().empty()) return error(Code::input_graph, "the graph has no outputs");
  return {};
}

Result<Opsets> model_opsets(const ModelProto& model) {
  GANTRY_ASSIGN(Opsets opsets, opsets_of(model.opset_import(), "the model"));
  if (!opsets.empty()) return opsets;
  if (model.ir_version() < 3) return Opsets{{"", 1}};  // before there were opsets
  return error(Code::input_opset, "the model does not say which opset it uses")
      .try_this("add an opset_import to the model");
}

// ---- inputs ----

std::set<std::string_view> initialized(const onnx::GraphProto& proto) {
  std::set<std::string_view> names;
  for (const auto& tensor : proto.initializer()) names.insert(tensor.name());
  for (const auto& tensor : proto.sparse_initializer()) names.insert(tensor.values().name());
  return names;
}

Result<Type> input_type(const onnx::ValueInfoProto& input) {
  const std::string shown = quote(input.name());
  if (const auto container = container_name(input.type()); !container.empty()) {
    return error(Code::unsupported_type,
                 cat("input ", shown, " is of kind ", container, ", which Gantry does not handle"));
  }
  const Type type = to_type(input.type());
  if (type.dtype != DType::undefined) return type;
  const auto number = input.type().tensor_type().elem_type();
  if (number == onnx::TensorProto::UNDEFINED) return error(Code::input_malformed, cat("input ", shown, " has no type"));
  return error(Code::unsupported_type, cat("input ", shown, " has elements of type ", onnx_dtype_name(number),
                                           ", which Gantry does not handle"));
}

Status override_shape(const std::string& name, const std::vector<std::int64_t>& sizes, Type& type) {
  for (const std::int64_t size : sizes) {
    if (size < 0) return error(Code::usage, cat("--shape ", name, ": a size cannot be ", size));
  }
  if (type.ranked && type.rank() != sizes.size()) {
    return error(Code::usage,
                 cat("--shape ", name, ": ", sizes.size(), " sizes are given, but the input is ", type.str()));
  }
  type = Type::of(type.dtype, sizes);
  return {};
}

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// The shape under "" is that of the only input.
Result<Shapes> named_shapes(const onnx::GraphProto& proto, const std::set<std::string_view>& constants, Shapes shapes) {
  auto bare = shapes.extract("");
  if (bare.empty()) return shapes;
  std::vector<std::string> names;
  std::string list;
  for (const auto& input : proto.input()) {
    if (constants.contains(input.name())) continue;
    list += cat(names.empty() ? "" : ", ", quote(input.name()));
    names.push_back(input.name());
  }
  if (names.size() != 1) {
    return error(Code::usage, cat("--shape without a name needs a model with one input, this one has ", names.size()))
        .try_this(cat("name one of: ", list));
  }
  bare.key() = names.front();
  if (!shapes.insert(std::move(bare)).inserted) {
    return error(Code::usage, cat("--shape: the shape of the input ", quote(names.front()), " is given twice"));
  }
  return shapes;
}

Status add_inputs(const onnx::GraphProto& proto, const ReadOptions& options, ReadResult& result, Scope& scope) {
  Graph& graph = result.graph;
  const std::set<std::string_view> constants = initialized(proto);
  GANTRY_ASSIGN(const Shapes shapes, named_shapes(proto, constants, options.shapes));
  std::set<std::string> unused;
  for (const auto& [name, sizes] : shapes) unused.insert(name);
  std::string known;
  for (const auto& input : proto.input()) {
    if (constants.contains(input.name())) continue;
    GANTRY_ASSIGN(Type type, input_type(input));
    known += cat(known.empty() ? "" : ", ", quote(input.name()), " ", type.str());
    if (const auto given = shapes.find(input.name()); given != shapes.end()) {
      GANTRY_TRY(override_shape(given->first, given->second, type));
      unused.erase(given->first);
    }
    GANTRY_TRY(NodeImporter::define(scope, input.name(), graph.add_input(graph.main(), input.name(), std::move(type))));
  }
  if (options.allow_unused_shapes) result.unused_shapes.assign(unused.begin(), unused.end());
  if (unused.empty() || options.allow_unused_shapes) return {};
  return error(Code::usage, cat("--shape: the model has no input ", quote(*unused.begin())))
      .try_this(cat("inputs: ", known));
}

void describe(const ModelProto& model, const std::filesystem::path& name, const Opsets& opsets, Graph& graph) {
  graph.name = as_text(model.graph().name());
  graph.source = name.filename().string();
  graph.producer = as_text(model.producer_name());
  if (!model.producer_version().empty()) graph.producer += " " + as_text(model.producer_version());
  graph.opsets = opsets;
  for (const auto& entry : model.metadata_props()) graph.metadata[as_text(entry.key())] = as_text(entry.value());
}

Result<ReadResult> convert(const ModelProto& model, std::unique_ptr<OnnxSemantics> semantics,
                           const std::filesystem::path& name, const ReadOptions& options) {
  GANTRY_ASSIGN(const Opsets opsets, model_opsets(model));
  ReadResult result;
  describe(model, name, opsets, result.graph);

  Scope scope;
  GANTRY_TRY(add_inputs(model.graph(), options, result, scope));
  const ImportSettings settings{.schemas = semantics->schemas(),
                                .functions = semantics->functions(),
                                .tensors = semantics->tensors(),
                                .opsets = opsets,
                                .keep_shapes = options.shapes.empty()};
  NodeImporter importer(result.graph, settings);
  GANTRY_TRY(importer.import_graph(model.graph(), result.graph.main(), scope));
  GANTRY_TRY(importer.import_subgraphs());
  if (!model.graph().quantization_annotation().empty()) {
    result.notes.push_back(warning(Code::warn_ignored, "the model's quantization_annotation is not used"));
  }
  result.external_files = semantics->tensors().external_files();
  result.semantics = std::move(semantics);
  return result;
}

Result<ReadResult> read_bytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                              const std::filesystem::path& name, const std::filesystem::path& folder,
                              const ReadOptions& options) {
  GANTRY_TRY(check_format(bytes, name));
  GANTRY_ASSIGN(Skeleton skeleton, cut_payloads(bytes));
  GANTRY_ASSIGN(const std::unique_ptr<ModelProto> model, parse(skeleton.bytes));
  skeleton.bytes = {};
  GANTRY_TRY(check_model(*model));
  GANTRY_ASSIGN(FunctionTable functions, FunctionTable::take(*model));
  TensorSource tensors(std::move(owner), bytes, std::move(skeleton.payloads), folder);
  return convert(*model, std::make_unique<OnnxSemantics>(std::move(functions), std::move(tensors)), name, options);
}

}  // namespace

Result<ReadResult> read(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                        const std::filesystem::path& name, const std::filesystem::path& folder,
                        const ReadOptions& options) {
  Result<ReadResult> result = read_bytes(std::move(owner), bytes, name, folder, options);
  if (result.ok()) return result;
  Diagnostic d = result.take_error();
  if (d.place.empty() && d.code != Code::usage) d.place = name.string();
  return d;
}

Result<ReadResult> read(const std::filesystem::path& path, const ReadOptions& options) {
  GANTRY_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return read(file, file->bytes(), path, folder, options);
}

std::unique_ptr<Semantics> make_semantics() { return std::make_unique<OnnxSemantics>(); }

}  // namespace gantry::onnx_format
