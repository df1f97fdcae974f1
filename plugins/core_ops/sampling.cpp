#include "sampling.hpp"

namespace core_ops {

Operand as_float(const Emit& emit, const Extent& n) {
  if (n.is_known()) return static_cast<double>(n.known);
  return emit.cast(n.value, DType::float32);
}

Image image_of(const Emit& emit, const Value& x, std::int64_t groups) {
  const int rank = x.rank();
  const std::int64_t channels = x.dim(1);
  decline_if(channels < 1 || channels % groups, channels, " channels in ", groups, " groups");
  Image image{{}, extent_of(emit, x, 0), extents_of(emit, x, 2, rank)};
  Value last;
  if (groups == 1) {
    last = emit.transpose(x, to_channels_last(rank));
  } else {
    Extents split{image.batch, groups, channels / groups};
    for (const Extent& e : image.sizes) split.push_back(e);
    Dims perm{0, 1};
    for (int a = 3; a <= rank; ++a) perm.push_back(a);
    perm.push_back(2);
    last = emit.transpose(reshape_to(emit, x, split), perm);
    image.batch = product(emit, {image.batch, groups});
  }
  image.rows = emit.reshape(last, {-1, channels / groups});
  return image;
}

Extent stride_of(const Emit& emit, const Image& image, std::size_t axis) {
  return product(emit, Extents(image.sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, image.sizes.end()));
}

Value batch_places(const Emit& emit, const Image& image) {
  return emit.mul(counting(emit, image.batch), product(emit, image.sizes).scalar(emit));
}

namespace {

/// Weight of the tap `k` elements from the floor, t being the rest: cubic convolution with a = -0.75.
Value cubic_weight(const Emit& emit, const Value& t, int k) {
  constexpr double a = -0.75;
  const Value d = k <= 0 ? emit.add(t, -k) : emit.sub(k, t);  // distance
  if (k == 0 || k == 1)                                       // ((a + 2) d - (a + 3)) d^2 + 1
    return emit.add(emit.mul(emit.mul(emit.sub(emit.mul(d, a + 2), a + 3), d), d), 1);
  const Value inner = emit.sub(emit.mul(d, a), 5 * a);  // ((a d - 5 a) d + 8 a) d - 4 a
  return emit.sub(emit.mul(emit.add(emit.mul(inner, d), 8 * a), d), 4 * a);
}

/// A whole-numbered coordinate mirrored into the axis, as often as it takes.
Value mirrored(const Emit& emit, const Value& i, const Extent& size, bool align_corners) {
  const Operand n = as_float(emit, size);
  const auto known = [&](double v) { return emit.scalar(DType::float32, v); };
  Value period, last;  // mirrored at the outermost elements: period 2 (n - 1); at their edges: 2 n
  if (size.is_known()) {
    period = known(align_corners ? std::max<double>(1, 2.0 * static_cast<double>(size.known - 1)) : 2.0 * n.number());
    last = known(align_corners ? std::max<double>(1, 2.0 * static_cast<double>(size.known - 1)) : 2.0 * n.number() - 1);
  } else {
    period = align_corners ? emit.maximum(emit.mul(emit.sub(n, 1), 2), 1) : emit.mul(n, 2);
    last = align_corners ? period : emit.sub(period, 1);
  }
  const Value m = emit.op("FLOOR_MOD", {i, period});
  return emit.minimum(m, emit.sub(last, m));
}

}  // namespace

Taps taps_of(const Emit& emit, const Image& image, std::size_t axis, const Value& coordinate, const Sampling& s) {
  const Extent& size = image.sizes[axis];
  const Value base = emit.op(s.kernel == Kernel::nearest ? "ROUND" : "FLOOR", {coordinate});
  const Value rest = s.kernel == Kernel::nearest ? Value() : emit.sub(coordinate, base);
  const Operand last =
      size.is_known() ? Operand(static_cast<double>(size.known - 1)) : emit.sub(as_float(emit, size), 1);
  const Value stride = stride_of(emit, image, axis).scalar(emit);
  const auto [from, to] = s.kernel == Kernel::nearest  ? std::pair(0, 0)
                          : s.kernel == Kernel::linear ? std::pair(0, 1)
                                                       : std::pair(-1, 2);
  Taps taps;
  for (int k = from; k <= to; ++k) {
    Tap tap;
    Value i = k == 0 ? base : emit.add(base, k);
    if (s.kernel == Kernel::linear) tap.weight = k == 0 ? emit.sub(1, rest) : rest;
    if (s.kernel == Kernel::cubic) tap.weight = cubic_weight(emit, rest, k);
    if (s.border == Border::reflect) i = mirrored(emit, i, size, s.align_corners);
    const Value inside = emit.minimum(emit.maximum(i, 0), last);
    if (s.border == Border::zeros) {
      const Value there = emit.cast(emit.op("EQUAL", {i, inside}), DType::float32);
      tap.weight = tap.weight ? emit.mul(tap.weight, there) : there;
    }
    tap.place = emit.cast(inside, DType::int32);
    if (axis + 1 < image.sizes.size()) tap.place = emit.mul(tap.place, stride);
    taps.push_back(tap);
  }
  return taps;
}

std::vector<Value> read_taps(const Emit& emit, const Image& image, const std::vector<Taps>& taps, const Value& first) {
  Taps all{{first, {}}};
  for (const Taps& axis : taps) {
    Taps next;
    for (const Tap& a : all)
      for (const Tap& b : axis)
        next.push_back({emit.add(a.place, b.place), a.weight && b.weight ? emit.mul(a.weight, b.weight)
                                                    : a.weight           ? a.weight
                                                                         : b.weight});
    all = next;
  }
  std::vector<Value> read;
  for (const Tap& t : all) {
    const Value row = emit.op("GATHER", {image.rows, t.place}, {{"axis", 0}, {"batch_dims", 0}});
    read.push_back(t.weight ? emit.mul(row, insert_axis(emit, t.weight, t.weight.rank())) : row);
  }
  return read;
}

Value interpolate(const Emit& emit, const Image& image, const std::vector<Taps>& taps, const Value& first) {
  Value sum;
  for (const Value& v : read_taps(emit, image, taps, first)) sum = sum ? emit.add(sum, v) : v;
  return sum;
}

}  // namespace core_ops
