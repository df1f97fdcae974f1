#include "extent.hpp"

#include <algorithm>

namespace core_ops {

Extent extent_of(const Emit& emit, const Value& x, int axis) {
  const int at = normalize_axis(axis, x.rank());
  if (x.dim(at) >= 0) return x.dim(at);
  const Value shape = emit.op("SHAPE", {x}, {{"out_type", "INT32"}});
  return Extent(gather(emit, shape, emit.constant<std::int32_t>({}, {at})));
}

Extents extents_of(const Emit& emit, const Value& x, int first, int end) {
  Extents sizes;
  for (int a = first; a < end; ++a) sizes.push_back(extent_of(emit, x, a));
  return sizes;
}

Extent product(const Emit& emit, const Extents& sizes) {
  std::int64_t known = 1;
  Value rest;
  for (const Extent& s : sizes) {
    if (s.is_known())
      known *= s.known;
    else
      rest = rest ? emit.mul(rest, s.value) : s.value;
  }
  if (!rest) return known;
  return Extent(known == 1 ? rest : emit.mul(rest, static_cast<double>(known)));
}

Value vector_of(const Emit& emit, const Extents& sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](const Extent& s) { return s.is_known(); })) {
    Dims dims;
    for (const Extent& s : sizes) dims.push_back(s.known);
    return emit.i32(dims);
  }
  std::vector<Value> parts;
  for (const Extent& s : sizes) parts.push_back(s.is_known() ? emit.i32({s.known}) : emit.reshape(s.value, {1}));
  if (parts.size() == 1) return parts[0];
  return emit.op("CONCATENATION", parts, {{"axis", 0}, no_activation()});
}

Value counting(const Emit& emit, const Extent& n) {
  if (n.is_known()) {
    Dims numbers(static_cast<std::size_t>(n.known));
    std::iota(numbers.begin(), numbers.end(), 0);
    return emit.i32(numbers);
  }
  return emit.op("RANGE", {emit.scalar(DType::int32, 0), n.value, emit.scalar(DType::int32, 1)});
}

Value reshape_to(const Emit& emit, const Value& v, const Extents& shape) {
  Dims dims;
  for (const Extent& s : shape) dims.push_back(s.is_known() ? s.known : -1);
  if (std::count(dims.begin(), dims.end(), -1) <= 1 && std::count(dims.begin(), dims.end(), 0) == 0)
    return emit.reshape(v, dims);
  return emit.ops("RESHAPE", 1, {v, vector_of(emit, shape)}, {}, {Type{v.dtype(), dims}})[0];
}

Value as_int32(const Emit& emit, const Value& v) {
  if (v.constant() && v.dtype() != DType::int32) {
    const auto numbers = v.read<std::int64_t>();
    return emit.constant<std::int32_t>(v.dims(), std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  }
  return emit.cast(v, DType::int32);
}

Value from_end(const Emit& emit, const Value& indices, const Extent& n) {
  if (indices.constant()) {
    Dims at = indices.read<std::int64_t>();
    const bool negative = std::any_of(at.begin(), at.end(), [](std::int64_t i) { return i < 0; });
    if (n.is_known() || !negative) {
      for (std::int64_t& i : at) {
        if (i < 0) i += n.known;
        decline_if(i < 0 || (n.is_known() && i >= n.known), "an index is out of range for an axis of size ", n.known);
      }
      return emit.constant<std::int32_t>(indices.dims(), std::vector<std::int32_t>(at.begin(), at.end()));
    }
  }
  constexpr int kSelected = 5;  // SELECT_V2 takes no higher rank
  const bool high = indices.rank() > kSelected;
  Value i = as_int32(emit, indices);
  if (high) i = flat(emit, i);
  const Value wrapped = emit.add(i, n.scalar(emit));
  i = emit.op("SELECT_V2", {emit.op("LESS", {i, emit.scalar(DType::int32, 0)}), wrapped, i});
  return high ? reshape_to(emit, i, extents_of(emit, indices, 0, indices.rank())) : i;
}

}  // namespace core_ops
