// The walk follows the messages of onnx.proto that can hold a tensor, and copies everything else as it stands. Every
// length is checked against the message around it, so no byte outside of the file is read; depth is limited, so the
// stack is too. A message that is entered gets its length written as a varint padded to five bytes, filled in when its
// end is known: the skeleton is below 2 GB, and protobuf reads padded varints.
#include "host/formats/onnx/wire.hpp"

#include <array>
#include <limits>
#include <optional>

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {

namespace {

constexpr std::size_t kLeastPayload = 1024;           // smaller tensors are cheaper copied than referred to
constexpr std::size_t kLeastPayloadInBody = 8 << 10;  // ONNX's inference looks at constants of function bodies
constexpr unsigned kMostDepth = 96;                   // three messages for each nested subgraph
constexpr std::size_t kMostSkeleton = std::numeric_limits<std::int32_t>::max() - (1 << 20);

// ---- which fields lead to tensors ----

enum class Kind : std::uint8_t { model, graph, node, attribute, tensor, sparse_tensor, function };
enum class Action : std::uint8_t { copy, drop, enter };

struct Step {
  Action action = Action::copy;
  Kind kind = Kind::model;
};

constexpr std::uint32_t kFields = 32;  // all field numbers of interest are below

struct Row {
  Kind in;
  std::uint32_t field;
  Step step;
};

constexpr Step into(Kind k) { return {Action::enter, k}; }
constexpr Step kDrop{Action::drop, Kind::model};

constexpr Row kRows[] = {
    {Kind::model, 6, kDrop},  // doc_string
    {Kind::model, 7, into(Kind::graph)},
    {Kind::model, 20, kDrop},  // training_info
    {Kind::model, 25, into(Kind::function)},
    {Kind::model, 26, kDrop},  // configuration (devices)
    {Kind::graph, 1, into(Kind::node)},
    {Kind::graph, 5, into(Kind::tensor)},  // initializer
    {Kind::graph, 10, kDrop},              // doc_string
    {Kind::graph, 15, into(Kind::sparse_tensor)},
    {Kind::graph, 16, kDrop},  // metadata_props
    {Kind::node, 5, into(Kind::attribute)},
    {Kind::node, 6, kDrop},   // doc_string
    {Kind::node, 9, kDrop},   // metadata_props
    {Kind::node, 10, kDrop},  // device_configurations
    {Kind::attribute, 5, into(Kind::tensor)},
    {Kind::attribute, 6, into(Kind::graph)},
    {Kind::attribute, 10, into(Kind::tensor)},
    {Kind::attribute, 11, into(Kind::graph)},
    {Kind::attribute, 13, kDrop},  // doc_string
    {Kind::attribute, 22, into(Kind::sparse_tensor)},
    {Kind::attribute, 23, into(Kind::sparse_tensor)},
    {Kind::sparse_tensor, 1, into(Kind::tensor)},
    {Kind::sparse_tensor, 2, into(Kind::tensor)},
    {Kind::function, 7, into(Kind::node)},
    {Kind::function, 8, kDrop},  // doc_string
    {Kind::function, 11, into(Kind::attribute)},
    {Kind::function, 14, kDrop},  // metadata_props
};

constexpr auto kSteps = [] {
  std::array<std::array<Step, kFields>, 7> steps{};
  for (const Row& row : kRows) steps[static_cast<std::size_t>(row.in)][row.field] = row.step;
  return steps;
}();

Step step_of(Kind in, std::uint32_t field) {
  return field < kFields ? kSteps[static_cast<std::size_t>(in)][field] : Step{};
}

// Fields of TensorProto.
constexpr std::uint32_t kFloatData = 4, kRawData = 9, kDoubleData = 10, kExternalData = 13;

// ---- the wire format ----

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  const char* start = nullptr;  // of the tag
  const char* tag_end = nullptr;
  const char* body = nullptr;  // contents of a length-delimited field
  const char* end = nullptr;
  std::size_t size() const { return static_cast<std::size_t>(end - body); }
};

class Cutter {
 public:
  explicit Cutter(std::span<const std::byte> file)
      : begin_(reinterpret_cast<const char*>(file.data())), end_(begin_ + file.size()) {}

  Result<Skeleton> run() {
    if (!walk(Kind::model, begin_, end_, 0, kLeastPayload)) return std::move(*failure_);
    return std::move(skeleton_);
  }

 private:
  bool walk(Kind kind, const char* pos, const char* end, unsigned depth, std::size_t least);
  bool tensor(const char* pos, const char* end, std::size_t least);
  bool enter(const Field& field, Kind kind, unsigned depth, std::size_t least);
  bool read_field(const char*& pos, const char* end, Field& field);
  bool read_varint(const char*& pos, const char* end, std::uint64_t& value);
  bool refuse_marker(const Field& entry);
  void append_marker(const Field& payload);
  bool append(const char* from, const char* to);

  bool fail(const char* where, std::string_view what) {
    failure_ = error(Code::input_malformed, cat("the file is broken at byte ", where - begin_, ": ", what))
                   .try_this("fetch or export the model again; the file may be truncated");
    return false;
  }

  const char* begin_;
  const char* end_;
  Skeleton skeleton_;
  std::optional<Diagnostic> failure_;
};

bool Cutter::read_varint(const char*& pos, const char* end, std::uint64_t& value) {
  try {
    value = protozero::decode_varint(&pos, end);
    return true;
  } catch (const protozero::end_of_buffer_exception&) {
    return fail(pos, "a number runs past the end of the message around it");
  } catch (const protozero::exception&) {
    return fail(pos, "a number is longer than 64 bits");
  }
}

// Reads the field at pos and moves pos behind it.
bool Cutter::read_field(const char*& pos, const char* end, Field& field) {
  field.start = pos;
  std::uint64_t tag = 0;
  if (!read_varint(pos, end, tag)) return false;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  if (tag > std::numeric_limits<std::uint32_t>::max() || field.number == 0) {
    return fail(field.start, "no field has such a number");
  }
  field.wire = static_cast<Wire>(tag & 7);
  field.tag_end = field.body = pos;
  std::uint64_t size = 0;
  switch (field.wire) {
    case Wire::varint:
      if (!read_varint(pos, end, size)) return false;
      field.end = pos;
      return true;
    case Wire::fixed64:
      size = 8;
      break;
    case Wire::fixed32:
      size = 4;
      break;
    case Wire::bytes:
      if (!read_varint(pos, end, size)) return false;
      field.body = pos;
      break;
    default:
      return fail(field.start, "a field is of a kind that ONNX does not use");
  }
  if (size > static_cast<std::uint64_t>(end - pos)) {
    return fail(field.start, cat("a field of ", size, " bytes, where only ", end - pos, " are left"));
  }
  pos += size;
  field.end = pos;
  return true;
}

bool Cutter::append(const char* from, const char* to) {
  skeleton_.bytes.append(from, to);
  if (skeleton_.bytes.size() <= kMostSkeleton) return true;
  failure_ = error(Code::input_too_large, "the model without its large tensors is beyond 2 GB")
                 .try_this("store large tensors as raw_data or as external data");
  return false;
}

bool Cutter::walk(Kind kind, const char* pos, const char* end, unsigned depth, std::size_t least) {
  if (depth > kMostDepth) return fail(pos, "subgraphs are nested too deeply");
  const char* kept = pos;  // from here on nothing is copied yet
  while (pos != end) {
    Field field;
    if (!read_field(pos, end, field)) return false;
    const Step step = step_of(kind, field.number);
    if (step.action == Action::copy) continue;
    if (field.wire != Wire::bytes) return fail(field.start, cat("field ", field.number, " should hold a message"));
    if (!append(kept, field.start)) return false;
    kept = pos;
    if (step.action == Action::enter && !enter(field, step.kind, depth + 1, least)) return false;
  }
  return append(kept, end);
}

bool Cutter::enter(const Field& field, Kind kind, unsigned depth, std::size_t least) {
  static constexpr char kRoom[5] = {};
  if (!append(field.start, field.tag_end)) return false;
  const std::size_t length_at = skeleton_.bytes.size();
  if (!append(kRoom, kRoom + sizeof kRoom)) return false;

  if (kind == Kind::function) least = kLeastPayloadInBody;
  const bool done =
      kind == Kind::tensor ? tensor(field.body, field.end, least) : walk(kind, field.body, field.end, depth, least);
  if (!done) return false;

  std::size_t length = skeleton_.bytes.size() - length_at - sizeof kRoom;
  for (std::size_t i = 0; i < sizeof kRoom; ++i, length >>= 7) {
    const bool last = i + 1 == sizeof kRoom;
    skeleton_.bytes[length_at + i] = static_cast<char>((length & 0x7F) | (last ? 0 : 0x80));
  }
  return true;
}

// A payload is cut if it is the only one of its field: several pieces would have to be joined, which protobuf does.
bool Cutter::tensor(const char* pos, const char* end, std::size_t least) {
  struct Found {
    Field field;
    unsigned times = 0;
  };
  Found raw, floats, doubles;
  for (const char* p = pos; p != end;) {
    Field field;
    if (!read_field(p, end, field)) return false;
    Found* const found = field.number == kRawData      ? &raw
                         : field.number == kFloatData  ? &floats
                         : field.number == kDoubleData ? &doubles
                                                       : nullptr;
    if (found) *found = {field, found->times + 1};
    if (field.number == kExternalData && !refuse_marker(field)) return false;
  }
  if (raw.times > 1) return fail(raw.field.start, "a tensor holds its data twice");

  const auto is_cut = [&](const Field& field) {
    const Found& found = field.number == kRawData ? raw : field.number == kFloatData ? floats : doubles;
    return found.times == 1 && found.field.start == field.start && field.wire == Wire::bytes && field.size() >= least;
  };
  const char* kept = pos;
  for (const char* p = pos; p != end;) {
    Field field;
    if (!read_field(p, end, field)) return false;
    if (field.number != kRawData && field.number != kFloatData && field.number != kDoubleData) continue;
    if (!is_cut(field)) continue;
    if (!append(kept, field.start)) return false;
    kept = p;
    append_marker(field);
  }
  return append(kept, end);
}

// external_data of the file may not look like a marker.
bool Cutter::refuse_marker(const Field& entry) {
  if (entry.wire != Wire::bytes) return fail(entry.start, "external_data should hold messages");
  for (const char* p = entry.body; p != entry.end;) {
    Field field;
    if (!read_field(p, entry.end, field)) return false;
    if (field.number == 1 && field.wire == Wire::bytes && std::string_view(field.body, field.end) == kPayloadKey) {
      return fail(field.start, cat("external_data has the reserved key ", kPayloadKey));
    }
  }
  return true;
}

void Cutter::append_marker(const Field& payload) {
  const std::string number = std::to_string(skeleton_.payloads.size());
  std::string& out = skeleton_.bytes;
  const auto put_bytes = [&](std::uint32_t field, std::size_t size) {  // both fit one byte
    out += static_cast<char>(field << 3 | 2);
    out += static_cast<char>(size);
  };
  put_bytes(kExternalData, kPayloadKey.size() + number.size() + 4);
  put_bytes(1, kPayloadKey.size());
  out += kPayloadKey;
  put_bytes(2, number.size());
  out += number;
  skeleton_.payloads.push_back({static_cast<std::uint64_t>(payload.body - begin_), payload.size(), payload.number});
}

}  // namespace

Result<Skeleton> cut_payloads(std::span<const std::byte> file) { return Cutter(file).run(); }

}  // namespace gantry::onnx_format
