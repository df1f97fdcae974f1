// The problem. Candidates are all forms that can be reached. A value that passes through attention and windows may have
// eighty orders; two or three are of use. Every table of the solver grows with the square of that number.
//
// The idea. Take a map of forms to forms, one for each value, that turns every tuple of every relation into a tuple
// that it has too. Equal forms stay equal under it, so wherever nothing had to be moved nothing has to be after it: the
// map makes nothing dearer, and the forms outside its image can go. (In the language of constraint satisfaction: an
// endomorphism, and what is left approaches the core; Hell and Nesetril 1992.) Such a map is looked for by trial: send
// one form of one value to another, and follow what that forces upon the relations around it, until nothing is
// forced any more, or a relation has no tuple that fits. Forms that some relation insists on never go.
//
// It ends because each success drops a form. Trials are bounded in number and length, so that the cost is near linear
// in the size of the graph; a trial that is given up only leaves forms in.
#include "host/layout/fold.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "host/layout/dice.hpp"

namespace gantry::layout {
namespace {

constexpr std::size_t kMostChanged = 3000;   // forms that one trial may move
constexpr std::size_t kTrials = 5;           // for one form
constexpr std::size_t kStepsPerForm = 4000;  // tuples looked at, for each form there is

class Folder {
 public:
  Folder(const FormProblem& p, std::uint64_t seed, std::size_t few)
      : p_(p), seed_(seed), few_(few), touching_(p.weight.size()) {
    for (const std::vector<std::size_t>& weight : p.weight) {
      kept_.form.emplace_back(weight.size(), true);
      to_.emplace_back(weight.size(), kFree);
      failed_.emplace_back(weight.size() * weight.size(), false);
      if (weight.size() > few_) steps_left_ += weight.size() * kStepsPerForm;
    }
    for (std::size_t i = 0; i < p.relations.size(); ++i) {
      const Relation& relation = p.relations[i];
      kept_.tuple.emplace_back(relation.tuples.size(), true);
      using_.emplace_back();
      for (std::size_t k = 0; k < relation.values.size(); ++k) {
        const std::size_t value = relation.values[k];
        touching_[value].push_back({i, k});
        using_[i].emplace_back(p.weight[value].size());
        for (std::size_t n = 0; n < relation.tuples.size(); ++n) using_[i][k][relation.tuples[n][k]].push_back(n);
      }
    }
  }

  Kept run() {
    for (bool again = true; again && steps_left_ > 0;) {
      again = false;
      for (std::size_t v = 0; v < p_.weight.size() && steps_left_ > 0; ++v) again = visit(v) || again;
      for (std::vector<bool>& failed : failed_) failed.assign(failed.size(), false);
    }
    return std::move(kept_);
  }

 private:
  static constexpr std::size_t kFree = SIZE_MAX;  // not decided
  struct Form {
    std::size_t value, form;
  };
  struct Use {
    std::size_t relation, place;
  };

  /// True if a form was dropped. The heaviest goes first, to the lightest.
  bool visit(std::size_t v) {
    const std::size_t n = p_.weight[v].size();
    if (n <= few_) return false;
    std::vector<std::size_t> by_weight(n);
    for (std::size_t f = 0; f < n; ++f) by_weight[f] = f;
    std::ranges::stable_sort(by_weight, {},
                             [&](std::size_t f) { return std::pair(p_.weight[v][f], dice(seed_, v, f)); });
    bool any = false;
    for (auto a = by_weight.rbegin(); a != by_weight.rend(); ++a)
      for (std::size_t tried = 0, k = 0; k < n && tried < kTrials && steps_left_ > 0; ++k) {
        const std::size_t b = by_weight[k];
        if (!kept_.form[v][*a] || !kept_.form[v][b] || *a == b) continue;
        if (fold(v, *a, b)) {
          any = true;
          break;
        }
        failed_[v][*a * n + b] = true;
        ++tried;
      }
    return any;
  }

  std::size_t image(std::size_t value, std::size_t form) const {
    return to_[value][form] == kFree ? form : to_[value][form];
  }

