// DFT, STFT, MelWeightMatrix. A discrete Fourier transform is one multiplication by a constant matrix: signals of one
// axis are short, and float32 sums of some thousand terms are good to 1e-6. Operators: ONNX operator specification.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "floats.hpp"

namespace core_ops {
namespace {

constexpr std::int64_t kLargestMatrix = std::int64_t{1} << 25;

/// A transform of `length` points: `inputs` samples of `parts` numbers (real, or real and imaginary) give `outputs`.
struct Transform {
  std::int64_t length = 0, inputs = 0, parts = 1, outputs = 0;
  bool inverse = false;
  bool to_real = false;  // the operand is half of a spectrum that belongs to a real signal
  std::int64_t out_parts() const { return to_real ? 1 : 2; }
};

/// Weights [outputs * out_parts, inputs * parts]; `window` multiplies the samples.
Value matrix(const Emit& emit, const Transform& t, const std::vector<float>& window = {}) {
  const std::int64_t rows = t.outputs * t.out_parts(), columns = t.inputs * t.parts;
  decline_if(rows < 1 || columns < 1 || rows > kLargestMatrix / columns, "a transform of ", t.length,
             " points needs a matrix of ", rows, " x ", columns);
  const double factor = t.inverse || t.to_real ? 1 / static_cast<double>(t.length) : 1;
  std::vector<float> w(static_cast<std::size_t>(rows * columns));
  for (std::int64_t k = 0; k < t.outputs; ++k) {
    for (std::int64_t n = 0; n < t.inputs; ++n) {
      const double turns = static_cast<double>(k * n % t.length) / static_cast<double>(t.length);
      const double angle = 2 * std::numbers::pi * turns, sign = t.inverse || t.to_real ? 1 : -1;
      double scale = factor * (window.empty() ? 1 : static_cast<double>(window[static_cast<std::size_t>(n)]));
      if (t.to_real && n != 0 && 2 * n != t.length) scale *= 2;  // the other half is its conjugate
      const double c = scale * std::cos(angle), s = scale * sign * std::sin(angle);
      // (x + iy)(c + is) = (xc - ys) + i(xs + yc)
      const double cell[2][2] = {{c, -s}, {s, c}};
      for (std::int64_t o = 0; o < t.out_parts(); ++o)
        for (std::int64_t p = 0; p < t.parts; ++p)
          w[static_cast<std::size_t>((k * t.out_parts() + o) * columns + n * t.parts + p)] =
              static_cast<float>(cell[o][p]);
    }
  }
  return emit.constant<float>({rows, columns}, w);
}

/// [..., inputs, parts] -> [..., outputs, out_parts]
Value transformed(const Emit& emit, const Value& x, const Transform& t, const std::vector<float>& window = {}) {
  Dims dims = x.dims();
  dims.pop_back();
  dims.back() = t.inputs * t.parts;
  const Value weights = matrix(emit, t, window);
  const std::vector<float> zeros(static_cast<std::size_t>(weights.dim(0)), 0.0f);
  const Value y = emit.op("FULLY_CONNECTED",
                          {reshape_one_unknown(emit, x, dims), weights, emit.constant<float>({weights.dim(0)}, zeros)},
                          {{"keep_num_dims", true}, {"weights_format", "DEFAULT"}, no_activation()});
  dims.back() = t.outputs;
  dims.push_back(t.out_parts());
  return reshape_one_unknown(emit, y, dims);
}

struct Request {
  bool inverse = false, onesided = false;
  std::optional<std::int64_t> length;
};

Transform transform_of(const Request& r, std::int64_t size, std::int64_t parts) {
  Transform t;
  t.parts = parts;
  t.to_real = r.inverse && r.onesided;
  t.inverse = r.inverse;
  t.length = r.length.value_or(t.to_real ? 2 * (size - 1) : size);
  decline_if(t.length < 1, "a transform of ", t.length, " points");
  t.inputs = std::min(size, t.to_real ? t.length / 2 + 1 : t.length);
  t.outputs = t.to_real || !r.onesided ? t.length : t.length / 2 + 1;
  return t;
}

Value dft_along(const Emit& emit, const Value& x, int axis, const Request& r) {
  const int rank = x.rank();
  const std::int64_t size = x.dim(axis), parts = x.dim(-1);
  decline_if(size < 1, "the size of axis ", axis, " is not known; give input shapes with --shape");
  decline_if(parts != 1 && parts != 2, "a last axis of size ", parts, " is neither real nor complex");
  const Transform t = transform_of(r, size, parts);
  Dims perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + axis);
  perm.insert(perm.end() - 1, axis);
  const Value at_end = slice_axis(emit, emit.transpose(x, perm), rank - 2, 0, t.inputs);
  return emit.transpose(transformed(emit, at_end, t), inverse(perm));
}

std::optional<std::int64_t> known_scalar(const Value& v) {
  return v && v.constant() ? std::optional(v.scalar<std::int64_t>()) : std::nullopt;
}

/// A length that is known at run time only, from the result's size: it is the length unless half is given out.
void length_from_result(Request& r, std::int64_t result) {
  decline_if(result < 1 || (r.onesided && !r.inverse), "dft_length is known at run time only");
  r.length = result;
}

/// Whether a transform along this axis has the result's known dims.
bool fits(const Value& x, const Value& out, int axis, const Request& r) {
  if (!out.ranked() || out.rank() != x.rank() || x.dim(axis) < 1) return false;
  if (r.inverse && r.onesided && !r.length && x.dim(axis) < 2) return false;
  const Transform t = transform_of(r, x.dim(axis), 2);
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(axis)] = t.outputs;
  dims.back() = t.out_parts();
  return dims == out.dims();
}

