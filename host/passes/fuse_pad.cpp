// PAD before a convolution or pool of padding VALID becomes its padding SAME, where both read the same elements. SAME,
// of an axis of n elements, window k (dilated) and stride s, makes ceil(n / s) results and puts the greater half of
// what is missing behind. What a PAD adds behind and the last window does not reach is no difference.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/passes/passes.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

/// One spatial axis of an image operator.
struct Axis {
  std::size_t axis;                           // of the operand
  std::string_view stride, dilation, window;  // attributes; window "" = from the filter
};

struct ImageOp {
  std::string_view name;
  bool by_zero;  // the padding's value: zero, else what no maximum takes
  std::vector<Axis> axes;
  std::size_t filter_axis = 0;  // the filter's axis that belongs to the first of `axes`
};

const ImageOp* image_op(const Node& n) {
  static const std::vector<ImageOp> kOps = {
      {"CONV_2D", true, {{1, "stride_h", "dilation_h_factor", ""}, {2, "stride_w", "dilation_w_factor", ""}}, 1},
      {"DEPTHWISE_CONV_2D",
       true,
       {{1, "stride_h", "dilation_h_factor", ""}, {2, "stride_w", "dilation_w_factor", ""}},
       1},
      {"CONV_3D",
       true,
       {{1, "stride_d", "dilation_d_factor", ""},
        {2, "stride_h", "dilation_h_factor", ""},
        {3, "stride_w", "dilation_w_factor", ""}},
       0},
      {"MAX_POOL_2D", false, {{1, "stride_h", "", "filter_height"}, {2, "stride_w", "", "filter_width"}}, 0},
  };
  const auto it = std::find_if(kOps.begin(), kOps.end(), [&](const ImageOp& op) { return is_tflite(n, op.name); });
  return it == kOps.end() ? nullptr : &*it;
}

/// What a PAD or PADV2 adds before and behind each axis.
struct Padding {
  std::vector<std::int64_t> before, behind;
  bool zero = false, lowest = false;  // its value
};

std::optional<Padding> padding_of(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  const bool v2 = is_tflite(node, "PADV2");
  if (!v2 && !is_tflite(node, "PAD")) return std::nullopt;
  const auto amounts = constant_ints(g, node.input(1));
  const Type& t = g.value(node.input(0)).type;
  if (!amounts || t.dtype != DType::float32 || !t.ranked || amounts->size() != 2 * t.rank()) return std::nullopt;
  Padding p;
  for (std::size_t i = 0; i < t.rank(); ++i) {
    p.before.push_back((*amounts)[2 * i]);
    p.behind.push_back((*amounts)[2 * i + 1]);
  }
  p.zero = !v2;
  if (v2) {
    const auto value = constant_floats(g, node.input(2), 1);
    if (!value || value->size() != 1) return std::nullopt;
    p.zero = value->front() == 0;
    p.lowest = value->front() <= std::numeric_limits<float>::lowest();
  }
  return p;
}

Padding permuted_padding(const Padding& p, const std::vector<std::int64_t>& perm) {
  Padding result = p;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    result.before[i] = p.before[static_cast<std::size_t>(perm[i])];
    result.behind[i] = p.behind[static_cast<std::size_t>(perm[i])];
  }
  return result;
}

std::optional<std::int64_t> window_of(const Graph& g, const Node& node, const ImageOp& op, std::size_t i) {
  const Axis& axis = op.axes[i];
  if (!axis.window.empty()) return node.attr_or<std::int64_t>(axis.window, 0);
  if (!node.input(1)) return std::nullopt;
  const Type& filter = g.value(node.input(1)).type;
  if (!filter.ranked || filter.rank() <= op.filter_axis + i || !filter.dims[op.filter_axis + i].known())
    return std::nullopt;
  const std::int64_t k = filter.dims[op.filter_axis + i].size;
  const std::int64_t dilation = node.attr_or<std::int64_t>(axis.dilation, 1);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (k > kMost || dilation > kMost) return std::nullopt;
  return (k - 1) * dilation + 1;
}

// Whether SAME on n elements reads what VALID reads on before + n + behind.
bool same_as_padded(std::int64_t n, std::int64_t before, std::int64_t behind, std::int64_t k, std::int64_t s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // so that nothing below overflows
  if (std::max({n, before, behind, k, s}) > kMost || std::min({n, k, s}) < 1 || std::min(before, behind) < 0)
    return false;
  if (before + n + behind < k) return false;
  const std::int64_t valid_results = (before + n + behind - k) / s + 1;
  const std::int64_t same_results = (n + s - 1) / s;
  const std::int64_t missing = std::max<std::int64_t>((same_results - 1) * s + k - n, 0);
  return valid_results == same_results && before == missing / 2;
}

// `unpadded` is the type of the operator's operand without the padding.
bool is_same(const Graph& g, const Node& node, const ImageOp& op, const Type& unpadded, Padding p) {
  if (!(op.by_zero ? p.zero : p.lowest) || p.before.size() != op.axes.size() + 2) return false;
  for (std::size_t i = 0; i < op.axes.size(); ++i) {
    const Axis& axis = op.axes[i];
    const Dim& n = unpadded.dims[axis.axis];
    const std::optional<std::int64_t> k = window_of(g, node, op, i);
    if (!n.known() || !k) return false;
    if (!same_as_padded(n.size, p.before[axis.axis], p.behind[axis.axis], *k,
                        node.attr_or<std::int64_t>(axis.stride, 1))) {
      return false;
    }
    p.before[axis.axis] = p.behind[axis.axis] = 0;
  }
  const auto zero = [](std::int64_t x) { return x == 0; };
  return std::all_of(p.before.begin(), p.before.end(), zero) && std::all_of(p.behind.begin(), p.behind.end(), zero);
}

void fuse(Graph& g, NodeId n) {
  const ImageOp* op = image_op(g.node(n));
  if (!op || g.node(n).attr_or<std::string>("padding", "SAME") != "VALID") return;
  const NodeId before = producer_of(g, g.node(n).input(0), n);
  if (!before) return;
  // PAD, or PAD and then a TRANSPOSE that nothing else uses, which is moved in front of the PAD.
  const std::optional<std::vector<std::int64_t>> perm = perm_of(g, before);
  if (perm && !single_use(g, g.node(n).input(0))) return;
  const NodeId pad = perm ? producer_of(g, g.node(before).input(0), before) : before;
  if (!pad) return;
  std::optional<Padding> padding = padding_of(g, pad);
  if (!padding) return;
  const ValueId x = g.node(pad).input(0);
  const Type unpadded = perm ? permuted(g.value(x).type, *perm) : g.value(x).type;
  if (perm) padding = permuted_padding(*padding, *perm);
  if (!is_same(g, g.node(n), *op, unpadded, *padding)) return;
  g.set_attr(n, "padding", std::string("SAME"));
  if (perm) {
    g.set_operand(before, 0, x);
    g.set_type(g.node(before).output(0), unpadded);
  } else {
    g.set_operand(n, 0, x);
  }
  const ValueId padded = g.node(pad).output(0);
  if (g.value(padded).unused()) g.erase_node(pad);
}

}  // namespace

Status fuse_pad(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) { fuse(c.graph, n); });
  return {};
}

}  // namespace gantry::passes
