#include "host/layout/attributes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "host/layout/binding.hpp"

namespace gantry::layout {
namespace {

constexpr std::int64_t kOuter = std::numeric_limits<std::int64_t>::max();

class Numbers {
 public:
  Numbers(Graph& g, const Writer& writer, const Writing& w)
      : g_(g), writer_(writer), w_(w), op_(writer.op()), n_(g.node(op_.node)) {}

  Status run() {
    flags();
    for (std::size_t i = 0; i < std::max(op_.rule->operands.size(), n_.inputs.size()); ++i) {
      const OperandPattern* p = op_.rule->operand(i);
      if (!p || p->roles.empty() || !n_.input(i)) continue;
      for (const auto& [role, source] : p->roles) GANTRY_TRY(role_of(role, source, i, *p));
      break;  // every operand with roles has the same ones
    }
    if (w_.flat) g_.set_attr(op_.node, "keep_num_dims", std::int64_t{0});
    return {};
  }

 private:
  Diagnostic fail(const std::string& what) const {
    return error(Code::internal, "layout: " + what).on_node(n_.name).on_op(n_.op.str());
  }

  /// Attributes that tell alternatives apart.
  void flags() {
    std::map<std::string, std::int64_t> values;
    for (std::size_t k = 0; k < op_.operands.size(); ++k) {
      const Operand& o = op_.operands[k];
      if (o.result) continue;
      const auto& alternatives = op_.rule->operand(o.position)->alternatives;
      for (std::size_t a = 0; a < alternatives.size(); ++a)
        if (!alternatives[a].flag.empty()) values[alternatives[a].flag] = writer_.parsed(k).alternative == a;
    }
    // A constant is stored as alternative 0 has it.
    for (const ConstantOperand& c : op_.constants)
      for (const Alternative& a : op_.rule->operand(c.position)->alternatives)
        if (!a.flag.empty()) values[a.flag] = 0;
    for (const auto& [flag, value] : values) g_.set_attr(op_.node, flag, value);
  }

  std::string variable(std::size_t axis, std::size_t rank) const { return "*" + std::to_string(rank - 1 - axis); }

  /// Dimension of the grouping that holds a label of the variable; the block's if it has one. -1: none.
  int dimension(const std::string& variable) const {
    int found = -1;
    for (std::size_t d = 0; d < w_.grouping.size(); ++d)
      for (Seq::value_type l : w_.grouping[d])
        if (op_.labels[l].variable == variable && (found < 0 || op_.labels[l].inner == kOuter))
          found = static_cast<int>(d);
    return found;
  }

  /// Elements that one step along the cut axis is, where dimension d starts with its block: what follows in the
  /// dimension, over what the block's atoms already count.
  std::pair<std::int64_t, std::int64_t> scale(const std::string& variable, int d, std::size_t k) const {
    std::int64_t following = 1, step = 1;
    const Seq& dim = w_.grouping[static_cast<std::size_t>(d)];
    for (std::size_t i = 1; i < dim.size(); ++i) following *= writer_.size(dim[i], k);
    for (std::size_t l = 0; l < op_.labels.size(); ++l)
      if (op_.labels[l].variable == variable && op_.labels[l].inner != kOuter) step *= op_.labels[l].size;
    return {following, step};
  }

  std::size_t logical_rank_of(std::size_t operand) const {
    for (const Operand& o : op_.operands)
      if (!o.result && o.position == operand) return writer_.logical_dims(o.value).size();
    return g_.value(n_.input(operand)).type.rank();
  }

  std::size_t operand_index(std::size_t position) const {
    for (std::size_t k = 0; k < op_.operands.size(); ++k)
      if (!op_.operands[k].result && op_.operands[k].position == position) return k;
    return 0;
  }

  void write(const Source& s, const std::vector<std::int64_t>& numbers, bool table = false) {
    if (s.operand < 0) {
      const Attr* old = n_.attr(s.attribute);
      if (old && std::holds_alternative<std::vector<std::int64_t>>(*old))
        g_.set_attr(op_.node, s.attribute, numbers);
      else
        g_.set_attr(op_.node, s.attribute, numbers.empty() ? 0 : numbers[0]);
      return;
    }
    const auto position = static_cast<std::size_t>(s.operand);
    const Constant old = g_.value(n_.input(position)).constant;
    const auto count = static_cast<std::int64_t>(numbers.size());
    std::vector<std::int64_t> dims = old.dims();
    if (table)
      dims = {count / 2, 2};
    else if (!dims.empty())
      dims = {count};
    const Constant wide = Constant::of<std::int64_t>(dims, std::span<const std::int64_t>(numbers));
    const auto narrow = wide.cast(old.dtype());
    g_.set_operand(op_.node, position, g_.add_constant(narrow.ok() ? *narrow : wide));
  }

