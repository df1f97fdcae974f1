// Einsum. Each operand loses its diagonals and the axes that only it has and nobody wants; then operands are joined
// from the left, two by two: what both have is a batch axis or is summed over, so a pair is one BATCH_MATMUL (or a
// product). Operator: ONNX operator specification, Einsum; the notation is numpy's.
#include <algorithm>
#include <map>
#include <set>

#include "extent.hpp"
#include "floats.hpp"

namespace core_ops {
namespace {

using Labels = std::vector<int>;  // a letter, or -k for the k-th axis of the ellipsis from its end

bool has(const Labels& list, int label) { return std::find(list.begin(), list.end(), label) != list.end(); }
std::size_t place(const Labels& list, int label) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), label) - list.begin());
}

struct Term {
  Value v;
  Labels labels;
  std::int64_t size(int label) const { return v.dim(static_cast<int>(place(labels, label))); }
};

/// "ab...c" for a value of this rank; `ellipsis` grows to the most axes that it stands for.
Labels parse_term(const std::string& text, int rank, int& ellipsis) {
  Labels labels;
  const std::size_t dots = text.find("...");
  const auto letters = [&](const std::string& part) {
    for (char c : part) {
      decline_if(!std::isalpha(static_cast<unsigned char>(c)), "equation: '", text, "'");
      labels.push_back(c);
    }
  };
  if (dots == std::string::npos) {
    letters(text);
    decline_if(rank >= 0 && static_cast<int>(labels.size()) != rank, "equation: '", text, "' for rank ", rank);
    return labels;
  }
  letters(text.substr(0, dots));
  const int hidden = rank < 0 ? ellipsis : rank - static_cast<int>(text.size()) + 3;
  decline_if(hidden < 0, "equation: '", text, "' for rank ", rank);
  ellipsis = std::max(ellipsis, hidden);
  for (int k = hidden; k >= 1; --k) labels.push_back(-k);
  letters(text.substr(dots + 3));
  return labels;
}

struct Equation {
  std::vector<Labels> terms;
  Labels result;
};

Equation parse(std::string text, const std::vector<Value>& operands) {
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation e;
  int ellipsis = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t comma = left.find(',', at);
    decline_if((comma == std::string::npos) != (i + 1 == operands.size()), "equation '", text, "' for ",
               operands.size(), " operands");
    e.terms.push_back(
        parse_term(left.substr(at, comma == std::string::npos ? comma : comma - at), operands[i].rank(), ellipsis));
    at = comma + 1;
  }
  if (arrow != std::string::npos) {
    e.result = parse_term(text.substr(arrow + 2), -1, ellipsis);
    return e;
  }
  std::map<int, int> count;
  for (const Labels& t : e.terms)
    for (int l : t) ++count[l];
  for (int k = ellipsis; k >= 1; --k) e.result.push_back(-k);
  for (const auto& [label, n] : count)
    if (label > 0 && n == 1) e.result.push_back(label);
  return e;
}

Term in_order(const Emit& emit, const Term& t, const Labels& order) {
  Dims perm;
  for (int l : order) perm.push_back(static_cast<std::int64_t>(place(t.labels, l)));
  return {emit.transpose(t.v, perm), order};
}

/// A label that stands twice: only the elements where both indices are equal.
Term diagonal(const Emit& emit, Term t) {
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    const auto next = std::find(t.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, t.labels.end(), t.labels[i]);
    if (next == t.labels.end()) continue;
    const auto j = static_cast<std::size_t>(next - t.labels.begin());
    const Dims dims = t.v.dims();
    const std::int64_t n = dims[i];
    decline_if(n < 0 || n != dims[j], "a diagonal of ", text(dims), "; give input shapes with --shape");
    Dims perm, shape;
    Labels labels;
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (k != i && k != j)
        perm.push_back(static_cast<std::int64_t>(k)), shape.push_back(dims[k]), labels.push_back(t.labels[k]);
    perm.push_back(static_cast<std::int64_t>(i));
    perm.push_back(static_cast<std::int64_t>(j));
    shape.push_back(n * n);
    labels.push_back(t.labels[i]);
    std::vector<std::int32_t> at;
    for (std::int64_t k = 0; k < n; ++k) at.push_back(static_cast<std::int32_t>(k * (n + 1)));
    const Value flat = reshape_one_unknown(emit, emit.transpose(t.v, perm), shape);
    const Value picked = emit.op("GATHER", {flat, emit.constant<std::int32_t>({n}, at)},
                                 {{"axis", static_cast<std::int64_t>(shape.size()) - 1}, {"batch_dims", 0}});
    return diagonal(emit, {picked, labels});
  }
  return t;
}

