#include "host/layout/apply.hpp"

#include <algorithm>

#include "host/layout/attributes.hpp"
#include "host/layout/captured.hpp"

namespace gantry::layout {
namespace {

Type stored_type(DType dtype, const Shape& shape, const Type& logical) {
  Type t;
  t.dtype = dtype;
  t.ranked = true;
  for (std::int64_t d : shape) {
    if (d == 0 || d % kUnknownSize != 0) {
      t.dims.emplace_back(d);
      continue;
    }
    Dim unknown;
    if (d == kUnknownSize)
      for (const Dim& l : logical.dims)
        if (!l.known()) unknown = l;
    t.dims.push_back(unknown);
  }
  return t;
}

class Rewriter {
 public:
  Rewriter(Graph& g, RegionId region, const Model& m, const Candidates& c, const Orders& o, const Shapes& s)
      : g_(g), region_(region), m_(m), c_(c), o_(o), s_(s) {}

  Status run() {
    for (const Shapes::Transpose& t : s_.transposes) transposes_.emplace(t.to, &t);
    // What is made of an input, where no operator has said which dialect the region is of.
    for (const NodeId n : m_.views) dialect_ = g_.node(n).op.dialect;
    for (std::size_t i = 0; i < m_.operators.size(); ++i) {
      const Operator& op = m_.operators[i];
      if (op.kind == Operator::Kind::input)
        input(i);
      else if (op.kind == Operator::Kind::output)
        GANTRY_TRY(output(i));
      else
        GANTRY_TRY(node(i));
    }
    erase_views();
    return {};
  }
  std::vector<EmittedMove> take_moves() { return std::move(moves_); }

 private:
  using Stored = std::pair<CopyKey, Shape>;

  CopyKey key(std::size_t i, std::size_t k) const {
    return {m_.operators[i].operands[k].root, c_.choices[i][o_.choice[i]][k]};
  }
  bool is_onnx(NodeId n) const { return g_.node(n).op.dialect == "onnx"; }

  void input(std::size_t i) {
    const Operand& o = m_.operators[i].operands[0];
    const Shape& shape = s_.operators[i].shapes[0];
    keep(o.value, key(i, 0), shape);
  }

  /// The value now holds this copy under this shape.
  void keep(ValueId v, CopyKey k, const Shape& shape) {
    const Type logical = g_.value(v).type;
    g_.set_type(v, stored_type(logical.dtype, shape, logical));
    values_[{k, shape}] = v;
    made_[k] = shape;
  }

  Status output(std::size_t i) {
    const Operator& op = m_.operators[i];
    const Operand& o = op.operands[0];
    const bool captured = o.position == Operator::kCaptured;
    const InsertPoint at = captured ? g_.before(op.node) : g_.end(region_);
    GANTRY_ASSIGN(const ValueId v, get(key(i, 0), s_.operators[i].shapes[0], at, dialect_of(o.root)));
    if (!captured)
      g_.set_output(region_, o.position, v);
    else if (v != o.value)
      replace_within(g_, op.node, o.value, v);
    return {};
  }

  std::string_view dialect_of(std::size_t root) const {
    const NodeId p = g_.value(m_.roots[root].value).producer;
    return p ? g_.node(p).op.dialect : std::string_view(dialect_);
  }

  Status node(std::size_t i) {
    const Operator& op = m_.operators[i];
    const Writing& w = s_.operators[i];
    dialect_ = g_.node(op.node).op.dialect;
    std::vector<ValueId> inputs = g_.node(op.node).inputs;
    for (std::size_t k = 0; k < op.operands.size(); ++k) {
      const Operand& o = op.operands[k];
      if (o.result) continue;
      GANTRY_ASSIGN(inputs[o.position], get(key(i, k), w.shapes[k], g_.before(op.node), dialect_));
    }
    if (op.rule) {
      const Writer writer(g_, m_, c_, i, o_.choice[i], 8);
      GANTRY_TRY(rewrite_attributes(g_, writer, w));
      GANTRY_TRY(rewrite_constants(g_, writer, w));
      become_linear(g_, writer, w);
      const std::vector<ValueId> now = g_.node(op.node).inputs;  // parameters and constants are new
      inputs.resize(std::max(inputs.size(), now.size()));
      for (std::size_t p = 0; p < now.size(); ++p)
        if (now[p] && g_.value(now[p]).is_constant()) inputs[p] = now[p];
      swap_operands(op, writer, inputs);
    }
    g_.set_operands(op.node, inputs);
    for (std::size_t k = 0; k < op.operands.size(); ++k)
      if (op.operands[k].result) keep(op.operands[k].value, key(i, k), w.shapes[k]);
    return {};
  }

  /// A result stored as its own transpose: operands 0 and 1 change places, and so do their flags, negated.
  void swap_operands(const Operator& op, const Writer& writer, std::vector<ValueId>& inputs) {
    for (std::size_t k = 0; k < op.operands.size(); ++k) {
      const Operand& o = op.operands[k];
      if (!o.result) continue;
      const OperandPattern* p = op.rule->result(o.position);
      if (p->alternatives[writer.parsed(k).alternative].flag != "swap") continue;
      std::swap(inputs[0], inputs[1]);
      const auto flag = [&](std::size_t operand) {
        for (const Alternative& a : op.rule->operand(operand)->alternatives)
          if (!a.flag.empty()) return a.flag;
        return std::string();
      };
      const std::string first = flag(0), second = flag(1);
      const auto x = g_.node(op.node).attr_or<std::int64_t>(first, 0),
                 y = g_.node(op.node).attr_or<std::int64_t>(second, 0);
      g_.set_attr(op.node, first, std::int64_t{1 - y});
      g_.set_attr(op.node, second, std::int64_t{1 - x});
    }
  }