  Status role_of(const std::string& role, const Source& source, std::size_t i, const OperandPattern& p) {
    const auto old = read_source(g_, n_, source);
    if (!old) return fail("the numbers of role '" + role + "' are not known");
    if (role == "axis" || role == "pick" || role == "drop") return one_axis(source, *old, i);
    if (role == "axes") return axes(source);
    if (role == "pads" || role == "mirror") return pads(source, *old, i);
    if (role == "shape") {
      for (std::size_t k = 0; k < op_.operands.size(); ++k)
        if (op_.operands[k].result) write(source, w_.shapes[k]);
      return {};
    }
    return each_axis(role, source, *old, i, p);
  }

  Status one_axis(const Source& source, const std::vector<std::int64_t>& old, std::size_t i) {
    const std::size_t rank = logical_rank_of(i);
    const auto axis = static_cast<std::size_t>(old[0] < 0 ? old[0] + static_cast<std::int64_t>(rank) : old[0]);
    const int d = dimension(variable(axis, rank));
    if (d < 0) return fail("an axis has no dimension");
    write(source, {d});
    if (const auto sizes = split_sizes()) {
      const auto [following, step] = scale(variable(axis, rank), d, operand_index(i));
      std::vector<std::int64_t> numbers;
      for (std::int64_t n : *sizes) numbers.push_back(n / step * following);
      write({"", 1}, numbers);
    } else if (n_.op.is("onnx", "Split")) {
      write_uneven_parts(variable(axis, rank), axis, d, operand_index(i));
    }
    return {};
  }

  /// A Split without sizes, whose parts are equal but for the last, says the sizes where they are not.
  void write_uneven_parts(const std::string& v, std::size_t axis, int d, std::size_t k) {
    const auto [following, step] = scale(v, d, k);
    std::vector<std::int64_t> sizes;
    for (const Operand& o : op_.operands)
      if (o.result) sizes.push_back(writer_.logical_dims(o.value).at(axis) / step * following);
    if (sizes.size() != n_.outputs.size() || std::equal(sizes.begin() + 1, sizes.end(), sizes.begin())) return;
    const std::vector<std::int64_t> dims{static_cast<std::int64_t>(sizes.size())};
    const ValueId parts = g_.add_constant(Constant::of<std::int64_t>(dims, std::span<const std::int64_t>(sizes)));
    g_.set_operands(op_.node, std::vector{n_.input(0), parts});
    g_.remove_attr(op_.node, "num_outputs");
  }

  /// SPLIT_V's and Split's operand 1: how much of the axis each result takes.
  std::optional<std::vector<std::int64_t>> split_sizes() const {
    if (!n_.op.is("tflite", "SPLIT_V") && !(n_.op.is("onnx", "Split") && n_.input(1))) return std::nullopt;
    return read_source(g_, n_, {"", 1});
  }

  Status axes(const Source& source) {
    std::size_t result = 0;
    while (!op_.operands[result].result) ++result;
    std::vector<std::int64_t> numbers;
    const std::size_t kept = w_.shapes[result].size();
    std::size_t gone = 0;
    for (std::size_t d = 0; d < w_.grouping.size(); ++d) {
      const Seq& dim = w_.grouping[d];
      if (dim.empty() || !op_.operands[result].groups[dim[0]].empty()) continue;
      numbers.push_back(static_cast<std::int64_t>(d));
      ++gone;
    }
    if (!w_.keep_dims && kept + gone < w_.grouping.size())
      for (std::size_t d = 0; d < w_.grouping.size(); ++d)
        if (w_.grouping[d].empty()) numbers.push_back(static_cast<std::int64_t>(d));
    std::sort(numbers.begin(), numbers.end());
    const bool onnx = n_.op.dialect == "onnx";
    // Only axes of size 1 were reduced. To ONNX no axes are all of them, unless this says otherwise.
    if (onnx && numbers.empty()) g_.set_attr(op_.node, "noop_with_empty_axes", std::int64_t{1});
    write(source, numbers);
    g_.set_attr(op_.node, onnx ? "keepdims" : "keep_dims", std::int64_t{w_.keep_dims});
    return {};
  }

