// TFLite operators that move, join and cut tensors. Limits: LiteRT, tflite/kernels/<operator>.cc; TRANSPOSE, PAD and
// STRIDED_SLICE as measured (docs/layout.md).
#include <algorithm>

#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

/// The integer operand i where it is constant.
std::optional<Dims> known_ints(const Node& node, std::size_t i) {
  const Value v = node.in(i);
  return v && v.constant() ? std::optional(v.read<std::int64_t>()) : std::nullopt;
}

constexpr auto kMoved = types(DType::float32, DType::float16, DType::int8, DType::int16, DType::int32, DType::int64,
                              DType::uint8, DType::boolean);
constexpr auto kJoined = types(DType::float32, DType::float16, DType::int8, DType::int16, DType::int32, DType::int64,
                               DType::uint8, DType::uint32, DType::boolean);
constexpr auto kPacked =
    types(DType::float32, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint32);
constexpr auto kSplitV = types(DType::float32, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8);
constexpr auto kSplit =
    types(DType::float32, DType::float16, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8);

Dims unknown(std::size_t rank) { return Dims(rank, -1); }

void infer_reshape(const Node& node, const Infer& infer) {
  auto dims = known_ints(node, 1);
  if (!dims) {
    const Value shape = node.in(1);
    if (shape && shape.ranked() && shape.rank() == 1 && shape.dim(0) >= 0)
      dims = unknown(static_cast<std::size_t>(shape.dim(0)));
  } else if (node.in(0).is_static()) {
    Emit::resolve(*dims, node.in(0).elements());
  }
  infer.set(0, node.in(0).dtype(), dims);
}

void infer_transpose(const Node& node, const Infer& infer) {
  const auto perm = known_ints(node, 1);
  decline_if(!perm, "TRANSPOSE needs a constant perm");
  const Dims dims = node.in(0).dims();
  decline_if(perm->size() != dims.size(), "perm ", text(*perm), " does not fit rank ", dims.size());
  Dims out;
  for (std::int64_t axis : *perm) out.push_back(dims.at(static_cast<std::size_t>(axis)));
  infer.set(0, node.in(0).dtype(), out);
}

void infer_expand_dims(const Node& node, const Infer& infer) {
  const auto axis = known_ints(node, 1);
  Dims dims = node.in(0).dims();
  const int at = normalize_axis(axis ? axis->at(0) : 0, static_cast<int>(dims.size()) + 1);
  dims.insert(dims.begin() + at, 1);
  infer.set(0, node.in(0).dtype(), dims);
}

void infer_squeeze(const Node& node, const Infer& infer) {
  const Dims dims = node.in(0).dims();
  std::vector<bool> drop(dims.size());
  for (std::int64_t a : node.attr("squeeze_dims", Dims{}))
    drop[static_cast<std::size_t>(normalize_axis(a, node.in(0).rank()))] = true;
  Dims out;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!drop[i]) out.push_back(dims[i]);
  infer.set(0, node.in(0).dtype(), out);
}

void infer_concatenation(const Node& node, const Infer& infer) {
  Dims out = node.in(0).dims();
  const auto axis = static_cast<std::size_t>(normalize_axis(node.attr<std::int64_t>("axis", 0), node.in(0).rank()));
  for (std::size_t i = 1; i < node.in_count(); ++i) {
    const Dims other = node.in(i).dims();
    decline_if(other.size() != out.size(), "CONCATENATION of ranks ", out.size(), " and ", other.size());
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (d == axis)
        out[d] = out[d] < 0 || other[d] < 0 ? -1 : out[d] + other[d];
      else
        out[d] = std::max(out[d], other[d]);
    }
  }
  infer.set(0, node.in(0).dtype(), out);
}

void set_split(const Node& node, const Infer& infer, const Value& input, const Value& axis_operand, const Dims& sizes) {
  Dims dims = input.dims();
  const auto axis = static_cast<std::size_t>(normalize_axis(axis_operand.scalar<std::int64_t>(), input.rank()));
  for (std::size_t i = 0; i < node.out_count(); ++i) {
    dims[axis] = sizes.at(i);
    infer.set(i, input.dtype(), dims);
  }
}

/// SPLIT(axis, input): equal parts.
void infer_split(const Node& node, const Infer& infer) {
  const std::int64_t n = node.in(1).dim(static_cast<int>(node.in(0).scalar<std::int64_t>()));
  const auto parts = static_cast<std::int64_t>(node.out_count());
  decline_if(n >= 0 && n % parts != 0, "SPLIT of ", n, " into ", parts);
  set_split(node, infer, node.in(1), node.in(0), Dims(node.out_count(), n < 0 ? -1 : n / parts));
}

