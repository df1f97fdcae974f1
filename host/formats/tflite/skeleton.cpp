#include "host/formats/tflite/skeleton.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <ranges>
#include <tflite_generated.h>

#include <sys/mman.h>

#include "host/formats/tflite/options.hpp"
#include "host/formats/tflite/types.hpp"

namespace gantry::tflite_format {
namespace {

namespace fb = flatbuffers;

constexpr std::uint64_t kAlignment = 16, kMaxFlatbuffer = 2'140'000'000;

std::uint64_t aligned(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

/// Memory that costs nothing until it is touched. One block; only growth beyond the estimate copies.
class Arena final : public fb::Allocator {
 public:
  std::uint8_t* allocate(std::size_t size) override {
    void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::uint8_t*>(p);
  }
  void deallocate(std::uint8_t* p, std::size_t size) override { ::munmap(p, size); }
};

template <class T>
void store(std::uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

}  // namespace

class Skeleton::Builder {
 public:
  Builder(const ModelPlan& plan, const WriteOptions& options, const Limits& limits) : plan_(plan), options_(options) {
    const std::uint64_t structure = plan.structure_bytes();
    std::uint64_t inlined = structure;
    for (const BufferPlan& b : plan.buffers) inlined += b.size() + 2 * kAlignment;
    outside_ = inlined > limits.inline_bytes;
    if (outside_) {
      inlined = structure;
      for (const BufferPlan& b : plan.buffers) inlined += (b.constant ? 0 : b.size()) + 2 * kAlignment;
    }
    capacity_ = inlined;
    fbb_.emplace(static_cast<std::size_t>(aligned(inlined)), &arena_);
  }

  std::uint64_t capacity() const { return capacity_; }

  Status build() {
    write_buffers();
    std::vector<fb::Offset<tflite::SubGraph>> subgraphs(plan_.subgraphs.size());
    for (std::size_t i = subgraphs.size(); i-- > 0;) {
      GANTRY_ASSIGN(subgraphs[i], write_subgraph(plan_.subgraphs[i]));
    }
    const auto codes = write_codes();
    const auto metadata = write_metadata();
    const auto signatures = write_signatures();
    const auto all = fbb_->CreateVector(subgraphs);
    const auto description = options_.description.empty() ? 0 : fbb_->CreateString(options_.description);
    const auto buffers = fbb_->CreateVector(buffers_);
    tflite::FinishModelBuffer(*fbb_,
                              tflite::CreateModel(*fbb_, 3, codes, all, description, buffers, 0, metadata, signatures));
    place_payloads();
    return {};
  }

  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(fbb_->GetBufferPointer(), fbb_->GetSize()));
  }
  const std::vector<Payload>& payloads() const { return payloads_; }
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  // A flatbuffer grows towards its start: places are counted from its end until it is finished.
  struct Pending {
    const Constant* constant;
    std::uint32_t data = 0;              // inside: end-relative place of the first byte
    std::uint32_t offset = 0, size = 0;  // outside: of the two fields that say where the data are
  };

  void write_buffers() {
    buffers_.resize(plan_.buffers.size());
    for (std::size_t i = buffers_.size(); i-- > 1;) {  // from the last, so that the file has them in order
      const BufferPlan& b = plan_.buffers[i];
      if (!b.constant) {
        std::memcpy(reserve(i, b.bytes.size()), b.bytes.data(), b.bytes.size());
      } else if (outside_) {
        refer(i, b.constant);
      } else {
        reserve(i, b.size());
        pending_.push_back({.constant = &b.constant, .data = data_place_});
      }
    }
    buffers_[0] = tflite::CreateBuffer(*fbb_);
  }

  // A buffer with room for `size` bytes, untouched.
  std::uint8_t* reserve(std::size_t i, std::uint64_t size) {
    std::uint8_t* data = nullptr;
    fbb_->ForceVectorAlignment(size, sizeof(std::uint8_t), kAlignment);
    const fb::Offset<fb::Vector<std::uint8_t>> vector(fbb_->CreateUninitializedVector<std::uint8_t>(size, &data));
    data_place_ = fbb_->GetSize() - sizeof(fb::uoffset_t);
    buffers_[i] = tflite::CreateBuffer(*fbb_, vector);
    return fbb_->GetCurrentBufferPointer() + (fbb_->GetSize() - data_place_);
  }

