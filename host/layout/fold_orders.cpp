#include "host/layout/fold_orders.hpp"

#include "host/layout/fold.hpp"

namespace gantry::layout {
namespace {

constexpr std::size_t kClose = 1;  // blocks less 1 against a logical order

/// Numbers what is left anew.
FoldedCandidates keep(const Model& m, const Candidates& all, const Kept& kept) {
  FoldedCandidates out;
  out.left.dropped = all.dropped;
  std::vector<std::vector<std::size_t>> number(m.roots.size());
  for (std::size_t r = 0; r < m.roots.size(); ++r) {
    std::vector<Seq>& orders = out.left.orders.emplace_back();
    std::vector<std::size_t>& blocks = out.left.blocks.emplace_back();
    for (std::size_t o = 0; o < all.orders[r].size(); ++o) {
      number[r].push_back(orders.size());
      if (!kept.form[r][o]) continue;
      orders.push_back(all.orders[r][o]);
      blocks.push_back(all.blocks[r][o]);
    }
  }
  for (std::size_t i = 0; i < m.operators.size(); ++i) {
    std::vector<Choice>& choices = out.left.choices.emplace_back();
    out.choice.emplace_back();
    for (std::size_t n = 0; n < all.choices[i].size(); ++n) {
      if (!kept.tuple[i][n]) continue;
      Choice& choice = choices.emplace_back(all.choices[i][n]);
      for (std::size_t k = 0; k < choice.size(); ++k) choice[k] = number[m.operators[i].operands[k].root][choice[k]];
      out.choice[i].push_back(n);
    }
  }
  return out;
}

}  // namespace

std::vector<std::size_t> FoldedCandidates::of_all(const std::vector<std::size_t>& chosen) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < chosen.size(); ++i) out.push_back(choice[i][chosen[i]]);
  return out;
}

FoldedCandidates fold_candidates(const Model& m, const Candidates& c, int max_rank, RankLimit limit, std::uint64_t seed,
                                 std::size_t few) {
  FormProblem p;
  p.weight = c.blocks;
  for (std::size_t i = 0; i < m.operators.size(); ++i) {
    Relation relation;
    for (const Operand& o : m.operators[i].operands) relation.values.push_back(o.root);
    relation.tuples = c.choices[i];
    relation.fixed = m.operators[i].kind != Operator::Kind::node;  // inputs and outputs have reasons of their own
    p.relations.push_back(std::move(relation));
  }
  // What a transpose of this rank could do from or to another order, it can do with the image too. Far-fetched orders
  // would hold each other: if the limit is not kept strictly, only orders close to a logical one count.
  const auto most = static_cast<std::size_t>(max_rank);
  p.replaces = [&](std::size_t r, FormProblem::Two before, FormProblem::Two after) {
    if (m.roots[r].atoms.size() <= most || (limit == RankLimit::hoped_for && c.blocks[r][before.first] > kClose))
      return true;
    const std::vector<Seq>& orders = c.orders[r];
    return runs(orders[before.first], orders[before.second]) > most ||
           runs(orders[after.first], orders[after.second]) <= most;
  };
  return keep(m, c, fold(p, seed, few));
}

}  // namespace gantry::layout
