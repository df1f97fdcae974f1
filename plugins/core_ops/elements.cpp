#include "elements.hpp"

namespace core_ops {
namespace {

/// Flat offsets of all positions of `box` in a value of which the axes have these strides.
std::vector<std::int64_t> offsets(const Dims& box, const Dims& strides) {
  std::vector<std::int64_t> all{0};
  for (std::size_t a = 0; a < box.size(); ++a) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(box[a]));
    for (std::int64_t o : all)
      for (std::int64_t i = 0; i < box[a]; ++i) next.push_back(o + i * strides[a]);
    all.swap(next);
  }
  return all;
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace

Value pick(const Emit& emit, const Value& x, const Value& at, int axis, int batch_dims) {
  if (x.rank() == 1) return emit.op("GATHER_ND", {x, insert_axis(emit, at, at.rank())});
  return emit.op("GATHER", {x, at}, {{"axis", axis}, {"batch_dims", batch_dims}});
}

Value element_places(const Emit& emit, const Dims& dims, const Value& at, int axis) {
  const Dims box = at.static_dims(), strides = strides_of(dims);
  decline_if(box.size() != dims.size(), "indices of rank ", box.size(), " for rank ", dims.size());
  const Dims outer = offsets(Dims(box.begin(), box.begin() + axis), Dims(strides.begin(), strides.begin() + axis));
  const Dims inner = offsets(Dims(box.begin() + axis + 1, box.end()), Dims(strides.begin() + axis + 1, strides.end()));
  const auto o = static_cast<std::int64_t>(outer.size()), n = static_cast<std::int64_t>(inner.size()),
             k = box[static_cast<std::size_t>(axis)];
  const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
  if (at.constant()) {
    const auto index = at.read<std::int64_t>();
    std::vector<std::int32_t> places;
    places.reserve(index.size());
    std::size_t next = 0;
    for (std::int64_t a : outer)
      for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t b : inner) places.push_back(static_cast<std::int32_t>(a + index[next++] * stride + b));
    return emit.constant<std::int32_t>({o, k, n}, places);
  }
  Value places = emit.reshape(at, {o, k, n});
  if (stride != 1) places = emit.mul(places, static_cast<double>(stride));
  if (o > 1) places = emit.add(places, emit.reshape(emit.i32(outer), {o, 1, 1}));
  if (n > 1) places = emit.add(places, emit.reshape(emit.i32(inner), {1, 1, n}));
  return places;
}

}  // namespace core_ops
