#include "host/layout/model.hpp"

#include <algorithm>

#include "host/layout/binding.hpp"
#include "host/layout/captured.hpp"

namespace gantry::layout {
namespace {

std::int64_t bytes_of(const Type& t) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // no file holds more, and costs are sums of these
  std::int64_t n = 1;
  for (const Dim& d : t.dims) {
    if (!d.known() || d.size < 1) continue;
    if (d.size > kMost / n) return kMost;
    n *= d.size;
  }
  return std::max<std::int64_t>(1, n * dtype_bits(t.dtype) / 8);
}

/// Equal but for axes of size 1, so that unknown sizes pass.
bool only_ones_differ(const Type& a, const Type& b) {
  std::vector<Dim> x, y;
  for (const Dim& d : a.dims)
    if (d.size != 1) x.push_back(d);
  for (const Dim& d : b.dims)
    if (d.size != 1) y.push_back(d);
  if (x.size() != y.size()) return false;
  std::size_t anonymous = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i].known() != y[i].known() || x[i].size != y[i].size) return false;
    if (!x[i].known() && (x[i].symbol.empty() || x[i].symbol != y[i].symbol)) ++anonymous;
  }
  return anonymous <= 1;
}

class Builder {
 public:
  Builder(const Graph& g, RegionId region, const ModelOptions& options)
      : g_(g), region_(region), options_(options), axes_(g) {}

  Model run() {
    for (NodeId n : g_.nodes(region_)) tie(n);
    axes_.refine();
    for (ValueId v : g_.region(region_).inputs) new_root(v);
    input_operators();
    for (ValueId v : captured_by(g_, region_)) {
      new_root(v);
      boundary(Operator::Kind::input, v, Operator::kCaptured, {});
    }
    for (NodeId n : g_.nodes(region_)) place(n);
    output_operators();
    return std::move(model_);
  }

 private:
  bool live(ValueId v) const { return v && !g_.value(v).is_constant(); }

  void tie(NodeId id) {
    const Node& n = g_.node(id);
    const ValueId x = n.input(0), y = n.output(0);
    if (is_view(n)) {
      if (is_transpose(n)) {
        const auto perm = permutation(g_, n);
        for (std::size_t j = 0; j < perm.size(); ++j)
          axes_.tie({x, static_cast<int>(perm[j])}, {y, static_cast<int>(j)});
      } else if (g_.value(x).type.is_static() && g_.value(y).type.is_static()) {
        axes_.view(x, y);
      }
      return;
    }
    if (auto b = bind(g_, n, options_.rule(n.op))) {
      tie_axes(*b, axes_);
      bindings_.emplace(id, std::move(*b));
    }
  }

  /// A TRANSPOSE or RESHAPE of a live value whose types are known well enough.
  bool is_view(const Node& n) const {
    const ValueId x = n.input(0), y = n.output(0);
    if (!live(x) || !y || !g_.value(x).type.ranked || !g_.value(y).type.ranked) return false;
    if (is_transpose(n)) return permutation(g_, n).size() == g_.value(x).type.rank();
    if (!is_reshape(n)) return false;
    if (g_.value(x).type.is_static() && g_.value(y).type.is_static()) return true;
    return only_ones_differ(g_.value(x).type, g_.value(y).type);
  }

  void new_root(ValueId v) {
    Placed p;
    p.root = model_.roots.size();
    p.atoms = axes_.atoms(v);
    p.dims = g_.value(v).type.sizes();
    Root r;
    r.value = v;
    r.bytes = bytes_of(g_.value(v).type);
    r.members = {v};
    for (std::size_t k = 0; k < p.atoms.size(); ++k) {
      p.map.push_back(static_cast<Seq::value_type>(k));
      r.atoms.push_back(p.atoms[k].size);
    }
    model_.roots.push_back(std::move(r));
    model_.placed.emplace(v, std::move(p));
  }

  void place(NodeId id) {
    const Node& n = g_.node(id);
    if (is_view(n) && !axes_.is_wall(n.output(0))) {
      place_view(id, n);
      return;
    }
    // What its regions see of the values here is in logical order.
    if (!n.regions.empty())
      for (ValueId v : captured_by(g_, id)) {
        const std::size_t before = model_.operators.size();
        boundary(Operator::Kind::output, v, Operator::kCaptured, {});
        if (model_.operators.size() > before) model_.operators.back().node = id;
      }
    for (ValueId v : n.outputs)
      if (v) new_root(v);
    const auto b = bindings_.find(id);
    std::optional<Operator> op;
    if (b != bindings_.end()) op = make_operator(b->second, axes_, model_.placed);
    if (!op) op = fixed_operator(g_, n, model_.placed);
    op->node = id;
    model_.operators.push_back(std::move(*op));
  }

