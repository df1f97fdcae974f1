// Scan: a loop over slices of its operands. Source: ONNX operator specification, ai.onnx.
#include <algorithm>

#include "loop.hpp"

namespace core_ops {
namespace {

/// perm that brings `axis` to the front, or axis 0 to `axis`.
Dims axis_to_front(int axis, int rank) {
  Dims perm{axis};
  for (int i = 0; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  return perm;
}
Dims front_to_axis(int axis, int rank) { return inverse(axis_to_front(axis, rank)); }

/// Element i of a list attribute, 0 where it is not given.
std::int64_t entry(const Node& node, std::string_view name, std::size_t i) {
  const Dims all = node.attr(name, Dims{});
  return i < all.size() ? all[i] : 0;
}

/// Scan-9 and later: (states..., sequences...) with body (states..., slices...) -> (states..., rows...).
class ScanConverter {
 public:
  ScanConverter(const Node& node, const Emit& emit)
      : node_(node),
        emit_(emit),
        body_(node.region("body")),
        inputs_(body_.inputs()),
        outputs_(body_.outputs()),
        captures_(body_.captures()),
        sequences_(static_cast<std::size_t>(node.attr<std::int64_t>("num_scan_inputs"))),
        loop_(emit) {
    decline_if(sequences_ < 1 || sequences_ > node.in_count() || inputs_.size() != node.in_count() ||
                   outputs_.size() < inputs_.size() - sequences_,
               "the body does not fit the operands");
    states_ = inputs_.size() - sequences_;
  }

  Results convert() {
    counter_ = loop_.carry(emit_.constant<std::int32_t>({}, {0}));
    for (std::size_t i = 0; i < states_; ++i) {
      decline_if(outputs_[i].ranked() && inputs_[i].ranked() && outputs_[i].rank() != inputs_[i].rank(), "the state '",
                 inputs_[i].name(), "' changes its rank");
      state_.push_back(loop_.carry(fitted(node_.in(i), inputs_[i].type()), inputs_[i].type()));
    }
    for (std::size_t i = 0; i < sequences_; ++i) add_sequence(i);
    if (!rounds_.is_known()) rounds_place_ = loop_.pass(rounds_.value);
    for (const Value& v : captures_) captured_.push_back(loop_.pass(v));
    for (std::size_t i = states_; i < outputs_.size(); ++i) {
      rows_.emplace_back();
      if (node_.out(i))
        rows_.back().emplace(emit_, loop_, outputs_[i].type(), rounds_, false,
                             entry(node_, "scan_output_directions", i - states_) != 0);
    }
    if (rounds_.known == 0) return nothing_scanned();
    return finish(loop_.run([&](const auto& args) { return emit_.op("LESS", {args[counter_], rounds(args)}); },
                            [&](const auto& args) { return round(args); }));
  }

 private:
  Value fitted(const Value& v, const Type& type) const {
    if (!type.dims || !Value::known(*type.dims) || (v.ranked() && v.is_static() && v.dims() == *type.dims)) return v;
    return emit_.reshape(v, *type.dims);
  }

  void add_sequence(std::size_t i) {
    Value x = node_.in(states_ + i);
    const int axis = normalize_axis(entry(node_, "scan_input_axes", i), x.rank());
    const std::int64_t n = x.dim(axis);
    if (i == 0 || (n >= 0 && !rounds_.is_known())) rounds_ = extent_of(emit_, x, axis);
    x = emit_.transpose(x, axis_to_front(axis, x.rank()));
    if (x.constant()) constants_.push_back(x);
    sequence_.push_back(x.constant() ? 0 : loop_.pass(x));
    if (!x.constant()) constants_.emplace_back();
  }

  Value rounds(const std::vector<Value>& args) const {
    return rounds_.is_known() ? rounds_.scalar(emit_) : args[rounds_place_];
  }

  std::vector<Value> round(const std::vector<Value>& args) const {
    const Value i = args[counter_];
    std::vector<Value> from = inputs_, to;
    for (std::size_t at : state_) to.push_back(args[at]);
    for (std::size_t k = 0; k < sequences_; ++k) {
      const Value x = constants_[k] ? constants_[k] : args[sequence_[k]];
      const bool backward = entry(node_, "scan_input_directions", k) != 0;
      const Value at = backward ? emit_.sub(emit_.sub(rounds(args), 1), i) : i;
      to.push_back(fitted(emit_.op("GATHER", {x, at}, {{"axis", 0}}), inputs_[states_ + k].type()));
    }
    for (std::size_t k = 0; k < captures_.size(); ++k) {
      from.push_back(captures_[k]);
      to.push_back(args[captured_[k]]);
    }
    const std::vector<Value> made = emit_.copy(body_, from, to);
    std::vector<Value> results(args.size());
    results[counter_] = emit_.add(i, 1);
    for (std::size_t k = 0; k < states_; ++k) {
      results[state_[k]] = fitted(made[k], inputs_[k].type());
    }
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if (rows_[k]) rows_[k]->add(args, results, i, made[states_ + k]);
    return results;
  }

  Value placed(const Value& stacked, std::size_t k) const {
    const int rank = stacked.rank();
    return emit_.transpose(stacked, front_to_axis(normalize_axis(entry(node_, "scan_output_axes", k), rank), rank));
  }

  Results finish(const std::vector<Value>& after) const {
    std::vector<Value> results;
    for (std::size_t at : state_) results.push_back(after[at]);
    for (std::size_t k = 0; k < rows_.size(); ++k)
      results.push_back(rows_[k] ? placed(rows_[k]->stacked(after, after[counter_]), k) : Value());
    return results;
  }

  Results nothing_scanned() const { decline("a scan over nothing"); }

  const Node& node_;
  const Emit& emit_;
  const Region body_;
  const std::vector<Value> inputs_, outputs_, captures_;
  const std::size_t sequences_;
  std::size_t states_ = 0;
  While loop_;
  Extent rounds_ = -1;
  std::size_t counter_ = 0, rounds_place_ = 0;
  std::vector<std::size_t> state_, sequence_, captured_;
  std::vector<Value> constants_;  // sequences that need not be passed
  std::vector<std::optional<Rows>> rows_;
};

}  // namespace

GANTRY_CONVERT(onnx, "Scan", since(9), to(tflite)) { return ScanConverter(node, emit).convert(); }

}  // namespace core_ops
