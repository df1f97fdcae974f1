// TFLite operators that compute over windows, axes and matrices. Shapes are channels-last. Limits: LiteRT,
// tflite/kernels/<operator>.cc; BATCH_MATMUL as measured.
#include <algorithm>

#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

constexpr auto kFloat = types(DType::float32);

/// Output size of a window along one axis, as TFLite computes it.
std::int64_t windows(const Node& node, std::int64_t in, std::int64_t kernel, std::int64_t stride,
                     std::int64_t dilation) {
  if (in < 0) return -1;
  if (node.attr<std::string>("padding") == "SAME") return (in + stride - 1) / stride;
  return (in - ((kernel - 1) * dilation + 1) + stride) / stride;
}

/// CONV_2D(x [n,h,w,c], filter [o,kh,kw,c/groups], bias), DEPTHWISE_CONV_2D(x, filter [1,kh,kw,o], bias).
void infer_conv2d(const Node& node, const Infer& infer) {
  const Dims x = node.in(0).dims(), filter = node.in(1).dims();
  decline_if(x.size() != 4 || filter.size() != 4, node.op(), " takes rank 4");
  const std::int64_t out = filter[node.op() == "CONV_2D" ? 0 : 3];
  infer.set(0, node.in(0).dtype(),
            Dims{x[0],
                 windows(node, x[1], filter[1], node.attr<std::int64_t>("stride_h"),
                         node.attr<std::int64_t>("dilation_h_factor", 1)),
                 windows(node, x[2], filter[2], node.attr<std::int64_t>("stride_w"),
                         node.attr<std::int64_t>("dilation_w_factor", 1)),
                 out});
}

/// CONV_3D(x [n,d,h,w,c], filter [kd,kh,kw,c,o], bias).
void infer_conv3d(const Node& node, const Infer& infer) {
  const Dims x = node.in(0).dims(), filter = node.in(1).dims();
  decline_if(x.size() != 5 || filter.size() != 5, "CONV_3D takes rank 5");
  Dims out{x[0]};
  const char* axis[] = {"d", "h", "w"};
  for (std::size_t i = 0; i < 3; ++i)
    out.push_back(windows(node, x[i + 1], filter[i], node.attr<std::int64_t>(cat("stride_", axis[i])),
                          node.attr<std::int64_t>(cat("dilation_", axis[i], "_factor"), 1)));
  out.push_back(filter[4]);
  infer.set(0, node.in(0).dtype(), out);
}

/// TRANSPOSE_CONV and CONV_3D_TRANSPOSE(output_shape, filter, x, bias).
void infer_transpose_conv(const Node& node, const Infer& infer) {
  Dims dims = node.in(2).dims();
  if (node.in(0).constant()) {
    dims = node.in(0).read<std::int64_t>();
  } else {
    std::fill(dims.begin() + 1, dims.end(), -1);
    dims.back() = node.in(1).dim(node.op() == "TRANSPOSE_CONV" ? 0 : 3);
  }
  infer.set(0, node.in(2).dtype(), dims);
}

void infer_pool(const Node& node, const Infer& infer) {
  const Dims x = node.in(0).dims();
  decline_if(x.size() != 4, node.op(), " takes rank 4");
  infer.set(
      0, node.in(0).dtype(),
      Dims{x[0], windows(node, x[1], node.attr<std::int64_t>("filter_height"), node.attr<std::int64_t>("stride_h"), 1),
           windows(node, x[2], node.attr<std::int64_t>("filter_width"), node.attr<std::int64_t>("stride_w"), 1), x[3]});
}

/// FULLY_CONNECTED(x [..., k], weights [o, k], bias).
void infer_fully_connected(const Node& node, const Infer& infer) {
  Dims x = node.in(0).dims();
  const Dims weights = node.in(1).dims();
  decline_if(weights.size() != 2, "FULLY_CONNECTED takes weights of rank 2");
  if (node.attr<std::int64_t>("keep_num_dims", 0)) {
    x.back() = weights[0];
    infer.set(0, node.in(0).dtype(), x);
    return;
  }
  std::int64_t rows = 1;
  for (std::int64_t d : x) rows = rows < 0 || d < 0 ? -1 : rows * d;
  infer.set(0, node.in(0).dtype(), Dims{rows < 0 || weights[1] <= 0 ? -1 : rows / weights[1], weights[0]});
}

void infer_batch_matmul(const Node& node, const Infer& infer) {
  Dims a = node.in(0).dims(), b = node.in(1).dims();
  decline_if(a.size() < 2 || b.size() < 2, "BATCH_MATMUL takes rank 2 or more");
  const std::int64_t m = a[a.size() - (node.attr<std::int64_t>("adj_x", 0) ? 1 : 2)];
  const std::int64_t n = b[b.size() - (node.attr<std::int64_t>("adj_y", 0) ? 2 : 1)];
  Dims out = broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  out.push_back(m);
  out.push_back(n);
  infer.set(0, node.in(0).dtype(), out);
}

/// x, axes: SUM, MEAN, REDUCE_*.
void infer_reduce(const Node& node, const Infer& infer) {
  const Dims x = node.in(0).dims();
  if (!node.in(1).constant()) {  // which axes go is not known, but perhaps how many
    const bool keep = node.attr<std::int64_t>("keep_dims", 0) != 0;
    const std::int64_t gone = keep ? 0 : node.in(1).dim(0), rank = static_cast<std::int64_t>(x.size());
    std::optional<Dims> dims;
    if (gone >= 0 && gone <= rank) dims = Dims(static_cast<std::size_t>(rank - gone), -1);
    infer.set(0, node.in(0).dtype(), dims);
    return;
  }
  std::vector<bool> reduced(x.size());
  for (std::int64_t a : node.in(1).read<std::int64_t>())
    reduced[static_cast<std::size_t>(normalize_axis(a, node.in(0).rank()))] = true;
  const bool keep = node.attr<std::int64_t>("keep_dims", 0) != 0;
  Dims out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i])
      out.push_back(x[i]);
    else if (keep)
      out.push_back(1);
  }
  infer.set(0, node.in(0).dtype(), out);
}

