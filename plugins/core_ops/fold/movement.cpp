// Folding of operators that move elements. Transpose, Reshape and Slice of a constant are transforms of its handle, so
// that weights are not touched; the others copy, and are meant for the small tensors of shape arithmetic.
// Operators: ONNX operator specification, ai.onnx.
#include <algorithm>
#include <cmath>

#include "fold.hpp"

namespace core_ops {
namespace {

/// Calls f with a zero of the type that holds the elements: double or int64.
template <class F>
Value by_type(DType t, F f) {
  return is_float(t) ? f(0.0) : f(std::int64_t{0});
}

Results fold_identity(const Node& node, const Emit&) { return node.in(0); }

/// Reshape, Flatten, Squeeze, Unsqueeze: to the inferred shape.
Results fold_view(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  return emit.reshape(x, node.out().static_dims());
}

Results fold_transpose(const Node& node, const Emit& emit) {
  Dims reversed(static_cast<std::size_t>(node.in(0).rank()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return emit.transpose(node.in(0), node.attr("perm", reversed));
}

/// Shape and Size follow from the operand's type alone.
Results fold_shape(const Node& node, const Emit& emit) {
  const Dims dims = node.in(0).static_dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamp = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = clamp(node.attr<std::int64_t>("start", 0)),
                     end = std::max(start, clamp(node.attr<std::int64_t>("end", rank)));
  return emit.i64(Dims(dims.begin() + start, dims.begin() + end));
}
Results fold_size(const Node& node, const Emit& emit) {
  return emit.constant<std::int64_t>({}, {node.in(0).elements()});
}

Results fold_concat(const Node& node, const Emit& emit) {
  const int axis = normalize_axis(node.attr<std::int64_t>("axis"), node.in(0).rank());
  const Dims out = node.out().static_dims();
  return by_type(node.in(0).dtype(), [&]<class T>(T) {
    std::vector<T> all(static_cast<std::size_t>(count_of(out)));
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t outer = count_of(Dims(out.begin(), out.begin() + axis)),
                       inner = count_of(Dims(out.begin() + axis + 1, out.end()));
    std::int64_t offset = 0;
    for (const Value& v : node.ins()) {
      const auto part = elements<T>(v);
      const std::int64_t run = v.static_dims()[at] * inner;
      for (std::int64_t o = 0; o < outer; ++o)
        std::copy_n(part.begin() + o * run, run, all.begin() + o * out[at] * inner + offset);
      offset += run;
    }
    return make(emit, node.in(0).dtype(), out, all);
  });
}

Results fold_split(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const auto axis = static_cast<std::size_t>(normalize_axis(node.attr("axis", 0), x.rank()));
  Dims starts(static_cast<std::size_t>(x.rank()), 0);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < node.out_count(); ++i) {
    decline_if(!node.out(i), "a result that is not wanted");
    const Dims sizes = node.out(i).static_dims();
    parts.push_back(emit.slice_constant(x, starts, Dims(starts.size(), 1), sizes));
    starts[axis] += sizes[axis];
  }
  return parts;
}

Results fold_slice(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const Dims dims = x.static_dims(), out = node.out().static_dims();
  const Dims from = node.in(1).read<std::int64_t>();
  Dims axes(from.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = ints(node, 3, "").value_or(axes);
  const Dims by = ints(node, 4, "").value_or(Dims(from.size(), 1));
  Dims starts(dims.size(), 0), steps(dims.size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<std::size_t>(normalize_axis(axes[i], x.rank()));
    const std::int64_t n = dims[a], start = std::max(from[i], -n - 1);
    steps[a] = by[i];
    starts[a] = out[a] == 0 ? 0 : std::clamp<std::int64_t>(start < 0 ? start + n : start, 0, n - 1);
  }
  return emit.slice_constant(x, starts, steps, out);
}

Results fold_gather(const Node& node, const Emit& emit) {
  const Value x = node.in(0), indices = node.in(1);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const Dims dims = x.static_dims(), out = node.out().static_dims();
  const std::int64_t n = dims[static_cast<std::size_t>(axis)];
  const std::int64_t outer = count_of(Dims(dims.begin(), dims.begin() + axis)),
                     inner = count_of(Dims(dims.begin() + axis + 1, dims.end()));
  const Dims at = indices.read<std::int64_t>();
  return by_type(x.dtype(), [&]<class T>(T) {
    const auto v = elements<T>(x);
    std::vector<T> picked;
    picked.reserve(static_cast<std::size_t>(count_of(out)));
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i : at) {
        const std::int64_t k = i < 0 ? i + n : i;
        decline_if(k < 0 || k >= n, "index ", i, " is out of range for an axis of size ", n);
        picked.insert(picked.end(), v.begin() + (o * n + k) * inner, v.begin() + (o * n + k + 1) * inner);
      }
    return make(emit, x.dtype(), out, picked);
  });
}

/// Expand: broadcast to the inferred shape.
Results fold_expand(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const Dims out = node.out().static_dims();
  return by_type(x.dtype(), [&]<class T>(T) {
    const auto v = elements<T>(x);
    std::vector<T> all(static_cast<std::size_t>(count_of(out)));
    for_each_element(
        out, std::array<Dims, 1>{broadcast_strides(x.static_dims(), out)},
        [&](std::int64_t i, const auto& at) { all[static_cast<std::size_t>(i)] = v[static_cast<std::size_t>(at[0])]; });
    return make(emit, x.dtype(), out, all);
  });
}

Results fold_tile(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const Dims dims = x.static_dims(), out = node.out().static_dims(), strides = strides_of(dims);
  return by_type(x.dtype(), [&]<class T>(T) {
    const auto v = elements<T>(x);
    std::vector<T> all;
    all.reserve(static_cast<std::size_t>(count_of(out)));
    const Dims out_strides = strides_of(out);
    for (std::int64_t i = 0, n = count_of(out); i < n; ++i) {
      std::int64_t rest = i, at = 0;
      for (std::size_t d = 0; d < out.size(); ++d) {
        at += rest / out_strides[d] % dims[d] * strides[d];
        rest %= out_strides[d];
      }
      all.push_back(v[static_cast<std::size_t>(at)]);
    }
    return make(emit, x.dtype(), out, all);
  });
}

Results fold_constant_of_shape(const Node& node, const Emit& emit) {
  const Dims out = node.out().static_dims();
  const DType t = node.out().dtype();
  const auto n = static_cast<std::size_t>(count_of(out));
  return by_type(t, [&]<class T>(T zero) {
    const T fill = node.has_attr("value") ? elements<T>(node.attr<Value>("value")).at(0) : zero;
    return make(emit, t, out, std::vector<T>(n, fill));
  });
}

Results fold_range(const Node& node, const Emit& emit) {
  return by_type(node.in(0).dtype(), [&]<class T>(T) {
    const T start = elements<T>(node.in(0)).at(0), limit = elements<T>(node.in(1)).at(0),
            delta = elements<T>(node.in(2)).at(0);
    decline_if(delta == 0, "Range with a step of 0");
    const double count =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    decline_if(!(count < 1 << 20), "Range of ", count, " elements");
    std::vector<T> v;
    for (std::int64_t i = 0; static_cast<double>(i) < count; ++i) v.push_back(start + static_cast<T>(i) * delta);
    return make(emit, node.in(0).dtype(), {static_cast<std::int64_t>(v.size())}, v);
  });
}

/// ScatterND without a reduction.
Results fold_scatter_nd(const Node& node, const Emit& emit) {
  decline_if(node.attr("reduction", "none") != "none", "folding of a reduction");
  const Value x = node.in(0), indices = node.in(1), updates = node.in(2);
  const Dims dims = x.static_dims(), index_dims = indices.static_dims(), strides = strides_of(dims);
  const std::int64_t depth = index_dims.back(), rows = count_of(index_dims) / std::max<std::int64_t>(1, depth);
  const std::int64_t inner = count_of(Dims(dims.begin() + depth, dims.end()));
  const Dims at = indices.read<std::int64_t>();
  return by_type(x.dtype(), [&]<class T>(T) {
    auto v = elements<T>(x);
    const auto u = elements<T>(updates);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t to_element = 0;
      for (std::int64_t d = 0; d < depth; ++d) {
        const std::int64_t n = dims[static_cast<std::size_t>(d)], raw = at[static_cast<std::size_t>(r * depth + d)],
                           k = raw < 0 ? raw + n : raw;
        decline_if(k < 0 || k >= n, "index ", raw, " is out of range for an axis of size ", n);
        to_element += k * strides[static_cast<std::size_t>(d)];
      }
      std::copy_n(u.begin() + r * inner, inner, v.begin() + to_element);
    }
    return make(emit, x.dtype(), dims, v);
  });
}

/// Trilu: the upper or lower triangle of the last two axes, moved by k.
Results fold_trilu(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const Dims dims = x.static_dims();
  decline_if(dims.size() < 2, "Trilu below rank 2");
  const std::int64_t k = node.in(1) ? node.in(1).scalar<std::int64_t>() : 0, rows = dims[dims.size() - 2],
                     columns = dims.back();
  const bool upper = node.attr("upper", 1) != 0;
  return by_type(x.dtype(), [&]<class T>(T zero) {
    auto v = elements<T>(x);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto e = static_cast<std::int64_t>(i);
      const std::int64_t c = e % columns, r = e / columns % rows;
      if (upper ? c < r + k : c > r + k) v[i] = zero;
    }
    return make(emit, x.dtype(), dims, v);
  });
}

}  // namespace

