// Bucket elimination as in solver_eliminate.cpp, with tables that list only the rows that are allowed and cost less
// than a limit. All costs are at least 0, so that a row at the limit cannot be part of a cheaper labelling. After
// relax() has moved the costs and a good labelling is known, the limit is the distance between it and the bound, and
// few rows are below it. How large the tables get is known only once they are made: the work is capped.
//
// A row is one byte for each variable of its table, in reverse order of elimination. Sorted rows that differ in the
// variable to eliminate only, which comes last, are neighbours.
#include <cstring>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/layout/solver_order.hpp"
#include "host/layout/solver_stages.hpp"

namespace gantry::layout::solver {
namespace {

constexpr std::size_t kMostLabels = 256;
constexpr std::size_t kMostWidth = 48;      // variables of one table
constexpr std::uint64_t kTablesInAll = 16;  // rows of all tables, in units of the largest allowed

struct Table {
  std::vector<Index> scope;
  std::vector<unsigned char> labels;  // rows of scope.size()
  std::vector<Cost> cost;

  std::size_t rows() const { return cost.size(); }
  std::size_t width() const { return scope.size(); }
  const unsigned char* row(std::size_t i) const { return labels.data() + i * width(); }
  std::string_view key(std::size_t i, std::size_t n) const { return {reinterpret_cast<const char*>(row(i)), n}; }
};

class Elimination {
 public:
  Elimination(const Model& m, const std::vector<Index>& order, Cost limit, std::uint64_t max_rows)
      : m_(m),
        order_(order),
        position_(m.size()),
        bucket_(m.size()),
        choice_(m.size()),
        room_(limit),
        max_rows_(max_rows),
        rows_left_(max_rows * kTablesInAll) {
    for (Index i = 0; i < order.size(); ++i) position_[order[i]] = i;
  }
  std::optional<Answer> run();

 private:
  bool later(Index u, Index v) const { return position_[u] > position_[v]; }
  void fill();
  void put(Table table);
  bool remove(Index v);
  std::optional<Table> join(const Table& left, const Table& right);
  void project(Table joined, Index v);

  const Model& m_;
  const std::vector<Index>& order_;
  std::vector<Index> position_;
  std::vector<std::vector<Table>> bucket_;
  std::vector<Table> choice_;  // of each variable: its best label, in place of the cost, for each row of what it left
  Cost room_;                  // what the tables that are left may cost together: less than this
  std::uint64_t max_rows_, rows_left_;
  bool possible_ = true;
};

/// The tables of the model.
void Elimination::fill() {
  for (Index v = 0; v < m_.size(); ++v) {
    Table t{{v}, {}, {}};
    for (std::size_t a = 0; a < m_.labels(v); ++a) {
      if (m_.unary[v][a] >= room_) continue;
      t.labels.push_back(static_cast<unsigned char>(a));
      t.cost.push_back(m_.unary[v][a]);
    }
    put(std::move(t));
  }
  for (const Edge& e : m_.edges) {
    const bool turn = later(e.v, e.u);
    Table t{turn ? std::vector<Index>{e.v, e.u} : std::vector<Index>{e.u, e.v}, {}, {}};
    const std::size_t columns = m_.labels(e.v);
    for (std::size_t i = 0; i < e.table.size(); ++i) {
      if (e.table[i] >= room_) continue;
      const auto a = static_cast<unsigned char>(i / columns), b = static_cast<unsigned char>(i % columns);
      t.labels.insert(t.labels.end(), {turn ? b : a, turn ? a : b});
      t.cost.push_back(e.table[i]);
    }
    put(std::move(t));
  }
}

/// Files a table under the variable that goes first; its minimum is taken out of what is left to spend.
void Elimination::put(Table table) {
  if (table.rows() == 0) {
    possible_ = false;
    return;
  }
  const Cost least = *std::min_element(table.cost.begin(), table.cost.end());
  for (Cost& c : table.cost) c -= least;
  room_ -= least;
  if (room_ <= 0) possible_ = false;
  if (!table.scope.empty()) bucket_[table.scope.back()].push_back(std::move(table));
}

/// All pairs of rows that agree, their costs added. Nothing if there are too many.
std::optional<Table> Elimination::join(const Table& left, const Table& right) {
  // The columns of the result, and where each comes from.
  Table out;
  std::set_union(left.scope.begin(), left.scope.end(), right.scope.begin(), right.scope.end(),
                 std::back_inserter(out.scope), [this](Index u, Index v) { return later(u, v); });
  const auto column = [](const Table& t, Index v) {
    return static_cast<std::size_t>(std::find(t.scope.begin(), t.scope.end(), v) - t.scope.begin());
  };
  std::vector<std::size_t> from, shared_left, shared_right;  // `from` counts on from left's columns to right's
  for (Index v : out.scope) {
    const std::size_t l = column(left, v), r = column(right, v);
    from.push_back(l < left.width() ? l : left.width() + r);
    if (l == left.width() || r == right.width()) continue;
    shared_left.push_back(l);
    shared_right.push_back(r);
  }
  // The rows of right by what they share with left.
  const std::size_t n = shared_right.size();
  std::vector<char> keys(right.rows() * n);
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> rows_of;
  for (std::size_t i = 0; i < right.rows(); ++i) {
    for (std::size_t k = 0; k < n; ++k) keys[i * n + k] = static_cast<char>(right.row(i)[shared_right[k]]);
    rows_of[std::string_view(keys.data() + i * n, n)].push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<char> key(n);
  for (std::size_t i = 0; i < left.rows(); ++i) {
    for (std::size_t k = 0; k < n; ++k) key[k] = static_cast<char>(left.row(i)[shared_left[k]]);
    const auto found = rows_of.find(std::string_view(key.data(), n));
    if (found == rows_of.end()) continue;
    for (std::uint32_t j : found->second) {
      const Cost cost = left.cost[i] + right.cost[j];
      if (cost >= room_) continue;
      if (out.rows() == max_rows_ || rows_left_-- == 0) return std::nullopt;
      for (std::size_t f : from)
        out.labels.push_back(f < left.width() ? left.row(i)[f] : right.row(j)[f - left.width()]);
      out.cost.push_back(cost);
    }
  }
  return out;
}

/// Minimises over the last column.
void Elimination::project(Table joined, Index v) {
  const std::size_t width = joined.width() - 1;
  std::vector<std::uint32_t> sorted(joined.rows());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int c = std::memcmp(joined.row(a), joined.row(b), joined.width());
    return c != 0 ? c < 0 : a < b;
  });
  Table out, &choice = choice_[v];
  out.scope.assign(joined.scope.begin(), joined.scope.end() - 1);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const unsigned char* row = joined.row(sorted[i]);
    const Cost cost = joined.cost[sorted[i]];
    if (i > 0 && joined.key(sorted[i - 1], width) == joined.key(sorted[i], width)) {
      if (cost >= out.cost.back()) continue;
      out.cost.back() = cost;
      choice.cost.back() = row[width];
      continue;
    }
    out.labels.insert(out.labels.end(), row, row + width);
    out.cost.push_back(cost);
    choice.cost.push_back(row[width]);
  }
  choice.scope = out.scope;
  choice.labels = out.labels;
  put(std::move(out));
}