  // A buffer whose data will lie after the flatbuffer. 1 stands for what is not known yet: 0 would be left out.
  void refer(std::size_t i, const Constant& c) {
    Pending p{.constant = &c};
    tflite::BufferBuilder b(*fbb_);
    b.add_size(1);
    p.size = fbb_->GetSize();
    b.add_offset(1);
    p.offset = fbb_->GetSize();
    buffers_[i] = b.Finish();
    pending_.push_back(p);
  }

  Result<fb::Offset<tflite::SubGraph>> write_subgraph(const SubgraphPlan& s) {
    std::vector<fb::Offset<tflite::Operator>> operators;
    for (const OperatorPlan& op : s.operators) {
      GANTRY_ASSIGN(operators.emplace_back(), write_operator(*s.graph, op));
    }
    std::vector<fb::Offset<tflite::Tensor>> tensors;
    for (const TensorPlan& t : s.tensors) tensors.push_back(write_tensor(t, s.graph->value(t.value).type));
    const auto name = fbb_->CreateString(s.name);
    const auto all_tensors = fbb_->CreateVector(tensors);
    const auto all_operators = fbb_->CreateVector(operators);
    const auto inputs = fbb_->CreateVector(s.inputs), outputs = fbb_->CreateVector(s.outputs);
    return tflite::CreateSubGraph(*fbb_, all_tensors, inputs, outputs, all_operators, name);
  }

  Result<fb::Offset<tflite::Operator>> write_operator(const Graph& g, const OperatorPlan& plan) {
    const Node& node = g.node(plan.node);
    const CodePlan& code = plan_.codes[plan.code];
    const OptionsInfo* table = code.op->options;
    std::uint32_t options = 0;
    fb::Offset<fb::Vector<std::uint8_t>> custom;
    if (table) {
      GANTRY_ASSIGN(options, write_options(*fbb_, node, *table, plan_.subgraph_of.at(&g)));
    } else if (!code.custom.empty()) {
      GANTRY_ASSIGN(const std::string bytes, write_custom_options(node));
      fbb_->ForceVectorAlignment(bytes.size(), sizeof(std::uint8_t), kAlignment);
      custom = fbb_->CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    } else if (!node.attrs.empty() || !node.regions.empty()) {
      return error(Code::internal, node.op.str() + " has no options, but the node has attributes")
          .on_node(node.name)
          .on_op(node.op.str());
    }
    const auto inputs = fbb_->CreateVector(plan.inputs), outputs = fbb_->CreateVector(plan.outputs);
    tflite::OperatorBuilder b(*fbb_);
    b.add_opcode_index(plan.code);
    b.add_inputs(inputs);
    b.add_outputs(outputs);
    if (table && table->union_number == 1) {
      b.add_builtin_options_type(static_cast<tflite::BuiltinOptions>(table->union_type));
      b.add_builtin_options(options);
    } else if (table) {
      b.add_builtin_options_2_type(static_cast<tflite::BuiltinOptions2>(table->union_type));
      b.add_builtin_options_2(options);
    }
    b.add_custom_options(custom);
    return b.Finish();
  }

  fb::Offset<tflite::Tensor> write_tensor(const TensorPlan& t, const Type& type) {
    std::vector<std::int32_t> shape, signature;
    for (const Dim& d : type.dims) {
      shape.push_back(d.known() ? static_cast<std::int32_t>(d.size) : 1);
      signature.push_back(d.known() ? shape.back() : -1);
    }
    const auto name = fbb_->CreateString(t.name);
    const auto shape_place = type.ranked ? fbb_->CreateVector(shape) : 0;
    const auto signature_place = type.is_static() || !type.ranked ? 0 : fbb_->CreateVector(signature);
    tflite::TensorBuilder b(*fbb_);
    b.add_shape(shape_place);
    b.add_shape_signature(signature_place);
    b.add_buffer(t.buffer);
    b.add_name(name);
    b.add_type(static_cast<tflite::TensorType>(*tensor_type(type.dtype)));
    b.add_has_rank(type.ranked);
    b.add_is_variable(t.is_variable);
    return b.Finish();
  }

  fb::Offset<fb::Vector<fb::Offset<tflite::OperatorCode>>> write_codes() {
    constexpr std::int32_t kOldest = tflite::BuiltinOperator_PLACEHOLDER_FOR_GREATER_OP_CODES;
    std::vector<fb::Offset<tflite::OperatorCode>> codes;
    for (const CodePlan& c : plan_.codes) {
      const auto custom = c.custom.empty() ? 0 : fbb_->CreateString(c.custom);
      codes.push_back(tflite::CreateOperatorCode(*fbb_, static_cast<std::int8_t>(std::min(c.op->code, kOldest)), custom,
                                                 c.version, static_cast<tflite::BuiltinOperator>(c.op->code)));
    }
    return fbb_->CreateVector(codes);
  }

