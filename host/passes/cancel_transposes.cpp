// TRANSPOSE and RESHAPE that are next to each other, next to a constant, or do nothing:
//   TRANSPOSE(TRANSPOSE(x, p), q)   one TRANSPOSE, none if q undoes p
//   TRANSPOSE that moves only axes of size 1, EXPAND_DIMS, SQUEEZE   RESHAPE
//   RESHAPE(RESHAPE(x))             one RESHAPE, none if the shape is x's
//   either of a constant            a handle of the constant
//   TRANSPOSE(f(TRANSPOSE(x, p)), q), f elementwise   TRANSPOSE(f(x)), none if q undoes p
// Everything that needs a choice between several places is the layout engine's.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "host/passes/passes.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

using Perm = std::vector<std::int64_t>;

// Of one operand, or of operands that are all single elements but one.
constexpr std::array<std::string_view, 33> kElementwise = {"RELU",        "RELU6",      "RELU_N1_TO_1",
                                                           "RELU_0_TO_1", "LOGISTIC",   "TANH",
                                                           "ELU",         "HARD_SWISH", "LEAKY_RELU",
                                                           "GELU",        "ABS",        "NEG",
                                                           "EXP",         "LOG",        "SQRT",
                                                           "RSQRT",       "SQUARE",     "SIN",
                                                           "COS",         "FLOOR",      "CEIL",
                                                           "ROUND",       "SIGN",       "CAST",
                                                           "LOGICAL_NOT", "ADD",        "SUB",
                                                           "MUL",         "DIV",        "POW",
                                                           "MAXIMUM",     "MINIMUM",    "SQUARED_DIFFERENCE"};

bool is_identity(const Perm& p) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// First `first`, then `second`: axis i of the result is axis first[second[i]] of the operand.
Perm composed(const Perm& first, const Perm& second) {
  Perm p(second.size());
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = first[static_cast<std::size_t>(second[i])];
  return p;
}