/// False if the tables grow too large.
bool Elimination::remove(Index v) {
  std::vector<Table> inputs = std::move(bucket_[v]);
  bucket_[v].clear();
  // The widest first; then whatever adds the fewest columns, which filters before it multiplies.
  std::stable_sort(inputs.begin(), inputs.end(), [](const Table& a, const Table& b) { return a.width() > b.width(); });
  Table joined = std::move(inputs.front());
  inputs.erase(inputs.begin());
  while (!inputs.empty()) {
    const auto added = [&](const Table& t) {
      return std::count_if(t.scope.begin(), t.scope.end(), [&](Index w) {
        return std::find(joined.scope.begin(), joined.scope.end(), w) == joined.scope.end();
      });
    };
    const auto next = std::min_element(inputs.begin(), inputs.end(),
                                       [&](const Table& a, const Table& b) { return added(a) < added(b); });
    std::optional<Table> both = join(joined, *next);
    if (!both) return false;
    joined = *std::move(both);
    inputs.erase(next);
  }
  project(std::move(joined), v);
  return true;
}

std::optional<Answer> Elimination::run() {
  fill();
  for (Index v : order_) {
    if (!possible_) break;
    if (!remove(v)) return std::nullopt;
  }
  if (!possible_) return infeasible();
  Answer answer;
  answer.label.assign(m_.size(), 0);
  std::vector<char> key;
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    const Table& choice = choice_[*v];
    key.clear();
    for (Index w : choice.scope) key.push_back(static_cast<char>(answer.label[w]));
    std::size_t low = 0, high = choice.rows();
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (std::memcmp(choice.row(middle), key.data(), key.size()) <= 0 ? low : high) = middle;
    }
    answer.label[*v] = static_cast<Label>(choice.cost[low]);
  }
  answer.feasible = true;
  answer.cost = answer.lower_bound = evaluate(m_, answer.label);
  return answer;
}

}  // namespace

std::optional<Answer> eliminate_sparse(const Model& m, Cost limit, std::uint64_t max_rows) {
  for (const std::vector<Cost>& costs : m.unary) {
    if (costs.size() > kMostLabels) return std::nullopt;
  }
  std::optional<Order> order;
  for (Rule rule : {Rule::kFill, Rule::kJoint}) {
    std::optional<Order> found = find_order(m, rule, {.width = kMostWidth});
    if (found && (!order || found->total < order->total)) order = std::move(found);
  }
  if (!order) return std::nullopt;
  return Elimination(m, order->variable, limit, max_rows).run();
}

}  // namespace gantry::layout::solver
