// Resize of every mode. Each axis is resized on its own, by a matrix [out, in] of weights that depends on sizes and
// attributes only; nearest is a list of indices. Where TFLite's RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR computes
// the same, those are emitted instead; the comparison is made on the numbers, not on the names of modes.
// Operator: ONNX operator specification, Resize; cubic: R. G. Keys, "Cubic convolution interpolation", 1981.
#include "resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace core_ops {
namespace {

/// One axis: sizes, the scale that ONNX computes with (output over input), and the region of interest.
struct Axis {
  std::int64_t in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
};

/// Source coordinate of output element i, in float32 as ONNX Runtime computes it: at 2.5 or a little below, nearest
/// makes a difference.
double source_coordinate(const Mode& m, const Axis& a, std::int64_t i) {
  const auto x = static_cast<float>(i), in = static_cast<float>(a.in), out = static_cast<float>(a.out),
             scale = static_cast<float>(a.scale), start = static_cast<float>(a.roi_start),
             end = static_cast<float>(a.roi_end);
  if (m.coordinates == "align_corners") return a.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
  if (m.coordinates == "asymmetric") return x / scale;
  if (m.coordinates == "pytorch_half_pixel") return a.out == 1 ? 0.0f : (x + 0.5f) / scale - 0.5f;
  if (m.coordinates == "half_pixel_symmetric") {
    const float adjustment = out / (scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5f) / scale - 0.5f;
  }
  if (m.coordinates == "tf_crop_and_resize") {
    if (a.out == 1) return 0.5f * (start + end) * (in - 1);
    return start * (in - 1) + x * (end - start) * (in - 1) / (out - 1);
  }
  decline_if(m.coordinates != "half_pixel", "coordinate_transformation_mode '", m.coordinates, "' is not known");
  return (x + 0.5f) / scale - 0.5f;
}

bool outside(const Mode& m, const Axis& a, double x) {
  return m.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(a.in - 1));
}

std::int64_t nearest_index(const Mode& m, const Axis& a, std::int64_t i) {
  const double x = source_coordinate(m, a, i);
  double r = 0;
  if (m.nearest == "round_prefer_floor")
    r = std::ceil(x - 0.5);
  else if (m.nearest == "round_prefer_ceil")
    r = std::floor(x + 0.5);
  else if (m.nearest == "floor")
    r = std::floor(x);
  else if (m.nearest == "ceil")
    r = std::ceil(x);
  else
    decline("nearest_mode '", m.nearest, "' is not known");
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(r), 0, a.in - 1);
}

/// Weight of a source element at distance d from the coordinate.
double kernel(const Mode& m, double d) {
  d = std::fabs(d);
  if (m.mode == "linear") return std::max(0.0, 1 - d);
  const double k = m.cubic_a;
  if (d <= 1) return ((k + 2) * d - (k + 3)) * d * d + 1;
  return d < 2 ? ((k * d - 5 * k) * d + 8 * k) * d - 4 * k : 0.0;
}

/// Row i of the matrix. Elements outside count for the outermost one, or not at all with exclude_outside; antialias
/// widens the kernel when the axis shrinks, and normalises.
std::vector<double> weight_row(const Mode& m, const Axis& a, std::int64_t i) {
  std::vector<double> row(static_cast<std::size_t>(a.in), 0.0);
  const double x = source_coordinate(m, a, i);
  const double shrink = m.antialias ? std::min(1.0, a.scale) : 1.0;
  const double reach = (m.mode == "linear" ? 1.0 : 2.0) / shrink;
  const bool normalise = m.antialias || m.exclude_outside;
  double sum = 0;
  for (auto k = static_cast<std::int64_t>(std::floor(x - reach)); k <= static_cast<std::int64_t>(std::ceil(x + reach));
       ++k) {
    const bool inside = k >= 0 && k < a.in;
    if (!inside && m.exclude_outside) continue;
    const double w = kernel(m, (static_cast<double>(k) - x) * shrink);
    row[static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, a.in - 1))] += w;
    sum += w;
  }
  if (normalise && sum != 0)
    for (double& w : row) w /= sum;
  return row;
}