/// Without the axes whose label is not in `wanted`: summed over.
Term without(const Emit& emit, const Term& t, const std::set<int>& wanted) {
  Dims axes;
  Labels kept;
  for (std::size_t i = 0; i < t.labels.size(); ++i)
    if (wanted.contains(t.labels[i]))
      kept.push_back(t.labels[i]);
    else
      axes.push_back(static_cast<std::int64_t>(i));
  return axes.empty() ? t : Term{reduce_axes(emit, "SUM", t.v, axes, false), kept};
}

/// Without axes of size 1 whose label has another size elsewhere: they broadcast.
Term without_ones(const Emit& emit, Term t, const std::map<int, std::int64_t>& sizes) {
  for (std::size_t i = t.labels.size(); i-- > 0;) {
    if (t.v.dim(static_cast<int>(i)) != 1 || sizes.at(t.labels[i]) == 1) continue;
    t.v = remove_axis(emit, t.v, static_cast<int>(i));
    t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return t;
}

/// Axes in `order`, size 1 where the term has none.
Value spread(const Emit& emit, const Term& t, const Labels& order) {
  Labels own;
  for (int l : order)
    if (has(t.labels, l)) own.push_back(l);
  Value v = in_order(emit, t, own).v;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!has(own, order[i])) v = insert_axis(emit, v, static_cast<int>(i));
  return v;
}

Extents sizes_of(const Emit& emit, const Term& t, const Labels& labels) {
  Extents sizes;
  for (int l : labels) sizes.push_back(extent_of(emit, t.v, static_cast<int>(place(t.labels, l))));
  return sizes;
}

/// A pair's labels: in both and wanted later, in both and summed, in one.
struct Split {
  Labels batch, summed, left, right;
};
Split split(const Term& a, const Term& b, const std::set<int>& wanted, const Labels& order) {
  Split s;
  const auto by_order = [&](int x, int y) { return place(order, x) < place(order, y); };
  for (int l : a.labels) (has(b.labels, l) ? (wanted.contains(l) ? s.batch : s.summed) : s.left).push_back(l);
  for (int l : b.labels)
    if (!has(a.labels, l)) s.right.push_back(l);
  for (Labels* list : {&s.batch, &s.left, &s.right}) std::stable_sort(list->begin(), list->end(), by_order);
  return s;
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

/// [batch..., rows, columns] of a term; `turned` where it lies as [batch..., columns, rows] already.
struct Matrix {
  Value v;
  bool turned = false;
};
Matrix matrix(const Emit& emit, const Term& t, const Labels& batch, const Labels& rows, const Labels& columns) {
  Matrix m;
  m.turned = t.labels == joined({batch, columns, rows}) && t.labels != joined({batch, rows, columns});
  const Labels& first = m.turned ? columns : rows;
  const Labels& second = m.turned ? rows : columns;
  const Term ordered = in_order(emit, t, joined({batch, first, second}));
  m.v = ordered.v;
  if (batch.size() <= 3 && first.size() == 1 && second.size() == 1) return m;
  Extents sizes = sizes_of(emit, ordered, batch);
  if (batch.size() > 3) sizes = {product(emit, sizes)};
  sizes.push_back(product(emit, sizes_of(emit, ordered, first)));
  sizes.push_back(product(emit, sizes_of(emit, ordered, second)));
  m.v = reshape_to(emit, ordered.v, sizes);
  return m;
}

Term contract(const Emit& emit, const Term& a, const Term& b, const Split& s) {
  const bool matrices = a.v.dtype() == DType::float32;
  if (s.summed.empty() || !matrices) {
    const Labels order = joined({s.batch, s.left, s.right, s.summed});
    const Value y = emit.mul(spread(emit, a, order), spread(emit, b, order));
    const Labels result = joined({s.batch, s.left, s.right});
    return without(emit, {y, order}, {result.begin(), result.end()});
  }
  const Matrix x = matrix(emit, a, s.batch, s.left, s.summed);
  Value y;
  if (s.batch.empty() && b.v.constant()) {
    const Matrix w = matrix(emit, b, {}, s.right, s.summed);
    const Value weights = w.turned ? emit.transpose(w.v, {1, 0}) : w.v,
                rows = x.turned ? emit.transpose(x.v, {1, 0}) : x.v;
    const std::vector<float> zeros(static_cast<std::size_t>(weights.dim(0)), 0.0f);
    y = emit.op("FULLY_CONNECTED", {rows, weights, emit.constant<float>({weights.dim(0)}, zeros)},
                {{"keep_num_dims", true},
                 {"weights_format", "DEFAULT"},
                 {"asymmetric_quantize_inputs", false},
                 no_activation()});
  } else {
    const Matrix w = matrix(emit, b, s.batch, s.summed, s.right);
    y = batch_matmul(emit, x.v, w.v, x.turned, w.turned);
  }
  const Labels result = joined({s.batch, s.left, s.right});
  if (s.batch.size() <= 3 && s.left.size() == 1 && s.right.size() == 1 &&
      result.size() == static_cast<std::size_t>(y.rank()))
    return {y, result};
  Extents sizes = sizes_of(emit, a, joined({s.batch, s.left}));
  for (const Extent& n : sizes_of(emit, b, s.right)) sizes.push_back(n);
  return {reshape_to(emit, y, sizes), result};
}

Term join(const Emit& emit, const Term& a, const Term& b, const std::set<int>& wanted, const Labels& order) {
  const Split s = split(a, b, wanted, order);
  // The operand whose axes come first in the result is the left one, and constants are weights.
  const bool later = !s.left.empty() && !s.right.empty() && place(order, s.right[0]) < place(order, s.left[0]);
  const bool weights_left = a.v.constant() && !b.v.constant() && s.batch.empty();
  if (!b.v.constant() && (later || weights_left)) return contract(emit, b, a, {s.batch, s.summed, s.right, s.left});
  return contract(emit, a, b, s);
}

}  // namespace

