// RNN, GRU and LSTM. The input's part of all steps is one product before the loop; the loop is a WHILE that carries the
// state, so the file does not grow with the sequence. Source: ONNX operator specification, ai.onnx.
// An LSTM that TFLite's fused operator can compute is that instead (recurrent_fused.cpp).
#include "recurrent.hpp"

#include <algorithm>

namespace core_ops {

GANTRY_OPTION(
    "fused_lstm", true,
    "Write an LSTM as TFLite's fused operator where that can compute it; else as a loop. LiteRT's interpreter "
    "runs both, its CompiledModel reads no variable tensors, which the fused operator needs")

namespace {

struct Kind {
  std::string_view op;
  std::int64_t gates;
  std::size_t states;
  CellStep step;
  std::vector<std::string> activations;
};
const Kind& kind_of(std::string_view op) {
  static const Kind kinds[] = {
      {"RNN", 1, 1, rnn_step, {"Tanh"}},
      {"GRU", 3, 1, gru_step, {"Sigmoid", "Tanh"}},
      {"LSTM", 4, 2, lstm_step, {"Sigmoid", "Tanh", "Tanh"}},
  };
  for (const Kind& k : kinds)
    if (k.op == op) return k;
  decline(op, " is no recurrent layer");
}

class Layer {
 public:
  Layer(const Node& node, const Emit& emit) : node_(node), emit_(emit), kind_(kind_of(node.op())) {}

  Results convert() {
    const std::string direction = node_.attr("direction", "forward");
    decline_if(direction != "forward" && direction != "reverse" && direction != "bidirectional", "direction ",
               direction);
    directions_ = direction == "bidirectional" ? 2 : 1;
    batch_first_ = node_.attr("layout", 0) != 0;
    type_ = node_.in(0).dtype();
    decline_if(!is_float(type_), "elements of type ", name_of(type_));
    x_ = operand(0);
    decline_if(x_.rank() != 3, "its input is of rank ", x_.rank());
    const Value given = x_;
    if (batch_first_) x_ = emit_.transpose(x_, {1, 0, 2});
    hidden_ = node_.attr("hidden_size", operand(2).dim(2));
    decline_if(hidden_ < 1, "hidden_size is not known");
    steps_ = extent_of(emit_, x_, 0);
    batch_ = extent_of(emit_, x_, 1);
    take_lengths();
    const auto activations = cell_activations(node_, directions_, kind_.activations);
    std::vector<CellWeights> cells;
    std::vector<std::vector<Value>> states;
    for (std::size_t d = 0; d < directions_; ++d) {
      const auto first = activations.begin() + static_cast<std::ptrdiff_t>(d * kind_.activations.size());
      cells.push_back(weights(d, {first, first + static_cast<std::ptrdiff_t>(kind_.activations.size())}));
      states.push_back(initial(d));
    }
    const bool backward = direction == "reverse";
    if (kind_.op == "LSTM" && !lengths_ && emit_.call().option<bool>("fused_lstm") && fits_fused_lstm(cells, states))
      return results(fused_lstm(emit_, given, !batch_first_, backward, cells, states));
    for (std::size_t d = 0; d < directions_; ++d) run(cells[d], states[d], backward || d == 1);
    return results();
  }

 private:
  bool wants(std::size_t i) const { return static_cast<bool>(node_.out(i)); }

  /// Operand i in float32; some are optional.
  Value operand(std::size_t i) const {
    const Value v = node_.in(i);
    return v ? emit_.cast(v, DType::float32) : Value();
  }

  /// Direction d of operand i, without that axis.
  Value of_direction(std::size_t i, std::size_t d, int axis = 0) const {
    const Value v = operand(i);
    if (!v) return {};
    return remove_axis(emit_, cut_direction(v, d, axis), axis);
  }
  Value cut_direction(const Value& v, std::size_t d, int axis) const {
    return directions_ == 1 ? v : cut(emit_, v, axis, static_cast<std::int64_t>(d), 1);
  }

  void take_lengths() {
    const Value lengths = node_.in(4);
    if (!lengths) return;
    if (lengths.constant() && steps_.is_known()) {
      const Dims all = lengths.read<std::int64_t>();
      if (std::all_of(all.begin(), all.end(), [&](std::int64_t n) { return n >= steps_.known; })) return;
    }
    lengths_ = insert_axis(emit_, emit_.cast(lengths, DType::int32), 1);
  }

