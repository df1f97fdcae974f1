// Control flow that is none once the operands are known, and old forms of it. In ONNX's own operators, before types are
// inferred: what comes out is folded and inferred with the rest.
#include <algorithm>

#include "common.hpp"

namespace core_ops {
namespace {

constexpr std::int64_t kMostRounds = 8;  // of a loop that is written out
constexpr std::size_t kMostNodes = 128;  // that it may become

/// The value behind any number of Identity nodes.
Value behind_identities(Value v) {
  for (auto p = v.producer(); p && p->is("Identity"); p = v.producer()) v = p->in(0);
  return v;
}

bool is_true(const Value& v) {
  if (v.constant()) return v.is_static() && v.elements() == 1 && v.scalar<bool>();
  const auto p = v.producer();
  if (!p || !p->is("Constant") || !p->has_attr("value")) return false;
  const Value held = p->attr<Value>("value");
  return held.constant() && held.elements() == 1 && held.scalar<bool>();
}

}  // namespace

/// If on a constant is the branch that it takes.
GANTRY_UPGRADE(onnx, "If", since(1)) {
  const Value condition = node.in(0);
  decline_if(!condition || !condition.constant() || condition.elements() != 1, "the condition is not known");
  std::vector<Value> results = emit.copy(node.region(condition.scalar<bool>() ? "then_branch" : "else_branch"), {}, {});
  results.resize(node.out_count());
  return results;
}

/// A loop that runs a few times for sure is its body a few times.
GANTRY_UPGRADE(onnx, "Loop", since(1)) {
  const Value trip = node.in(0), start = node.in(1);
  const Region body = node.region("body");
  decline_if(!trip || !trip.constant() || trip.elements() != 1 || (start && !is_true(start)),
             "how often it runs is not known");
  const std::int64_t rounds = trip.scalar<std::int64_t>();
  const std::vector<Value> inputs = body.inputs(), outputs = body.outputs(), captures = body.captures();
  decline_if(rounds < 1 || rounds > kMostRounds ||
                 static_cast<std::size_t>(rounds) * std::max<std::size_t>(body.node_count(), 1) > kMostNodes,
             "it runs too often to be written out");
  decline_if(
      inputs.size() < 2 || node.in_count() > inputs.size() || outputs.empty() || outputs.size() < inputs.size() - 1,
      "the body does not fit");
  const Value again = behind_identities(outputs[0]);
  decline_if(!is_true(again) && !(again == inputs[1]), "the body may end it");

  const std::size_t states = inputs.size() - 2;
  std::vector<Value> state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(node.in(i + 2));
  std::vector<std::vector<Value>> rows(outputs.size() - states - 1);
  for (std::int64_t i = 0; i < rounds; ++i) {
    const auto scalar = [&](const Value& like, DType t, double number) {
      return emit.numbers(t, Dims(like.ranked() ? static_cast<std::size_t>(like.rank()) : 0, 1), {number});
    };
    std::vector<Value> to{scalar(inputs[0], DType::int64, static_cast<double>(i)),
                          scalar(inputs[1], DType::boolean, 1)};
    to.insert(to.end(), state.begin(), state.end());
    const std::vector<Value> made = emit.copy(body, inputs, to);
    for (std::size_t k = 0; k < states; ++k) state[k] = made[k + 1];
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (node.out(states + k)) rows[k].push_back(emit.op("Unsqueeze", {made[states + 1 + k], emit.i64({0})}));
  }
  std::vector<Value> results = state;
  for (const auto& r : rows) results.push_back(r.empty() ? Value() : emit.op("Concat", r, {{"axis", 0}}));
  results.resize(node.out_count());
  return results;
}

/// Range on tensors of one element, as ONNX Runtime takes them and function bodies make them.
GANTRY_UPGRADE(onnx, "Range", since(11)) {
  std::vector<Value> scalars = node.ins();
  bool changed = false;
  for (Value& v : scalars) {
    if (!v || !v.is_static() || v.rank() == 0 || v.elements() != 1) continue;
    v = emit.reshape(v, {});
    changed = true;
  }
  decline_if(!changed, "its operands are scalars");
  return emit.op("Range", scalars);
}

/// Scan-8 runs its body over axis 1 for each entry of a batch: a scan over the batch around one over the sequence.
GANTRY_UPGRADE(onnx, "Scan", versions(8, 8)) {
  decline_if(static_cast<bool>(node.in(0)), "sequence_lens of Scan-8");
  const Region body = node.region("body");
  const auto sequences = node.attr<std::int64_t>("num_scan_inputs");
  std::vector<Value> operands = node.ins();
  operands.erase(operands.begin());
  std::vector<Type> slices;
  for (const Value& v : operands) {
    Type t = v.type();
    decline_if(!t.dims || t.dims->empty(), "the rank of an operand is not known");
    t.dims->erase(t.dims->begin());
    slices.push_back(t);
  }
  const std::vector<Value> inputs = body.inputs();
  decline_if(inputs.size() != operands.size(), "the body does not fit the operands");
  const std::size_t results = body.outputs().size();
  const Region outer = emit.region(body.name(), slices, [&](const std::vector<Value>& args) {
    std::vector<Type> types;
    for (std::size_t i = 0; i < args.size(); ++i) {
      Type t = args[i].type();
      if (i + static_cast<std::size_t>(sequences) >= args.size() && !t.dims->empty()) t.dims->erase(t.dims->begin());
      types.push_back(t);
    }
    const Region inner = emit.region(
        body.name(), types, [&](const std::vector<Value>& inner_args) { return emit.copy(body, inputs, inner_args); });
    Attributes attributes{{"num_scan_inputs", sequences}};
    if (node.has_attr("directions")) attributes.emplace_back("scan_input_directions", node.attr<Dims>("directions"));
    return emit.ops_with({{"body", inner}}, "Scan", args, attributes, std::vector<Type>(results));
  });
  std::vector<Value> made =
      emit.ops_with({{"body", outer}}, "Scan", operands,
                    {{"num_scan_inputs", static_cast<std::int64_t>(operands.size())}}, std::vector<Type>(results));
  made.resize(node.out_count());
  return made;
}

}  // namespace core_ops