  /// Sends a form to another; false if that is not possible.
  bool send(std::size_t value, std::size_t from, std::size_t to) {
    std::size_t& now = to_[value][from];
    if (now == to) return true;
    if (now != kFree || !kept_.form[value][to]) return false;
    if (from != to) {
      if (p_.weight[value][to] > p_.weight[value][from]) return false;
      if (failed_[value][from * p_.weight[value].size() + to]) return false;
      if (p_.replaces && !replaces(value, from, to)) return false;
      if (changed_.size() >= kMostChanged || !send(value, to, to)) return false;
      changed_.push_back({value, from});
    }
    decided_.push_back({value, from});
    now = to;
    return true;
  }

  bool replaces(std::size_t value, std::size_t from, std::size_t to) const {
    for (std::size_t f = 0; f < p_.weight[value].size(); ++f)
      if (kept_.form[value][f] && !p_.replaces(value, {f, from}, {image(value, f), to})) return false;
    return true;
  }

  bool fold(std::size_t value, std::size_t from, std::size_t to) {
    changed_.clear();
    decided_.clear();
    bool fits = send(value, from, to);
    for (std::size_t next = 0; fits && next < changed_.size(); ++next) {
      const Form c = changed_[next];
      for (const Use& u : touching_[c.value])
        if (!(fits = follow(u, c.form))) break;
    }
    if (fits) drop_changed();
    for (const Form& d : decided_) to_[d.value][d.form] = kFree;
    return fits;
  }

  /// Finds an image for every tuple that has the form there.
  bool follow(const Use& u, std::size_t form) {
    const Relation& relation = p_.relations[u.relation];
    for (std::size_t n : using_[u.relation][u.place][form]) {
      if (!kept_.tuple[u.relation][n]) continue;
      if (relation.fixed) return false;
      const std::vector<std::size_t>& tuple = relation.tuples[n];
      const auto best = nearest(u, n, image(relation.values[u.place], form));
      if (!best) return false;
      for (std::size_t k = 0; k < tuple.size(); ++k) {
        const std::size_t v = relation.values[k], to = relation.tuples[*best][k];
        if (to != image(v, tuple[k]) && !send(v, tuple[k], to)) return false;
      }
    }
    return true;
  }

  /// The tuple that agrees with all that is decided and moves the fewest of the others.
  std::optional<std::size_t> nearest(const Use& u, std::size_t from, std::size_t wanted) {
    const Relation& relation = p_.relations[u.relation];
    const std::vector<std::size_t>& tuple = relation.tuples[from];
    std::optional<std::size_t> best;
    std::size_t fewest = SIZE_MAX;
    for (std::size_t n : using_[u.relation][u.place][wanted]) {
      if (!kept_.tuple[u.relation][n]) continue;
      if (!relation.cost.empty() && relation.cost[n] > relation.cost[from]) continue;
      if (steps_left_ == 0) return std::nullopt;
      --steps_left_;
      const std::vector<std::size_t>& other = relation.tuples[n];
      std::size_t moved = 0;
      bool fits = true;
      for (std::size_t k = 0; k < tuple.size() && fits; ++k) {
        const std::size_t to = to_[relation.values[k]][tuple[k]];
        fits = to == kFree || to == other[k];
        moved += other[k] != tuple[k] ? 1 : 0;
      }
      if (!fits || moved >= fewest) continue;
      fewest = moved;
      best = n;
    }
    return best;
  }

  void drop_changed() {
    for (const Form& c : changed_) {
      kept_.form[c.value][c.form] = false;
      for (const Use& u : touching_[c.value])
        for (std::size_t n : using_[u.relation][u.place][c.form]) kept_.tuple[u.relation][n] = false;
    }
  }

  const FormProblem& p_;
  std::uint64_t seed_;
  std::size_t few_;
  Kept kept_;
  std::vector<std::vector<Use>> touching_;                                 // of each value
  std::vector<std::vector<std::size_t>> to_;                               // of each value's forms, in this trial
  std::vector<std::vector<std::vector<std::vector<std::size_t>>>> using_;  // relation, place, form: tuples
  std::vector<std::vector<bool>> failed_;  // of each value: from one form (row) to another, in this round
  std::vector<Form> changed_, decided_;
  std::size_t steps_left_ = 0;
};

}  // namespace

Kept fold(const FormProblem& problem, std::uint64_t seed, std::size_t few) { return Folder(problem, seed, few).run(); }

}  // namespace gantry::layout