  CellWeights weights(std::size_t d, std::vector<CellActivation> activations) const {
    CellWeights w;
    w.hidden = hidden_;
    w.w = of_direction(1, d);
    w.r = of_direction(2, d);
    w.activations = std::move(activations);
    w.clip = node_.attr("clip", 0.0f);
    w.linear_before_reset = node_.attr("linear_before_reset", 0) != 0;
    w.input_forget = node_.attr("input_forget", 0) != 0;
    if (kind_.op == "LSTM") w.peephole = of_direction(7, d);
    if (const Value b = of_direction(3, d)) add_bias(w, b);
    return w;
  }

  /// The recurrent bias goes with the input's, but for the last gate of a GRU that has it before the reset.
  void add_bias(CellWeights& w, const Value& b) const {
    const std::int64_t n = kind_.gates * hidden_;
    const Value input = cut(emit_, b, 0, 0, n), recurrent = cut(emit_, b, 0, n, n);
    const bool apart = kind_.op == "GRU" && w.linear_before_reset;
    if (apart) w.hidden_bias = cut(emit_, recurrent, 0, 2 * hidden_, hidden_);
    const std::int64_t joined = apart ? 2 * hidden_ : n;
    if (b.constant()) {
      std::vector<float> sum = input.read<float>();
      const std::vector<float> more = recurrent.read<float>();
      for (std::size_t i = 0; i < static_cast<std::size_t>(joined); ++i) sum[i] += more[i];
      w.input_bias = emit_.constant<float>({n}, sum);
    } else if (apart) {
      const Value both = emit_.add(cut(emit_, input, 0, 0, joined), cut(emit_, recurrent, 0, 0, joined));
      w.input_bias =
          emit_.op("CONCATENATION", {both, cut(emit_, input, 0, joined, hidden_)}, {{"axis", 0}, no_activation()});
    } else {
      w.input_bias = emit_.add(input, recurrent);
    }
  }

  /// The states before the first step, [1, batch, hidden] each.
  std::vector<Value> initial(std::size_t d) const {
    std::vector<Value> state;
    for (std::size_t i = 0; i < kind_.states; ++i) {
      Value given = operand(5 + i);
      if (given) given = cut_direction(batch_first_ ? emit_.transpose(given, {1, 0, 2}) : given, d, 0);
      const Dims dims{1, batch_.known, hidden_};
      const std::vector<Value> runtime = !batch_.is_known() ? std::vector{batch_.value} : std::vector<Value>{};
      if (given)
        state.push_back(given);
      else if (batch_.is_known())
        state.push_back(emit_.numbers(DType::float32, dims,
                                      std::vector<double>(static_cast<std::size_t>(batch_.known * hidden_), 0.0)));
      else
        state.push_back(emit_.op("FILL", {shape_operand(emit_, dims, runtime), emit_.scalar(DType::float32, 0)}));
    }
    return state;
  }

  void run(const CellWeights& w, const std::vector<Value>& state, bool backward) {
    const Value x = project(emit_, x_, w.w, w.input_bias);
    if (steps_.known == 1)
      run_once(w, x, state);
    else
      run_loop(w, x, state, backward);
  }

  /// The new state, and what the step puts out: after its end a sequence keeps its state and puts out zeros.
  std::pair<std::vector<Value>, Value> step(const CellWeights& w, const Value& x, const std::vector<Value>& state,
                                            const Value& at, const Value& lengths) const {
    std::vector<Value> made = kind_.step(emit_, w, x, state);
    if (!lengths) return {made, made[0]};
    const Value inside = emit_.op("LESS", {at, lengths});
    const Value out = emit_.op("SELECT_V2", {inside, made[0], emit_.scalar(DType::float32, 0)});
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = emit_.op("SELECT_V2", {inside, made[i], state[i]});
    return {made, out};
  }

  void run_once(const CellWeights& w, const Value& x, const std::vector<Value>& state) {
    const auto [made, out] = step(w, x, state, emit_.constant<std::int32_t>({}, {0}), lengths_);
    all_.push_back(insert_axis(emit_, out, 0));
    for (std::size_t i = 0; i < made.size(); ++i) last_[i].push_back(made[i]);
  }

