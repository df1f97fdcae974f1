// Normalisation spelled out, as exporters write it before opset 17:
//   Layer  d / sqrt(mean(d^2) + epsilon), d = x - mean(x)          RMS  x / sqrt(mean(x^2) + epsilon)
// over the last axes, in any of the usual spellings. What follows, a scale and a bias, stays: its constants go into the
// next operator's weights.
#include <algorithm>

#include "match.hpp"

namespace transformer {
namespace {

GANTRY_OPTION("norm_spelled_out", true, "Pattern: layer and RMS normalisation, spelled out, are one operator")

/// ReduceMean with its operand and axes, which are constants and stay with size 1.
struct Mean {
  Value x;
  Dims axes;  // not negative, sorted
};
std::optional<Mean> mean_of(const Value& v) {
  const auto n = maker(v, "ReduceMean");
  if (!n || n->attr("keepdims", 1) != 1 || !n->in(0).ranked()) return std::nullopt;
  Mean m{n->in(0), {}};
  if (n->in(1)) {
    if (!n->in(1).constant()) return std::nullopt;
    m.axes = n->in(1).read<std::int64_t>();
  } else if (n->has_attr("axes")) {
    m.axes = n->attr<Dims>("axes");
  }
  if (m.axes.empty()) return std::nullopt;
  for (std::int64_t& a : m.axes) a = normalize_axis(a, m.x.rank());
  std::sort(m.axes.begin(), m.axes.end());
  return m;
}

/// d of d^2: Mul(d, d) or Pow(d, 2).
Value root_of_square(const Value& v) {
  if (const auto mul = maker(v, "Mul"); mul && mul->in(0) == mul->in(1)) return mul->in(0);
  if (const auto pow = maker(v, "Pow"); pow && number(pow->in(1)) == 2.0) return pow->in(0);
  return Value();
}

/// x of x - mean(x) over those axes. Two spellings of the same difference are the same.
Value uncentered(const Value& d, const Dims& axes) {
  const auto sub = maker(d, "Sub");
  const auto m = sub ? mean_of(sub->in(1)) : std::nullopt;
  return m && m->x == sub->in(0) && m->axes == axes ? m->x : Value();
}

/// Whether two values are the same, or the same difference of a value and its mean.
bool alike(const Value& a, const Value& b, const Dims& axes) {
  if (a == b) return true;
  const Value x = uncentered(a, axes), y = uncentered(b, axes);
  return x && y && x == y;
}

/// What d / root is, for the value root: by Div, or Mul with its reciprocal.
struct Quotient {
  Value d, result;
};
std::optional<Quotient> divided_by(const Value& root, bool inverse) {
  const auto user = sole_user(root);
  if (!user) return std::nullopt;
  if (inverse && user->is("Mul")) {
    const Value d = other_operand(*user, root);
    return d ? std::optional(Quotient{d, user->out()}) : std::nullopt;
  }
  if (inverse) return std::nullopt;
  if (user->is("Div") && user->in(1) == root && number(user->in(0)) != 1.0) return Quotient{user->in(0), user->out()};
  if (user->is("Reciprocal") || (user->is("Div") && user->in(1) == root)) return divided_by(user->out(), true);
  return std::nullopt;
}

/// `node` makes the root of mean(d^2) + epsilon, or (inverse) 1 over it.
bool match_norm(const Node& node, const Emit& emit, bool inverse) {
  if (!enabled(emit, "norm_spelled_out") || node.in(0).dtype() != DType::float32) return false;
  const auto add = maker(node.in(0), "Add");
  if (!add || !sole_user(node.in(0))) return false;
  const auto right = number(add->in(1)), left = number(add->in(0));
  if (!right && !left) return false;
  const double epsilon = right ? *right : *left;
  if (!(epsilon > 0) || static_cast<double>(static_cast<float>(epsilon)) != epsilon) return false;
  const auto variance = mean_of(right ? add->in(0) : add->in(1));
  if (!variance) return false;
  const Value d = root_of_square(variance->x);
  if (!d || !d.ranked()) return false;
  const auto quotient = divided_by(node.out(), inverse);
  if (!quotient || !alike(quotient->d, d, variance->axes)) return false;

  const int rank = d.rank();
  const std::int64_t axis = variance->axes.front();
  Dims dims;
  for (std::size_t i = 0; i < variance->axes.size(); ++i) {
    if (variance->axes[i] != axis + static_cast<std::int64_t>(i)) return false;
    dims.push_back(d.dim(static_cast<int>(variance->axes[i])));
  }
  if (axis + static_cast<std::int64_t>(dims.size()) != rank) return false;
  std::int64_t n = 1;
  for (const std::int64_t size : dims) {
    if (size < 1 || size > (1 << 20) / n) return false;
    n *= size;
  }
  const Value x = uncentered(d, variance->axes);
  if (!same_type(quotient->result, d) || (x && !same_type(x, d))) return false;
  const Value ones = emit.numbers(DType::float32, dims, std::vector<double>(static_cast<std::size_t>(n), 1.0));
  const Attributes attributes{{"axis", axis}, {"epsilon", epsilon}};
  emit.replace(quotient->result, x ? emit.op("LayerNormalization", {x, ones}, attributes)
                                   : emit.op("RMSNormalization", {d, ones}, attributes));
  return true;
}

}  // namespace

GANTRY_PATTERN("norm_sqrt", onnx, "Sqrt", also("ReduceMean", "Add")) { return match_norm(node, emit, false); }
GANTRY_PATTERN("norm_pow", onnx, "Pow", also("ReduceMean", "Add")) {
  const auto exponent = number(node.in(1));
  return exponent && (*exponent == 0.5 || *exponent == -0.5) && match_norm(node, emit, *exponent < 0);
}

}  // namespace transformer
