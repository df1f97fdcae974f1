// Resize with sizes, scales or a region of interest of the run time: the formulas of resize.cpp as nodes. Coordinates
// are computed in float32 in the order that ONNX Runtime does. nearest is a GATHER; the others multiply by a matrix
// [out, in] of weights:
//
//     weight of element k for coordinate x = kernel((k - x) * shrink),   k in -reach ... in + reach
//
// where elements outside count for the outermost one: a second matrix of zeros and ones adds them up.
#include <algorithm>

#include "resize.hpp"

namespace core_ops {
namespace {

/// One axis. Sizes are int32, the rest float32 scalars of the graph.
struct Axis {
  int axis = 0;
  Extent in = 1, out = 1;
  Value scale, roi_start, roi_end;
  Value wanted;       // the result's size before it is rounded down, where scales of the run time ask for it
  bool same = false;  // the axis certainly stays as it is

  Value length(const Emit& emit) const { return emit.cast(in.scalar(emit), DType::float32); }
  Value result(const Emit& emit) const { return emit.cast(out.scalar(emit), DType::float32); }
};

Value number(const Emit& emit, double x) { return emit.scalar(DType::float32, x); }
Value floor_of(const Emit& emit, const Value& v) { return emit.op("FLOOR", {v}); }
Value ceil_of(const Emit& emit, const Value& v) { return emit.op("CEIL", {v}); }
Value clamped(const Emit& emit, const Value& v, const Value& last) { return emit.minimum(emit.maximum(v, 0), last); }
Value int32_of(const Emit& emit, const Value& v) { return emit.cast(v, DType::int32); }

Value float_element(const Emit& emit, const Value& v, std::size_t i) {
  if (v.constant()) return number(emit, v.read<double>().at(i));
  const Value vector = emit.cast(v, DType::float32);
  return emit.op("GATHER", {vector, emit.constant<std::int32_t>({}, {static_cast<std::int32_t>(i)})},
                 {{"axis", 0}, {"batch_dims", 0}});
}

// ---- what is asked for ----------------------------------------------------------------------------------------------

bool given(const Value& v) {
  if (!v || v.rank() != 1) return false;
  decline_if(v.dim(0) < 0, "the length of '", v.name(), "' is not known");
  return v.dim(0) > 0;
}

/// sizes and keep_aspect_ratio_policy: not_larger takes the smallest factor for all axes, not_smaller the largest.
void read_sizes(const Emit& emit, const Node& node, std::vector<Axis>& axes) {
  const Value x = node.in(0), sizes = int_vector(emit, node.in(3));
  const std::string policy = node.attr("keep_aspect_ratio_policy", "stretch");
  Value common;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis& a = axes[i];
    a.out = element(emit, sizes, static_cast<std::int64_t>(i));
    if (policy == "stretch") {
      if (same_size(x, a.axis, node.out(), a.axis)) a.out = a.in, a.same = true;
      a.scale = emit.div(a.result(emit), a.length(emit));
      continue;
    }
    decline_if(policy != "not_larger" && policy != "not_smaller", "keep_aspect_ratio_policy '", policy,
               "' is not known");
    const Value factor = emit.div(a.result(emit), a.length(emit));
    common = !common ? factor : policy == "not_larger" ? emit.minimum(common, factor) : emit.maximum(common, factor);
  }
  if (!common) return;
  for (Axis& a : axes) {
    a.scale = common;
    a.out = Extent(int32_of(emit, floor_of(emit, emit.add(emit.mul(a.length(emit), common), 0.5))));
  }
}

void read_scales(const Emit& emit, const Node& node, std::vector<Axis>& axes) {
  const Value scales = node.in(2);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis& a = axes[i];
    a.scale = float_element(emit, scales, i);
    a.same = scales.constant() && scales.read<double>()[i] == 1;
    const Value wanted = emit.mul(a.length(emit), a.scale);
    a.out = a.same ? a.in : Extent(int32_of(emit, floor_of(emit, wanted)));
    if (!scales.constant()) a.wanted = wanted;
  }
}

