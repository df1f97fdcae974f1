// Operators of com.microsoft under another name in ai.onnx, small algebra, position biases, gates; refused ones.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

std::string ints(const std::string& name, const std::string& value) {
  return " " + name + " = Constant<value = " + value + ">() ";
}

TEST(ContribOthers, Renamed) {
  expect_equal({
      {17, "float[2,3,4] x", "", ints("i", "int64[2,2] {0, 1, 1, 2}") + "y = com.microsoft.GatherND(x, i)"},
      {17, "float[2,4,5] x", "", ints("k", "int64 {1}") + "y = com.microsoft.Trilu<upper = 0>(x, k)"},
      {17, "float[2,3] x", "", "y = com.microsoft.SampleOp(x)"},
      {17, "float[B,3] x", "", ints("a", "int32 {-1}") + "y = com.microsoft.ExpandDims(x, a)"},
      {17, "float[2,3] x", "v=1", ints("p", "int64[1,4] {0, 1, 2, 0}") + "y = com.microsoft.Pad(x, p, v)"},
      {17, "float[4,5] x", "", ints("p", "int64[4] {0, 1, 2, 0}") + "y = com.microsoft.Pad<mode = \"reflect\">(x, p)"},
      {17, "float[5] x", "",
       ints("a", "float {1}") + ints("b", "float[1] {6}") + "r = com.microsoft.Range(a, b) y = Add(x, r)"},
      {17, "float[6,7,8] x", "", "y = com.microsoft.UnfoldTensor<dim = 1, size = 3, step = 2>(x)"},
      {17, "float[1,2,5,6] x, float[1,3,4,2] g", "",
       "y = com.microsoft.GridSample<mode = \"bilinear\", align_corners = 1>(x, g)"},
  });
  expect_equal_to({
      {{17, "float[20,8] x, int64[2,3] i", "", "y = com.microsoft.TorchEmbedding(x, i)"}, "y = Gather(x, i)"},
      {{17, "float[2,5,8] x, float[2,5,8] r", "b=8", "y = com.microsoft.BiasDropout(x, b, r)"},
       "u = Add(x, b) y = Add(u, r)"},
      {{17, "float[2,4,5,6] x, float[2,1,1,6] b", "",
        "y = com.microsoft.BiasSoftmax<axis = 3, is_inner_broadcast = 1>(x, b)"},
       "u = Add(x, b) y = Softmax(u)"},
      {{17, "float[2,3] x", "", "f = com.microsoft.IsAllFinite(x) y = Where(f, x, x)"}, "y = Identity(x)"},
  });
}

TEST(ContribOthers, Algebra) {
  std::vector<Row> rows;
  for (const char* m : {"1", "2", "3", "4", "7"})
    rows.push_back(
        {17, std::string("float[3,") + m + "," + m + "] x", "", "y = com.microsoft.Inverse(x)", "float[] y", 1e-2});
  // Zeros on the diagonal: rows change places.
  rows.push_back({17, "float[3,3] x", "",
                  "p = Constant<value = float[3,3] {0, 1, 0, 0, 0, 2, 3, 0, 0}>() e = Constant<value_float = 0.01>()"
                  " d = Mul(x, e) s = Add(p, d) y = com.microsoft.Inverse(s)"});
  for (const char* metric : {"sqeuclidean", "euclidean"})
    rows.push_back({17, "float[4,6] x, float[5,6] w", "",
                    std::string("y = com.microsoft.CDist<metric = \"") + metric + "\">(x, w)", "float[] y", 1e-3});
  for (const char* mode : {"bilinear", "nearest"})
    rows.push_back(
        {17, "float[2,3,6,7] x", "",
         "b = Constant<value = float[4,4] {0.1, 0.2, 0.8, 0.9, -0.2, 0, 1.1, 1, 0.5, 0.5, 0.5, 0.5, 0.9, 0.8, "
         "0.1, 0.2}>()" +
             ints("i", "int32[4] {0, 1, 1, 0}") + ints("s", "int32[2] {3, 4}") +
             "y = com.microsoft.CropAndResize<extrapolation_value = 0.3, mode = \"" + mode + "\">(x, b, i, s)"});
  expect_equal(rows);
  const std::string parts =
      "xr, xi = Split<axis = 2>(x) wr, wi = Split<axis = 1>(w) ac = Mul(xr, wr) bd = Mul(xi, wi) ad = "
      "Mul(xr, wi) bc = Mul(xi, wr) ";
  expect_equal_to({
      {{17, "float[3,4,2] x, float[4,2] w", "", "y = com.microsoft.ComplexMul(x, w)"},
       parts + "re = Sub(ac, bd) im = Add(ad, bc) y = Concat<axis = 2>(re, im)"},
      {{17, "float[3,4,2] x, float[4,2] w", "", "y = com.microsoft.ComplexMulConj(x, w)"},
       parts + "re = Add(ac, bd) im = Sub(bc, ad) y = Concat<axis = 2>(re, im)"},
      {{17, "float[3,8] x", "",
        "f = com.microsoft.Rfft<signal_ndim = 1>(x) y = com.microsoft.Irfft<signal_ndim = 1>(f)"},
       "y = Identity(x)"},
      {{17, "float[3,8] x", "", "y = com.microsoft.Rfft<signal_ndim = 1>(x)"},
       "a = Constant<value_ints = [2]>() u = Unsqueeze(x, a) y = DFT<axis = 1, onesided = 1>(u)"},
  });
}