/// SPLIT_V(input, sizes, axis).
void infer_split_v(const Node& node, const Infer& infer) {
  set_split(node, infer, node.in(0), node.in(2), known_ints(node, 1).value_or(unknown(node.out_count())));
}

/// SLICE(input, begin, size); a size of -1 is the rest.
void infer_slice(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  const auto begin = known_ints(node, 1), size = known_ints(node, 2);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (size && size->at(i) >= 0)
      dims[i] = size->at(i);
    else if (size && begin && dims[i] >= 0)
      dims[i] -= begin->at(i);
    else
      dims[i] = -1;
  }
  infer.set(0, node.in(0).dtype(), dims);
}

/// STRIDED_SLICE(input, begin, end, strides) with begin_mask and end_mask; other masks are not emitted.
void infer_strided_slice(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  const auto begin = known_ints(node, 1), end = known_ints(node, 2), strides = known_ints(node, 3);
  if (!begin || !end || !strides) {
    infer.set(0, node.in(0).dtype(), unknown(dims.size()));
    return;
  }
  const auto begin_mask = node.attr<std::int64_t>("begin_mask", 0), end_mask = node.attr<std::int64_t>("end_mask", 0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t n = dims[i], step = strides->at(i);
    if (n < 0) continue;
    const std::int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? n : n - 1;
    const auto bound = [&](std::int64_t x) { return std::clamp(x < 0 ? x + n : x, lo, hi); };
    const std::int64_t b = begin_mask >> i & 1 ? (step > 0 ? lo : hi) : bound(begin->at(i));
    const std::int64_t e = end_mask >> i & 1 ? (step > 0 ? hi : lo) : bound(end->at(i));
    dims[i] = std::max<std::int64_t>(0, step > 0 ? (e - b + step - 1) / step : (e - b + step + 1) / step);
  }
  infer.set(0, node.in(0).dtype(), dims);
}

void infer_gather(const Node& node, const Infer& infer) {
  const Dims data = node.in(0).dims(), indices = node.in(1).dims();
  const int axis = normalize_axis(node.attr<std::int64_t>("axis", 0), node.in(0).rank());
  const auto batch = static_cast<int>(node.attr<std::int64_t>("batch_dims", 0));
  Dims out(data.begin(), data.begin() + axis);
  out.insert(out.end(), indices.begin() + batch, indices.end());
  out.insert(out.end(), data.begin() + axis + 1, data.end());
  infer.set(0, node.in(0).dtype(), out);
}

void infer_gather_nd(const Node& node, const Infer& infer) {
  const Dims data = node.in(0).dims(), indices = node.in(1).dims();
  decline_if(indices.empty() || indices.back() < 0, "GATHER_ND needs a known last dimension of the indices");
  Dims out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + indices.back(), data.end());
  infer.set(0, node.in(0).dtype(), out);
}

void infer_pad(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  const auto pads = known_ints(node, 1);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] >= 0) dims[i] = pads ? dims[i] + pads->at(2 * i) + pads->at(2 * i + 1) : -1;
  infer.set(0, node.in(0).dtype(), dims);
}

void infer_broadcast_to(const Node& node, const Infer& infer) {
  std::optional<Dims> dims = known_ints(node, 1);
  if (!dims && node.in(1).is_static()) dims = unknown(static_cast<std::size_t>(node.in(1).elements()));
  infer.set(0, node.in(0).dtype(), dims);
}

/// BROADCAST_ARGS(shape, shape): the shape that both broadcast to.
void infer_broadcast_args(const Node& node, const Infer& infer) {
  const std::int64_t a = node.in(0).dim(0), b = node.in(1).dim(0);
  infer.set(0, node.in(0).dtype(), Dims{a < 0 || b < 0 ? -1 : std::max(a, b)});
}

void infer_tile(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  const auto times = known_ints(node, 1);
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = times && dims[i] >= 0 ? dims[i] * times->at(i) : -1;
  infer.set(0, node.in(0).dtype(), dims);
}

void infer_shape(const Node& node, const Infer& infer) {
  infer.set(0, node.attr("out_type", "INT32") == "INT64" ? DType::int64 : DType::int32, Dims{node.in(0).rank()});
}

