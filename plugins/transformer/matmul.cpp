// Products with what is fused to them.
#include "activation.hpp"
#include "sizes.hpp"

namespace transformer {
namespace {

/// With `batch` the first axis goes before the last ([m, batch..., k] -> [batch..., m, k]); then `swap` swaps the last
/// two. A vector stays.
Value arranged(const Emit& emit, const Value& v, bool batch, bool swap) {
  const int rank = v.rank();
  if (rank < 2) return v;
  Dims perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (swap) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return emit.transpose(v, perm);
}

/// alpha * A B
Value product(const Node& node, const Emit& emit) {
  const auto flag = [&](std::string_view name) { return node.attr<std::int64_t>(name, 0) != 0; };
  const Value a = arranged(emit, node.in(0), flag("transBatchA"), flag("transA"));
  const Value b = arranged(emit, node.in(1), flag("transBatchB"), flag("transB"));
  const float alpha = node.attr("alpha", 1.0f);
  const Value y = emit.op("MatMul", {a, b});
  return alpha == 1 ? y : emit.mul(y, alpha);
}

}  // namespace

GANTRY_UPGRADE(kMicrosoft, "FusedMatMul", since(1)) { return product(node, emit); }
GANTRY_UPGRADE(kMicrosoft, "TransposeMatMul", since(1)) { return product(node, emit); }

GANTRY_UPGRADE(kMicrosoft, "FusedMatMulActivation", since(1)) {
  const Value y = product(node, emit);
  if (node.attr("activation", "") != "Softmax") return activated(node, emit, y);
  return emit.op("Softmax", {y}, {{"axis", node.attr("activation_axis", -1)}});
}

GANTRY_UPGRADE(kMicrosoft, "FusedGemm", since(1)) {
  const Value y = emit.op("Gemm", node.ins(),
                          {{"alpha", node.attr("alpha", 1.0f)},
                           {"beta", node.attr("beta", 1.0f)},
                           {"transA", node.attr("transA", 0)},
                           {"transB", node.attr("transB", 0)}});
  return activated(node, emit, y);
}

/// FastGelu(X W + bias); the bias may be absent.
GANTRY_UPGRADE(kMicrosoft, "GemmFastGelu", since(1)) {
  const Value y = emit.op("MatMul", {node.in(0), node.in(1)});
  return gelu(emit, node.in(2) ? emit.add(y, node.in(2)) : y, true);
}

}  // namespace transformer
