#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "host/ir/verifier.hpp"
#include "host/passes/pass.hpp"
#include "host/passes/passes.hpp"

namespace gantry {
namespace {

constexpr std::array kPasses = {
    Pass{"normalize", "newest operator forms, types, folded constants, expanded functions", passes::normalize},
    Pass{"patterns", "the patterns of the plugins", passes::patterns},
    Pass{"convert", "every node to the target dialect", passes::convert},
    Pass{"cancel_casts", "CAST and BITCAST that undo what the one before did", passes::cancel_casts},
    Pass{"cancel_transposes", "TRANSPOSE and RESHAPE that compose, vanish, or meet a constant",
         passes::cancel_transposes},
    Pass{"layout", "orders and shapes of all values, so that the fewest bytes are moved", passes::layout},
    Pass{"fuse_bias", "ADD, SUB, MUL and DIV by a constant along the channel, into bias and weights",
         passes::fuse_bias},
    Pass{"fuse_input", "ADD, SUB, MUL and DIV by a constant along the channel, into the weights that read it",
         passes::fuse_input},
    Pass{"fuse_scale", "MUL and DIV by a number, into the weights of the output channels that it is for",
         passes::fuse_scale},
    Pass{"fuse_center", "means that every reader takes away, out of the weights that make the values",
         passes::fuse_center},
    Pass{"merge_projections", "queries, keys and values of one operand, in one FULLY_CONNECTED",
         passes::merge_projections},
    Pass{"fuse_pad", "PAD before a convolution or pool whose padding is then SAME", passes::fuse_pad},
    Pass{"fuse_activation", "RELU, RELU6 and RELU_N1_TO_1 into the operator before", passes::fuse_activation},
    Pass{"cse", "equal nodes and equal constants become one", passes::cse},
    Pass{"dce", "removes what nothing uses", passes::dce},
    Pass{"own_states", "what a kernel changes is a tensor that is written anew in every run", passes::own_states},
    Pass{"distinct_outputs", "no output is an input, a constant, or another output", passes::distinct_outputs},
    Pass{"limits", "checks that the target's kernels can run every node", passes::limits},
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

#ifdef NDEBUG
constexpr bool kAlwaysVerify = false;
#else
constexpr bool kAlwaysVerify = true;
#endif

void dump(std::string_view when, const Pass& pass, const PassContext& c) {
  if (!c.options.on_dump || (!c.options.dump.contains(pass.name) && !c.options.dump.contains("*"))) return;
  c.options.on_dump(std::string(when) + " " + std::string(pass.name), c.graph);
}

// A pass that runs in several rounds has one record, of their sum.
PassRecord& record_of(const Pass& pass, PassContext& c) {
  const auto it = std::find_if(c.report.passes.begin(), c.report.passes.end(),
                               [&](const PassRecord& r) { return r.name == pass.name; });
  if (it != c.report.passes.end()) return *it;
  PassRecord& record = c.report.passes.emplace_back();
  record.name = pass.name;
  record.nodes_before = record.nodes_after = c.graph.live_nodes();
  return record;
}

Status verify_after(const Pass& pass, PassContext& c) {
  if (!kAlwaysVerify && !c.options.verify) return {};
  Status status = verify(c.graph);
  if (status.ok()) return {};
  Diagnostic d = status.take_error();
  d.message = "after the pass " + std::string(pass.name) + ": " + d.message;
  d.hint = "this is a bug of Gantry or of a plugin; --set passes.disable=" + std::string(pass.name) + " may avoid it";
  return d;
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  const auto it = std::find_if(kPasses.begin(), kPasses.end(), [&](const Pass& p) { return p.name == name; });
  return it == kPasses.end() ? nullptr : &*it;
}

Status run_pass(const Pass& pass, PassContext& c) {
  PassRecord& record = record_of(pass, c);
  record.enabled = !c.options.disabled.contains(pass.name);
  if (!record.enabled) return {};
  if (c.options.on_progress) c.options.on_progress(pass.name, 0, c.graph.live_nodes());
  dump("before", pass, c);
  const Clock::time_point start = Clock::now();
  Status status = pass.run(c);
  record.seconds += seconds_since(start);
  record.nodes_after = c.graph.live_nodes();
  for (Diagnostic& d : c.plugins.take_messages()) c.report.add(std::move(d));
  GANTRY_TRY(std::move(status));
  dump("after", pass, c);
  return verify_after(pass, c);
}

}  // namespace gantry
