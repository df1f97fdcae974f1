// Rotary position embedding by one GATHER: y = x * C + partner(x) * S, where partner exchanges the numbers of a pair
// and the signs of the rotation are in the constant S. Four operators where halves or neighbours are taken, negated and
// joined otherwise.
#include <algorithm>

#include "match.hpp"

namespace transformer {
namespace {

GANTRY_OPTION("rotary", true, "Pattern and cheaper converter: rotary embedding by one GATHER of each pair's partner")

constexpr std::int64_t kMost = 1 << 24;  // elements of a table

/// The places of each number's partner among `turned` of `size`, and whether it comes in with a minus.
struct Partners {
  Dims places;
  std::vector<float> signs;
};
Partners partners(std::int64_t turned, std::int64_t size, bool interleaved) {
  Partners p;
  const std::int64_t half = turned / 2;
  for (std::int64_t i = 0; i < size; ++i) {
    const bool first = interleaved ? i % 2 == 0 : i < half;
    const std::int64_t step = interleaved ? 1 : half;
    p.places.push_back(i >= turned ? i : first ? i + step : i - step);
    p.signs.push_back(first && i < turned ? -1.0f : 1.0f);
  }
  return p;
}

/// Rows of `half` numbers as rows of `size`: one for each number of a pair, `rest` beyond the turned ones.
std::vector<float> spread(const std::vector<float>& cache, std::int64_t half, std::int64_t size, bool interleaved,
                          float rest, const std::vector<float>& signs) {
  std::vector<float> table;
  for (std::size_t row = 0; row < cache.size(); row += static_cast<std::size_t>(half))
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = interleaved ? i / 2 : i % half;
      const float value = i < 2 * half ? cache[row + static_cast<std::size_t>(at)] : rest;
      table.push_back(signs.empty() ? value : value * signs[static_cast<std::size_t>(i)]);
    }
  return table;
}

/// x, of `heads` axes before the last, with an axis of size 1 put in at `axis`.
Value with_axis(const Emit& emit, const Value& v, int axis) {
  return emit.op("EXPAND_DIMS", {v, emit.constant<std::int32_t>({}, {axis})});
}

}  // namespace

GANTRY_CONVERT(onnx, "RotaryEmbedding", since(23), to(tflite), priority(10)) {
  decline_if(!enabled(emit, "rotary"), "it is switched off");
  const Value input = node.in(0), ids = node.in(3);
  for (std::size_t i = 0; i < 3; ++i)
    decline_if(node.in(i).dtype() != DType::float32, "only float32 has a cheaper form");
  decline_if(!node.in(1).constant() || !node.in(2).constant(), "the caches are no constants");
  decline_if(node.in(1).rank() != (ids ? 2 : 3) || node.in(1).dims() != node.in(2).dims(), "caches of another rank");
  const bool packed = input.rank() == 3, interleaved = node.attr("interleaved", 0) != 0;
  Value x = input;
  if (packed) {
    Dims dims = input.dims();
    const auto heads = node.attr<std::int64_t>("num_heads", 0);
    decline_if(heads < 1 || dims[2] < 1 || dims[2] % heads, "num_heads = ", heads);
    decline_if(dims[0] < 0 && dims[1] < 0, "two unknown dimensions");
    x = emit.reshape(input, {dims[0], dims[1], heads, dims[2] / heads});
  }
  decline_if(x.rank() != 4, "an operand of rank ", x.rank());
  const std::int64_t size = x.dim(3), attribute = node.attr<std::int64_t>("rotary_embedding_dim", 0),
                     turned = attribute ? attribute : size;
  decline_if(size < 2 || turned % 2 || turned > size || turned < 2, "rotary_embedding_dim = ", turned, " of ", size);
  const std::int64_t half = turned / 2;
  decline_if(node.in(1).dim(-1) != half, "the caches have other columns");
  decline_if(node.in(1).elements() / half * size > kMost, "the caches are too large");

  const Partners p = partners(turned, size, interleaved);
  const auto factor = [&](std::size_t i, float rest, const std::vector<float>& signs) {
    Dims dims = node.in(i).dims();
    dims.back() = size;
    Value table = emit.constant<float>(dims, spread(node.in(i).read<float>(), half, size, interleaved, rest, signs));
    const int axis = packed ? 2 : 1;
    if (!ids) {
      dims.insert(dims.begin() + axis, 1);
      return emit.reshape(table, dims);
    }
    return with_axis(emit, emit.op("GATHER", {table, emit.cast(ids, DType::int32)}, {{"axis", 0}, {"batch_dims", 0}}),
                     axis);
  };
  const Value other = emit.op("GATHER", {x, emit.i32(p.places)}, {{"axis", 3}, {"batch_dims", 0}});
  const Value y = emit.add(emit.mul(x, factor(1, 1.0f, {})), emit.mul(other, factor(2, 0.0f, p.signs)));
  return packed ? emit.reshape(y, input.dims()) : y;
}