  void place_view(NodeId id, const Node& n) {
    const Placed& x = model_.placed.at(n.input(0));
    Placed y;
    y.root = x.root;
    y.atoms = axes_.atoms(n.output(0));
    y.dims = g_.value(n.output(0)).type.sizes();
    if (is_transpose(n)) {
      for (std::int64_t axis : permutation(g_, n))
        for (std::size_t k = 0; k < x.atoms.size(); ++k)
          if (x.atoms[k].axis == axis) y.map.push_back(x.map[k]);
    } else {
      y.map = x.map;
    }
    model_.roots[y.root].members.push_back(n.output(0));
    model_.views.insert(id);
    model_.placed.emplace(n.output(0), std::move(y));
  }

  // ---- inputs and outputs of the region --------------------------------------------------------------------------

  Io io_of(const std::string& name, ValueId v, std::size_t position) const {
    const std::size_t rank = g_.value(v).type.rank();
    if (region_ != g_.main() || rank < 3 || position == Operator::kCaptured) return {};
    if (const auto it = options_.io_by_name.find(name); it != options_.io_by_name.end())
      return {it->second, true, static_cast<int>(rank)};
    if (options_.io == IoLayout::nchw) return {IoLayout::nchw, true, static_cast<int>(rank)};
    if (options_.io == IoLayout::nhwc && rank <= 5 && carries_channels(v))
      return {IoLayout::nhwc, false, static_cast<int>(rank)};
    return {};
  }

  /// Whether axis 1 is the channel axis of some operator with image axes.
  bool carries_channels(ValueId v) const {
    if (channel_classes_.empty())
      for (const auto& [id, b] : bindings_)
        for (const AxisOf& a : channel_axes(b)) channel_classes_.insert(axes_.class_of(a));
    return channel_classes_.contains(axes_.class_of({v, 1}));
  }

  void boundary(Operator::Kind kind, ValueId v, std::size_t position, const std::string& name) {
    if (!g_.value(v).type.ranked) return;
    model_.operators.push_back(boundary_operator(kind, v, position, model_.placed.at(v), io_of(name, v, position)));
  }
  void input_operators() {
    const Region& r = g_.region(region_);
    for (std::size_t i = 0; i < r.inputs.size(); ++i) boundary(Operator::Kind::input, r.inputs[i], i, r.input_names[i]);
  }
  void output_operators() {
    const Region& r = g_.region(region_);
    for (std::size_t i = 0; i < r.outputs.size(); ++i)
      if (live(r.outputs[i].value) && model_.placed.contains(r.outputs[i].value))
        boundary(Operator::Kind::output, r.outputs[i].value, i, r.outputs[i].name);
  }

  const Graph& g_;
  RegionId region_;
  const ModelOptions& options_;
  Axes axes_;
  Model model_;
  std::map<NodeId, Binding> bindings_;
  mutable std::set<std::size_t> channel_classes_;
};

}  // namespace

bool is_transpose(const Node& n) { return n.op.is("tflite", "TRANSPOSE") || n.op.is("onnx", "Transpose"); }
bool is_reshape(const Node& n) {
  for (std::string_view name : {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"})
    if (n.op.is("tflite", name)) return true;
  for (std::string_view name : {"Reshape", "Squeeze", "Unsqueeze", "Flatten"})
    if (n.op.is("onnx", name)) return true;
  return false;
}

Model build_model(const Graph& g, RegionId region, const ModelOptions& options) {
  return Builder(g, region, options).run();
}

std::optional<ParsedOrder> parse_order(const Operator& op, const Operand& operand, const Seq& order) {
  Seq labels;
  for (std::size_t k = 0; k < order.size();) {
    std::size_t label = 0;
    while (label < operand.groups.size() && (operand.groups[label].empty() || operand.groups[label][0] != order[k]))
      ++label;
    if (label == operand.groups.size()) return std::nullopt;  // in the middle of a block
    const Seq& group = operand.groups[label];
    if (order.compare(k, group.size(), group) != 0) return std::nullopt;
    labels.push_back(static_cast<Seq::value_type>(label));
    k += group.size();
  }
  for (std::size_t a = 0; a < operand.alternatives.size(); ++a) {
    std::vector<Seq> parts(op.segments.size());
    std::size_t k = 0;
    bool fits = true;
    for (std::size_t s : operand.alternatives[a]) {
      Seq here;  // labels of this segment that the operand has, in logical order
      for (Seq::value_type l : op.segments[s])
        if (!operand.groups[l].empty()) here.push_back(l);
      while (k < labels.size() && here.find(labels[k]) != Seq::npos) parts[s].push_back(labels[k++]);
      fits = parts[s].size() == here.size() && (!op.fixed[s] || parts[s] == here);
      if (!fits) break;
    }
    if (fits && k == labels.size()) return ParsedOrder{a, std::move(parts)};
  }
  return std::nullopt;
}

}  // namespace gantry::layout
