#include "tests/models/networks.hpp"

namespace gantry::test {

std::string NetworkText::name() { return "v" + std::to_string(count_++); }

std::string NetworkText::node(const std::string& op, const std::string& operands) {
  const std::string y = name();
  nodes_ += y + " = " + op + "(" + operands + ") ";
  return y;
}

std::string NetworkText::weight(const std::string& dims) {
  const std::string w = "w" + name();
  weights_ += w + "=" + dims + " ";
  return w;
}

std::string NetworkText::ints(const std::string& values) { return node("Constant<value_ints = [" + values + "]>", ""); }

std::string NetworkText::conv(const std::string& x, int in, int out, int kernel, int stride, int group) {
  const auto text = [](int n) { return std::to_string(n); };
  const std::string k = text(kernel), p = text(kernel / 2), s = text(stride);
  const std::string w = weight(text(out) + "," + text(in / group) + "," + k + "," + k), b = weight(text(out));
  const std::string scale = node("Constant<value_float = 0.2>", ""), small = node("Mul", w + ", " + scale);
  return node("Conv<pads = [" + p + "," + p + "," + p + "," + p + "], strides = [" + s + "," + s +
                  "], group = " + text(group) + ">",
              x + ", " + small + ", " + b);
}

std::string NetworkText::deconv(const std::string& x, int in, int out) {
  const std::string w = weight(std::to_string(in) + "," + std::to_string(out) + ",2,2");
  return node("ConvTranspose<strides = [2,2]>", x + ", " + w);
}

std::string NetworkText::clip6(const std::string& x) {
  const std::string lo = node("Constant<value_float = 0.0>", ""), hi = node("Constant<value_float = 6.0>", "");
  return node("Clip", x + ", " + lo + ", " + hi);
}

Row NetworkText::done(const std::string& inputs, const std::string& last) {
  return {20, inputs, weights_, nodes_ + "y = Identity(" + last + ")"};
}

/// Stem, inverted residuals, pool, classifier.
Row mobilenet_like() {
  NetworkText t;
  std::string x = t.clip6(t.conv("x", 3, 8, 3, 2));
  for (int block = 0; block < 3; ++block) {
    const std::string wide = t.clip6(t.conv(x, 8, 24, 1)), deep = t.clip6(t.conv(wide, 24, 24, 3, 1, 24));
    x = t.node("Add", x + ", " + t.conv(deep, 24, 8, 1));
  }
  const std::string pooled = t.node("Flatten", t.node("GlobalAveragePool", x));
  return t.done("float[1,3,32,32] x", t.node("Gemm<transB = 1>", pooled + ", " + t.weight("10,8")));
}

Row residual_cnn() {
  NetworkText t;
  std::string x = t.node("MaxPool<kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]>",
                         t.node("Relu", t.conv("x", 3, 8, 7, 2)));
  for (int stride : {1, 2}) {
    const std::string main = t.conv(t.node("Relu", t.conv(x, 8, 8, 3, stride)), 8, 8);
    const std::string side = stride == 1 ? x : t.conv(x, 8, 8, 1, stride);
    x = t.node("Relu", t.node("Add", main + ", " + side));
  }
  const std::string pooled = t.node("ReduceMean<keepdims = 0>", x + ", " + t.ints("2,3"));
  return t.done("float[1,3,32,32] x", t.node("Softmax", t.node("Gemm", pooled + ", " + t.weight("8,10"))));
}

/// Its output is an image: in NCHW it needs one transpose more.
Row unet() {
  NetworkText t;
  const std::string a = t.node("Relu", t.conv("x", 3, 8)),
                    b = t.node("Relu", t.conv(t.node("MaxPool<kernel_shape = [2,2], strides = [2,2]>", a), 8, 16)),
                    c = t.node("Relu", t.conv(t.node("MaxPool<kernel_shape = [2,2], strides = [2,2]>", b), 16, 16));
  const std::string d = t.node("Concat<axis = 1>", t.deconv(c, 16, 16) + ", " + b);
  const std::string e = t.node("Relu", t.conv(d, 32, 8));
  const std::string f = t.node("Concat<axis = 1>", t.deconv(e, 8, 8) + ", " + a);
  return t.done("float[1,3,16,16] x", t.node("Sigmoid", t.conv(f, 16, 2)));
}

namespace {

/// softmax(q k / sqrt(d)) v over tokens [1, n, 16] with two heads of 8.
std::string attention(NetworkText& t, const std::string& from, const std::string& to, int n, int m) {
  const auto heads = [&](const std::string& x, int tokens, const char* perm) {
    const std::string p = t.node("MatMul", x + ", " + t.weight("16,16"));
    const std::string split = t.node("Reshape", p + ", " + t.ints("1," + std::to_string(tokens) + ",2,8"));
    return t.node(std::string("Transpose<perm = ") + perm + ">", split);
  };
  const std::string q = heads(from, n, "[0,2,1,3]"), k = heads(to, m, "[0,2,3,1]"), v = heads(to, m, "[0,2,1,3]");
  const std::string root = t.node("Constant<value_float = 0.35>", "");
  const std::string weights = t.node("Softmax", t.node("Mul", t.node("MatMul", q + ", " + k) + ", " + root));
  const std::string joined = t.node("Transpose<perm = [0,2,1,3]>", t.node("MatMul", weights + ", " + v));
  return t.node("Reshape", joined + ", " + t.ints("1," + std::to_string(n) + ",16"));
}

}  // namespace

Row attention_block() {
  NetworkText t;
  const std::string normal = t.node("LayerNormalization", "x, " + t.weight("16") + ", " + t.weight("16"));
  const std::string a = t.node("Add", "x, " + attention(t, normal, normal, 12, 12));
  const std::string h = t.node("Gelu", t.node("MatMul", a + ", " + t.weight("16,32")));
  return t.done("float[1,12,16] x", t.node("Add", a + ", " + t.node("MatMul", h + ", " + t.weight("32,16"))));
}

/// A feature map [1,16,4,4] and tokens [6,1,16], sequence first: each attends to the other.
Row feature_map_and_tokens() {
  NetworkText t;
  const std::string map = t.node("Relu", t.conv("x", 3, 16, 3, 2));
  const std::string pixels = t.node("Transpose<perm = [0,2,1]>", t.node("Reshape", map + ", " + t.ints("1,16,16")));
  const std::string tokens = t.node("Transpose<perm = [1,0,2]>", "z");
  const std::string read = t.node("Add", tokens + ", " + attention(t, tokens, pixels, 6, 16));
  const std::string written = t.node("Add", pixels + ", " + attention(t, pixels, read, 16, 6));
  const std::string back = t.node("Reshape", t.node("Transpose<perm = [0,2,1]>", written) + ", " + t.ints("1,16,4,4"));
  const std::string image = t.node("GlobalAveragePool", t.node("Relu", t.conv(back, 16, 8)));
  const std::string pooled = t.node("Flatten", image),
                    first = t.node("Flatten", t.node("ReduceMean", read + ", " + t.ints("1")));
  return t.done("float[1,3,8,8] x, float[6,1,16] z", t.node("Concat<axis = 1>", pooled + ", " + first));
}

Row channel_shuffle() {
  NetworkText t;
  std::string x = t.conv("x", 3, 8);
  for (int unit = 0; unit < 2; ++unit) {
    const std::string a = t.node("Relu", t.conv(x, 8, 8, 1, 1, 2));
    const std::string groups = t.node("Reshape", a + ", " + t.ints("1,2,4,16,16"));
    const std::string mixed = t.node("Transpose<perm = [0,2,1,3,4]>", groups);
    x = t.conv(t.node("Reshape", mixed + ", " + t.ints("1,8,16,16")), 8, 8, 3, 1, 8);
  }
  return t.done("float[1,3,16,16] x", t.node("Flatten", t.node("GlobalAveragePool", x)));
}

Row pixel_shuffle() {
  NetworkText t;
  const std::string a = t.node("Relu", t.conv("x", 3, 16));
  const std::string up = t.node("DepthToSpace<blocksize = 2, mode = \"CRD\">", t.conv(a, 16, 32));
  const std::string b = t.node("Relu", t.conv(up, 8, 8));
  return t.done("float[1,3,8,8] x", t.node("Flatten", t.node("GlobalAveragePool", b)));
}

}  // namespace gantry::test
