// The model is one message, but its large payloads never pass through protobuf: the file is the serialized message with
// the tensors spliced in behind it, field by field, as the wire format allows (fields come in any order).
#include "host/formats/onnx/writer.hpp"

#include <string>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/model_proto.hpp"
#include "host/formats/onnx/opset.hpp"
#include "host/formats/onnx/tensor.hpp"
#include "host/formats/output_file.hpp"

namespace gantry::onnx_format {
namespace {

namespace fs = std::filesystem;
namespace io = google::protobuf::io;

constexpr std::uint64_t kMostInline = 1024;  // shorter payloads pass through protobuf
constexpr std::uint64_t kAlignment = 64;     // of external data

std::uint64_t aligned(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

/// Tag and length of a field that is a message or bytes.
std::string field_header(int field, std::uint64_t size) {
  std::string bytes;
  {
    io::StringOutputStream stream(&bytes);
    io::CodedOutputStream out(&stream);
    out.WriteTag(static_cast<std::uint32_t>(field) << 3 | 2);
    out.WriteVarint64(size);
  }
  return bytes;
}

/// Bytes, then perhaps the payload of a constant.
struct Piece {
  std::string bytes;
  const Constant* payload = nullptr;
  std::uint64_t size() const { return bytes.size() + (payload ? payload->byte_size() : 0); }
};

std::uint64_t size_of(const std::vector<Piece>& pieces) {
  std::uint64_t n = 0;
  for (const Piece& p : pieces) n += p.size();
  return n;
}

std::string tensor_header(const LargeConstant& c) {
  onnx::TensorProto tensor;
  to_proto(c.constant, false, tensor);
  tensor.set_name(c.name);
  return tensor.SerializeAsString();
}

/// The file, its payloads inside.
std::vector<Piece> pieces_of(WrittenModel& model) {
  std::vector<Piece> tensors;
  for (const LargeConstant& c : model.large) {
    std::string tensor =
        tensor_header(c) + field_header(onnx::TensorProto::kRawDataFieldNumber, c.constant.byte_size());
    const std::uint64_t size = tensor.size() + c.constant.byte_size();
    tensors.push_back({field_header(onnx::GraphProto::kInitializerFieldNumber, size) + tensor, &c.constant});
  }
  const std::string graph = model.proto->graph().SerializeAsString();
  model.proto->clear_graph();
  std::vector<Piece> all{{model.proto->SerializeAsString() +
                              field_header(onnx::ModelProto::kGraphFieldNumber, graph.size() + size_of(tensors)) +
                              graph,
                          nullptr}};
  for (Piece& t : tensors) all.push_back(std::move(t));
  return all;
}

/// Names in the model where each constant lies in the external file; its bytes with the gaps between them.
std::vector<Piece> make_external(const std::vector<LargeConstant>& constants, const std::string& location,
                                 onnx::GraphProto& graph) {
  std::vector<Piece> pieces;
  std::uint64_t at = 0;
  for (const LargeConstant& c : constants) {
    const std::uint64_t begin = aligned(at);
    pieces.push_back({std::string(begin - at, '\0'), &c.constant});
    onnx::TensorProto& tensor = *graph.add_initializer();
    to_proto(c.constant, false, tensor);
    tensor.set_name(c.name);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto entry = [&](const char* key, std::string value) {
      auto& e = *tensor.add_external_data();
      e.set_key(key);
      e.set_value(std::move(value));
    };
    entry("location", location);
    entry("offset", std::to_string(begin));
    entry("length", std::to_string(c.constant.byte_size()));
    at = begin + c.constant.byte_size();
  }
  return pieces;
}

Status write_pieces(OutputFile& file, const std::vector<Piece>& pieces) {
  std::uint64_t at = 0;
  for (const Piece& p : pieces) {
    GANTRY_TRY(file.write(at, std::as_bytes(std::span(p.bytes))));
    at += p.bytes.size();
    if (!p.payload) continue;
    const std::uint64_t size = p.payload->byte_size();
    if (const auto bytes = p.payload->direct())
      GANTRY_TRY(file.write(at, *bytes));
    else
      GANTRY_TRY(file.fill(at, size, [&](std::span<std::byte> place) { return p.payload->write(place); }));
    at += size;
  }
  return {};
}

}  // namespace

fs::path external_data_of(const fs::path& path) { return fs::path(path) += ".data"; }

Result<WriteStats> write(const Graph& g, const fs::path& path, const WriteOptions& options) {
  const Schemas schemas;
  GANTRY_ASSIGN(const auto opsets, opsets_to_write(g, schemas));
  WrittenModel model = make_model(g, opsets, kMostInline);
  GANTRY_TRY(check_model(model));
  WriteStats stats{.weight_bytes = model.weight_bytes};

  const std::uint64_t whole = model.proto->ByteSizeLong() + model.weight_bytes + 256 * (model.large.size() + 1);
  std::vector<LargeConstant> outside;
  if (options.external_data || whole > options.most_bytes) outside.swap(model.large);
  const std::vector<Piece> external =
      make_external(outside, external_data_of(path).filename().string(), *model.proto->mutable_graph());
  const std::vector<Piece> pieces = pieces_of(model);
  stats.file_bytes = size_of(pieces);
  stats.external_bytes = size_of(external);
  if (stats.file_bytes > options.most_bytes)
    return error(Code::output_too_large, cat("the model would have ", stats.file_bytes,
                                             " bytes without its weights, beyond what protobuf can hold"));
  GANTRY_ASSIGN(OutputFile file, OutputFile::create(path, stats.file_bytes));
  GANTRY_TRY(write_pieces(file, pieces));
  if (!external.empty()) {
    GANTRY_ASSIGN(OutputFile data, OutputFile::create(external_data_of(path), stats.external_bytes));
    GANTRY_TRY(write_pieces(data, external));
    GANTRY_TRY(data.commit());
  }
  GANTRY_TRY(file.commit());
  return stats;
}

}  // namespace gantry::onnx_format
