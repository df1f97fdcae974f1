// The problem. Candidates are all orders that the rules reach. A value that passes through attention and windows may
// have eighty of them; two or three are of use. Every table of the solver grows with the square of that number.
//
// The idea. Take a map of orders to orders, one for each root, that turns every choice of every operator into a choice
// that it has too. Equal orders stay equal under it, so wherever no transpose was needed none is needed after it: the
// map makes nothing dearer, and the orders outside its image can go. (In the language of constraint satisfaction: an
// endomorphism, and what is left approaches the core; Hell and Nesetril 1992.) Such a map is looked for by trial: send
// one order of one root to another, and follow what that forces upon the operators around it, until nothing is
// forced any more, or an operator has no choice that fits. Orders that some operator insists on never go.
//
// It ends because each success drops an order. Trials are bounded in number and length, so that the cost is near linear
// in the size of the graph; a trial that is given up only leaves orders in.
#include "host/layout/fold.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/layout/orders.hpp"

namespace gantry::layout {
namespace {

constexpr std::size_t kMostChanged = 3000;   // orders that one trial may move
constexpr std::size_t kClose = 1;            // blocks less 1 against a logical order
constexpr std::size_t kTrials = 12;          // for one order
constexpr std::size_t kStepsPerOrder = 400;  // choices looked at, for each order there is

class Folder {
 public:
  Folder(const Model& m, Candidates& c, int max_rank, RankLimit limit, std::size_t few)
      : m_(m),
        c_(c),
        max_rank_(max_rank),
        limit_(limit),
        few_(few),
        touching_(m.roots.size()),
        alive_(m.roots.size()),
        to_(m.roots.size()) {
    for (std::size_t r = 0; r < m.roots.size(); ++r) {
      alive_[r].assign(c.orders[r].size(), true);
      to_[r].assign(c.orders[r].size(), kFree);
      if (c.orders[r].size() > few_) steps_left_ += c.orders[r].size() * kStepsPerOrder;
    }
    using_.resize(m.operators.size());
    gone_.resize(m.operators.size());
    for (std::size_t i = 0; i < m.operators.size(); ++i) {
      const Operator& op = m.operators[i];
      gone_[i].assign(c.choices[i].size(), false);
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        const std::size_t root = op.operands[k].root;
        touching_[root].push_back({i, k});
        using_[i].emplace_back(c.orders[root].size());
        for (std::size_t n = 0; n < c.choices[i].size(); ++n) using_[i][k][c.choices[i][n][k]].push_back(n);
      }
    }
  }

  void run() {
    if (steps_left_ == 0) return;
    for (std::size_t r = 0; r < m_.roots.size(); ++r) {
      const std::size_t n = c_.orders[r].size();
      if (n <= few_) continue;
      // The order with the most blocks goes first, to the one with the fewest.
      std::vector<std::size_t> by_blocks(n);
      for (std::size_t o = 0; o < n; ++o) by_blocks[o] = o;
      std::stable_sort(by_blocks.begin(), by_blocks.end(),
                       [&](std::size_t a, std::size_t b) { return c_.blocks[r][a] < c_.blocks[r][b]; });
      for (auto a = by_blocks.rbegin(); a != by_blocks.rend(); ++a)
        for (std::size_t tried = 0, k = 0; k < n && tried < kTrials; ++k) {
          const std::size_t b = by_blocks[k];
          if (!alive_[r][*a] || !alive_[r][b] || *a == b || steps_left_ == 0) continue;
          if (fold(r, *a, b)) break;
          ++tried;
        }
    }
    compress();
  }

 private:
  static constexpr std::size_t kFree = SIZE_MAX;  // not decided
  struct Stored {
    std::size_t root, order;
  };
  struct Use {
    std::size_t op, operand;
  };

  /// Sends an order to another; false if that is not possible.
  bool send(std::size_t root, std::size_t from, std::size_t to) {
    std::size_t& now = to_[root][from];
    if (now == to) return true;
    if (now != kFree || !alive_[root][to]) return false;
    if (from != to) {
      if (c_.blocks[root][to] > c_.blocks[root][from]) return false;
      if (!stays_possible(root, from, to)) return false;
      if (changed_.size() >= kMostChanged || !send(root, to, to)) return false;
      changed_.push_back({root, from});
    }
    decided_.push_back({root, from});
    now = to;
    return true;
  }

  /// What a transpose of this rank could do from or to another order, it can do with the image too. Far-fetched orders
  /// would hold each other: if the limit is not kept strictly, only orders close to a logical one count.
  bool stays_possible(std::size_t root, std::size_t from, std::size_t to) const {
    const auto most = static_cast<std::size_t>(max_rank_);
    if (m_.roots[root].atoms.size() <= most) return true;
    const std::vector<Seq>& orders = c_.orders[root];
    for (std::size_t o = 0; o < orders.size(); ++o)
      if (alive_[root][o] && (limit_ == RankLimit::kept || c_.blocks[root][o] <= kClose) &&
          runs(orders[o], orders[from]) <= most && runs(orders[image(root, o)], orders[to]) > most)
        return false;
    return true;
  }

