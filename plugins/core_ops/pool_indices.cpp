// Indices of MaxPool. Operator: ONNX operator specification, MaxPool.
#include "pool.hpp"

namespace core_ops {
namespace {

/// For every window the places in the flat spatial axes that it reads, `outside` in the padding: [windows, taps].
std::vector<std::int64_t> window_places(const Pool& p, std::int64_t outside) {
  const Window& w = p.window;
  std::int64_t windows = 1, taps = 1;
  Dims count;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    count.push_back(window_count(w, i, p.spatial[i]));
    windows *= count[i];
    taps *= w.kernel[i];
  }
  std::vector<std::int64_t> places;
  for (std::int64_t o = 0; o < windows; ++o)
    for (std::int64_t k = 0; k < taps; ++k) {
      std::int64_t at = 0, stride = 1, window = o, tap = k;
      for (std::size_t i = w.axes(); i-- > 0;) {
        const std::int64_t x = window % count[i] * w.strides[i] + tap % w.kernel[i] * w.dilations[i] - w.begin[i];
        if (x < 0 || x >= p.spatial[i]) at = -1;
        if (at >= 0) at += x * stride;
        stride *= p.spatial[i];
        window /= count[i];
        tap /= w.kernel[i];
      }
      places.push_back(at < 0 ? outside : at);
    }
  return places;
}

/// A place in the flat spatial axes, counted with the first axis as the fastest.
std::int64_t column_major(std::int64_t place, const Dims& spatial) {
  std::int64_t stride = 1, at = 0;
  for (std::int64_t n : spatial) stride *= n;
  for (std::size_t i = spatial.size(); i-- > 0;) {
    stride /= spatial[i];
    at += place % spatial[i] * stride;
    place /= spatial[i];
  }
  return at;
}

}  // namespace

/// The largest of each window and where it stands in the flat [n, c, spatial...]: all windows gathered, ARG_MAX (the
/// first of equal ones), and a table from there to the place.
std::vector<Value> max_pool_with_indices(const Emit& emit, const Pool& p, bool by_columns) {
  decline_if(!Value::known(p.spatial), "indices of MaxPool need known spatial sizes; give input shapes with --shape");
  std::int64_t pixels = 1, windows = 1, taps = 1;
  Extents out = extents_of(emit, p.x, 0, 2);
  const Extent images = product(emit, out);
  for (std::size_t i = 0; i < p.window.axes(); ++i) {
    const std::int64_t count = window_count(p.window, i, p.spatial[i]);
    pixels *= p.spatial[i];
    windows *= count;
    taps *= p.window.kernel[i];
    out.emplace_back(count);
  }
  const std::vector<std::int64_t> places = window_places(p, pixels);
  Value x = reshape_to(emit, p.x, {images, pixels});
  if (p.window.padded())
    x = emit.op("PADV2",
                {x, emit.constant<std::int32_t>({2, 2}, {0, 0, 0, 1}), emit.scalar(x.dtype(), lowest_of(x.dtype()))});
  const Attributes rows{{"axis", 1}, {"batch_dims", 0}}, first{{"axis", 0}, {"batch_dims", 0}};
  const std::vector<std::int32_t> at_taps(places.begin(), places.end());
  const Value read = emit.op("GATHER", {x, emit.constant<std::int32_t>({windows, taps}, at_taps)}, rows);
  const Value best = emit.op("ARG_MAX", {read, emit.constant<std::int32_t>({1}, {2})}, {{"output_type", "INT32"}});
  std::vector<std::int32_t> table, starts;
  for (std::int64_t at : places)
    table.push_back(static_cast<std::int32_t>(by_columns && at < pixels ? column_major(at, p.spatial) : at));
  for (std::int64_t o = 0; o < windows; ++o) starts.push_back(static_cast<std::int32_t>(o * taps));
  const Value which = emit.add(best, emit.constant<std::int32_t>({windows}, starts));
  const Value at = emit.op("GATHER", {emit.constant<std::int32_t>({windows * taps}, table), which}, first);
  const Value offsets = emit.mul(counting(emit, images), static_cast<double>(pixels));
  const Value place = emit.cast(emit.add(at, emit.reshape(offsets, {-1, 1})), DType::int64);
  const Value y = emit.op("REDUCE_MAX", {read, emit.i32({2})}, {{"keep_dims", false}});
  return {reshape_to(emit, y, out), reshape_to(emit, place, out)};
}

}  // namespace core_ops