std::vector<Axis> read_axes(const Node& node, const Emit& emit, const Mode& m) {
  const Value x = node.in(0), roi = node.in(1);
  Dims which(static_cast<std::size_t>(x.rank()));
  std::iota(which.begin(), which.end(), 0);
  which = node.attr("axes", which);
  const bool by_scales = given(node.in(2));
  decline_if(!by_scales && !given(node.in(3)), "neither scales nor sizes are given");
  const std::int64_t count = node.in(by_scales ? 2 : 3).dim(0);
  decline_if(count != static_cast<std::int64_t>(which.size()), "scales or sizes do not fit ", which.size(), " axes");
  std::vector<Axis> axes;
  for (std::int64_t w : which) {
    Axis a;
    a.axis = normalize_axis(w, x.rank());
    a.in = extent_of(emit, x, a.axis);
    axes.push_back(a);
  }
  by_scales ? read_scales(emit, node, axes) : read_sizes(emit, node, axes);
  if (m.coordinates != "tf_crop_and_resize") return axes;
  decline_if(!given(roi) || roi.dim(0) != 2 * count, "tf_crop_and_resize needs a roi for ", count, " axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].roi_start = float_element(emit, roi, i);
    axes[i].roi_end = float_element(emit, roi, i + axes.size());
    const bool whole = roi.constant() && roi.read<double>()[i] == 0 && roi.read<double>()[i + axes.size()] == 1;
    axes[i].same = axes[i].same && whole;
  }
  return axes;
}

// ---- coordinates ----------------------------------------------------------------------------------------------------

/// Source coordinates of all places of an axis, float32 [out].
Value coordinates(const Emit& emit, const Mode& m, const Axis& a) {
  const Value x = emit.op("RANGE", {number(emit, 0), a.result(emit), number(emit, 1)});
  const Value in = a.length(emit), out = a.result(emit), last = emit.sub(in, 1),
              steps = emit.maximum(emit.sub(out, 1), 1);
  const auto half_pixel = [&] { return emit.sub(emit.div(emit.add(x, 0.5), a.scale), 0.5); };
  const Value single = emit.op("EQUAL", {out, number(emit, 1)});
  // Where scales ask for a size that is rounded down, ONNX's reference (and its tests, which give scales at run time)
  // reckons with the unrounded size, ONNX Runtime with the rounded one, as does resize.cpp: scales of real networks are
  // constants.
  if (m.coordinates == "align_corners" && a.wanted)
    return emit.div(emit.mul(x, last), emit.maximum(emit.sub(a.wanted, 1), 1e-6));
  if (m.coordinates == "align_corners") return emit.div(emit.mul(x, last), steps);
  if (m.coordinates == "asymmetric") return emit.div(x, a.scale);
  if (m.coordinates == "half_pixel") return half_pixel();
  if (m.coordinates == "pytorch_half_pixel") return emit.op("SELECT_V2", {single, number(emit, 0), half_pixel()});
  if (m.coordinates == "half_pixel_symmetric") {
    const Value adjustment = emit.div(out, emit.mul(a.scale, in));
    const Value offset = emit.mul(emit.div(in, 2), emit.sub(1, adjustment));
    return emit.sub(emit.add(offset, emit.div(emit.add(x, 0.5), a.scale)), 0.5);
  }
  decline_if(m.coordinates != "tf_crop_and_resize", "coordinate_transformation_mode '", m.coordinates,
             "' is not known");
  const Value width = emit.mul(emit.sub(a.roi_end, a.roi_start), last);
  const Value spread = emit.add(emit.mul(a.roi_start, last), emit.div(emit.mul(x, width), steps));
  const Value middle = emit.mul(emit.mul(emit.add(a.roi_start, a.roi_end), 0.5), last);
  return emit.op("SELECT_V2", {single, middle, spread});
}

