// What the target's kernels can run, by what the owner of each operator declares. Nothing is changed; every node that
// is beyond a limit is reported, equal ones together.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "host/passes/normalize.hpp"
#include "host/passes/passes.hpp"
#include "host/passes/problems.hpp"

namespace gantry::passes {
namespace {

std::string rank_problem(const Graph& g, const Node& node, const Limits& limits) {
  const auto check = [&](ValueId v, std::string_view what, std::size_t i) -> std::string {
    if (!v || !g.value(v).type.ranked) return {};
    const auto rank = static_cast<int>(g.value(v).type.rank());
    const bool above = limits.max_rank > 0 && rank > limits.max_rank;
    if (!above && rank >= limits.min_rank) return {};
    return std::string(what) + " " + std::to_string(i) + " has rank " + std::to_string(rank) + ", the kernel takes " +
           (above ? "at most " + std::to_string(limits.max_rank) : "at least " + std::to_string(limits.min_rank));
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (std::string p = check(node.inputs[i], "operand", i); !p.empty()) return p;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (std::string p = check(node.outputs[i], "result", i); !p.empty()) return p;
  }
  return {};
}

std::string dtype_names(std::uint64_t dtypes) {
  std::string names;
  for (unsigned i = 1; i < 64; ++i) {
    if ((dtypes >> i & 1) != 0) names += (names.empty() ? "" : ", ") + std::string(dtype_name(static_cast<DType>(i)));
  }
  return names;
}

std::string dtype_problem(const Graph& g, ValueId v, std::uint64_t dtypes, std::string_view what) {
  if (dtypes == 0 || !v) return {};
  const DType t = g.value(v).type.dtype;
  if (t == DType::undefined || (dtypes >> static_cast<unsigned>(t) & 1) != 0) return {};
  return std::string(what) + " is " + std::string(dtype_name(t)) + ", the kernel takes " + dtype_names(dtypes);
}

// Everything of the node that is beyond a limit; of results only what operands do not say already.
std::vector<std::string> problems_of(const Graph& g, const Node& node, const Limits& limits) {
  std::vector<std::string> found;
  found.push_back(rank_problem(g, node, limits));
  found.push_back(dtype_problem(g, node.input(0), limits.operand_dtypes, "operand 0"));
  if (found.back().empty()) found.push_back(dtype_problem(g, node.output(0), limits.dtypes, "result 0"));
  std::erase(found, "");
  return found;
}

// LiteRT reads no model that has a tensor of a higher rank ("Tensor rank (9) exceeds max rank (8)").
constexpr std::size_t kTensorRank = 8;

void check_ranks(const PassContext& c, Problems& problems) {
  if (c.target != "tflite") return;
  const Graph& g = c.graph;
  for (const RegionId r : g.regions()) {
    for (const ValueId v : g.region(r).inputs) {
      if (g.value(v).type.rank() > kTensorRank)
        problems.add(error(Code::target_limit, "input " + std::string(g.value(v).name) + " has rank " +
                                                   std::to_string(g.value(v).type.rank()) +
                                                   ", the runtime reads at most " + std::to_string(kTensorRank)));
    }
    for (NodeId n = g.region(r).first; n; n = g.node(n).next) {
      std::size_t rank = 0;
      for (const ValueId v : g.node(n).inputs) rank = std::max(rank, v ? g.value(v).type.rank() : 0);
      for (const ValueId v : g.node(n).outputs) rank = std::max(rank, v ? g.value(v).type.rank() : 0);
      if (rank <= kTensorRank) continue;
      problems.add(about_node(
          error(Code::target_limit, std::string(g.node(n).op.name) + ": a tensor has rank " + std::to_string(rank) +
                                        ", the runtime reads at most " + std::to_string(kTensorRank)),
          g, n));
    }
  }
}

// LiteRT cannot hand out a tensor without elements.
void check_outputs(const PassContext& c, Problems& problems) {
  const Graph& g = c.graph;
  for (const Output& o : g.region(g.main()).outputs) {
    if (c.target == "tflite" && o.value && g.value(o.value).type.elements() == 0)
      problems.add(error(Code::target_limit, "output " + o.name + " is " + g.value(o.value).type.str() +
                                                 ": the runtime gives out no tensor without elements"));
  }
}

// LiteRT's own Python interface cannot take or hand out bfloat16, though its kernels know it.
void check_signature(const PassContext& c, Problems& problems) {
  if (c.target != "tflite") return;
  const Graph& g = c.graph;
  const Region& main = g.region(g.main());
  const auto check = [&](ValueId v, std::string_view what, std::string_view name) {
    if (v && g.value(v).type.dtype == DType::bfloat16)
      problems.add(error(Code::target_limit, std::string(what) + " " + std::string(name) +
                                                 " is bf16: the runtime has no arrays of it at its interface"));
  };
  for (std::size_t i = 0; i < main.inputs.size(); ++i) check(main.inputs[i], "input", main.input_names[i]);
  for (const Output& o : main.outputs) check(o.value, "output", o.name);
}

// Forms that an upgrade could not bring to the newest, and functions of the source that are still called.
Status check_forms(PassContext& c, Problems& problems) {
  for (const RegionId r : c.graph.regions()) {
    for (const NodeId n : c.graph.nodes(r)) {
      const Op op = c.graph.node(n).op;
      if (c.source && c.source->is_local(op)) {
        problems.add(about_node(error(Code::unsupported_op, "a function of the model with subgraphs of its caller"),
                                c.graph, n));
        continue;
      }
      // What is offered for a node with subgraphs only takes the branch of a known condition; its forms mean the same.
      if (!c.graph.node(n).regions.empty()) continue;
      // So does the newest form itself, and an operator of a domain that ONNX does not define stays what it is.
      const int newest = c.source ? c.source->newest_version(op) : 0;
      if (newest == 0 || op.version >= newest) continue;
      GANTRY_ASSIGN(const Outcome outcome, c.plugins.upgrade(c.graph, n));
      if (outcome.kind != Outcome::Kind::declined) continue;
      Diagnostic d = outcome.reasons.empty() ? error(Code::declined, "no reason given") : outcome.reasons.front();
      d.message = "cannot bring " + op_description(op) + " to its newest form: " + d.message;
      problems.add(about_node(std::move(d), c.graph, n));
    }
  }
  return {};
}

}  // namespace

Status limits(PassContext& c) {
  const Graph& g = c.graph;
  Problems problems;
  for (const RegionId r : g.regions()) {
    for (NodeId n = g.region(r).first; n; n = g.node(n).next) {
      const Node& node = g.node(n);
      const Limits* limits = node.op.dialect == c.target ? c.plugins.limits(node.op) : nullptr;
      if (!limits) continue;
      for (const std::string& text : problems_of(g, node, *limits)) {
        problems.add(about_node(error(Code::target_limit, std::string(node.op.name) + ": " + text), g, n));
      }
    }
  }
  check_ranks(c, problems);
  check_outputs(c, problems);
  check_signature(c, problems);
  if (c.target == "onnx") GANTRY_TRY(check_forms(c, problems));
  return problems.report(c.report);
}

}  // namespace gantry::passes