/// Reads roi, scales, sizes, axes and keep_aspect_ratio_policy into one Axis for each axis of the operand.
std::vector<Axis> read_axes(const Node& node) {
  const Dims in = node.in(0).static_dims();
  std::vector<Axis> axes;
  for (std::int64_t n : in) axes.push_back({n, n, 1, 0, 1});
  Dims which(in.size());
  std::iota(which.begin(), which.end(), 0);
  which = node.attr("axes", which);
  for (std::int64_t& a : which) a = normalize_axis(a, node.in(0).rank());
  const Value roi = node.in(1), scales = node.in(2), sizes = node.in(3);
  const bool by_scales = scales && scales.elements() > 0;
  decline_if(!by_scales && !sizes, "neither scales nor sizes are given");
  std::vector<double> factor;
  if (by_scales) factor = scales.read<double>();
  Dims wanted = by_scales ? Dims{} : sizes.read<std::int64_t>();
  decline_if((by_scales ? factor.size() : wanted.size()) != which.size(), "scales or sizes do not fit ", which.size(),
             " axes");
  const std::string policy = node.attr("keep_aspect_ratio_policy", "stretch");
  if (!by_scales && policy != "stretch") {
    double common = policy == "not_larger" ? 1e300 : 0;
    for (std::size_t i = 0; i < which.size(); ++i) {
      const double f = static_cast<double>(wanted[i]) / static_cast<double>(in[static_cast<std::size_t>(which[i])]);
      common = policy == "not_larger" ? std::min(common, f) : std::max(common, f);
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
      factor.push_back(common);
      wanted[i] = static_cast<std::int64_t>(
          std::floor(common * static_cast<double>(in[static_cast<std::size_t>(which[i])]) + 0.5));
    }
  }
  const std::vector<float> region = roi && roi.elements() > 0 ? roi.read<float>() : std::vector<float>();
  for (std::size_t i = 0; i < which.size(); ++i) {
    Axis& a = axes[static_cast<std::size_t>(which[i])];
    if (by_scales)
      a.out = static_cast<std::int64_t>(std::floor(static_cast<double>(a.in) * factor[i]));
    else
      a.out = wanted[i];
    a.scale = factor.empty() ? static_cast<double>(a.out) / static_cast<double>(a.in) : factor[i];
    if (region.size() == 2 * which.size()) a.roi_start = region[i], a.roi_end = region[i + which.size()];
    decline_if(a.out < 1 || a.in < 1 || !(a.scale > 0), "an axis of size ", a.in, " cannot become ", a.out);
  }
  return axes;
}

// ---- TFLite's own resizers ------------------------------------------------------------------------------------------

struct Flags {
  bool align_corners, half_pixel_centers;
};
constexpr std::array<Flags, 3> kFlags{{{false, true}, {true, false}, {false, false}}};