Value nearest_indices(const Emit& emit, const Mode& m, const Axis& a, const Value& x) {
  Value r;
  if (m.nearest == "round_prefer_floor")
    r = ceil_of(emit, emit.sub(x, 0.5));
  else if (m.nearest == "round_prefer_ceil")
    r = floor_of(emit, emit.add(x, 0.5));
  else if (m.nearest == "floor")
    r = floor_of(emit, x);
  else if (m.nearest == "ceil")
    r = ceil_of(emit, x);
  else
    decline("nearest_mode '", m.nearest, "' is not known");
  return int32_of(emit, clamped(emit, r, emit.sub(a.length(emit), 1)));
}

// ---- weights --------------------------------------------------------------------------------------------------------

/// kernel(d) for distances d >= 0; cubic: R. G. Keys, 1981, piecewise on [0, 1] and [1, 2].
Value kernel(const Emit& emit, const Mode& m, const Value& d) {
  if (m.mode == "linear") return emit.maximum(emit.sub(1, d), 0);
  const double k = m.cubic_a;
  const Value near = emit.add(emit.mul(emit.mul(emit.sub(emit.mul(d, k + 2), k + 3), d), d), 1);
  const Value far = emit.sub(emit.mul(emit.add(emit.mul(emit.sub(emit.mul(d, k), 5 * k), d), 8 * k), d), 4 * k);
  const Value beyond = emit.op("SELECT_V2", {emit.op("LESS", {d, number(emit, 2)}), far, number(emit, 0)});
  return emit.op("SELECT_V2", {emit.op("LESS_EQUAL", {d, number(emit, 1)}), near, beyond});
}

/// The matrix [out, in].
Value weights(const Emit& emit, const Mode& m, const Axis& a, const Value& x) {
  const double radius = m.mode == "linear" ? 1 : 2;
  const Value in = a.length(emit), last = emit.sub(in, 1);
  const Value shrink = m.antialias ? emit.minimum(a.scale, 1) : number(emit, 1);
  const Value reach =
      m.antialias ? emit.add(ceil_of(emit, emit.div(number(emit, radius), shrink)), 1) : number(emit, radius + 1);
  // Coordinates of a region of interest may be far outside; what is there is replaced later.
  const Value at = m.coordinates == "tf_crop_and_resize" ? clamped(emit, x, last) : x;
  const Value places = emit.op("RANGE", {emit.op("NEG", {reach}), emit.add(in, reach), number(emit, 1)});
  const Value distance = emit.op("ABS", {emit.sub(emit.reshape(places, {1, -1}), emit.reshape(at, {-1, 1}))});
  Value w = kernel(emit, m, m.antialias ? emit.mul(distance, shrink) : distance);
  if (m.exclude_outside) {
    const Value inside = emit.op("EQUAL", {places, clamped(emit, places, last)});
    w = emit.mul(w, emit.reshape(emit.cast(inside, DType::float32), {1, -1}));
  }
  if (m.exclude_outside || m.antialias) w = emit.div(w, emit.op("SUM", {w, emit.i32({1})}, {{"keep_dims", true}}));
  const Value held = emit.reshape(clamped(emit, places, last), {-1, 1});
  const Value elements = emit.op("RANGE", {number(emit, 0), in, number(emit, 1)});
  const Value gathers = emit.cast(emit.op("EQUAL", {held, emit.reshape(elements, {1, -1})}), DType::float32);
  return emit.op("BATCH_MATMUL", {w, gathers},
                 {{"adj_x", false}, {"adj_y", false}, {"asymmetric_quantize_inputs", false}});
}

Value resize_axis(const Emit& emit, const Value& v, const Mode& m, const Axis& a, const Value& x) {
  if (m.mode == "nearest")
    return emit.op("GATHER", {v, nearest_indices(emit, m, a, x)}, {{"axis", a.axis}, {"batch_dims", 0}});
  const Dims perm = swap_with_last(a.axis, v.rank());
  Value moved = emit.transpose(v, perm);
  const bool vector = moved.rank() == 1;
  if (vector) moved = insert_axis(emit, moved, 0);
  Value y = emit.op("BATCH_MATMUL", {moved, weights(emit, m, a, x)},
                    {{"adj_x", false}, {"adj_y", true}, {"asymmetric_quantize_inputs", false}});
  if (vector) y = remove_axis(emit, y, 0);
  return emit.transpose(y, perm);
}