GANTRY_CONVERT(onnx, "Einsum", since(12), to(tflite)) {
  const std::vector<Value> operands = node.ins();
  const DType t = operands.at(0).dtype();
  const Equation e = parse(node.attr<std::string>("equation"), operands);
  const DType computed = is_float(t) ? DType::float32 : computed_in(t);
  std::vector<Term> terms;
  std::map<int, std::int64_t> sizes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value v = is_float(t) ? in_float32(emit, operands[i]) : emit.cast(operands[i], computed);
    terms.push_back(diagonal(emit, {v, e.terms[i]}));
    for (int l : terms.back().labels) {
      std::int64_t& n = sizes.try_emplace(l, 1).first->second;
      const std::int64_t size = terms.back().size(l);
      decline_if(n > 1 && size > 1 && n != size, "sizes ", n, " and ", size, " under one letter");
      if (n == 1 || size > 1) n = size;
    }
  }
  for (int l : e.result) decline_if(!sizes.contains(l) && l > 0, "a letter of the result is in no operand");
  const auto wanted_after = [&](std::size_t i) {
    std::set<int> wanted(e.result.begin(), e.result.end());
    for (std::size_t k = i; k < terms.size(); ++k) wanted.insert(terms[k].labels.begin(), terms[k].labels.end());
    return wanted;
  };
  for (Term& term : terms) term = without_ones(emit, term, sizes);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::set<int> wanted(e.result.begin(), e.result.end());
    for (std::size_t k = 0; k < terms.size(); ++k)
      if (k != i) wanted.insert(terms[k].labels.begin(), terms[k].labels.end());
    terms[i] = without(emit, terms[i], wanted);
  }
  Term y = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    // Letters that stand in later terms are kept; the order in which the result will have them is aimed at.
    Labels order = e.result;
    for (int l : joined({y.labels, terms[i].labels}))
      if (!has(order, l)) order.push_back(l);
    y = join(emit, y, terms[i], wanted_after(i + 1), order);
  }
  return emit.cast(in_order(emit, y, e.result).v, t);
}

}  // namespace core_ops
