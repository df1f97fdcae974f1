#include "host/formats/onnx/attributes.hpp"

#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {

namespace {

using onnx::AttributeProto;

// How many of the fields that may hold the value do.
int value_fields(const AttributeProto& a) {
  return int{a.has_f()} + int{a.has_i()} + int{a.has_s()} + int{a.has_t()} + int{a.has_g()} + int{a.has_tp()} +
         int{a.has_sparse_tensor()} + int{!a.floats().empty()} + int{!a.ints().empty()} + int{!a.strings().empty()} +
         int{!a.tensors().empty()} + int{!a.graphs().empty()} + int{!a.sparse_tensors().empty()} +
         int{!a.type_protos().empty()};
}

Diagnostic not_carried(const AttributeProto& proto, std::string_view kind) {
  return error(Code::unsupported_op,
               cat("attribute ", quote(proto.name()), " holds ", kind, ", which Gantry does not carry"));
}

}  // namespace

Result<Attr> to_attr(const AttributeProto& proto, TensorSource& tensors) {
  if (value_fields(proto) > 1) {
    return error(Code::input_malformed, cat("attribute ", quote(proto.name()), " has more than one value"));
  }
  const auto what = [&] { return cat("attribute ", quote(proto.name())); };
  switch (proto.type()) {
    case AttributeProto::FLOAT:
      return Attr(proto.f());
    case AttributeProto::INT:
      return Attr(std::int64_t{proto.i()});
    case AttributeProto::STRING:
      return Attr(proto.s());
    case AttributeProto::FLOATS:
      return Attr(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::INTS:
      return Attr(std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::STRINGS:
      return Attr(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case AttributeProto::TENSOR: {
      GANTRY_ASSIGN(Constant constant, tensors.constant(proto.t(), what()));
      return Attr(std::move(constant));
    }
    case AttributeProto::SPARSE_TENSOR: {
      GANTRY_ASSIGN(Constant constant, tensors.constant(proto.sparse_tensor(), what()));
      return Attr(std::move(constant));
    }
    case AttributeProto::TYPE_PROTO:
    case AttributeProto::TYPE_PROTOS:
      return not_carried(proto, "a type");
    case AttributeProto::TENSORS:
    case AttributeProto::SPARSE_TENSORS:
      return not_carried(proto, "a list of tensors");
    case AttributeProto::GRAPHS:
      return not_carried(proto, "a list of subgraphs");
    case AttributeProto::GRAPH:
    case AttributeProto::UNDEFINED:
      break;
  }
  return error(Code::input_malformed, cat("attribute ", quote(proto.name()), " has no kind"));
}

namespace {

struct ProtoWriter {
  std::uint64_t most_data;
  AttributeProto& out;

  void operator()(std::int64_t v) const {
    out.set_type(AttributeProto::INT);
    out.set_i(v);
  }
  void operator()(float v) const {
    out.set_type(AttributeProto::FLOAT);
    out.set_f(v);
  }
  void operator()(const std::string& v) const {
    out.set_type(AttributeProto::STRING);
    out.set_s(v);
  }
  void operator()(const std::vector<std::int64_t>& v) const {
    out.set_type(AttributeProto::INTS);
    out.mutable_ints()->Add(v.begin(), v.end());
  }
  void operator()(const std::vector<float>& v) const {
    out.set_type(AttributeProto::FLOATS);
    out.mutable_floats()->Add(v.begin(), v.end());
  }
  void operator()(const std::vector<std::string>& v) const {
    out.set_type(AttributeProto::STRINGS);
    for (const std::string& s : v) out.add_strings(s);
  }
  void operator()(const Constant& v) const {
    out.set_type(AttributeProto::TENSOR);
    to_proto(v, v.byte_size() <= most_data, *out.mutable_t());
  }
};

struct ConstantMaker {
  Result<Constant> operator()(std::int64_t v) const { return Constant::of<std::int64_t>({}, {v}); }
  Result<Constant> operator()(float v) const { return Constant::of<float>({}, {v}); }
  Result<Constant> operator()(const std::string& v) const { return Constant::strings({}, {v}); }
  Result<Constant> operator()(const std::vector<std::int64_t>& v) const { return list<std::int64_t>(v); }
  Result<Constant> operator()(const std::vector<float>& v) const { return list<float>(v); }
  Result<Constant> operator()(const std::vector<std::string>& v) const {
    return Constant::strings({static_cast<std::int64_t>(v.size())}, v);
  }
  Result<Constant> operator()(const Constant& v) const { return v; }

  template <class T>
  static Constant list(const std::vector<T>& v) {
    return Constant::of<T>({static_cast<std::int64_t>(v.size())}, std::span<const T>(v));
  }
};

}  // namespace

void to_proto(std::string_view name, const Attr& attr, std::uint64_t most_data, AttributeProto& proto) {
  proto.set_name(std::string(name));
  std::visit(ProtoWriter{most_data, proto}, attr);
}

Result<Constant> constant_of(const Attrs& attrs) {
  if (attrs.size() != 1) return error(Code::input_malformed, "a Constant needs exactly one value");
  return std::visit(ConstantMaker{}, attrs.begin()->second);
}

}  // namespace gantry::onnx_format
