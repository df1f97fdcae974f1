// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Everything is done on one row of classes for each target:
// [n, c, d...] becomes [m, c], the loss of row i is -w[t_i] * x[i, t_i]. Operators: ONNX operator specification.
#include "runtime.hpp"

namespace core_ops {
namespace {

/// [n, c, d...] as [n, c, all d] and back.
struct Classes {
  Extent n, c, rest;
  Classes(const Emit& emit, const Value& x)
      : n(extent_of(emit, x, 0)), c(extent_of(emit, x, 1)), rest(product(emit, extents_of(emit, x, 2, x.rank()))) {}
  Extent rows(const Emit& emit) const { return product(emit, {n, rest}); }
};

/// One row of classes for each target: [n, c, d...] -> [m, c].
Value rows_of(const Emit& emit, const Value& x, const Classes& k) {
  if (x.rank() == 2) return x;
  const Value flat = x.rank() == 3 ? x : reshape_to(emit, x, {k.n, k.c, k.rest});
  return reshape_to(emit, emit.transpose(flat, {0, 2, 1}), {k.rows(emit), k.c});
}

/// Row i's loss and its weight, [m] each.
struct Losses {
  Value loss, weight;
};

Losses losses(const Node& node, const Emit& emit, const Value& rows, const Classes& k) {
  const Value target = saturated(emit, flat(emit, node.in(1))), weights = node.in(2);
  Value at = target, counted;
  if (node.has_attr("ignore_index")) {
    const Value ignored = emit.scalar(DType::int32, static_cast<double>(node.attr<std::int64_t>("ignore_index")));
    const Value yes = emit.op("NOT_EQUAL", {target, ignored});
    at = emit.op("SELECT_V2", {yes, target, emit.scalar(DType::int32, 0)});
    counted = emit.cast(yes, rows.dtype());
  }
  const Value base = emit.mul(counting(emit, k.rows(emit)), k.c.scalar(emit));
  const Value picked = gather(emit, flat(emit, rows), emit.add(base, at));
  Losses l;
  l.weight = weights ? gather(emit, weights, at) : Value();
  if (counted) l.weight = l.weight ? emit.mul(l.weight, counted) : counted;
  l.loss = emit.op("NEG", {picked});
  if (weights) l.loss = emit.mul(l.loss, gather(emit, weights, at));
  // What is ignored counts 0 even if it is infinite.
  if (counted)
    l.loss = emit.op("SELECT_V2", {emit.op("GREATER", {counted, emit.scalar(rows.dtype(), 0)}), l.loss,
                                   emit.scalar(rows.dtype(), 0)});
  return l;
}

Value total(const Emit& emit, const Value& v) { return emit.op("SUM", {v, emit.i32({0})}, {{"keep_dims", false}}); }

/// The mean is over weights: what is ignored does not count.
Value reduced(const Node& node, const Emit& emit, const Value& rows, const Classes& k) {
  const Losses l = losses(node, emit, rows, k);
  const std::string reduction = node.attr("reduction", "mean");
  if (reduction == "none") {
    const Value target = node.in(1);
    return reshape_to(emit, l.loss, extents_of(emit, target, 0, target.rank()));
  }
  if (reduction == "sum") return total(emit, l.loss);
  decline_if(reduction != "mean", "reduction '", reduction, "' is not known");
  if (!l.weight) return emit.op("MEAN", {l.loss, emit.i32({0})}, {{"keep_dims", false}});
  return emit.div(total(emit, l.loss), total(emit, l.weight));
}

}  // namespace

GANTRY_CONVERT(onnx, "NegativeLogLikelihoodLoss", since(12), to(tflite)) {
  const Value x = node.in(0);
  decline_if(x.rank() < 2, "losses of rank ", x.rank());
  const Classes k(emit, x);
  return reduced(node, emit, rows_of(emit, x, k), k);
}

/// The loss of log(softmax(x)), which is also the second result.
GANTRY_CONVERT(onnx, "SoftmaxCrossEntropyLoss", since(12), to(tflite)) {
  const Value x = node.in(0);
  decline_if(x.rank() < 2, "losses of rank ", x.rank());
  const Classes k(emit, x);
  const Value rows = emit.op("LOG_SOFTMAX", {rows_of(emit, x, k)});
  std::vector<Value> results{reduced(node, emit, rows, k)};
  if (node.out_count() > 1 && node.out(1)) {
    const Value parted = reshape_to(emit, rows, {k.n, k.rest, k.c});
    results.push_back(reshape_to(emit, emit.transpose(parted, {0, 2, 1}), extents_of(emit, x, 0, x.rank())));
  }
  results.resize(node.out_count());
  return results;
}

}  // namespace core_ops
