// Random problems for the solver, and the slow and obvious answer to the small ones.
#pragma once

#include <algorithm>
#include <cctype>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/layout/solver.hpp"

namespace gantry::layout::testing {

/// The least cost over all labellings; kForbidden if none is allowed.
inline Cost least_of_all(const Problem& p) {
  std::vector<std::size_t> label(p.variables(), 0);
  Cost best = kForbidden;
  while (true) {
    best = std::min(best, evaluate(p, label));
    std::size_t v = 0;
    while (v < label.size() && ++label[v] == p.labels(v)) label[v++] = 0;
    if (v == label.size()) return best;
  }
}

/// What a random problem looks like.
struct Kind {
  const char* name;
  unsigned variables = 7, labels = 3;  // at most
  bool same_labels = false;            // all variables have that many
  unsigned density = 50;               // percent of the pairs with a table
  unsigned forbidden = 0;              // percent of the entries of tables; half of it for labels
  Cost least = 0, most = 10;           // the costs
  enum class Table { kAny, kPotts, kMetric, kEqual, kSubmodular, kFunction, kTie } table = Table::kAny;
};

inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

/// Numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  unsigned below(unsigned n) { return static_cast<unsigned>(engine_() % n); }
  Cost between(Cost least, Cost most) {
    return least + static_cast<Cost>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool percent(unsigned p) { return below(100) < p; }

 private:
  std::mt19937 engine_;
};

inline std::vector<Cost> random_table(Random& random, const Kind& kind, std::size_t rows, std::size_t columns,
                                      bool agree) {
  std::vector<Cost> table(rows * columns, 0);
  const Cost weight = random.between(std::max(Cost{0}, kind.least), kind.most);
  std::vector<std::size_t> image;  // a permutation, if there are as many rows as columns
  for (std::size_t a = 0; a < rows; ++a) image.push_back(a % columns);
  for (std::size_t a = rows; a > 1; --a) std::swap(image[a - 1], image[random.below(static_cast<unsigned>(a))]);
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < columns; ++b) {
      Cost& cost = table[a * columns + b];
      switch (kind.table) {
        case Kind::Table::kAny:
          cost = random.between(kind.least, kind.most);
          break;
        case Kind::Table::kPotts:
          cost = a == b ? 0 : weight;
          break;
        case Kind::Table::kMetric:
          cost = weight * static_cast<Cost>(a > b ? a - b : b - a);
          break;
        case Kind::Table::kEqual:
          cost = a == b ? 0 : kForbidden;
          break;
        case Kind::Table::kSubmodular:  // for two labels, read one way or the other
          cost = (a == b) == agree ? 0 : random.between(0, kind.most);
          break;
        case Kind::Table::kFunction:
          cost = b == image[a] ? random.between(kind.least, kind.most) : kForbidden;
          break;
        case Kind::Table::kTie:
          cost = rows != columns || b == image[a] ? random.between(kind.least, kind.most) : kForbidden;
          break;
      }
      const bool may_forbid = kind.table != Kind::Table::kSubmodular || (a == b) != agree;
      if (kind.forbidden != 0 && may_forbid && random.percent(kind.forbidden)) cost = kForbidden;
    }
  }
  return table;
}

inline Problem random_problem(const Kind& kind, unsigned seed) {
  Random random(seed);
  Problem p;
  const unsigned n = 1 + random.below(kind.variables);
  std::vector<bool> swapped;
  for (unsigned v = 0; v < n; ++v) {
    std::vector<Cost> costs(kind.same_labels ? kind.labels : 1 + random.below(kind.labels));
    for (Cost& c : costs) {
      c = kind.forbidden != 0 && random.percent(kind.forbidden / 2) ? kForbidden
                                                                    : random.between(kind.least, kind.most);
    }
    p.add_variable(std::move(costs));
    swapped.push_back(random.percent(50));
  }
  for (unsigned u = 0; u < n; ++u) {
    for (unsigned v = 0; v < n; ++v) {
      if (u == v || !random.percent(kind.density / 2)) continue;  // each pair comes up twice
      p.add_pair(u, v, random_table(random, kind, p.labels(u), p.labels(v), swapped[u] == swapped[v]));
    }
  }
  return p;
}

inline const std::vector<Kind>& kinds() {
  using Table = Kind::Table;
  static const std::vector<Kind> kinds = {
      {.name = "sparse", .variables = 8, .density = 30},
      {.name = "dense", .variables = 7, .density = 100},
      {.name = "dense, two labels", .variables = 10, .labels = 2, .same_labels = true, .density = 100},
      {.name = "many ties", .variables = 8, .density = 80, .most = 1},
      {.name = "many labels", .variables = 4, .labels = 9, .density = 100},
      {.name = "negative", .density = 70, .least = -10},
      {.name = "a few forbidden", .variables = 8, .density = 60, .forbidden = 10},
      {.name = "half forbidden", .variables = 8, .labels = 4, .density = 40, .forbidden = 50},
      {.name = "mostly forbidden", .variables = 7, .labels = 4, .density = 50, .forbidden = 75},
      {.name = "forbidden, no other costs", .variables = 8, .density = 70, .forbidden = 30, .most = 0},
      {.name = "Potts", .variables = 8, .density = 70, .table = Table::kPotts},
      {.name = "metric", .variables = 8, .density = 70, .table = Table::kMetric},
      {.name = "equalities", .variables = 8, .density = 30, .table = Table::kEqual},
      {.name = "functions", .variables = 8, .labels = 4, .density = 40, .table = Table::kFunction},
      {.name = "ties", .variables = 8, .same_labels = true, .density = 40, .table = Table::kTie},
      {.name = "cut", .variables = 11, .labels = 2, .same_labels = true, .density = 70, .table = Table::kSubmodular},
      {.name = "cut with forbidden entries",
       .variables = 11,
       .labels = 2,
       .same_labels = true,
       .density = 70,
       .forbidden = 12,
       .table = Table::kSubmodular},
      {.name = "large costs", .variables = 6, .density = 80, .least = -2'000'000'000, .most = 2'000'000'000 - 1},
  };
  return kinds;
}

/// For the names of parameterized tests.
inline std::string name_of(const ::testing::TestParamInfo<Kind>& kind) {
  std::string name;
  for (char c : std::string(kind.param.name)) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace gantry::layout::testing