namespace {

/// Which half of the last axis of a value `v` is (Slice or Split), and of which value.
struct Half {
  Value x;
  bool second = false;
};
std::optional<Half> half_of(const Value& v) {
  if (const auto split = maker(v, "Split")) {
    const Value x = split->in(0);
    const std::int64_t n = x.dim(-1);
    if (split->out_count() != 2 || n < 2 || n % 2 || v.dim(-1) != n / 2) return std::nullopt;
    if (normalize_axis(split->attr("axis", 0), x.rank()) != x.rank() - 1) return std::nullopt;
    return Half{x, v == split->out(1)};
  }
  const auto slice = maker(v, "Slice");
  if (!slice || !slice->in(3)) return std::nullopt;
  for (std::size_t i = 1; i < slice->in_count(); ++i)
    if (slice->in(i) && (!slice->in(i).constant() || slice->in(i).elements() != 1)) return std::nullopt;
  const Value x = slice->in(0);
  const std::int64_t n = x.dim(-1), start = slice->in(1).scalar<std::int64_t>(), first = start < 0 ? start + n : start;
  if (n < 2 || n % 2 || (slice->in(4) && slice->in(4).scalar<std::int64_t>() != 1)) return std::nullopt;
  if (normalize_axis(slice->in(3).scalar<std::int64_t>(), x.rank()) != x.rank() - 1 || v.dim(-1) != n / 2)
    return std::nullopt;
  if (first != 0 && first != n / 2) return std::nullopt;
  return Half{x, first != 0};
}

}  // namespace

/// Concat(-b, a) of the halves a, b of the last axis is the partner of each number, with a sign; the sign goes into the
/// constant that it is multiplied by, if it is one.
GANTRY_PATTERN("rotate_half", onnx, "Concat", also("Neg", "Mul")) {
  if (!enabled(emit, "rotary") || node.in_count() != 2 || !node.out().ranked()) return false;
  if (normalize_axis(node.attr<std::int64_t>("axis"), node.out().rank()) != node.out().rank() - 1) return false;
  const auto neg = maker(node.in(0), "Neg");
  if (!neg || node.in(0).use_count() != 1 || node.out().dtype() != DType::float32) return false;
  if (!neg->in(0).ranked() || !node.in(1).ranked()) return false;
  const auto b = half_of(neg->in(0)), a = half_of(node.in(1));
  if (!a || !b || !(a->x == b->x) || a->second || !b->second || a->x.constant()) return false;
  const Value x = a->x;
  const Partners p = partners(x.dim(-1), x.dim(-1), false);
  const Value other = emit.op("Gather", {x, emit.i64(p.places)}, {{"axis", x.rank() - 1}});
  const auto user = sole_user(node.out());
  const Value c = user && user->is("Mul") ? other_operand(*user, node.out()) : Value();
  if (c && c.constant() && c.dtype() == DType::float32 && c.rank() >= 1 && c.dim(-1) == x.dim(-1)) {
    emit.replace(user->out(), emit.mul(other, emit.scale_constant(c, c.rank() - 1, p.signs)));
    return true;
  }
  emit.replace(node.out(), emit.mul(other, emit.constant<float>({x.dim(-1)}, p.signs)));
  return true;
}

}  // namespace transformer