Perm inverse(const Perm& p) {
  Perm q(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) q[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
  return q;
}

// Whether the axes that are not of size 1 keep their order.
bool moves_only_ones(const Perm& p, const Type& t) {
  std::int64_t last = -1;
  for (const std::int64_t axis : p) {
    if (t.dims[static_cast<std::size_t>(axis)].size == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// Whether a RESHAPE from one to the other does nothing. One dimension without a size follows from the others.
bool same_shape(const Type& a, const Type& b) {
  if (!a.ranked || !b.ranked || a.dims != b.dims) return false;
  const auto anonymous = [](const Dim& d) { return !d.known() && d.symbol.empty(); };
  const auto empty = [](const Dim& d) { return d.size == 0; };
  const auto count = std::count_if(a.dims.begin(), a.dims.end(), anonymous);
  return count == 0 || (count == 1 && std::none_of(a.dims.begin(), a.dims.end(), empty));
}

class Cancel {
 public:
  explicit Cancel(Graph& g) : g_(g) {}

  void visit(NodeId n) {
    if (is_tflite(g_.node(n), "TRANSPOSE")) {
      transpose(n);
    } else if (is_tflite(g_.node(n), "RESHAPE")) {
      reshape(n);
    } else if (is_tflite(g_.node(n), "EXPAND_DIMS") || is_tflite(g_.node(n), "SQUEEZE")) {
      to_reshape(n);
    }
  }

 private:
  void transpose(NodeId n);
  void to_reshape(NodeId n);
  void reshape(NodeId n);
  bool sink(NodeId n, const Perm& perm);
  std::optional<ValueId> elementwise_operand(NodeId n) const;
  void replace(NodeId n, const Result<Constant>& c, ValueId source);
  void set_perm(NodeId n, ValueId x, const Perm& perm);
  void erase_if_unused(ValueId v);
  const Type& type(ValueId v) const { return g_.value(v).type; }

  Graph& g_;
};

void Cancel::transpose(NodeId n) {
  std::optional<Perm> perm = perm_of(g_, n);
  if (!perm) return;
  const ValueId x = g_.node(n).input(0);
  if (g_.value(x).is_constant()) return replace(n, g_.value(x).constant.permute(*perm), x);

  const NodeId before = producer_of(g_, x, n);
  if (const auto first = before ? perm_of(g_, before) : std::nullopt) {
    perm = composed(*first, *perm);
    set_perm(n, g_.node(before).input(0), *perm);
    erase_if_unused(x);
  } else if (sink(n, *perm)) {
    perm = perm_of(g_, n);
  }

  const ValueId operand = g_.node(n).input(0);
  if (is_identity(*perm)) {
    bypass(g_, n, operand);
  } else if (moves_only_ones(*perm, type(operand))) {
    to_reshape(n);
  }
}

// A node that only says the shape in another way, where a RESHAPE can say it.
void Cancel::to_reshape(NodeId n) {
  const ValueId result = g_.node(n).output(0);
  if (!g_.node(n).input(0) || !reshape_target(type(result))) return;
  const ValueId reshaped = add_reshape(g_, g_.before(n), g_.node(n).input(0), type(result), g_.node(n).name);
  const NodeId made = g_.value(reshaped).producer;
  bypass(g_, n, reshaped);
  reshape(made);
}

void Cancel::reshape(NodeId n) {
  const ValueId x = g_.node(n).input(0);
  if (!x) return;
  const Type& result = type(g_.node(n).output(0));
  if (g_.value(x).is_constant() && result.is_static()) {
    return replace(n, g_.value(x).constant.reshape(result.sizes()), x);
  }
  const NodeId before = producer_of(g_, x, n);
  if (before && is_tflite(g_.node(before), "RESHAPE")) {
    g_.set_operand(n, 0, g_.node(before).input(0));
    erase_if_unused(x);
  }
  const ValueId operand = g_.node(n).input(0);
  if (same_shape(type(operand), result)) bypass(g_, n, operand);
}

// A TRANSPOSE n behind elementwise nodes behind a TRANSPOSE takes the first one's place in: the elementwise nodes work
// in the order of the first one's operand. Done where that removes one of the two.
bool Cancel::sink(NodeId n, const Perm& perm) {
  std::vector<NodeId> chain;  // from n backwards
  ValueId v = g_.node(n).input(0);
  NodeId user = n;
  std::optional<Perm> first;
  NodeId p;
  while (!first) {
    p = producer_of(g_, v, user);
    if (!p) return false;
    if (is_tflite(g_.node(p), "TRANSPOSE")) {
      first = perm_of(g_, p);
      if (!first) return false;
      continue;
    }
    const std::optional<ValueId> operand = elementwise_operand(p);
    if (!operand || !single_use(g_, v)) return false;
    chain.push_back(p);
    user = p;
    v = *operand;
  }
  const Perm both = composed(*first, perm);
  if (chain.empty() || (!is_identity(both) && !single_use(g_, v))) return false;

  const ValueId source = g_.node(p).input(0);
  const std::vector<ValueId> operands = g_.node(chain.back()).inputs;
  g_.set_operand(chain.back(),
                 static_cast<std::size_t>(std::find(operands.begin(), operands.end(), v) - operands.begin()), source);
  const Perm back = inverse(*first);
  for (const NodeId e : chain) {
    const ValueId result = g_.node(e).output(0);
    g_.set_type(result, permuted(type(result), back));
  }
  erase_if_unused(v);
  set_perm(n, g_.node(n).input(0), both);
  return true;
}

// The operand of an elementwise node that is not a constant of one element, if there is one and it has the shape of the
// result.
std::optional<ValueId> Cancel::elementwise_operand(NodeId n) const {
  const Node& node = g_.node(n);
  const bool known =
      node.op.domain.empty() && std::find(kElementwise.begin(), kElementwise.end(), node.op.name) != kElementwise.end();
  if (!known || node.outputs.size() != 1) return std::nullopt;
  std::optional<ValueId> found;
  for (const ValueId v : node.inputs) {
    if (!v) return std::nullopt;
    const Value& value = g_.value(v);
    if (value.is_constant() && value.constant.elements() == 1) continue;
    if (found) return std::nullopt;
    found = v;
  }
  const Type& result = type(node.output(0));
  if (!found || !result.ranked || type(*found).dims != result.dims) return std::nullopt;
  return found;
}

void Cancel::replace(NodeId n, const Result<Constant>& c, ValueId source) {
  if (!c.ok()) return;
  g_.set_operand(n, 0, ValueId{});
  bypass(g_, n, succeed_constant(g_, *c, source));
}

void Cancel::set_perm(NodeId n, ValueId x, const Perm& perm) {
  g_.set_operands(n, std::array{x, add_ints(g_, perm, "perm")});
}

void Cancel::erase_if_unused(ValueId v) {
  if (g_.value(v).unused() && g_.value(v).producer) g_.erase_node(g_.value(v).producer);
}

}  // namespace

Status cancel_transposes(PassContext& c) {
  Cancel cancel(c.graph);
  for_each_tflite(c.graph, [&](NodeId n) { cancel.visit(n); });
  return {};
}

}  // namespace gantry::passes