  fb::Offset<fb::Vector<fb::Offset<tflite::Metadata>>> write_metadata() {
    std::vector<fb::Offset<tflite::Metadata>> all;
    for (const auto& [name, buffer] : plan_.metadata) {
      all.push_back(tflite::CreateMetadata(*fbb_, fbb_->CreateString(name), buffer));
    }
    return fbb_->CreateVector(all);
  }

  fb::Offset<fb::Vector<fb::Offset<tflite::SignatureDef>>> write_signatures() {
    std::vector<fb::Offset<tflite::SignatureDef>> all;
    for (const SignaturePlan& signature : plan_.signatures) all.push_back(write_signature(signature));
    return fbb_->CreateVector(all);
  }

  fb::Offset<tflite::SignatureDef> write_signature(const SignaturePlan& signature) {
    const SubgraphPlan& s = plan_.subgraphs[signature.subgraph];
    const Region& region = s.graph->region(s.region);
    std::vector<fb::Offset<tflite::TensorMap>> inputs, outputs;
    for (const std::int32_t t : s.inputs) {
      const auto i = static_cast<std::uint32_t>(t);
      inputs.push_back(tflite::CreateTensorMap(*fbb_, fbb_->CreateString(s.tensors[i].name), i));
    }
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      const auto t = static_cast<std::uint32_t>(s.outputs[i]);
      const std::string& name = region.outputs[i].name.empty() ? s.tensors[t].name : region.outputs[i].name;
      outputs.push_back(tflite::CreateTensorMap(*fbb_, fbb_->CreateString(name), t));
    }
    const auto all_inputs = fbb_->CreateVector(inputs), all_outputs = fbb_->CreateVector(outputs);
    return tflite::CreateSignatureDef(*fbb_, all_inputs, all_outputs, fbb_->CreateString(signature.name),
                                      static_cast<std::uint32_t>(signature.subgraph));
  }

  void place_payloads() {
    const std::uint64_t size = fbb_->GetSize();
    std::uint8_t* begin = fbb_->GetBufferPointer();
    file_bytes_ = size;
    for (const Pending& p : pending_ | std::views::reverse) {
      if (outside_) {
        const std::uint64_t offset = aligned(file_bytes_);
        store(begin + (size - p.offset), offset);
        store(begin + (size - p.size), p.constant->byte_size());
        payloads_.push_back({offset, p.constant});
        file_bytes_ = offset + p.constant->byte_size();
      } else {
        payloads_.push_back({size - p.data, p.constant});
      }
    }
  }

  const ModelPlan& plan_;
  const WriteOptions& options_;
  bool outside_ = false;
  std::uint64_t capacity_ = 0, file_bytes_ = 0;
  std::uint32_t data_place_ = 0;
  Arena arena_;
  std::optional<fb::FlatBufferBuilder> fbb_;
  std::vector<fb::Offset<tflite::Buffer>> buffers_;
  std::vector<Pending> pending_;
  std::vector<Payload> payloads_;
};

Result<Skeleton> Skeleton::build(const ModelPlan& plan, const WriteOptions& options, const Limits& limits) {
  try {
    auto builder = std::make_unique<Builder>(plan, options, limits);
    if (builder->capacity() > kMaxFlatbuffer) {
      return error(Code::output_too_large, "the graph itself, without weights, is beyond the 2 GB of a flatbuffer");
    }
    GANTRY_TRY(builder->build());
    return Skeleton(std::move(builder));
  } catch (const std::bad_alloc&) {
    return error(Code::output_too_large, "no memory to build the file");
  }
}

Skeleton::Skeleton(std::unique_ptr<Builder> builder) : builder_(std::move(builder)) {}
Skeleton::Skeleton(Skeleton&&) noexcept = default;
Skeleton& Skeleton::operator=(Skeleton&&) noexcept = default;
Skeleton::~Skeleton() = default;

std::span<const std::byte> Skeleton::bytes() const { return builder_->bytes(); }
const std::vector<Payload>& Skeleton::payloads() const { return builder_->payloads(); }
std::uint64_t Skeleton::file_bytes() const { return builder_->file_bytes(); }

}  // namespace gantry::tflite_format