/// An axis known at run time only: every axis that gives a result of the known shape, and the right one is picked.
Value dft_along_any(const Node& node, const Emit& emit, const Value& x, const Value& axis, const Request& r) {
  decline_if(!r.length && node.in(1), "axis and dft_length are known at run time only");
  Value y;
  for (int a = 0; a + 1 < x.rank(); ++a) {
    if (!fits(x, node.out(0), a, r)) continue;
    const Value candidate = dft_along(emit, x, a, r);
    if (!y) {
      y = candidate;
      continue;
    }
    const auto is = [&](int k) { return emit.op("EQUAL", {axis, emit.scalar(axis.dtype(), k)}); };
    const Value picked = emit.op("LOGICAL_OR", {is(a), is(a - x.rank())});
    y = emit.op("SELECT_V2", {emit.reshape(picked, {}), candidate, y});
  }
  decline_if(!y, "axis is known at run time only, and the result's shape does not tell it");
  return y;
}

Results dft(const Node& node, const Emit& emit, std::optional<std::int64_t> axis, const Value& runtime_axis) {
  const Value x = in_float32(emit, node.in(0));
  Request r{node.attr("inverse", 0) != 0, node.attr("onesided", 0) != 0, known_scalar(node.in(1))};
  Value y;
  if (axis) {
    const int a = normalize_axis(*axis, x.rank());
    decline_if(a == x.rank() - 1, "axis ", a, " holds the parts of the complex numbers");
    if (node.in(1) && !r.length) length_from_result(r, node.out(0).ranked() ? node.out(0).dim(a) : -1);
    y = dft_along(emit, x, a, r);
  } else {
    y = dft_along_any(node, emit, x, runtime_axis, r);
  }
  return from_float32(emit, y, node.in(0).dtype());
}

}  // namespace

GANTRY_CONVERT(onnx, "DFT", versions(17, 19), to(tflite)) {
  return dft(node, emit, node.attr<std::int64_t>("axis", 1), {});
}
GANTRY_CONVERT(onnx, "DFT", since(20), to(tflite)) {
  const Value axis = node.in(2);
  return dft(node, emit, axis ? known_scalar(axis) : std::optional<std::int64_t>(-2), axis);
}

/// ONNX's type inference takes an absent `onesided` for 0; its default is 1.
GANTRY_UPGRADE(onnx, "STFT", since(17)) {
  decline_if(node.has_attr("onesided"), "nothing to do");
  return emit.op("STFT", node.ins(), {{"onesided", 1}});
}