/// RESIZE_NEAREST_NEIGHBOR's source element, in the float32 arithmetic of its kernel.
std::int64_t tflite_nearest(const Flags& f, const Axis& a, std::int64_t i) {
  const bool corners = f.align_corners && a.out > 1;
  const float scale = corners ? static_cast<float>(a.in - 1) / static_cast<float>(a.out - 1)
                              : static_cast<float>(a.in) / static_cast<float>(a.out);
  const float x = (static_cast<float>(i) + (f.half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const auto k = static_cast<std::int64_t>(f.align_corners ? std::round(x) : std::floor(x));
  return std::clamp<std::int64_t>(k, 0, a.in - 1);
}

/// RESIZE_BILINEAR's source coordinate, clamped as its interpolation clamps.
double tflite_linear(const Flags& f, const Axis& a, std::int64_t i) {
  const bool corners = f.align_corners && a.out > 1;
  const double scale = corners ? static_cast<double>(a.in - 1) / static_cast<double>(a.out - 1)
                               : static_cast<double>(a.in) / static_cast<double>(a.out);
  const auto x = static_cast<double>(i);
  const double at = f.half_pixel_centers ? (x + 0.5) * scale - 0.5 : x * scale;
  return std::clamp(at, 0.0, static_cast<double>(a.in - 1));
}

bool agrees(const Mode& m, const Axis& a, const Flags& f) {
  for (std::int64_t i = 0; i < a.out; ++i) {
    if (m.mode == "nearest") {
      if (tflite_nearest(f, a, i) != nearest_index(m, a, i)) return false;
    } else {
      const double x = std::clamp(source_coordinate(m, a, i), 0.0, static_cast<double>(a.in - 1));
      if (std::fabs(tflite_linear(f, a, i) - x) > 1e-6 * static_cast<double>(a.in)) return false;
    }
  }
  return true;
}

/// The builtin resizer where one of its settings computes the same on the two last axes of a rank-4 operand.
std::optional<Value> builtin(const Emit& emit, const Value& x, const std::vector<Axis>& axes, const Mode& m) {
  if (axes.size() != 4 || m.mode == "cubic" || m.antialias || m.coordinates == "tf_crop_and_resize")
    return std::nullopt;
  if (axes[0].in != axes[0].out || axes[1].in != axes[1].out) return std::nullopt;
  for (const Flags& f : kFlags) {
    if (!agrees(m, axes[2], f) || !agrees(m, axes[3], f)) continue;
    const Value y = emit.op(m.mode == "nearest" ? "RESIZE_NEAREST_NEIGHBOR" : "RESIZE_BILINEAR",
                            {emit.transpose(x, to_channels_last(4)), emit.i32({axes[2].out, axes[3].out})},
                            {{"align_corners", f.align_corners}, {"half_pixel_centers", f.half_pixel_centers}});
    return emit.transpose(y, to_channels_first(4));
  }
  return std::nullopt;
}

// ---- the general way ------------------------------------------------------------------------------------------------

Value gather_axis(const Emit& emit, const Value& x, int axis, const Mode& m, const Axis& a) {
  std::vector<std::int32_t> at;
  for (std::int64_t i = 0; i < a.out; ++i) at.push_back(static_cast<std::int32_t>(nearest_index(m, a, i)));
  return emit.op("GATHER", {x, emit.constant<std::int32_t>({a.out}, at)}, {{"axis", axis}, {"batch_dims", 0}});
}

Value interpolate_axis(const Emit& emit, const Value& x, int axis, const Mode& m, const Axis& a) {
  std::vector<float> matrix;
  for (std::int64_t i = 0; i < a.out; ++i)
    for (double w : weight_row(m, a, i)) matrix.push_back(static_cast<float>(w));
  const Dims perm = swap_with_last(axis, x.rank());
  const Value bias = emit.constant<float>({a.out}, std::vector<float>(static_cast<std::size_t>(a.out), 0.0f));
  const Value y =
      emit.op("FULLY_CONNECTED", {emit.transpose(x, perm), emit.constant<float>({a.out, a.in}, matrix), bias},
              {{"keep_num_dims", true}, {"weights_format", "DEFAULT"}, no_activation()});
  return emit.transpose(y, perm);
}

/// tf_crop_and_resize: places whose coordinate is outside get extrapolation_value.
Value extrapolate(const Emit& emit, const Value& y, int axis, const Mode& m, const Axis& a) {
  std::vector<bool> inside;
  for (std::int64_t i = 0; i < a.out; ++i) inside.push_back(!outside(m, a, source_coordinate(m, a, i)));
  if (std::find(inside.begin(), inside.end(), false) == inside.end()) return y;
  Dims shape(static_cast<std::size_t>(y.rank()), 1);
  shape[static_cast<std::size_t>(axis)] = a.out;
  return emit.op("SELECT_V2", {emit.constant<bool>(shape, inside), y, emit.scalar(y.dtype(), m.extrapolation)});
}

}  // namespace

namespace {

bool all_known(const Node& node) {
  if (!node.in(0).is_static()) return false;
  for (std::size_t i = 1; i < 4; ++i)
    if (node.in(i) && !node.in(i).constant() && !(node.in(i).is_static() && node.in(i).elements() == 0)) return false;
  return true;
}

}  // namespace

GANTRY_CONVERT(onnx, "Resize", since(11), to(tflite)) {
  const Value x = node.in(0);
  const Mode m{node.attr("mode", "nearest"),
               node.attr("coordinate_transformation_mode", "half_pixel"),
               node.attr("nearest_mode", "round_prefer_floor"),
               node.attr("cubic_coeff_a", -0.75f),
               node.attr("extrapolation_value", 0.0f),
               node.attr("exclude_outside", 0) != 0,
               node.attr("antialias", 0) != 0};
  decline_if(m.mode != "nearest" && m.mode != "linear" && m.mode != "cubic", "mode '", m.mode, "' is not known");
  decline_if(m.mode != "nearest" && x.dtype() != DType::float32, "mode '", m.mode, "' of ", name_of(x.dtype()));
  if (!all_known(node)) return resize_at_run_time(node, emit, m);
  const std::vector<Axis> axes = read_axes(node);
  if (const auto y = builtin(emit, x, axes, m)) return *y;
  Value y = x;
  for (int i = 0; i < x.rank(); ++i) {
    const Axis& a = axes[static_cast<std::size_t>(i)];
    if (a.in == a.out && a.scale == 1 && m.coordinates != "tf_crop_and_resize") continue;
    y = m.mode == "nearest" ? gather_axis(emit, y, i, m, a) : interpolate_axis(emit, y, i, m, a);
  }
  for (int i = 0; i < x.rank(); ++i) y = extrapolate(emit, y, i, m, axes[static_cast<std::size_t>(i)]);
  return y;
}

}  // namespace core_ops