  void run_loop(CellWeights w, const Value& x, const std::vector<Value>& state, bool backward) {
    While loop(emit_);
    const std::size_t counter = loop.carry(emit_.constant<std::int32_t>({1}, {0}));
    const Type state_type{DType::float32, Dims{1, batch_.known, hidden_}};
    std::vector<std::size_t> at;
    for (const Value& s : state) at.push_back(loop.carry(s, state_type));
    const std::size_t inputs = loop.pass(x);
    const std::size_t rounds = !steps_.is_known() ? loop.pass(steps_.value) : 0;
    const std::size_t lengths = lengths_ ? loop.pass(lengths_) : 0;
    // Weights that are no constants are operands too.
    std::vector<std::pair<Value*, std::size_t>> runtime;
    for (Value* v : {&w.r, &w.hidden_bias, &w.peephole})
      if (*v && !v->constant()) runtime.emplace_back(v, loop.pass(*v));
    std::optional<Rows> rows;
    const std::vector<Value> batch = !batch_.is_known() ? std::vector{batch_.value} : std::vector<Value>{};
    if (wants(0)) rows.emplace(emit_, loop, state_type, steps_, false, backward, batch);

    const auto count = [&](const std::vector<Value>& args) {
      return steps_.is_known() ? steps_.scalar(emit_) : args[rounds];
    };
    const auto body = [&](const std::vector<Value>& args) {
      const Value i = args[counter];
      const Value t = backward ? emit_.sub(emit_.sub(count(args), 1), i) : i;
      const Value now = gather(emit_, args[inputs], t);
      for (auto& [weight, place] : runtime) *weight = args[place];
      std::vector<Value> before;
      for (std::size_t place : at) before.push_back(args[place]);
      const auto [made, out] = step(w, now, before, t, lengths_ ? args[lengths] : Value());
      std::vector<Value> next(args.size());
      next[counter] = emit_.add(i, 1);
      for (std::size_t k = 0; k < at.size(); ++k) next[at[k]] = made[k];
      if (rows) rows->add(args, next, i, out);
      return next;
    };
    const std::vector<Value> after =
        loop.run([&](const std::vector<Value>& args) { return emit_.op("LESS", {args[counter], count(args)}); }, body);
    if (rows) all_.push_back(rows->stacked(after, remove_axis(emit_, after[counter], 0)));
    for (std::size_t k = 0; k < at.size(); ++k) last_[k].push_back(after[at[k]]);
  }

  /// Directions side by side, in the source's order of axes and type.
  Value joined(const std::vector<Value>& parts, int axis, const Dims& batch_first_perm) const {
    Value y = parts.size() == 1 ? parts[0] : emit_.op("CONCATENATION", parts, {{"axis", axis}, no_activation()});
    if (batch_first_) y = emit_.transpose(y, batch_first_perm);
    return emit_.cast(y, type_);
  }

  Results results() const {
    std::vector<Value> out(node_.out_count());
    if (wants(0)) out[0] = joined(all_, 1, {2, 0, 1, 3});
    for (std::size_t i = 0; i < kind_.states; ++i)
      if (wants(i + 1)) out[i + 1] = joined(last_[i], 0, {1, 0, 2});
    return out;
  }

  /// Of the fused operator, whose directions stand side by side in the last axis.
  Results results(const FusedLstm& made) const {
    std::vector<Value> out(node_.out_count());
    if (wants(0)) {
      Extents dims = extents_of(emit_, made.all, 0, 2);
      dims.insert(dims.end(), {static_cast<std::int64_t>(directions_), hidden_});
      const Value y = reshape_to(emit_, made.all, dims);
      out[0] = emit_.cast(batch_first_ ? y : emit_.transpose(y, {0, 2, 1, 3}), type_);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<Value> parts;
      for (const auto& of_direction : made.last) parts.push_back(of_direction[i]);
      if (wants(i + 1)) out[i + 1] = joined(parts, 0, {1, 0, 2});
    }
    return out;
  }

  const Node& node_;
  const Emit& emit_;
  const Kind& kind_;
  std::size_t directions_ = 1;
  bool batch_first_ = false;
  DType type_ = DType::undefined;
  Value x_, lengths_;
  std::int64_t hidden_ = 0;
  Extent steps_ = -1, batch_ = -1;
  std::vector<Value> all_;      // of each direction, [steps, 1, batch, hidden]
  std::vector<Value> last_[2];  // of each state and direction, [1, batch, hidden]
};

}  // namespace

GANTRY_CONVERT(onnx, "RNN", since(7), to(tflite)) { return Layer(node, emit).convert(); }
GANTRY_CONVERT(onnx, "GRU", since(7), to(tflite)) { return Layer(node, emit).convert(); }
GANTRY_CONVERT(onnx, "LSTM", since(7), to(tflite)) { return Layer(node, emit).convert(); }

}  // namespace core_ops
