// If, Loop and Scan. Source: ONNX operator specification, ai.onnx. A body is converted before the node that it belongs
// to.
#include <algorithm>

#include "loop.hpp"

namespace core_ops {
namespace {

/// A condition or a count as a scalar; some exporters write [1].
Value as_scalar(const Emit& emit, const Value& v) {
  if (v.ranked() && v.rank() == 0) return v;
  return emit.ops("RESHAPE", 1, {v, emit.i32({})}, {{"new_shape", Dims{}}}, {{v.dtype(), Dims{}}})[0];
}

/// A scalar in the type that a body has for it.
Value in_type(const Emit& emit, const Value& scalar, const Value& wanted) {
  const Value v = emit.cast(scalar, wanted.dtype());
  if (!wanted.ranked() || wanted.rank() == 0) return v;
  return emit.reshape(v, Dims(static_cast<std::size_t>(wanted.rank()), 1));
}

bool is_constant(const Value& v, bool value) {
  return v.constant() && v.is_static() && v.elements() == 1 && v.scalar<bool>() == value;
}

/// Where the dims of two types agree; element types must.
Type common_type(const Type& a, const Type& b, std::string_view what) {
  decline_if(a.dtype != b.dtype, what, " is ", name_of(a.dtype), " in one place and ", name_of(b.dtype), " in another");
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) return {a.dtype, std::nullopt};
  Dims dims = *a.dims;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != (*b.dims)[i]) dims[i] = -1;
  return {a.dtype, dims};
}

void check_type(const Value& v) {
  decline_if(v.dtype() == DType::undefined || v.dtype() == DType::string, "'", v.name(),
             "' of the subgraph is no tensor of numbers");
}

std::vector<Value> joined(std::vector<Value> a, const std::vector<Value>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A branch as a region whose arguments are all that either branch uses of outside.
Region branch(const Emit& emit, const Region& from, const std::vector<Value>& captures,
              const std::vector<Type>& types) {
  std::vector<Type> arguments;
  for (const Value& v : captures) arguments.push_back(v.type());
  return emit.region(from.name(), arguments, [&](const std::vector<Value>& args) {
    std::vector<Value> results = emit.copy(from, captures, args);
    for (std::size_t i = 0; i < results.size(); ++i) {
      Value& r = results[i];
      // IF gives each output memory of its own: none may be an argument, or the same as one before.
      const auto here = results.begin() + static_cast<std::ptrdiff_t>(i);
      const bool taken =
          std::find(args.begin(), args.end(), r) != args.end() || std::find(results.begin(), here, r) != here;
      if (taken && !r.constant()) r = own_copy(emit, r);
      decline_if(r.dtype() != types[i].dtype, "the branches give different types");
    }
    return results;
  });
}

}  // namespace

/// The captures of both branches are operands of both.
GANTRY_CONVERT(onnx, "If", since(1), to(tflite)) {
  const Region then_branch = node.region("then_branch"), else_branch = node.region("else_branch");
  std::vector<Value> captures = then_branch.captures();
  for (const Value& v : else_branch.captures())
    if (std::find(captures.begin(), captures.end(), v) == captures.end()) captures.push_back(v);
  for (const Value& v : captures) check_type(v);
  const std::vector<Value> a = then_branch.outputs(), b = else_branch.outputs();
  decline_if(a.size() != node.out_count() || b.size() != node.out_count(), "the branches give ", a.size(), " and ",
             b.size(), " results for ", node.out_count());
  std::vector<Type> types;
  for (std::size_t i = 0; i < a.size(); ++i) {
    check_type(a[i]);
    types.push_back(common_type(a[i].type(), b[i].type(), "the result of a branch"));
  }
  const Region then_region = branch(emit, then_branch, captures, types);
  const Region else_region = branch(emit, else_branch, captures, types);
  return emit.ops_with({{"then_subgraph_index", then_region}, {"else_subgraph_index", else_region}}, "IF",
                       joined({as_scalar(emit, node.in(0))}, captures), {}, types);
}

namespace {

constexpr std::int64_t kMostRows = 4096;  // of a stack that may stay partly unused

/// Loop(trip count or none, condition or none, states...) with body (i, condition, states...) -> (condition, states...,
/// rows...).
class LoopConverter {
 public:
  LoopConverter(const Node& node, const Emit& emit)
      : node_(node),
        emit_(emit),
        body_(node.region("body")),
        inputs_(body_.inputs()),
        outputs_(body_.outputs()),
        captures_(body_.captures()),
        states_(node.in_count() > 2 ? node.in_count() - 2 : 0),
        loop_(emit) {}

  Results convert() {
    decline_if(inputs_.size() != states_ + 2 || outputs_.size() < states_ + 1, "the body has ", inputs_.size(),
               " inputs and ", outputs_.size(), " outputs for ", states_, " carried values");
    for (const Value& v : captures_) check_type(v);
    count_rounds();
    counter_ = loop_.carry(emit_.constant<std::int32_t>({}, {0}));
    if (conditional_) condition_ = loop_.carry(start_);
    if (limit_ && !limit_->is_known()) limit_place_ = loop_.pass(limit_->value);
    for (std::size_t i = 0; i < states_; ++i) carry_state(i);
    for (const Value& v : captures_) captured_.push_back(loop_.pass(v));
    for (std::size_t i = states_; i + 1 < outputs_.size(); ++i) collect(i);
    return finish(
        loop_.run([&](const auto& args) { return go_on(args); }, [&](const auto& args) { return round(args); }));
  }

