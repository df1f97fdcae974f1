// Small pieces that several operator families share.
#pragma once

#include <gantry/sdk.hpp>

namespace core_ops {

using namespace gantry::sdk;

/// perm that brings axis 1 (channels) to the end: [0, 2, ..., 1].
inline Dims to_channels_last(int rank) {
  Dims p{0};
  for (int i = 2; i < rank; ++i) p.push_back(i);
  if (rank > 1) p.push_back(1);
  return p;
}
/// Its inverse: [0, rank - 1, 1, ...].
inline Dims to_channels_first(int rank) {
  Dims p{0};
  if (rank > 1) p.push_back(rank - 1);
  for (int i = 1; i < rank - 1; ++i) p.push_back(i);
  return p;
}
inline Dims inverse(const Dims& perm) {
  Dims inv(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) inv[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return inv;
}
/// perm that swaps `axis` with the last; its own inverse.
inline Dims swap_with_last(int axis, int rank) {
  Dims p(static_cast<std::size_t>(rank));
  std::iota(p.begin(), p.end(), 0);
  std::swap(p[static_cast<std::size_t>(axis)], p.back());
  return p;
}

/// Puts an axis of size 1 at `axis`, and takes it out again; right for unknown dims too.
inline Value insert_axis(const Emit& emit, const Value& v, int axis) {
  Dims dims = v.dims();
  dims.insert(dims.begin() + axis, 1);
  if (v.is_static()) return emit.reshape(v, dims);
  return emit.op("EXPAND_DIMS", {v, emit.constant<std::int32_t>({}, {axis})});
}
inline Value remove_axis(const Emit& emit, const Value& v, int axis) {
  Dims dims = v.dims();
  dims.erase(dims.begin() + axis);
  if (v.is_static()) return emit.reshape(v, dims);
  return emit.op("SQUEEZE", {v}, {{"squeeze_dims", Dims{axis}}});
}

/// Integers that newer opsets take as operand i and older ones as an attribute; nullopt where both are absent.
inline std::optional<Dims> ints(const Node& node, std::size_t operand, std::string_view attribute) {
  if (const Value v = node.in(operand)) return v.read<std::int64_t>();
  if (!attribute.empty() && node.has_attr(attribute)) return node.attr<Dims>(attribute);
  return std::nullopt;
}

/// Element type in which arithmetic is done: LiteRT's kernels take 8- and 16-bit integers for quantized numbers (and
/// crash without their scales), and know few unsigned types. What wraps in the wider type wraps the same in the narrow.
inline DType computed_in(DType t) {
  switch (t) {
    case DType::int8:
    case DType::uint8:
    case DType::int16:
    case DType::uint16:
      return DType::int32;
    case DType::uint32:
      return DType::int64;
    default:
      return t;
  }
}

/// GATHER: the parts of an axis that `at` names; its shape stands in the axis's place.
inline Value gather(const Emit& emit, const Value& v, const Value& at, int axis = 0) {
  return emit.op("GATHER", {v, at}, {{"axis", axis}, {"batch_dims", 0}});
}

/// What nodes with fused activation write.
inline Attribute no_activation() { return {"fused_activation_function", "NONE"}; }

}  // namespace core_ops