  std::size_t image(std::size_t root, std::size_t order) const {
    return to_[root][order] == kFree ? order : to_[root][order];
  }

  bool fold(std::size_t root, std::size_t from, std::size_t to) {
    changed_.clear();
    decided_.clear();
    bool fits = send(root, from, to);
    for (std::size_t next = 0; fits && next < changed_.size(); ++next) {
      const Stored s = changed_[next];
      for (const Use& u : touching_[s.root])
        if (!(fits = follow(u, s.order))) break;
    }
    if (fits) drop_changed();
    for (const Stored& d : decided_) to_[d.root][d.order] = kFree;
    return fits;
  }

  /// Finds an image for every choice in which the operand has the order.
  bool follow(const Use& u, std::size_t order) {
    const std::vector<Operand>& operands = m_.operators[u.op].operands;
    const bool node = m_.operators[u.op].kind == Operator::Kind::node;
    for (std::size_t n : using_[u.op][u.operand][order]) {
      if (gone_[u.op][n]) continue;
      if (!node) return false;  // inputs and outputs have reasons of their own
      const Choice& choice = c_.choices[u.op][n];
      const auto best = nearest(u, choice, image(operands[u.operand].root, order));
      if (!best) return false;
      for (std::size_t k = 0; k < operands.size(); ++k)
        if ((*best)[k] != image(operands[k].root, choice[k]) && !send(operands[k].root, choice[k], (*best)[k]))
          return false;
    }
    return true;
  }

  /// The choice that agrees with all that is decided and moves the fewest of the others.
  std::optional<Choice> nearest(const Use& u, const Choice& choice, std::size_t wanted) {
    const std::vector<Operand>& operands = m_.operators[u.op].operands;
    std::optional<std::size_t> best;
    std::size_t fewest = SIZE_MAX;
    for (std::size_t n : using_[u.op][u.operand][wanted]) {
      if (gone_[u.op][n]) continue;
      if (steps_left_ == 0) return std::nullopt;
      --steps_left_;
      const Choice& other = c_.choices[u.op][n];
      std::size_t moved = 0;
      bool fits = true;
      for (std::size_t k = 0; k < operands.size() && fits; ++k) {
        const std::size_t r = operands[k].root;
        fits = to_[r][choice[k]] == kFree || to_[r][choice[k]] == other[k];
        moved += other[k] != choice[k];
      }
      if (!fits || moved >= fewest) continue;
      fewest = moved;
      best = n;
    }
    if (!best) return std::nullopt;
    return c_.choices[u.op][*best];
  }

  void drop_changed() {
    for (const Stored& s : changed_) {
      alive_[s.root][s.order] = false;
      for (const Use& u : touching_[s.root])
        for (std::size_t n : using_[u.op][u.operand][s.order]) gone_[u.op][n] = true;
    }
  }

  /// Numbers what is left anew.
  void compress() {
    std::vector<std::vector<std::size_t>> number(m_.roots.size());
    for (std::size_t r = 0; r < m_.roots.size(); ++r) {
      std::vector<Seq> orders;
      std::vector<std::size_t> blocks;
      number[r].resize(c_.orders[r].size());
      for (std::size_t o = 0; o < c_.orders[r].size(); ++o) {
        number[r][o] = orders.size();
        if (!alive_[r][o]) continue;
        orders.push_back(std::move(c_.orders[r][o]));
        blocks.push_back(c_.blocks[r][o]);
      }
      c_.orders[r] = std::move(orders);
      c_.blocks[r] = std::move(blocks);
    }
    for (std::size_t i = 0; i < m_.operators.size(); ++i) {
      std::vector<Choice> choices;
      for (std::size_t n = 0; n < c_.choices[i].size(); ++n) {
        if (gone_[i][n]) continue;
        choices.push_back(std::move(c_.choices[i][n]));
        for (std::size_t k = 0; k < choices.back().size(); ++k)
          choices.back()[k] = number[m_.operators[i].operands[k].root][choices.back()[k]];
      }
      c_.choices[i] = std::move(choices);
    }
  }

  const Model& m_;
  Candidates& c_;
  int max_rank_;
  RankLimit limit_;
  std::size_t few_;
  std::vector<std::vector<Use>> touching_;                                 // of each root
  std::vector<std::vector<bool>> alive_;                                   // of each root's orders
  std::vector<std::vector<std::size_t>> to_;                               // of each root's orders, in this trial
  std::vector<std::vector<std::vector<std::vector<std::size_t>>>> using_;  // operator, operand, order: choices
  std::vector<std::vector<bool>> gone_;                                    // of each operator's choices
  std::vector<Stored> changed_, decided_;
  std::size_t steps_left_ = 0;
};

}  // namespace

void fold_candidates(const Model& m, Candidates& c, int max_rank, RankLimit limit, std::size_t few) {
  Folder(m, c, max_rank, limit, few).run();
}

}  // namespace gantry::layout