/// ARG_MAX, ARG_MIN(x, axis).
void infer_arg(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  dims.erase(dims.begin() + normalize_axis(node.in(1).scalar<std::int64_t>(), node.in(0).rank()));
  infer.set(0, node.attr("output_type", "INT64") == "INT32" ? DType::int32 : DType::int64, dims);
}

/// RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR(x [n,h,w,c], size [2]).
void infer_resize(const Node& node, const Infer& infer) {
  const Dims x = node.in(0).dims();
  decline_if(x.size() != 4, node.op(), " takes rank 4");
  Dims size{-1, -1};
  if (node.in(1).constant()) size = node.in(1).read<std::int64_t>();
  infer.set(0, node.in(0).dtype(), Dims{x[0], size.at(0), size.at(1), x[3]});
}

}  // namespace

GANTRY_DEFINE(tflite, "CONV_2D", layout("L:3 C, O 1 1 C, O -> L:3 O {linear}; n h! w! C, O kh! kw! C, O -> n h! w! O"),
              infer(infer_conv2d), limits(kFloat))
GANTRY_DEFINE(tflite, "DEPTHWISE_CONV_2D", layout("n h! w! C, m kh! kw! C, C -> n h! w! C"), infer(infer_conv2d),
              limits(kFloat))
GANTRY_DEFINE(tflite, "CONV_3D", layout("n d! h! w! C, kd! kh! kw! C O, O -> n d! h! w! O"), infer(infer_conv3d),
              limits(kFloat))
GANTRY_DEFINE(tflite, "TRANSPOSE_CONV", layout("_, O kh! kw! C, n h! w! C, O -> n h! w! O"),
              infer(infer_transpose_conv), limits(kFloat))
GANTRY_DEFINE(tflite, "CONV_3D_TRANSPOSE", layout("_, kd! kh! kw! O C, n d! h! w! C, O -> n d! h! w! O"),
              infer(infer_transpose_conv), limits(kFloat))
GANTRY_DEFINE(tflite, "MAX_POOL_2D", layout("n h! w! C -> n h! w! C"), infer(infer_pool), limits(kFloat), ordered)
GANTRY_DEFINE(tflite, "AVERAGE_POOL_2D", layout("n h! w! C -> n h! w! C"), infer(infer_pool), limits(kFloat))
GANTRY_DEFINE(tflite, "FULLY_CONNECTED", layout("L K, N K, N -> L N"), infer(infer_fully_connected), limits(kFloat))
GANTRY_DEFINE(tflite, "BATCH_MATMUL", layout("B M K | B K M {adj_x}, B K N | B N K {adj_y} -> B M N | B N M {swap}"),
              infer(infer_batch_matmul), limits(rank(2, 5), kFloat))
GANTRY_DEFINE(tflite, "SUM", layout("*[axes=#1], _ -> *"), infer(infer_reduce),
              limits(types(DType::float32, DType::int32, DType::int64)), modular)
GANTRY_DEFINE(tflite, "MEAN", layout("*[axes=#1], _ -> *"), infer(infer_reduce),
              limits(types(DType::float32, DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "REDUCE_PROD", layout("*[axes=#1], _ -> *"), infer(infer_reduce),
              limits(types(DType::float32, DType::int32, DType::int64)), modular)
GANTRY_DEFINE(tflite, "REDUCE_MAX", layout("*[axes=#1], _ -> *"), infer(infer_reduce),
              limits(types(DType::float32, DType::int32, DType::int64, DType::uint8, DType::int8, DType::int16)),
              ordered)
GANTRY_DEFINE(tflite, "REDUCE_MIN", layout("*[axes=#1], _ -> *"), infer(infer_reduce),
              limits(types(DType::float32, DType::int32, DType::int64, DType::uint8, DType::int8, DType::int16)),
              ordered)
GANTRY_DEFINE(tflite, "REDUCE_ANY", layout("*[axes=#1], _ -> *"), infer(infer_reduce), limits(types(DType::boolean)))
GANTRY_DEFINE(tflite, "REDUCE_ALL", layout("*[axes=#1], _ -> *"), infer(infer_reduce), limits(types(DType::boolean)))
GANTRY_DEFINE(tflite, "ARG_MAX", layout("*[drop=#1], _ -> *"), infer(infer_arg),
              operand_types(DType::float32, DType::int32, DType::int8, DType::uint8), ordered)
GANTRY_DEFINE(tflite, "ARG_MIN", layout("*[drop=#1], _ -> *"), infer(infer_arg),
              operand_types(DType::float32, DType::int32, DType::int8, DType::uint8), ordered)
GANTRY_DEFINE(tflite, "RESIZE_BILINEAR", layout("n h! w! C, _ -> n h! w! C"), infer(infer_resize), limits(kFloat))
GANTRY_DEFINE(tflite, "RESIZE_NEAREST_NEIGHBOR", layout("n h! w! C, _ -> n h! w! C"), infer(infer_resize),
              limits(types(DType::float32, DType::int32, DType::uint8, DType::int8, DType::int16)), moves)