  // ---- copies
  // ---------------------------------------------------------------------------------------------------------

  /// The value that holds a copy under a shape, made before `at` if need be.
  Result<ValueId> get(CopyKey k, const Shape& shape, InsertPoint at, std::string_view dialect) {
    if (const auto it = values_.find({k, shape}); it != values_.end()) return it->second;
    if (!made_.contains(k)) {
      const auto t = transposes_.find(k);
      if (t == transposes_.end()) return error(Code::internal, "layout: nobody makes a copy that is read");
      GANTRY_ASSIGN(const ValueId from, get(t->second->from, t->second->from_shape, at, dialect));
      const ValueId v = emit_transpose(from, t->second->perm, t->second->to_shape, at, dialect, m_.roots[k.root]);
      moves_.push_back(
          {g_.value(v).producer, true, t->second->from, t->second->to, t->second->from_shape, t->second->to_shape});
      values_[{k, t->second->to_shape}] = v;
      made_[k] = t->second->to_shape;
      return get(k, shape, at, dialect);
    }
    const ValueId from = values_.at({k, made_.at(k)});
    const ValueId v = emit_reshape(from, shape, at, dialect, m_.roots[k.root]);
    moves_.push_back({g_.value(v).producer, false, k, k, made_.at(k), shape});
    values_[{k, shape}] = v;
    return v;
  }

  ValueId ints(const std::vector<std::int64_t>& values, std::string_view dialect) {
    const std::vector<std::int64_t> dims{static_cast<std::int64_t>(values.size())};
    if (dialect == "onnx")
      return g_.add_constant(Constant::of<std::int64_t>(dims, std::span<const std::int64_t>(values)));
    const std::vector<std::int32_t> narrow(values.begin(), values.end());
    return g_.add_constant(Constant::of<std::int32_t>(dims, std::span<const std::int32_t>(narrow)));
  }

  ValueId finish(NodeId n, const Shape& shape, ValueId like, const Root& root) {
    const ValueId y = g_.node(n).outputs[0];
    g_.set_type(y, stored_type(g_.value(like).type.dtype, shape, g_.value(root.value).type));
    return y;
  }

  ValueId emit_transpose(ValueId x, const std::vector<std::int64_t>& perm, const Shape& shape, InsertPoint at,
                         std::string_view dialect, const Root& root) {
    const std::string name = std::string(g_.value(root.value).name) + "/transposed";
    if (dialect == "onnx")
      return finish(g_.add_node(at, {"onnx", "", "Transpose", 13}, std::vector{x}, 1, {{"perm", perm}}, name), shape, x,
                    root);
    return finish(g_.add_node(at, {"tflite", "", "TRANSPOSE", 1}, std::vector{x, ints(perm, dialect)}, 1, {}, name),
                  shape, x, root);
  }

  ValueId emit_reshape(ValueId x, const Shape& shape, InsertPoint at, std::string_view dialect, const Root& root) {
    Shape dims = shape;
    for (std::int64_t& d : dims)
      if (d != 0 && d % kUnknownSize == 0) d = -1;
    const std::string name = std::string(g_.value(root.value).name) + "/reshaped";
    if (dialect == "onnx") {
      Attrs attrs;
      if (std::find(dims.begin(), dims.end(), 0) != dims.end()) attrs["allowzero"] = std::int64_t{1};
      return finish(
          g_.add_node(at, {"onnx", "", "Reshape", 14}, std::vector{x, ints(dims, dialect)}, 1, std::move(attrs), name),
          shape, x, root);
    }
    return finish(g_.add_node(at, {"tflite", "", "RESHAPE", 1}, std::vector{x, ints(dims, dialect)}, 1,
                              {{"new_shape", dims}}, name),
                  shape, x, root);
  }

  /// Views are read by nobody any more; last first, since a view may read a view.
  void erase_views() {
    const std::vector<NodeId> nodes = g_.nodes(region_);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (m_.views.contains(*it)) g_.erase_node(*it);
  }

  Graph& g_;
  RegionId region_;
  const Model& m_;
  const Candidates& c_;
  const Orders& o_;
  const Shapes& s_;
  std::string dialect_ = "tflite";
  std::map<CopyKey, const Shapes::Transpose*> transposes_;
  std::map<Stored, ValueId> values_;
  std::map<CopyKey, Shape> made_;
  std::vector<EmittedMove> moves_;
};

}  // namespace

Result<std::vector<EmittedMove>> apply(Graph& g, RegionId region, const Model& m, const Candidates& c, const Orders& o,
                                       const Shapes& s) {
  Rewriter rewriter(g, region, m, c, o, s);
  GANTRY_TRY(rewriter.run());
  return rewriter.take_moves();
}

}  // namespace gantry::layout