  Status pads(const Source& source, std::vector<std::int64_t> old, std::size_t i) {
    const bool onnx = n_.op.dialect == "onnx";
    if (onnx) old = pairs_of(old);
    const std::size_t rank = logical_rank_of(i);
    std::vector<std::int64_t> numbers(2 * w_.grouping.size(), 0);
    for (std::size_t a = 0; a < rank; ++a) {
      if (old[2 * a] == 0 && old[2 * a + 1] == 0) continue;
      const int d = dimension(variable(a, rank));
      if (d < 0) return fail("a padded axis has no dimension");
      const auto [following, step] = scale(variable(a, rank), d, operand_index(i));
      numbers[2 * static_cast<std::size_t>(d)] = old[2 * a] / step * following;
      numbers[2 * static_cast<std::size_t>(d) + 1] = old[2 * a + 1] / step * following;
    }
    if (onnx) {  // first all that is before, then all that is after
      std::vector<std::int64_t> flat;
      for (std::size_t k = 0; k < 2 * w_.grouping.size(); ++k)
        flat.push_back(numbers[k < w_.grouping.size() ? 2 * k : 2 * (k - w_.grouping.size()) + 1]);
      numbers = std::move(flat);
    }
    write(source, numbers, !onnx);
    return {};
  }

  /// begin, size, end, strides, repeats: one number for each dimension, the old one where the dimension is a cut axis.
  Status each_axis(const std::string& role, const Source& source, const std::vector<std::int64_t>& old, std::size_t i,
                   const OperandPattern& p) {
    const std::size_t rank = logical_rank_of(i), k = operand_index(i);
    std::vector<std::int64_t> numbers;
    std::int64_t begin_mask = 0, end_mask = 0;
    const auto old_begin = n_.attr_or<std::int64_t>("begin_mask", 0), old_end = n_.attr_or<std::int64_t>("end_mask", 0);
    for (std::size_t d = 0; d < w_.grouping.size(); ++d) {
      const std::int64_t whole = w_.shapes[k][d] % kUnknownSize == 0 && w_.shapes[k][d] ? -1 : w_.shapes[k][d];
      if (role == "size")
        numbers.push_back(whole);
      else if (role == "end")
        numbers.push_back(w_.shapes[k][d]);
      else
        numbers.push_back(role == "strides" || role == "repeats" ? 1 : 0);
      const Seq& dim = w_.grouping[d];
      if (dim.empty() || op_.labels[dim[0]].inner != kOuter) continue;
      const std::string& v = op_.labels[dim[0]].variable;
      const std::size_t a = rank - 1 - static_cast<std::size_t>(std::stoi(v.substr(1)));
      const auto [following, step] = scale(v, static_cast<int>(d), k);
      std::int64_t number = old.at(a);
      if (role == "size" && number < 0) number = cut_size(a);
      numbers.back() = role == "strides" || role == "repeats" ? number : number / step * following;
      if (old_begin >> a & 1) begin_mask |= std::int64_t{1} << d;
      if (old_end >> a & 1) end_mask |= std::int64_t{1} << d;
    }
    write(source, numbers);
    if (role == "strides") {
      g_.set_attr(op_.node, "begin_mask", begin_mask);
      g_.set_attr(op_.node, "end_mask", end_mask);
    }
    (void)p;
    return {};
  }

  /// A size of -1 on a cut axis is what the result has.
  std::int64_t cut_size(std::size_t axis) const {
    for (const Operand& o : op_.operands)
      if (o.result) return writer_.logical_dims(o.value).at(axis);
    return -1;
  }

  Graph& g_;
  const Writer& writer_;
  const Writing& w_;
  const Operator& op_;
  const Node& n_;
};

}  // namespace

Status rewrite_attributes(Graph& g, const Writer& writer, const Writing& w) { return Numbers(g, writer, w).run(); }

namespace {

/// The pieces of a constant in stored order, and the dimensions that they make.
struct StoredConstant {
  std::vector<std::int64_t> perm, dims;
};

class ConstantOrder {
 public:
  ConstantOrder(const Writer& writer, const Writing& w, const ConstantOperand& c, std::size_t rank)
      : writer_(writer), w_(w), c_(c), rank_(rank) {}

