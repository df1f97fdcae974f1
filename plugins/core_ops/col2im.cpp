// Col2Im: blocks put back into an image, what overlaps added up. The places are known, so it is one SCATTER_ND.
// Operator: ONNX operator specification, Col2Im.
#include "common.hpp"

namespace core_ops {
namespace {

struct Blocks {
  Dims image, block, dilations, pads, strides, count;  // count: windows an axis
};

Blocks read_blocks(const Node& node) {
  Blocks b;
  b.image = node.in(1).read<std::int64_t>();
  b.block = node.in(2).read<std::int64_t>();
  const std::size_t n = b.image.size();
  b.dilations = node.attr("dilations", Dims(n, 1));
  b.pads = node.attr("pads", Dims(2 * n, 0));
  b.strides = node.attr("strides", Dims(n, 1));
  decline_if(b.block.size() != n || b.dilations.size() != n || b.pads.size() != 2 * n || b.strides.size() != n,
             "image_shape ", text(b.image), " and block_shape ", text(b.block), " do not fit the attributes");
  for (std::size_t i = 0; i < n; ++i)
    b.count.push_back((b.image[i] + b.pads[i] + b.pads[n + i] - (b.block[i] - 1) * b.dilations[i] - 1) / b.strides[i] +
                      1);
  return b;
}

/// Flat place in the image of element k of the block in window l; `outside` in the padding.
std::int64_t place(const Blocks& b, std::int64_t k, std::int64_t l, std::int64_t outside) {
  std::int64_t at = 0, stride = 1;
  for (std::size_t i = b.image.size(); i-- > 0;) {
    const std::int64_t p = l % b.count[i] * b.strides[i] + k % b.block[i] * b.dilations[i] - b.pads[i];
    if (p < 0 || p >= b.image[i]) return outside;
    at += p * stride;
    stride *= b.image[i];
    k /= b.block[i];
    l /= b.count[i];
  }
  return at;
}

}  // namespace

GANTRY_CONVERT(onnx, "Col2Im", since(18), to(tflite)) {
  const Value x = node.in(0);
  const Dims dims = x.static_dims();
  const Blocks b = read_blocks(node);
  std::int64_t elements = 1, windows = 1, pixels = 1;
  for (std::int64_t n : b.block) elements *= n;
  for (std::int64_t n : b.count) windows *= n;
  for (std::int64_t n : b.image) pixels *= n;
  decline_if(dims.size() != 3 || dims[1] % elements || dims[2] != windows, "columns ", text(dims),
             " do not fit blocks ", text(b.block), " of ", text(b.image));
  const std::int64_t channels = dims[1] / elements;
  std::vector<std::int32_t> places;
  for (std::int64_t k = 0; k < elements; ++k)
    for (std::int64_t l = 0; l < windows; ++l) places.push_back(static_cast<std::int32_t>(place(b, k, l, pixels)));
  const Value rows = emit.reshape(
      emit.transpose(emit.reshape(emit.cast(x, DType::float32), {dims[0] * channels, elements * windows}), {1, 0}),
      {elements * windows, dims[0] * channels});
  const Value sums = emit.op("SCATTER_ND", {emit.constant<std::int32_t>({elements * windows, 1}, places), rows,
                                            emit.i32({pixels + 1, dims[0] * channels})});
  const Value image = emit.op("SLICE", {sums, emit.i32({0, 0}), emit.i32({pixels, -1})});
  Dims shape{dims[0], channels};
  shape.insert(shape.end(), b.image.begin(), b.image.end());
  decline_if(x.dtype() != DType::float32 && x.dtype() != DType::float16, "Col2Im of ", name_of(x.dtype()));
  return emit.cast(emit.reshape(emit.transpose(image, {1, 0}), shape), x.dtype());
}

}  // namespace core_ops
