#include "host/formats/onnx/types.hpp"

#include <array>

#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {

namespace {

using onnx::TensorProto;

struct Pair {
  DType ours;
  TensorProto::DataType theirs;
};

constexpr std::array kPairs = {
    Pair{DType::undefined, TensorProto::UNDEFINED},   Pair{DType::float32, TensorProto::FLOAT},
    Pair{DType::float16, TensorProto::FLOAT16},       Pair{DType::float64, TensorProto::DOUBLE},
    Pair{DType::bfloat16, TensorProto::BFLOAT16},     Pair{DType::int8, TensorProto::INT8},
    Pair{DType::int16, TensorProto::INT16},           Pair{DType::int32, TensorProto::INT32},
    Pair{DType::int64, TensorProto::INT64},           Pair{DType::uint8, TensorProto::UINT8},
    Pair{DType::uint16, TensorProto::UINT16},         Pair{DType::uint32, TensorProto::UINT32},
    Pair{DType::uint64, TensorProto::UINT64},         Pair{DType::boolean, TensorProto::BOOL},
    Pair{DType::string, TensorProto::STRING},         Pair{DType::complex64, TensorProto::COMPLEX64},
    Pair{DType::complex128, TensorProto::COMPLEX128}, Pair{DType::int4, TensorProto::INT4},
    Pair{DType::uint4, TensorProto::UINT4},
};

void merge_dim(Dim& known, const Dim& more) {
  if (more.known() || (!known.known() && known.symbol.empty())) known = more;
}

}  // namespace

DType dtype_of(std::int64_t onnx_number) {
  for (const Pair& pair : kPairs) {
    if (pair.theirs == onnx_number) return pair.ours;
  }
  return DType::undefined;
}

int onnx_number_of(DType t) {
  for (const Pair& pair : kPairs) {
    if (pair.ours == t) return pair.theirs;
  }
  return TensorProto::UNDEFINED;
}

std::string onnx_dtype_name(std::int64_t onnx_number) {
  const bool known = onnx_number >= TensorProto::DataType_MIN && onnx_number <= TensorProto::DataType_MAX &&
                     TensorProto::DataType_IsValid(static_cast<int>(onnx_number));
  return known ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(onnx_number))
               : cat("number ", onnx_number);
}

Type to_type(const onnx::TypeProto& proto) {
  if (!proto.has_tensor_type()) return {};
  const auto& tensor = proto.tensor_type();
  Type type = Type::unranked(dtype_of(tensor.elem_type()));
  if (!tensor.has_shape()) return type;
  type.ranked = true;
  type.dims.reserve(static_cast<std::size_t>(tensor.shape().dim_size()));
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      type.dims.emplace_back(dim.dim_value());
    } else {
      type.dims.push_back(is_text(dim.dim_param()) ? Dim::named(dim.dim_param()) : Dim());
    }
  }
  return type;
}

std::string_view container_name(const onnx::TypeProto& proto) {
  switch (proto.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return "sequence";
    case onnx::TypeProto::kMapType:
      return "map";
    case onnx::TypeProto::kOptionalType:
      return "optional";
    case onnx::TypeProto::kSparseTensorType:
      return "sparse tensor";
    case onnx::TypeProto::kOpaqueType:
      return "opaque value";
    default:
      return "";
  }
}

void to_proto(const Type& type, onnx::TypeProto& proto) {
  if (type.dtype == DType::undefined && !type.ranked) return;
  auto& tensor = *proto.mutable_tensor_type();
  tensor.set_elem_type(onnx_number_of(type.dtype));
  if (!type.ranked) return;
  auto& shape = *tensor.mutable_shape();
  shape.mutable_dim()->Reserve(static_cast<int>(type.dims.size()));
  for (const Dim& dim : type.dims) {
    auto& out = *shape.add_dim();
    if (dim.known()) {
      out.set_dim_value(dim.size);
    } else if (!dim.symbol.empty()) {
      out.set_dim_param(dim.symbol);
    }
  }
}

bool merge(Type& known, const Type& more) {
  if (known.dtype != DType::undefined && more.dtype != DType::undefined && known.dtype != more.dtype) return false;
  if (known.ranked && more.ranked) {
    if (known.rank() != more.rank()) return false;
    for (std::size_t i = 0; i < known.dims.size(); ++i) {
      const Dim &a = known.dims[i], &b = more.dims[i];
      if (a.known() && b.known() && a.size != b.size) return false;
    }
    for (std::size_t i = 0; i < known.dims.size(); ++i) merge_dim(known.dims[i], more.dims[i]);
  } else if (more.ranked) {
    known.ranked = true;
    known.dims = more.dims;
  }
  if (known.dtype == DType::undefined) known.dtype = more.dtype;
  return true;
}

}  // namespace gantry::onnx_format