  StoredConstant run() {
    const std::vector<std::size_t>& items = c_.alternatives[0];
    const bool has_free = !items.empty() && writer_.is_free(items[0]);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (writer_.is_free(items[k])) {
        for (const Seq& dim : w_.grouping) out_.dims.push_back(take(dim));
      } else {
        const std::size_t axis = has_free ? rank_ + k - items.size() : k;
        out_.dims.push_back(take(writer_.segment(items[k])) * take_axis(static_cast<int>(axis)));
      }
    }
    if (writer_.broadcasts()) drop_leading_ones();
    return out_;
  }

 private:
  std::int64_t take(const Seq& labels) {
    std::int64_t n = 1;
    for (Seq::value_type l : labels)
      for (std::size_t i = 0; i < c_.pieces.size(); ++i)
        if (c_.pieces[i].label == static_cast<int>(l)) {
          out_.perm.push_back(static_cast<std::int64_t>(i));
          n *= c_.pieces[i].size;
        }
    return n;
  }
  /// An axis that is the constant's own.
  std::int64_t take_axis(int axis) {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < c_.pieces.size(); ++i)
      if (c_.pieces[i].label < 0 && c_.pieces[i].axis == axis) {
        out_.perm.push_back(static_cast<std::int64_t>(i));
        n *= c_.pieces[i].size;
      }
    return n;
  }
  /// A broadcast constant needs its leading ones only where nothing else has the full rank.
  void drop_leading_ones() {
    for (std::size_t k = 0; k < writer_.operands(); ++k)
      if (!writer_.op().operands[k].result && w_.shapes[k].size() == w_.grouping.size()) {
        while (!out_.dims.empty() && out_.dims[0] == 1) out_.dims.erase(out_.dims.begin());
        return;
      }
  }

  const Writer& writer_;
  const Writing& w_;
  const ConstantOperand& c_;
  std::size_t rank_;
  StoredConstant out_;
};

}  // namespace

void become_linear(Graph& g, const Writer& writer, const Writing& w) {
  const NodeId id = writer.op().node;
  const std::size_t written = w.flat ? 0 : w.grouping.size();
  if (!writer.is_linear() || written == static_cast<std::size_t>(writer.written_dims())) return;
  const Constant filter = g.value(g.node(id).input(1)).constant;
  const auto matrix = filter.reshape({filter.dims().front(), filter.dims().back()});
  if (!matrix.ok()) return;
  const std::string name(g.value(g.node(id).input(1)).name);
  g.set_operand(id, 1, g.add_constant(*matrix, name));
  const auto activation = g.node(id).attr_or<std::string>("fused_activation_function", "NONE");
  std::vector<std::string> gone;
  for (const auto& [attr, value] : g.node(id).attrs) gone.emplace_back(attr);
  for (const std::string& attr : gone) g.remove_attr(id, attr);
  g.set_op(id, {"tflite", "", "FULLY_CONNECTED", 1});
  g.set_attr(id, "fused_activation_function", activation);
  g.set_attr(id, "keep_num_dims", std::int64_t{w.flat ? 0 : 1});
}

Status rewrite_constants(Graph& g, const Writer& writer, const Writing& w) {
  const Operator& op = writer.op();
  for (const ConstantOperand& c : op.constants) {
    const ValueId v = g.node(op.node).input(c.position);
    const Constant old = g.value(v).constant;
    const StoredConstant stored = ConstantOrder(writer, w, c, old.dims().size()).run();
    std::vector<std::int64_t> sizes;
    for (const auto& p : c.pieces) sizes.push_back(p.size);
    if (stored.perm.size() != sizes.size())
      return error(Code::internal, "layout: a constant does not follow its operator").on_node(g.node(op.node).name);
    GANTRY_ASSIGN(Constant cut, old.reshape(sizes));
    GANTRY_ASSIGN(cut, cut.permute(stored.perm));
    GANTRY_ASSIGN(cut, cut.reshape(stored.dims));
    if (cut.dims() != old.dims() || !cut.same(old)) {
      const std::string name(g.value(v).name);
      g.set_operand(op.node, c.position, g.add_constant(cut, name));
    }
  }
  return {};
}

}  // namespace gantry::layout
