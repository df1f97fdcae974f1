#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/layout/solver.hpp"
#include "tests/unit/layout_solver_random.hpp"

namespace gantry::layout {
namespace {

using testing::Kind;
using testing::kinds;
using testing::least_of_all;
using testing::name_of;
using testing::Random;
using testing::random_problem;

/// The labelling costs what is said, and nothing is out of range.
void expect_sound(const Problem& p, const Solution& s) {
  if (!s.feasible) {
    EXPECT_TRUE(s.label.empty());
    EXPECT_FALSE(s.optimal);
    return;
  }
  ASSERT_EQ(s.label.size(), p.variables());
  for (std::size_t v = 0; v < p.variables(); ++v) ASSERT_LT(s.label[v], p.labels(v));
  EXPECT_EQ(s.cost, evaluate(p, s.label));
  EXPECT_LT(s.cost, kForbidden);
  EXPECT_LE(s.lower_bound, s.cost);
  EXPECT_EQ(s.optimal, s.lower_bound == s.cost);
  EXPECT_EQ(s.components, s.by_min_cut + s.by_elimination + s.by_integer_program + s.by_search);
}

class LayoutSolver : public ::testing::TestWithParam<Kind> {};

TEST_P(LayoutSolver, EqualsTheLeastOfAllLabellings) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = random_problem(GetParam(), seed);
    const Cost least = least_of_all(p);
    const Solution s = solve(p);
    expect_sound(p, s);
    ASSERT_EQ(s.feasible, least < kForbidden);
    if (!s.feasible) continue;
    ASSERT_EQ(s.cost, least);
    ASSERT_TRUE(s.optimal);
  }
}

// Without room for tables, only relaxation, search and narrowing are left. Bounds must stay bounds.
TEST_P(LayoutSolver, IsHonestWithoutRoom) {
  SolverOptions options;
  options.max_table = 1;
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = random_problem(GetParam(), seed);
    const Cost least = least_of_all(p);
    const Solution s = solve(p, options);
    expect_sound(p, s);
    EXPECT_LE(s.lower_bound, least);
    if (s.feasible) {
      ASSERT_LE(least, s.cost);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LayoutSolver, ::testing::ValuesIn(kinds()), name_of);

TEST(LayoutSolverEdges, EmptyProblem) {
  const Solution s = solve(Problem());
  EXPECT_TRUE(s.feasible);
  EXPECT_TRUE(s.optimal);
  EXPECT_EQ(s.cost, 0);
  EXPECT_EQ(s.components, 0U);
}

TEST(LayoutSolverEdges, TablesOnOnePairAddUpInBothDirections) {
  Problem p;
  p.add_variable({0, 0});
  p.add_variable({0, 0, 0});
  p.add_pair(0, 1, {5, 1, 9, 9, 9, 4});
  p.add_pair(1, 0, {0, 9, 7, 9, 9, 0});
  const Solution s = solve(p);
  EXPECT_EQ(s.cost, 4);
  EXPECT_EQ(s.label, (std::vector<std::size_t>{1, 2}));
}

TEST(LayoutSolverEdges, NothingAllowed) {
  Problem p;
  p.add_variable({0, 1});
  p.add_variable({0, 1});
  p.add_variable({0, 1});
  for (std::size_t v = 0; v < 3; ++v) p.add_pair(v, (v + 1) % 3, {kForbidden, 0, 0, kForbidden});  // an odd circle
  EXPECT_FALSE(solve(p).feasible);
  Problem q;
  q.add_variable({kForbidden});
  EXPECT_FALSE(solve(q).feasible);
}

TEST(LayoutSolverEdges, SumsThatReachForbiddenAreRuledOut) {
  const Cost quarter = kForbidden / 4;
  Problem p;
  for (int v = 0; v < 5; ++v) p.add_variable({quarter, quarter + 1});
  EXPECT_FALSE(solve(p).feasible);
  Problem q;
  for (int v = 0; v < 3; ++v) q.add_variable({quarter + 1, quarter});
  for (std::size_t v = 0; v < 3; ++v) q.add_pair(v, (v + 1) % 3, {1, kForbidden, INT64_MAX, 2});
  const Solution s = solve(q);
  EXPECT_EQ(s.cost, 3 * quarter + 6);
  EXPECT_TRUE(s.optimal);
}

/// A chain of blocks: a value, what its operator wants, and a way around each block that joins it again.
Problem ladder(std::size_t blocks, std::size_t labels, unsigned seed) {
  Random random(seed);
  Problem p;
  const auto variable = [&] {
    std::vector<Cost> costs;
    for (std::size_t a = 0; a < labels; ++a) costs.push_back(random.between(0, 1000));
    return p.add_variable(std::move(costs));
  };
  const auto connect = [&](std::size_t u, std::size_t v) {
    std::vector<Cost> table;
    const Cost weight = random.between(1, 1000);
    for (std::size_t a = 0; a < labels; ++a) {
      for (std::size_t b = 0; b < labels; ++b) table.push_back(a == b ? 0 : weight + random.between(0, 100));
    }
    p.add_pair(u, v, std::move(table));
  };
  std::size_t last = variable();
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t a = variable(), b = variable(), sum = variable();
    connect(last, a);
    connect(a, b);
    connect(b, sum);
    connect(last, sum);
    last = sum;
  }
  return p;
}

