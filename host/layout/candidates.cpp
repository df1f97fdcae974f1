// The problem. An operator's operands must agree on the orders of the segments that they share. Which orders of a value
// are worth thinking of? Only those that some operator demands, seen from here.
//
// The idea. Each operator keeps candidate sequences for each of its segments, each root keeps candidate orders. Orders
// are projected onto segments, segments are put together to orders, until nothing new appears. It starts from the
// logical order of every value and of every pattern.
//
// It ends because both lists are capped and only grow; candidates that a cap keeps out are counted, and then the result
// is optimal among the candidates only. Only operators that touch a changed root are visited again.
#include "host/layout/candidates.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace gantry::layout {
namespace {

/// Insertion-ordered set of sequences.
class Ordered {
 public:
  bool add(const Seq& s) {
    if (!seen_.insert(s).second) return false;
    list_.push_back(s);
    return true;
  }
  bool contains(const Seq& s) const { return seen_.contains(s); }
  const std::vector<Seq>& list() const { return list_; }
  std::size_t size() const { return list_.size(); }

 private:
  std::vector<Seq> list_;
  std::unordered_set<Seq> seen_;
};

bool has_segment(const Operand& o, std::size_t s) {
  return std::find(o.alternatives[0].begin(), o.alternatives[0].end(), s) != o.alternatives[0].end();
}

/// Atoms of the operand for a row of label sequences.
Seq order_of(const Operand& o, const std::vector<const Seq*>& row) {
  Seq out;
  for (const Seq* s : row)
    for (Seq::value_type l : *s) out += o.groups[l];
  return out;
}

class Finder {
 public:
  Finder(const Model& m, const CandidateOptions& options)
      : m_(m), options_(options), orders_(m.roots.size()), segments_(m.operators.size()) {}

  Candidates run() {
    seed();
    spread();
    Candidates c;
    for (const Ordered& o : orders_) c.orders.push_back(o.list());
    for (std::size_t r = 0; r < c.orders.size(); ++r) {
      c.blocks.emplace_back();
      for (const Seq& order : c.orders[r]) c.blocks[r].push_back(blocks(m_.roots[r], order));
    }
    for (const Operator& op : m_.operators) c.choices.push_back(choices(op, c));
    c.dropped = dropped_;
    return c;
  }

 private:
  std::size_t blocks(const Root& root, const Seq& order) const {
    std::size_t fewest = root.atoms.size();
    for (ValueId v : root.members) fewest = std::min(fewest, runs(order, m_.placed.at(v).map));
    return fewest > 1 ? fewest - 1 : 0;
  }

  void seed() {
    for (std::size_t r = 0; r < m_.roots.size(); ++r)
      for (ValueId v : m_.roots[r].members) orders_[r].add(m_.placed.at(v).map);
    for (std::size_t i = 0; i < m_.operators.size(); ++i) {
      const Operator& op = m_.operators[i];
      segments_[i].resize(op.segments.size());
      for (std::size_t s = 0; s < op.segments.size(); ++s) segments_[i][s].add(op.segments[s]);
      for (const Operand& o : op.operands)
        for (const auto& alternative : o.alternatives) {
          std::vector<const Seq*> row;
          for (std::size_t s : alternative) row.push_back(&op.segments[s]);
          orders_[o.root].add(order_of(o, row));
        }
      for (const Operand& o : op.operands) touching_[o.root].insert(i);
    }
  }

  void spread() {
    std::set<std::size_t> dirty;
    for (std::size_t i = 0; i < m_.operators.size(); ++i) dirty.insert(i);
    for (std::size_t round = 0; round < options_.rounds && !dirty.empty(); ++round) {
      std::vector<std::size_t> now(dirty.begin(), dirty.end());
      if (round % 2) std::reverse(now.begin(), now.end());
      dirty.clear();
      for (std::size_t i : now) {
        std::set<std::size_t> changed;
        project(i);
        combine(i, changed);
        for (std::size_t r : changed) dirty.insert(touching_[r].begin(), touching_[r].end());
      }
    }
    if (!dirty.empty()) ++dropped_;
  }

  bool add_segment(std::size_t i, std::size_t s, const Seq& seq, std::size_t cap) {
    Ordered& list = segments_[i][s];
    if (list.contains(seq)) return false;
    if (list.size() >= cap) return ++dropped_, false;
    return list.add(seq);
  }

  /// Orders of the operands' roots, as sequences of the labels of each free segment.
  void project(std::size_t i) {
    const Operator& op = m_.operators[i];
    for (std::size_t s = 0; s < op.segments.size(); ++s) {
      if (op.fixed[s] || op.segments[s].size() < 2) continue;
      const auto users =
          std::count_if(op.operands.begin(), op.operands.end(), [&](const Operand& o) { return has_segment(o, s); });
      const std::size_t cap = users > 1 ? options_.per_value : options_.per_segment;
      std::vector<Seq> partial;
      for (const Operand& o : op.operands) {
        if (!has_segment(o, s)) continue;
        std::size_t cover = 0;
        for (Seq::value_type l : op.segments[s]) cover += !o.groups[l].empty();
        if (cover == 0) continue;
        for (const Seq& order : orders_[o.root].list()) {
          Seq seen = first_seen(o, order, op.segments[s]);
          if (cover == op.segments[s].size())
            add_segment(i, s, seen, cap);
          else
            partial.push_back(std::move(seen));
        }
      }
      for (const Seq& seen : partial) extend(i, s, seen, cap);
    }
  }

  /// Labels of the segment by the place of their first atom.
  static Seq first_seen(const Operand& o, const Seq& order, const Seq& segment) {
    std::vector<std::pair<std::size_t, Seq::value_type>> at;
    for (Seq::value_type l : segment)
      if (!o.groups[l].empty()) at.emplace_back(order.find(o.groups[l][0]), l);
    std::sort(at.begin(), at.end());
    Seq out;
    for (const auto& [place, l] : at) out.push_back(l);
    return out;
  }