 private:
  /// How often, if that can be told before: the trip count where nothing in the loop ends it.
  void count_rounds() {
    const Value trip = node_.in(0), cond = node_.in(1);
    const Value again = outputs_[0];
    const bool passes_on = again == inputs_[1];
    conditional_ = !(is_constant(again, true) || passes_on);
    if (trip && trip.constant()) {
      const std::int64_t n = trip.scalar<std::int64_t>();
      limit_ = Extent(std::clamp<std::int64_t>(n, 0, std::numeric_limits<std::int32_t>::max()));
    } else if (trip) {
      const Value most = emit_.scalar(trip.dtype(), std::numeric_limits<std::int32_t>::max());
      const Value some = emit_.maximum(emit_.minimum(as_scalar(emit_, trip), most), 0);
      limit_ = Extent(emit_.cast(some, DType::int32));
    }
    start_ = cond && !is_constant(cond, true) ? as_scalar(emit_, cond) : Value();
    if (conditional_) {
      if (!start_) start_ = emit_.constant<bool>({}, {true});
    } else if (start_) {  // decides once, for all rounds
      const Value zero = emit_.constant<std::int32_t>({}, {0});
      decline_if(!limit_, "a loop that only its start condition could end");
      limit_ = Extent(emit_.op("SELECT_V2", {start_, limit_->scalar(emit_), zero}));
    }
    decline_if(!conditional_ && !limit_, "a loop without an end");
  }

  void carry_state(std::size_t i) {
    const Value before = node_.in(i + 2), inside = inputs_[i + 2], after = outputs_[i + 1];
    check_type(inside);
    decline_if(!before, "a carried value without a start");
    if (after == inside) {  // it stays what it was
      unchanged_.push_back(true);
      state_.push_back(loop_.pass(fitted(before, inside.type())));
      return;
    }
    unchanged_.push_back(false);
    const Type type = inside.type();
    decline_if(type.dims && after.ranked() && after.rank() != inside.rank(), "the carried value '", inside.name(),
               "' changes its rank");
    state_.push_back(loop_.carry(fitted(before, type), type));
  }

  /// A value in the shape that the body has for it, where that says more.
  Value fitted(const Value& v, const Type& type) const {
    if (!type.dims || !Value::known(*type.dims) || (v.ranked() && v.is_static() && v.dims() == *type.dims)) return v;
    return emit_.reshape(v, *type.dims);
  }

  void collect(std::size_t i) {
    if (!node_.out(i)) {
      rows_.emplace_back();
      return;
    }
    check_type(outputs_[i + 1]);
    std::optional<Extent> rounds = limit_;
    if (limit_ && limit_->known == 0) rounds.reset();
    if (conditional_ && (!limit_ || !limit_->is_known() || limit_->known > kMostRows)) rounds.reset();
    rows_.push_back(Rows(emit_, loop_, outputs_[i + 1].type(), rounds, conditional_));
  }

  Value limit(const std::vector<Value>& args) const {
    return limit_->is_known() ? limit_->scalar(emit_) : args[limit_place_];
  }

  Value go_on(const std::vector<Value>& args) const {
    const Value more = limit_ ? emit_.op("LESS", {args[counter_], limit(args)}) : Value();
    if (!conditional_) return more;
    return more ? emit_.op("LOGICAL_AND", {more, args[condition_]}) : own_copy(emit_, args[condition_]);
  }

  std::vector<Value> round(const std::vector<Value>& args) const {
    const Value i = args[counter_];
    std::vector<Value> to{in_type(emit_, i, inputs_[0])};
    const Value goes = conditional_ ? args[condition_] : emit_.constant<bool>({}, {true});
    to.push_back(in_type(emit_, goes, inputs_[1]));
    for (std::size_t at : state_) to.push_back(args[at]);
    for (std::size_t at : captured_) to.push_back(args[at]);
    const std::vector<Value> made = emit_.copy(body_, joined(inputs_, captures_), to);
    std::vector<Value> results(args.size());
    results[counter_] = emit_.add(i, 1);
    if (conditional_) results[condition_] = as_scalar(emit_, made[0]);
    for (std::size_t k = 0; k < states_; ++k) {
      if (unchanged_[k]) continue;
      Value v = fitted(made[k + 1], inputs_[k + 2].type());
      if (v.ranked() && v.rank() > 0 && v.dim(0) < 0) v = marked_dynamic(emit_, v, i);
      results[state_[k]] = v;
    }
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if (rows_[k]) rows_[k]->add(args, results, i, made[k + states_ + 1]);
    return results;
  }

  Results finish(const std::vector<Value>& after) const {
    std::vector<Value> results;
    for (std::size_t k = 0; k < states_; ++k) results.push_back(unchanged_[k] ? node_.in(k + 2) : after[state_[k]]);
    for (const auto& rows : rows_) results.push_back(rows ? rows->stacked(after, after[counter_]) : Value());
    results.resize(node_.out_count());
    return results;
  }

  const Node& node_;
  const Emit& emit_;
  const Region body_;
  const std::vector<Value> inputs_, outputs_, captures_;
  const std::size_t states_;
  While loop_;
  std::optional<Extent> limit_;
  bool conditional_ = false;  // the body says whether to go on
  Value start_;
  std::size_t counter_ = 0, condition_ = 0, limit_place_ = 0;
  std::vector<std::size_t> state_, captured_;
  std::vector<bool> unchanged_;
  std::vector<std::optional<Rows>> rows_;
};

}  // namespace

GANTRY_CONVERT(onnx, "Loop", since(1), to(tflite)) { return LoopConverter(node, emit).convert(); }

}  // namespace core_ops
