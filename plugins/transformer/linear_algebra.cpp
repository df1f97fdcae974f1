// Inverses, distances, complex products.
#include "sizes.hpp"

namespace transformer {
namespace {

/// Matrices above this would be thousands of operators.
constexpr std::int64_t kMostRows = 32;

/// Gauss-Jordan elimination with partial pivoting, every column written out, on [..., n, n] beside the identity.
class Elimination {
 public:
  Elimination(const Emit& emit, const Value& x) : emit_(emit), n_(x.dim(-1)), last_(x.rank() - 1) {
    std::vector<float> identity(static_cast<std::size_t>(n_ * n_), 0.0f);
    for (std::int64_t i = 0; i < n_; ++i) identity[static_cast<std::size_t>(i * n_ + i)] = 1;
    const Value one = emit.constant<float>({n_, n_}, identity);
    a_ = concat(emit, {x, emit.add(emit.mul(x, 0), one)}, last_);
  }

  Value inverse() {
    for (std::int64_t j = 0; j < n_; ++j) column(j);
    return slice(emit_, a_, last_, n_, 2 * n_);
  }

 private:
  /// 1 in place i of n, as a column [n, 1].
  Value unit(std::int64_t i) const {
    std::vector<float> v(static_cast<std::size_t>(n_), 0.0f);
    v[static_cast<std::size_t>(i)] = 1;
    return emit_.constant<float>({n_, 1}, v);
  }

  void column(std::int64_t j) {
    if (j + 1 < n_) swap_rows(j);
    const Value row = slice(emit_, a_, last_ - 1, j, j + 1);
    const Value normal = emit_.div(row, slice(emit_, row, last_, j, j + 1));
    const Value factors = emit_.sub(slice(emit_, a_, last_, j, j + 1), unit(j));
    a_ = emit_.sub(a_, emit_.mul(factors, normal));
  }

  /// Row j and the one below it whose number in column j is the largest change places.
  void swap_rows(std::int64_t j) {
    const Value below = slice(emit_, slice(emit_, a_, last_, j, j + 1), last_ - 1, j, n_);
    const Value best = emit_.op("ArgMax", {emit_.op("Abs", {below})}, {{"axis", last_ - 1}, {"keepdims", 1}});
    std::vector<std::int64_t> places(static_cast<std::size_t>(n_));
    std::iota(places.begin(), places.end(), -j);
    const Value is_best =
        emit_.cast(emit_.op("Equal", {emit_.constant<std::int64_t>({n_, 1}, places), best}), DType::float32);
    const Value pivot = emit_.op("ReduceSum", {emit_.mul(is_best, a_), emit_.i64({last_ - 1})}, {{"keepdims", 1}});
    const Value difference = emit_.sub(pivot, slice(emit_, a_, last_ - 1, j, j + 1));
    a_ = emit_.add(a_, emit_.mul(emit_.sub(unit(j), is_best), difference));
  }

  const Emit& emit_;
  std::int64_t n_;
  int last_;
  Value a_;
};

}  // namespace

/// Of each matrix of the last two axes.
GANTRY_UPGRADE(kMicrosoft, "Inverse", since(1)) {
  const Value x = emit.cast(node.in(0), DType::float32);
  decline_if(x.rank() < 2, "an operand of rank ", x.rank());
  const std::int64_t n = x.dim(-1);
  decline_if(n < 1 || n != x.dim(-2), "matrices of ", text(x.dims()));
  decline_if(n > kMostRows, "matrices of ", n, " rows; up to ", kMostRows, " are written out");
  return emit.cast(Elimination(emit, x).inverse(), node.in(0).dtype());
}

/// Distances of the rows of two matrices: |a|^2 + |b|^2 - 2 a b, or its root.
GANTRY_UPGRADE(kMicrosoft, "CDist", since(1)) {
  const Value a = node.in(0), b = node.in(1);
  const auto metric = node.attr("metric", "sqeuclidean");
  decline_if(metric != "sqeuclidean" && metric != "euclidean", "the metric '", metric, "'");
  const auto squares = [&](const Value& v, int keep) {
    return emit.op("ReduceSumSquare", {v, emit.i64({1})}, {{"keepdims", keep}});
  };
  const Value cross = emit.mul(emit.op("MatMul", {a, emit.transpose(b, {1, 0})}), -2);
  const Value d = emit.maximum(emit.add(emit.add(cross, squares(a, 1)), squares(b, 0)), 0);
  return metric == "euclidean" ? emit.op("Sqrt", {d}) : d;
}

namespace {

/// (a + ib)(c + id), or with the second conjugated; parts are the last axis.
Value complex_product(const Node& node, const Emit& emit, bool conjugate) {
  const auto parts = [&](const Value& v) {
    decline_if(v.dim(-1) != 2, "complex numbers of ", v.dim(-1), " parts");
    return split(emit, v, v.rank() - 1, {1, 1});
  };
  const auto x = parts(node.in(0)), y = parts(node.in(1));
  const Value ac = emit.mul(x[0], y[0]), bd = emit.mul(x[1], y[1]), ad = emit.mul(x[0], y[1]),
              bc = emit.mul(x[1], y[0]);
  const Value real = conjugate ? emit.add(ac, bd) : emit.sub(ac, bd),
              imag = conjugate ? emit.sub(bc, ad) : emit.add(ad, bc);
  return concat(emit, {real, imag}, real.rank() - 1);
}

}  // namespace

GANTRY_UPGRADE(kMicrosoft, "ComplexMul", since(1)) { return complex_product(node, emit, false); }
GANTRY_UPGRADE(kMicrosoft, "ComplexMulConj", since(1)) { return complex_product(node, emit, true); }

/// The spectrum of real numbers along the last axis: [..., n] -> [..., n / 2 + 1, 2].
GANTRY_UPGRADE(kMicrosoft, "Rfft", since(1)) {
  decline_if(node.attr("signal_ndim", 1) != 1, "a signal of several dimensions");
  decline_if(node.attr("onesided", 1) != 1 || node.attr("normalized", 0) != 0, "a full or a normalised spectrum");
  const int rank = node.in(0).rank();
  const Value x = unsqueeze(emit, node.in(0), {rank});
  return emit.op("DFT", {x, Value(), emit.constant<std::int64_t>({}, {rank - 1})}, {{"onesided", 1}});
}

/// Its inverse, of an even number n of values.
GANTRY_UPGRADE(kMicrosoft, "Irfft", since(1)) {
  decline_if(node.attr("signal_ndim", 1) != 1, "a signal of several dimensions");
  decline_if(node.attr("onesided", 1) != 1 || node.attr("normalized", 0) != 0, "a full or a normalised spectrum");
  const Value x = node.in(0);
  const int axis = x.rank() - 2;
  const std::int64_t half = x.dim(axis);
  decline_if(axis < 0 || half < 2 || x.dim(-1) != 2, "a spectrum of shape ", text(x.dims()));
  Dims back;  // the other half, conjugated, from the end
  for (std::int64_t i = half - 2; i > 0; --i) back.push_back(i);
  Value all = x;
  if (!back.empty()) {
    const Value mirrored = emit.op("Gather", {x, emit.i64(back)}, {{"axis", axis}});
    all = concat(emit, {x, emit.mul(mirrored, emit.constant<float>({2}, {1, -1}))}, axis);
  }
  const Value y = emit.op("DFT", {all, Value(), emit.constant<std::int64_t>({}, {axis})}, {{"inverse", 1}});
  return pick(emit, y, x.rank() - 1, 0);
}

}  // namespace transformer