TEST(ContribOthers, PositionBias) {
  // 8 buckets, of which 4 are exact; distances of 4 and 5 share one with max_distance = 20, by hand.
  expect_equal_to({
      {{17, "float[8,1] x", "",
        ints("n", "int64 {6}") + "y = com.microsoft.RelativePositionBias<max_distance = 20>(x, n, n)"},
       ints("d", "int64[6,6] {0,0,0,0,0,0, 1,0,0,0,0,0, 2,1,0,0,0,0, 3,2,1,0,0,0, 4,3,2,1,0,0, 4,4,3,2,1,0}") +
           ints("s", "int64[4] {1,1,6,6}") +
           "f = Flatten<axis = 0>(x) o = Constant<value_ints = [-1]>() v = Reshape(f, o)"
           " g = Gather(v, d) y = Reshape(g, s)"},
  });
}

TEST(ContribOthers, Gates) {
  expect_equal({
      {17, "float[2,3,16] x, float[2,3,16] g", "s=8", "y = com.microsoft.GatedRMSNorm(x, s, g)"},
      {17, "float[B,S,8] x, float[B,S,8] g", "s=8",
       "y = com.microsoft.GatedRMSNorm<activation = \"sigmoid\">(x, s, g)"},
      {17, "float[2,3,8] x, float[2,3,8] w, float[2,3,1] g", "", "y = com.microsoft.GatedAdd(x, w, g)"},
      {17, "float[2,3,8] x", "", "y = com.microsoft.ScaledSiLU<alpha = 1.7>(x)"},
      {17, "float[2,3,32] x", "s=32", "y = com.microsoft.BranchwiseRMSNorm<num_branches = 4>(x, s)"},
      {17, "float[2,3,4,8] x", "s=4,8", "y = com.microsoft.BranchwiseRMSNorm(x, s)"},
      {17, "float[2,4,6] x, float[2,4,2] p", "w=4,1,3 b=4",
       "y, r = com.microsoft.CausalConvWithState<activation = \"silu\">(x, w, b, p)", "float[] y, float[] r"},
      {17, "float[2,3,8] q, float[2,3,8] k, float[2,3,12] v, float[2,3,2] g", "",
       "y, r = com.microsoft.LinearAttention<q_num_heads = 2, kv_num_heads = 2, update_rule = \"gated\">(q, k, v, , g)",
       "float[] y, float[] r"},
  });
}

TEST(ContribOthers, Refused) {
  expect_refused({{17, "int32[2] x", "", "y = com.microsoft.MurmurHash3(x)", "uint32[] y"}}, "a hash");
  expect_refused({{17, "float[4,8] x, int32[2,2] t", "", "y = com.microsoft.RestorePadding(x, t)"}}, "without padding");
}

}  // namespace
}  // namespace gantry::test