/// signal [b, n, parts], frame_step, window [length], frame_length -> [b, frames, bins, 2]: frames are gathered, each
/// is multiplied by the window and transformed.
GANTRY_CONVERT(onnx, "STFT", since(17), to(tflite)) {
  Value signal = in_float32(emit, node.in(0));
  if (signal.rank() == 2) signal = insert_axis(emit, signal, 2);
  decline_if(signal.rank() != 3, "a signal of rank ", signal.rank());
  const Value step = node.in(1), window = node.in(2);
  std::optional<std::int64_t> length = window ? std::optional(window.dim(0)) : known_scalar(node.in(3));
  decline_if(!length || *length < 1, "the length of a frame is known at run time only");
  const auto given = known_scalar(node.in(3));
  decline_if(given && *given != *length, "a window of ", *length, " for frames of ", *given);
  const std::int64_t n = signal.dim(1);
  std::int64_t frames = node.out(0).ranked() ? node.out(0).dim(1) : -1;
  if (const auto s = known_scalar(step); s && n >= *length) {
    decline_if(*s < 1, "frame_step = ", *s);
    frames = (n - *length) / *s + 1;
  }
  decline_if(frames < 1, "the number of frames is not known; give input shapes with --shape");

  std::vector<std::int32_t> first(static_cast<std::size_t>(frames)), offset(static_cast<std::size_t>(*length));
  std::iota(first.begin(), first.end(), 0);
  std::iota(offset.begin(), offset.end(), 0);
  Value at;
  if (const auto s = known_scalar(step)) {
    std::vector<std::int32_t> all;
    for (std::int64_t f = 0; f < frames; ++f)
      for (std::int64_t k = 0; k < *length; ++k) all.push_back(static_cast<std::int32_t>(f * *s + k));
    at = emit.constant<std::int32_t>({frames, *length}, all);
  } else {
    const Value starts =
        emit.mul(emit.constant<std::int32_t>({frames, 1}, first), emit.reshape(emit.cast(step, DType::int32), {}));
    at = emit.add(starts, emit.constant<std::int32_t>({*length}, offset));
  }
  Value cut = emit.op("GATHER", {signal, at}, {{"axis", 1}, {"batch_dims", 0}});
  std::vector<float> constant_window;
  if (window && window.constant())
    constant_window = window.read<float>();
  else if (window)
    cut = emit.mul(cut, emit.reshape(in_float32(emit, window), {*length, 1}));
  const Request r{false, node.attr("onesided", 1) != 0, {}};
  const Value y = transformed(emit, cut, transform_of(r, *length, signal.dim(2)), constant_window);
  return from_float32(emit, y, node.in(0).dtype());
}

/// num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz: triangles over the bins of a spectrum
/// whose corners are evenly spaced in mel = 2595 log10(1 + hertz / 700).
GANTRY_CONVERT(onnx, "MelWeightMatrix", since(17), to(tflite)) {
  for (std::size_t i = 0; i < 5; ++i)
    decline_if(!node.in(i).constant(), "operand ", i,
               " is known at run time only; corners rounded down in float32 might be others");
  const auto bands = node.in(0).scalar<std::int64_t>(), length = node.in(1).scalar<std::int64_t>(),
             rate = node.in(2).scalar<std::int64_t>();
  decline_if(bands < 1 || length < 1 || rate < 1 || bands > 4096 || length > 1 << 20, "num_mel_bins = ", bands,
             ", dft_length = ", length, ", sample_rate = ", rate);
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(node.in(3).scalar<double>()), high = mel(node.in(4).scalar<double>());
  const std::int64_t bins = length / 2 + 1;
  std::vector<std::int64_t> corner;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double m = static_cast<double>(i) * ((high - low) / static_cast<double>(bands + 2)) + low;
    const double hertz = 700 * (std::pow(10, m / 2595) - 1);
    corner.push_back(
        static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  std::vector<double> w(static_cast<std::size_t>(bins * bands));
  const auto set = [&](std::int64_t bin, std::int64_t band, double v) {
    if (bin >= 0 && bin < bins) w[static_cast<std::size_t>(bin * bands + band)] = v;
  };
  for (std::int64_t b = 0; b < bands; ++b) {
    const auto i = static_cast<std::size_t>(b);
    const std::int64_t from = corner[i], top = corner[i + 1], end = corner[i + 2];
    if (top == from) set(top, b, 1);
    for (std::int64_t k = from; top > from && k <= top; ++k)
      set(k, b, static_cast<double>(k - from) / static_cast<double>(top - from));
    for (std::int64_t k = top; end > top && k < end; ++k)
      set(k, b, static_cast<double>(end - k) / static_cast<double>(end - top));
  }
  const auto t = node.attr<std::int64_t>("output_datatype", 1);
  return emit.numbers(Emit::from_onnx_dtype(t), {bins, bands}, w);
}

}  // namespace core_ops