  /// A sequence of some labels of a segment: into the candidates that are there, and with the rest before and after.
  void extend(std::size_t i, std::size_t s, const Seq& seen, std::size_t cap) {
    const std::vector<Seq> full(
        segments_[i][s].list().begin(),
        segments_[i][s].list().begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, segments_[i][s].size())));
    for (const Seq& f : full) {
      Seq merged;
      std::size_t next = 0;
      for (Seq::value_type l : f) merged.push_back(seen.find(l) != Seq::npos ? seen[next++] : l);
      add_segment(i, s, merged, cap);
    }
    Seq rest;
    for (Seq::value_type l : m_.operators[i].segments[s])
      if (seen.find(l) == Seq::npos) rest.push_back(l);
    add_segment(i, s, rest + seen, cap);
    add_segment(i, s, seen + rest, cap);
  }

  /// Orders of each operand from its segments' candidates.
  void combine(std::size_t i, std::set<std::size_t>& changed) {
    const Operator& op = m_.operators[i];
    for (const Operand& o : op.operands)
      for (const auto& alternative : o.alternatives) {
        std::vector<std::size_t> digit(alternative.size(), 0);
        for (std::size_t count = 0; count < 4 * options_.per_value; ++count) {
          std::vector<const Seq*> row;
          for (std::size_t k = 0; k < alternative.size(); ++k)
            row.push_back(&segments_[i][alternative[k]].list()[digit[k]]);
          const Seq order = order_of(o, row);
          if (!orders_[o.root].contains(order)) {
            if (orders_[o.root].size() >= options_.per_value)
              ++dropped_;
            else if (orders_[o.root].add(order))
              changed.insert(o.root);
          }
          std::size_t k = alternative.size();
          while (k > 0 && ++digit[k - 1] == segments_[i][alternative[k - 1]].size()) digit[--k] = 0;
          if (k == 0) break;
        }
      }
  }

  // ---- what each operator can do, over the final candidates -------------------------------------------------------

  struct Parsed {
    std::size_t order;
    std::vector<Seq> parts;
  };

  std::vector<Choice> choices(const Operator& op, const Candidates& c) const {
    std::vector<std::vector<Parsed>> parsed;
    std::vector<std::size_t> sequence;
    for (std::size_t k = 0; k < op.operands.size(); ++k) {
      std::vector<Parsed> p;
      const Operand& o = op.operands[k];
      for (std::size_t n = 0; n < c.orders[o.root].size(); ++n)
        if (auto at = parse_order(op, o, c.orders[o.root][n])) p.push_back({n, std::move(at->parts)});
      parsed.push_back(std::move(p));
      sequence.push_back(k);
    }
    // Operands with the most labels first: they fix whole segments, the others only have to agree.
    std::stable_sort(sequence.begin(), sequence.end(),
                     [&](std::size_t a, std::size_t b) { return labels(op.operands[a]) > labels(op.operands[b]); });
    std::vector<Choice> out;
    Choice choice(op.operands.size(), 0);
    std::vector<Seq> segments(op.segments.size());
    join(parsed, sequence, 0, segments, choice, out);
    return out;
  }

  static std::size_t labels(const Operand& o) {
    return static_cast<std::size_t>(
        std::count_if(o.groups.begin(), o.groups.end(), [](const Seq& g) { return !g.empty(); }));
  }

  /// `part` is `whole` without some labels, or `whole` is not known yet; then it becomes it.
  static bool agree(Seq& whole, const Seq& part) {
    if (whole.empty()) {
      whole = part;
      return true;
    }
    if (part.size() == whole.size()) return part == whole;
    const Seq &longer = part.size() > whole.size() ? part : whole, &shorter = part.size() > whole.size() ? whole : part;
    Seq kept;
    for (Seq::value_type l : longer)
      if (shorter.find(l) != Seq::npos) kept.push_back(l);
    if (kept != shorter) return false;
    if (part.size() > whole.size()) whole = part;
    return true;
  }

  void join(const std::vector<std::vector<Parsed>>& parsed, const std::vector<std::size_t>& sequence, std::size_t depth,
            std::vector<Seq>& segments, Choice& choice, std::vector<Choice>& out) const {
    if (depth == sequence.size()) {
      out.push_back(choice);
      return;
    }
    const std::size_t k = sequence[depth];
    for (const Parsed& p : parsed[k]) {
      std::vector<Seq> next = segments;
      bool fits = true;
      for (std::size_t s = 0; s < next.size() && fits; ++s) fits = p.parts[s].empty() || agree(next[s], p.parts[s]);
      if (!fits) continue;
      choice[k] = p.order;
      join(parsed, sequence, depth + 1, next, choice, out);
      if (out.size() >= kMaxChoices) return;
    }
  }

  static constexpr std::size_t kMaxChoices = 4096;

  const Model& m_;
  const CandidateOptions& options_;
  std::vector<Ordered> orders_;
  std::vector<std::vector<Ordered>> segments_;
  std::unordered_map<std::size_t, std::set<std::size_t>> touching_;
  std::size_t dropped_ = 0;
};

}  // namespace

std::size_t runs(const Seq& a, const Seq& b) {
  std::size_t n = b.empty() ? 0 : 1;
  for (std::size_t i = 1; i < b.size(); ++i) {
    const std::size_t at = a.find(b[i - 1]);
    if (at + 1 >= a.size() || a[at + 1] != b[i]) ++n;
  }
  return n;
}

Candidates find_candidates(const Model& m, const CandidateOptions& options) { return Finder(m, options).run(); }

}  // namespace gantry::layout