/// FILL(dims, value).
void infer_fill(const Node& node, const Infer& infer) {
  std::optional<Dims> dims = known_ints(node, 0);
  if (!dims && node.in(0).is_static()) dims = unknown(static_cast<std::size_t>(node.in(0).elements()));
  infer.set(0, node.in(1).dtype(), dims);
}

void infer_range(const Node& node, const Infer& infer) { infer.set(0, node.in(0).dtype(), Dims{-1}); }

/// PACK: a new axis.
void infer_pack(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  const int axis = normalize_axis(node.attr<std::int64_t>("axis", 0), static_cast<int>(dims.size()) + 1);
  dims.insert(dims.begin() + axis, static_cast<std::int64_t>(node.in_count()));
  infer.set(0, node.in(0).dtype(), dims);
}

}  // namespace

GANTRY_DEFINE(tflite, "RESHAPE", layout("fixed: a wall where the engine cannot see through it"), infer(infer_reshape))
GANTRY_DEFINE(tflite, "TRANSPOSE", layout("fixed: the engine's own"), infer(infer_transpose), limits(rank(0, 6)))
GANTRY_DEFINE(tflite, "EXPAND_DIMS", layout("fixed: a wall where the engine cannot see through it"),
              infer(infer_expand_dims))
GANTRY_DEFINE(tflite, "SQUEEZE", layout("fixed: a wall where the engine cannot see through it"), infer(infer_squeeze),
              limits(rank(0, 8)))
GANTRY_DEFINE(tflite, "CONCATENATION", layout("*[axis=axis] ... -> *[axis=axis]"), infer(infer_concatenation),
              limits(rank(1, 6), kJoined), moves)
GANTRY_DEFINE(tflite, "SPLIT", layout("_, *[axis=#0] -> *[axis=#0] ..."), infer(infer_split), limits(kSplit), moves)
GANTRY_DEFINE(tflite, "SPLIT_V", layout("*[axis=#2], _, _ -> *[axis=#2] ..."), infer(infer_split_v), limits(kSplitV),
              moves)
GANTRY_DEFINE(tflite, "SLICE", layout("*[begin=#1 size=#2], _, _ -> *"), infer(infer_slice), limits(rank(1, 5)), moves)
GANTRY_DEFINE(tflite, "STRIDED_SLICE", layout("*[begin=#1 end=#2 strides=#3], _, _, _ -> *"),
              infer(infer_strided_slice), limits(rank(1, 5)))
GANTRY_DEFINE(tflite, "GATHER", layout("*[pick=axis], _ -> *; V! N, L -> L N"), infer(infer_gather), limits(kMoved),
              moves)
GANTRY_DEFINE(tflite, "GATHER_ND", layout("fixed: indices name several axes"), infer(infer_gather_nd), limits(kMoved),
              moves)
GANTRY_DEFINE(tflite, "PAD", layout("*[pads=#1], _ -> *"), infer(infer_pad), limits(rank(1, 5), kMoved), moves)
GANTRY_DEFINE(tflite, "PADV2", layout("*[pads=#1], _, _ -> *"), infer(infer_pad), limits(rank(0, 5), kMoved), moves)
GANTRY_DEFINE(tflite, "MIRROR_PAD", layout("*[mirror=#1], _ -> *"), infer(infer_pad),
              limits(types(DType::float32, DType::int32, DType::int64, DType::uint8, DType::int8, DType::int16)), moves)
GANTRY_DEFINE(tflite, "BROADCAST_TO", layout("*[shape=#1], _ -> *"), infer(infer_broadcast_to), limits(rank(0, 8)))
GANTRY_DEFINE(tflite, "BROADCAST_ARGS", layout("fixed: shapes"), infer(infer_broadcast_args),
              limits(types(DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "TILE", layout("*[repeats=#1], _ -> *"), infer(infer_tile))
GANTRY_DEFINE(tflite, "REVERSE_V2", layout("fixed: names its axes"), infer(infer_like_first),
              limits(rank(1, 8),
                     types(DType::float32, DType::int32, DType::int64, DType::int16, DType::uint8, DType::boolean)),
              moves)
GANTRY_DEFINE(tflite, "SHAPE", layout("fixed: yields the logical order"), infer(infer_shape))
GANTRY_DEFINE(tflite, "FILL", layout("fixed: makes its axes"), infer(infer_fill))
GANTRY_DEFINE(tflite, "RANGE", layout("fixed: makes its axis"), infer(infer_range),
              limits(types(DType::float32, DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "PACK", layout("fixed: makes an axis"), infer(infer_pack), limits(kPacked), moves)