TEST(LayoutSolverEdges, LongLadder) {
  const Problem p = ladder(10'000, 8, 1);
  const Solution s = solve(p);
  expect_sound(p, s);
  EXPECT_TRUE(s.optimal);
  EXPECT_EQ(s.components, 1U);
}

/// A square of variables with any costs: no method but elimination is sure to solve it.
Problem square(std::size_t side, std::size_t labels, unsigned seed) {
  Random random(seed);
  Problem p;
  const auto costs = [&](std::size_t n) {
    std::vector<Cost> c(n);
    for (Cost& x : c) x = random.between(0, 999);
    return c;
  };
  for (std::size_t i = 0; i < side * side; ++i) p.add_variable(costs(labels));
  for (std::size_t i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) p.add_pair(i, i + 1, costs(labels * labels));
    if (i + side < side * side) p.add_pair(i, i + side, costs(labels * labels));
  }
  return p;
}

TEST(LayoutSolverWays, Elimination) {
  const Solution s = solve(square(6, 4, 1));
  EXPECT_TRUE(s.optimal);
  EXPECT_EQ(s.by_elimination, s.components);
}

// The bound, the search and tables without what is too dear: less and less room, the same answer or an honest one.
TEST(LayoutSolverWays, LessRoom) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Problem p = square(6, 4, seed);
    const Cost least = solve(p).cost;
    for (std::uint64_t max_table : {1000, 100, 1}) {
      SolverOptions options;
      options.max_table = max_table;
      const Solution s = solve(p, options);
      expect_sound(p, s);
      ASSERT_TRUE(s.feasible);
      EXPECT_GE(s.cost, least);
      EXPECT_LE(s.lower_bound, least);
      EXPECT_EQ(s.by_integer_program, 0U);
    }
  }
}

TEST(LayoutSolverWays, IntegerProgram) {
  SolverOptions options;
  options.max_table = 1;
  options.time_limit = 60;
  options.highs_library = GANTRY_TEST_HIGHS;
  const Solution s = solve(square(14, 4, 3), options);
  EXPECT_LE(s.lower_bound, 162'166);  // the minimum, by elimination with more room
  if (!std::filesystem::exists(options.highs_library)) GTEST_SKIP() << "no HiGHS";
  EXPECT_EQ(s.by_integer_program, 1U);
  EXPECT_EQ(s.cost, 162'166);
  EXPECT_TRUE(s.optimal);
}

/// Two orders for each value, and readers that all read all: too wide to eliminate.
TEST(LayoutSolverWays, MinimumCut) {
  Random random(5);
  Problem p;
  for (int v = 0; v < 60; ++v) p.add_variable({random.between(0, 100), random.between(0, 100)});
  for (std::size_t u = 0; u < 60; ++u) {
    for (std::size_t v = u + 1; v < 60; ++v) {
      const Cost weight = random.between(1, 4);
      const bool differ = (u + v) % 2 != 0;  // some want to be unlike; turning every other one around makes all alike
      p.add_pair(u, v, differ ? std::vector<Cost>{weight, 0, 0, weight} : std::vector<Cost>{0, weight, weight, 0});
    }
  }
  const Solution s = solve(p);
  expect_sound(p, s);
  EXPECT_TRUE(s.optimal);
  EXPECT_EQ(s.by_min_cut, 1U);
}

TEST(LayoutSolverEdges, SameProblemSameAnswer) {
  for (const Kind& kind : kinds()) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Problem p = random_problem(kind, seed);
      for (std::uint64_t max_table : {1, 2'000'000}) {
        SolverOptions options;
        options.max_table = max_table;
        const Solution a = solve(p, options), b = solve(p, options);
        EXPECT_EQ(a.label, b.label);
        EXPECT_EQ(a.lower_bound, b.lower_bound);
      }
    }
  }
}

}  // namespace
}  // namespace gantry::layout