GANTRY_DEFINE(onnx, "Identity", fold(fold_identity))
GANTRY_DEFINE(onnx, "Reshape", fold(fold_view))
GANTRY_DEFINE(onnx, "Flatten", fold(fold_view))
GANTRY_DEFINE(onnx, "Squeeze", fold(fold_view))
GANTRY_DEFINE(onnx, "Unsqueeze", fold(fold_view))
GANTRY_DEFINE(onnx, "Transpose", fold(fold_transpose))
GANTRY_DEFINE(onnx, "Shape", fold(fold_shape))
GANTRY_DEFINE(onnx, "Size", fold(fold_size))
GANTRY_DEFINE(onnx, "Concat", fold(fold_concat))
GANTRY_DEFINE(onnx, "Split", fold(fold_split))
GANTRY_DEFINE(onnx, "Slice", fold(fold_slice))
GANTRY_DEFINE(onnx, "Gather", fold(fold_gather))
GANTRY_DEFINE(onnx, "Expand", fold(fold_expand))
GANTRY_DEFINE(onnx, "Tile", fold(fold_tile))
GANTRY_DEFINE(onnx, "ConstantOfShape", fold(fold_constant_of_shape))
GANTRY_DEFINE(onnx, "Range", fold(fold_range))
GANTRY_DEFINE(onnx, "ScatterND", fold(fold_scatter_nd))
GANTRY_DEFINE(onnx, "Trilu", fold(fold_trilu))

}  // namespace core_ops
