// Upgrade, inference, folding and expansion in one forward walk, because each needs the others: inference needs the
// newest form and the values that folding made, folding needs types, a function body needs all three.
//
// Why one walk is the fixed point: all four look at one node, its operands, and its own regions only. Nodes are in
// topological order, so when a node is reached its operands have their final types and values; nothing later in the
// walk changes them. Nodes that are put in a node's place are walked before what follows (Sweep), under the same
// argument. A node with regions is inferred twice: before its regions are walked, which gives the types of their
// inputs, and after, when the types of their outputs are known.
//
// Cost: linear in nodes, times the depth of nested regions.
#include "host/passes/normalize.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

// A folded constant is stored in the file; a node that makes a big tensor of a small one (ConstantOfShape, Expand,
// Tile) is better left to the runtime. Four times covers an int8 weight that is dequantized.
constexpr std::uint64_t kGiantBytes = 1 << 20;
constexpr std::uint64_t kGiantFactor = 4;

std::uint64_t bytes_of(const Type& t) {
  const std::optional<std::int64_t> n = t.elements();
  return n ? packed_bytes(t.dtype, static_cast<std::uint64_t>(*n)).value_or(UINT64_MAX) : 0;
}

bool giant_result(const Graph& g, const Node& node) {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  const auto add = [](std::uint64_t& sum, std::uint64_t more) {
    sum = more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
  };
  for (const ValueId v : node.inputs) {
    if (v) add(in, bytes_of(g.value(v).type));
  }
  for (const ValueId v : node.outputs) {
    if (v) add(out, bytes_of(g.value(v).type));
  }
  return out > kGiantBytes && out / kGiantFactor > in;
}

// Shape and Size follow from the type of their operand, constant or not. They are the only operators that do: another
// operator's folder may rely on constants.
bool follows_from_types(const Graph& g, const Node& node) {
  return (node.op.is("onnx", "Shape") || node.op.is("onnx", "Size")) && node.input(0) &&
         g.value(node.input(0)).type.ranked;
}

// A node whose results have no elements needs nobody to compute them. Kernels seldom can, and no order is theirs.
bool yields_nothing(const Graph& g, const Node& node) {
  if (!node.regions.empty() || node.outputs.empty()) return false;
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
    return v && g.value(v).type.elements() == 0 && g.value(v).type.dtype != DType::string;
  });
}

void fold_empty(Graph& g, NodeId n) {
  for (const ValueId v : std::vector<ValueId>(g.node(n).outputs.begin(), g.node(n).outputs.end())) {
    const Type type = g.value(v).type;
    g.replace_uses(v, g.add_constant(Constant::own(type.dtype, type.sizes(), {})));
  }
  g.erase_node(n);
}

}  // namespace

std::string op_text(const Op& op) {
  return op.domain.empty() ? std::string(op.name) : std::string(op.domain) + "::" + std::string(op.name);
}

std::string op_description(const Op& op) {
  std::string text(op.name);
  if (!op.domain.empty()) text += " of domain " + std::string(op.domain);
  return text + ", since version " + std::to_string(op.version);
}

const Semantics* semantics_of(const PassContext& c, const Op& op) {
  const Semantics& plugins = c.plugins.semantics();
  if (plugins.knows(op)) return &plugins;
  return c.source && c.source->knows(op) ? c.source : nullptr;
}

Diagnostic about_node(Diagnostic d, const Graph& g, NodeId n) {
  if (!g.contains(n)) return d;
  if (d.node.empty()) d.node = g.node(n).name;
  if (d.op.empty()) d.op = op_text(g.node(n).op);
  return d;
}

Status Normalizer::region(RegionId r) { return sweep(Sweep(c_.graph, r)); }

Status Normalizer::range(RegionId r, NodeId after, NodeId until) { return sweep(Sweep(c_.graph, r, after, until)); }

Status Normalizer::sweep(Sweep s) {
  while (const NodeId n = s.current()) {
    progress();
    // The node may be gone when an error comes: its name is kept for the message.
    Diagnostic where = about_node({}, c_.graph, n);
    Result<bool> changed = replaced(n);
    Status status;
    if (!changed.ok()) {
      status = changed.take_error();
    } else if (*changed) {
      status = s.descend();
    } else {
      s.advance();
    }
    if (!status.ok()) {
      Diagnostic d = status.take_error();
      if (d.node.empty()) d.node = std::move(where.node);
      if (d.op.empty()) d.op = std::move(where.op);
      return d;
    }
  }
  return {};
}

Result<bool> Normalizer::replaced(NodeId n) {
  GANTRY_ASSIGN(const bool upgrade, upgraded(n));
  if (upgrade) return true;
  GANTRY_TRY(infer(n));
  GANTRY_ASSIGN(const bool fold, folded(n));
  if (fold) return true;
  return expanded(n);
}

Result<bool> Normalizer::upgraded(NodeId n) {
  GANTRY_ASSIGN(const Outcome outcome, c_.plugins.upgrade(c_.graph, n));
  return outcome.kind == Outcome::Kind::done;
}

Status Normalizer::infer(NodeId n) {
  const Semantics* semantics = semantics_of(c_, c_.graph.node(n).op);
  if (semantics) GANTRY_TRY(semantics->infer(c_.graph, n));
  if (c_.graph.node(n).regions.empty()) return {};
  const auto regions = c_.graph.node(n).regions;  // a copy: the graph grows meanwhile
  for (const auto& [attribute, r] : regions) GANTRY_TRY(region(r));
  return semantics ? semantics->infer(c_.graph, n) : Status{};
}

Result<bool> Normalizer::folded(NodeId n) {
  const Graph& g = c_.graph;
  const Node& node = g.node(n);
  if (!node.regions.empty()) return false;
  if (yields_nothing(g, node)) {
    fold_empty(c_.graph, n);
    return true;
  }
  const bool constant =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return !v || g.value(v).is_constant(); });
  if (constant ? giant_result(g, node) : !follows_from_types(g, node)) return false;
  return c_.plugins.fold(c_.graph, n);
}

Result<bool> Normalizer::expanded(NodeId n) {
  const Op& op = c_.graph.node(n).op;
  if (c_.target.empty() || c_.plugins.offers_converter(op, c_.target)) return false;
  // An operator of the target stays, but for the model's own functions, which are not written.
  if (op.dialect == c_.target && !(c_.source && c_.source->is_local(op))) return false;
  const Semantics* semantics = semantics_of(c_, op);
  if (!semantics || !c_.graph.node(n).regions.empty()) return false;  // a body would be made without the subgraphs
  return semantics->expand(c_.graph, n);
}

void Normalizer::progress() {
  constexpr std::size_t kEvery = 256;
  if (++visited_ % kEvery == 0 && c_.options.on_progress) {
    c_.options.on_progress("normalize", std::min(visited_, c_.graph.live_nodes()), c_.graph.live_nodes());
  }
}

Status normalize(PassContext& c) { return Normalizer(c).region(c.graph.main()); }

}  // namespace gantry::passes