/// tf_crop_and_resize: places whose coordinate is outside get extrapolation_value.
Value extrapolate(const Emit& emit, const Value& y, const Mode& m, const Axis& a, const Value& x) {
  const Value inside = emit.op("EQUAL", {x, clamped(emit, x, emit.sub(a.length(emit), 1))});
  Dims shape(static_cast<std::size_t>(y.rank()), 1);
  shape[static_cast<std::size_t>(a.axis)] = -1;
  return emit.op("SELECT_V2", {emit.reshape(inside, shape), y, emit.scalar(y.dtype(), m.extrapolation)});
}

// ---- TFLite's own resizers ------------------------------------------------------------------------------------------

/// Scales that are powers of two from 1 on: all coordinates are exact, whatever the size.
bool exact_upscaling(const Node& node) {
  const Value scales = node.in(2);
  if (!given(scales) || !scales.constant()) return false;
  const auto s = scales.read<double>();
  return std::all_of(s.begin(), s.end(), [](double f) { return f == 1 || f == 2 || f == 4 || f == 8 || f == 16; });
}

/// The setting of RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR that computes the same at every size; nullopt if none
/// does.
std::optional<Attributes> same_setting(const Node& node, const Mode& m) {
  const bool ratio =
      exact_upscaling(node) || (!given(node.in(2)) && node.attr("keep_aspect_ratio_policy", "stretch") == "stretch");
  if (!ratio || m.antialias || m.exclude_outside) return std::nullopt;
  const auto setting = [](bool corners, bool half) {
    return Attributes{{"align_corners", corners}, {"half_pixel_centers", half}};
  };
  if (m.mode == "linear") {
    if (m.coordinates == "half_pixel") return setting(false, true);
    if (m.coordinates == "align_corners") return setting(true, false);
    if (m.coordinates == "asymmetric") return setting(false, false);
    return std::nullopt;
  }
  // floor(i / s); the middle of a place never lies between two elements.
  if (m.mode != "nearest" || !exact_upscaling(node)) return std::nullopt;
  if (m.coordinates == "asymmetric" && m.nearest == "floor") return setting(false, false);
  if (m.coordinates == "half_pixel" && m.nearest.starts_with("round")) return setting(false, true);
  return std::nullopt;
}

std::optional<Value> builtin(const Node& node, const Emit& emit, const std::vector<Axis>& axes, const Mode& m) {
  const Value x = node.in(0);
  const auto setting = same_setting(node, m);
  if (x.rank() != 4 || !setting) return std::nullopt;
  Extents size{extent_of(emit, x, 2), extent_of(emit, x, 3)};
  for (const Axis& a : axes) {
    if (a.axis >= 2)
      size[static_cast<std::size_t>(a.axis - 2)] = a.out;
    else if (!a.same)
      return std::nullopt;
  }
  const Value y = emit.op(m.mode == "nearest" ? "RESIZE_NEAREST_NEIGHBOR" : "RESIZE_BILINEAR",
                          {emit.transpose(x, to_channels_last(4)), vector_of(emit, size)}, *setting);
  return emit.transpose(y, to_channels_first(4));
}

}  // namespace

Value resize_at_run_time(const Node& node, const Emit& emit, const Mode& m) {
  const std::vector<Axis> axes = read_axes(node, emit, m);
  if (const auto y = builtin(node, emit, axes, m)) return *y;
  Value y = node.in(0);
  for (const Axis& a : axes)
    if (!a.same) y = resize_axis(emit, y, m, a, coordinates(emit, m, a));
  if (m.coordinates == "tf_crop_and_resize")
    for (const Axis& a : axes)
      if (!a.same) y = extrapolate(emit, y, m, a, coordinates(emit, m, a));
  return y;
}

}  // namespace core_ops
