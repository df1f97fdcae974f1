// Shapes that image operators, inputs and outputs demand, and the coarsest writing of each operator, are lifted to
// groupings of other operators' labels, refined until legal, and projected onto their operands, until nothing is new.
// It ends because shapes of a copy and groupings of an operator are capped and only grow; what a cap keeps out is
// counted.
#include "host/layout/shape_candidates.hpp"

#include <algorithm>

#include "host/layout/fold.hpp"

namespace gantry::layout {
namespace {

constexpr std::ptrdiff_t kManyShapes = 1000;  // of all copies: beyond, fewer candidates are worth more than nice ties

}  // namespace

ShapeCandidates::ShapeCandidates(const Graph& g, const Model& m, const Candidates& c,
                                 const std::vector<std::vector<std::size_t>>& choices, std::vector<Mover> movers,
                                 const ShapeOptions& options)
    : m_(m), c_(c), options_(options), movers_(std::move(movers)) {
  for (std::size_t i = 0; i < m.operators.size(); ++i) {
    const NodeId n = m.operators[i].node;
    const int rank = n && options.max_rank ? options.max_rank(n) : options.cost.max_rank;
    for (std::size_t choice : choices[i]) contexts_.emplace_back(i, choice, Writer(g, m, c, i, choice, rank));
  }
  for (std::size_t i = 0; i < contexts_.size(); ++i)
    for (std::size_t k = 0; k < contexts_[i].writer.operands(); ++k) users_[contexts_[i].writer.copy(k)].insert(i);
  for (std::size_t t = 0; t < movers_.size(); ++t) {
    users_[movers_[t].from].insert(contexts_.size() + t);
    users_[movers_[t].to].insert(contexts_.size() + t);
  }
}

bool ShapeCandidates::add_shape(CopyKey k, const Shape& s) {
  auto& list = shapes_[k];
  if (std::find(list.begin(), list.end(), s) != list.end()) return true;
  if (s.size() > 8 || !cut_order(root(k), order(k), s)) return false;
  if (list.size() >= options_.per_copy) return ++dropped_, false;
  list.push_back(s);
  dirty_.insert(users_[k].begin(), users_[k].end());
  return true;
}

void ShapeCandidates::add_grouping(Context& op, const std::optional<Grouping>& g) {
  if (!g || op.seen.contains(*g)) return;
  if (op.seen.size() >= options_.per_operator) {
    ++dropped_;
    return;
  }
  op.seen.insert(*g);
  for (Writing& w : op.writer.writings(*g)) {
    bool fits = true;
    for (std::size_t k = 0; k < w.shapes.size(); ++k) fits = add_shape(op.writer.copy(k), w.shapes[k]) && fits;
    if (fits) op.writings.push_back(std::move(w));
  }
}

void ShapeCandidates::propagate() {
  for (Context& op : contexts_) {
    if (op.writer.is_exact()) {
      op.writings.push_back(op.writer.exact());
      for (std::size_t k = 0; k < op.writer.operands(); ++k) add_shape(op.writer.copy(k), op.writings[0].shapes[k]);
    } else {
      add_grouping(op, op.writer.coarsest());
    }
  }
  for (std::size_t t = 0; t < movers_.size(); ++t) dirty_.insert(contexts_.size() + t);
  for (std::size_t round = 0; round < 20 && !dirty_.empty(); ++round) {
    std::vector<std::size_t> now(dirty_.begin(), dirty_.end());
    if (round % 2) std::reverse(now.begin(), now.end());
    dirty_.clear();
    for (std::size_t i : now) i < contexts_.size() ? visit(contexts_[i]) : visit(movers_[i - contexts_.size()]);
  }
  if (!dirty_.empty()) ++dropped_;
}

void ShapeCandidates::find() {
  propagate();
  for (Context& op : contexts_) add_flat(op);
  for (Mover& t : movers_) t.pairs = pairs(t);
  fold_shapes();
}

/// A relation for each operator with each of its choices of orders, and one for each transpose (fold.hpp).
void ShapeCandidates::fold_shapes() {
  std::map<CopyKey, std::size_t> value;
  std::vector<std::map<Shape, std::size_t>> forms;
  const auto value_of = [&](CopyKey k) {
    const auto [it, fresh] = value.emplace(k, forms.size());
    if (fresh) forms.emplace_back();
    return it->second;
  };
  const auto form_of = [&](std::size_t v, const Shape& s) {
    return forms[v].emplace(s, forms[v].size()).first->second;
  };
  FormProblem p;
  for (const Context& op : contexts_) {
    Relation& r = p.relations.emplace_back();
    for (std::size_t k = 0; k < op.writer.operands(); ++k) r.values.push_back(value_of(op.writer.copy(k)));
    for (const Writing& w : op.writings) {
      std::vector<std::size_t>& tuple = r.tuples.emplace_back();
      r.cost.push_back(w.stripped);
      for (std::size_t k = 0; k < w.shapes.size(); ++k) tuple.push_back(form_of(r.values[k], w.shapes[k]));
    }
  }
  for (const Mover& t : movers_) {
    Relation& r = p.relations.emplace_back();
    r.values = {value_of(t.from), value_of(t.to)};
    for (const Mover::Pair& pair : t.pairs)
      r.tuples.push_back({form_of(r.values[0], pair.from), form_of(r.values[1], pair.to)});
  }
  for (const auto& f : forms) p.weight.emplace_back(f.size(), 0);
  Kept kept = fold(p);
  const auto count = [](const std::vector<bool>& all) { return std::ranges::count(all, true); };
  std::ptrdiff_t left = 0;
  for (const std::vector<bool>& all : kept.form) left += count(all);
  if (left > kManyShapes) {
    for (Relation& r : p.relations) r.cost.clear();
    kept = fold(p);
  }
  const auto drop = [&](auto& list, const std::vector<bool>& keep) {
    std::size_t i = 0;
    std::erase_if(list, [&](const auto&) { return !keep[i++]; });
  };
  for (std::size_t i = 0; i < contexts_.size(); ++i) drop(contexts_[i].writings, kept.tuple[i]);
  for (std::size_t t = 0; t < movers_.size(); ++t) drop(movers_[t].pairs, kept.tuple[contexts_.size() + t]);
}

/// An operator that flattens its operand takes it in any shape.
void ShapeCandidates::add_flat(Context& op) {
  if (!op.writer.flattens()) return;
  const auto flat = std::find_if(op.writings.begin(), op.writings.end(), [](const Writing& w) { return w.flat; });
  if (flat == op.writings.end()) return;
  Writing w = *flat;
  for (const Shape& s : shapes_[op.writer.copy(0)]) {
    w.shapes[0] = s;
    op.writings.push_back(w);
  }
}

void ShapeCandidates::visit(Context& op) {
  if (op.writer.is_exact()) return;
  for (std::size_t k = 0; k < op.writer.operands(); ++k) {
    const std::vector<Shape> list = shapes_[op.writer.copy(k)];
    for (const Shape& s : list)
      if (op.done.emplace(k, s).second) add_grouping(op, op.writer.lift(k, s));
  }
}

/// The blocks that a shape on one side of a transpose asks for, cut where the other side is not contiguous.
std::optional<ShapeCandidates::Side> ShapeCandidates::side(const Mover& t, bool to, const Shape& shape) const {
  const Seq &here = order(to ? t.to : t.from), &there = order(to ? t.from : t.to);
  const auto cut = cut_order(root(t.from), here, shape);
  if (!cut) return std::nullopt;
  Side out;
  for (const auto& [begin, end] : *cut) {
    if (begin == end) {
      ++out.blocks.ones;
      continue;
    }
    Seq now;
    for (std::size_t i = begin; i < end; ++i) {
      if (!now.empty() && there.find(here[i]) != there.find(now.back()) + 1) {
        out.blocks.blocks.insert(now);
        out.whole = false;
        now.clear();
      }
      now.push_back(here[i]);
    }
    out.blocks.blocks.insert(now);
  }
  return out;
}

Shape ShapeCandidates::shape_of(const Mover& t, bool to, const Blocks& b) const {
  const Seq& here = order(to ? t.to : t.from);
  std::vector<std::pair<std::size_t, std::int64_t>> dims;
  for (const Seq& block : b.blocks) {
    std::int64_t n = 1;
    for (Seq::value_type a : block) n *= atom_size(root(t.from), a);
    dims.emplace_back(here.find(block[0]), n);
  }
  std::sort(dims.begin(), dims.end());
  Shape shape(b.ones, 1);
  for (const auto& [at, n] : dims) shape.push_back(n);
  return shape;
}

void ShapeCandidates::visit(Mover& t) {
  for (int to : {0, 1}) {
    std::vector<Shape> list = shapes_[to ? t.to : t.from];
    if (list.empty()) {
      std::int64_t n = 1;
      for (Seq::value_type a : order(t.from)) n *= atom_size(root(t.from), a);
      list.push_back({n});
    }
    for (const Shape& s : list) {
      if (!t.done.emplace(to, s).second) continue;
      const auto b = side(t, to != 0, s);
      if (!b || static_cast<int>(b->blocks.blocks.size()) > options_.cost.max_rank) continue;
      const std::size_t room = static_cast<std::size_t>(options_.cost.max_rank) - b->blocks.blocks.size();
      for (std::size_t ones : std::set<std::size_t>{0, std::min(room, b->blocks.ones)}) {
        const Blocks label{b->blocks.blocks, ones};
        if (std::find(t.labels.begin(), t.labels.end(), label) == t.labels.end()) t.labels.push_back(label);
        for (bool other : {false, true}) add_blocks(t, other, label);
      }
    }
  }
}

/// A shape of that side with these blocks, unless there is one.
void ShapeCandidates::add_blocks(const Mover& t, bool to, const Blocks& label) {
  for (const Shape& s : shapes_[to ? t.to : t.from])
    if (const auto b = side(t, to, s); b && b->whole && b->blocks == label) return;
  add_shape(to ? t.to : t.from, shape_of(t, to, label));
}

std::vector<Mover::Pair> ShapeCandidates::pairs(const Mover& t) const {
  std::vector<Mover::Pair> out;
  const auto from = shapes_.find(t.from), to = shapes_.find(t.to);
  if (from == shapes_.end() || to == shapes_.end()) return out;
  std::vector<std::pair<Blocks, const Shape*>> wanted;
  for (const Shape& b : to->second)
    if (auto y = side(t, true, b); y && y->whole) wanted.emplace_back(std::move(y->blocks), &b);
  for (const Shape& a : from->second) {
    const auto x = side(t, false, a);
    if (!x || !x->whole || a.size() > static_cast<std::size_t>(options_.cost.max_rank)) continue;
    for (const auto& [blocks, b] : wanted)
      if (blocks == x->blocks) out.push_back({a, *b});
  }
  return out;
}

std::vector<std::int64_t> ShapeCandidates::permutation(const Mover& t, const Mover::Pair& l) const {
  const auto a = *cut_order(root(t.from), order(t.from), l.from), b = *cut_order(root(t.from), order(t.to), l.to);
  std::vector<std::int64_t> ones, perm;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].first == a[i].second) ones.push_back(static_cast<std::int64_t>(i));
  std::size_t next_one = 0;
  for (const auto& [begin, end] : b) {
    if (begin == end) {
      perm.push_back(ones[next_one++]);
      continue;
    }
    const std::size_t at = order(t.from).find(order(t.to)[begin]);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].first == at && a[i].first != a[i].second) perm.push_back(static_cast<std::int64_t>(i));
  }
  return perm;
}

}  // namespace gantry::layout
