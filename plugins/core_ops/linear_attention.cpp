// LinearAttention and CausalConvWithState: operators that carry a state from call to call. Operators: ONNX operator
// specification.
#include <cmath>

#include "attention.hpp"

namespace core_ops {
namespace {

/// Steps that are written out; longer sequences are left to the function body, which is a loop.
constexpr std::int64_t kMostSteps = 64;

/// One step's numbers of every head, as matrices that broadcast against the state [b, heads, d_k, d_v].
struct Steps {
  Value v;  // [b, steps, heads, size]
  Value column(const Emit& emit, std::int64_t t) const {
    return reshape_one_unknown(emit, at(emit, t), {v.dim(0), v.dim(2), v.dim(3), 1});
  }
  Value row(const Emit& emit, std::int64_t t) const {
    return reshape_one_unknown(emit, at(emit, t), {v.dim(0), v.dim(2), 1, v.dim(3)});
  }
  Value at(const Emit& emit, std::int64_t t) const { return slice_axis(emit, v, 1, t, 1); }
};

Steps by_head(const Emit& emit, const Value& x, std::int64_t heads) {
  if (!x) return {};
  const Value v = in_float32(emit, x);
  decline_if(v.rank() != 3 || v.dim(2) < 1, "'", x.name(), "' must have rank 3 and a known last dimension");
  if (v.dim(2) == 1) return {reshape_one_unknown(emit, v, {v.dim(0), v.dim(1), 1, 1})};
  decline_if(heads < 1 || v.dim(2) % heads, "a hidden size of ", v.dim(2), " for ", heads, " heads");
  return {reshape_one_unknown(emit, v, {v.dim(0), v.dim(1), heads, v.dim(2) / heads})};
}

}  // namespace

/// S = exp(g) S;  S += k (x) beta (v - S' k);  o = scale q' S, where `linear` has no decay g, and only the delta rules
/// take off what is in the state for k already.
GANTRY_CONVERT(onnx, "LinearAttention", since(27), to(tflite)) {
  const auto q_heads = node.attr<std::int64_t>("q_num_heads"), kv_heads = node.attr<std::int64_t>("kv_num_heads");
  const std::string rule = node.attr("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  decline_if(!gated && !delta && rule != "linear", "update_rule '", rule, "'");
  decline_if(kv_heads < 1 || q_heads % kv_heads, q_heads, " query heads for ", kv_heads, " kv heads");
  const Steps q = by_head(emit, node.in(0), q_heads), k = by_head(emit, node.in(1), kv_heads),
              v = by_head(emit, node.in(2), kv_heads), g = by_head(emit, node.in(4), kv_heads),
              beta = by_head(emit, node.in(5), kv_heads);
  decline_if((gated && !g.v) || (delta && !beta.v), "update_rule '", rule, "' needs decay and beta");
  const std::int64_t batch = q.v.dim(0), steps = q.v.dim(1), d_k = k.v.dim(3), d_v = v.v.dim(3);
  decline_if(steps < 1 || steps > kMostSteps, "a sequence of ", steps, " steps; up to ", kMostSteps,
             " are written out");
  decline_if(batch < 0 && !node.in(3), "an unknown batch without past_state; give input shapes with --shape");
  const float given = node.attr("scale", 0.0f);
  const double scale = given != 0 ? static_cast<double>(given) : 1 / std::sqrt(static_cast<double>(d_k));

  Value state = in_float32(emit, node.in(3));
  if (!state)
    state = emit.numbers(DType::float32, {batch, kv_heads, d_k, d_v},
                         std::vector<double>(static_cast<std::size_t>(batch * kv_heads * d_k * d_v)));
  const Value queries = emit.mul(q.v, scale);
  std::vector<Value> outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    if (gated) state = emit.mul(state, emit.op("EXP", {g.column(emit, t)}));
    Value value = v.row(emit, t);
    if (delta) {
      const Value known = batch_matmul(emit, k.row(emit, t), state, false, false);
      value = emit.mul(emit.sub(value, known), beta.column(emit, t));
    }
    state = emit.add(state, emit.mul(k.column(emit, t), value));
    const Value query =
        reshape_one_unknown(emit, Steps{queries}.at(emit, t), {batch, kv_heads, q_heads / kv_heads, d_k});
    outputs.push_back(
        reshape_one_unknown(emit, batch_matmul(emit, query, state, false, false), {batch, 1, q_heads * d_v}));
  }
  std::vector<Value> results(node.out_count());
  if (node.out(0)) results[0] = from_float32(emit, concatenation(emit, outputs, 1), node.in(0).dtype());
  if (node.out(1)) results[1] = from_float32(emit, state, node.in(3) ? node.in(3).dtype() : node.out(1).dtype());
  return results;
}

/// Depthwise convolution along time of past_state and input; the last k - 1 places are the next state.
GANTRY_CONVERT(onnx, "CausalConvWithState", since(27), to(tflite)) {
  const Value x = in_float32(emit, node.in(0)), weights = in_float32(emit, node.in(1));
  const Value bias = in_float32(emit, node.in(2)), past = in_float32(emit, node.in(3));
  decline_if(x.rank() != 3 || weights.rank() != 3, "operands of ranks ", x.rank(), " and ", weights.rank());
  const std::int64_t channels = weights.dim(0), taps = weights.dim(2), length = x.dim(2);
  decline_if(channels < 1 || taps < 1 || length < 1,
             "channels, taps and length must be known; give input shapes with --shape");
  Value padded = x;
  if (taps > 1 && past) {
    padded = concatenation(emit, {past, x}, 2);
  } else if (taps > 1) {
    const std::vector<std::int32_t> pads{0, 0, 0, 0, static_cast<std::int32_t>(taps - 1), 0};
    padded = emit.op("PAD", {x, emit.constant<std::int32_t>({3, 2}, pads)});
  }
  const Value image = insert_axis(emit, emit.transpose(padded, {0, 2, 1}), 1);  // [b, 1, time, channels]
  const Value filter = emit.reshape(emit.transpose(weights, {1, 2, 0}), {1, 1, taps, channels});
  const std::vector<float> zeros(static_cast<std::size_t>(channels), 0.0f);
  Value y = emit.op("DEPTHWISE_CONV_2D", {image, filter, bias ? bias : emit.constant<float>({channels}, zeros)},
                    {{"padding", "VALID"},
                     {"stride_h", 1},
                     {"stride_w", 1},
                     {"dilation_h_factor", 1},
                     {"dilation_w_factor", 1},
                     {"depth_multiplier", 1},
                     no_activation()});
  y = emit.transpose(remove_axis(emit, y, 1), {0, 2, 1});
  const std::string activation = node.attr("activation", "none");
  decline_if(activation != "none" && activation != "silu" && activation != "swish", "activation '", activation, "'");
  if (activation != "none") y = emit.mul(y, emit.op("LOGISTIC", {y}));
  const DType t = node.in(0).dtype();
  std::vector<Value> results(node.out_count());
  if (node.out(0)) results[0] = from_float32(emit, y, t);
  if (node.out(1) && taps > 1) results[1] = from_float32(emit, slice_axis(emit, padded, 2, length, taps - 1), t);
  if (node.out(1) && taps == 1) results[1] = emit.numbers(t, {x.dim(0), channels, 0}, {});
  return results;
}

}  // namespace core_ops
