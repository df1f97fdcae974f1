// Each stage of the solver alone, on the same problems, against all labellings.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "host/layout/solver_model.hpp"
#include "host/layout/solver_program.hpp"
#include "host/layout/solver_reduce.hpp"
#include "host/layout/solver_relax.hpp"
#include "host/layout/solver_stages.hpp"
#include "tests/unit/layout_solver_random.hpp"

namespace gantry::layout::solver {
namespace {

using layout::testing::Kind;
using layout::testing::kinds;
using layout::testing::least_of_all;
using layout::testing::name_of;
using layout::testing::Random;
using layout::testing::random_problem;

class LayoutSolverStage : public ::testing::TestWithParam<Kind> {
 protected:
  /// Calls check(problem, model, least cost in the model's terms; kForbidden if there is none).
  template <typename Check>
  void on_problems(unsigned n, Check&& check) {
    for (unsigned seed = 1000; seed < 1000 + n; ++seed) {
      SCOPED_TRACE(seed);
      const Problem p = random_problem(GetParam(), seed);
      const Model m = make_model(p);
      const Cost least = least_of_all(p);
      check(m, least == kForbidden ? kForbidden : least - m.offset);
      if (HasFatalFailure()) return;
    }
  }
};

/// The answer is the minimum and says so.
void expect_exact(const Model& m, const Answer& answer, Cost least) {
  ASSERT_EQ(answer.feasible, least < kForbidden);
  ASSERT_EQ(answer.cost, least);
  ASSERT_TRUE(answer.proved());
  if (answer.feasible) {
    ASSERT_EQ(evaluate(m, answer.label), least);
  }
}

TEST_P(LayoutSolverStage, ReduceThenElimination) {
  on_problems(200, [](const Model& m, Cost least) {
    const std::optional<Reduced> reduced = reduce(m);
    ASSERT_TRUE(reduced || least == kForbidden);
    if (!reduced) return;
    std::vector<Label> label(m.size(), 0);
    Cost cost = reduced->offset - m.offset;
    for (const Component& part : reduced->components) {
      for (const Edge& e : part.model.edges) ASSERT_NE(e.u, e.v);
      const std::optional<Answer> answer = eliminate(part.model, 1 << 20);
      ASSERT_TRUE(answer);
      cost = add(cost, answer->cost);
      for (std::size_t i = 0; i < answer->label.size(); ++i) label[part.variable[i]] = answer->label[i];
    }
    ASSERT_EQ(cost, least);
    if (least == kForbidden) return;
    reduced->trail.replay(label);
    ASSERT_EQ(evaluate(m, label), least);
  });
}

TEST_P(LayoutSolverStage, Elimination) {
  on_problems(150, [](const Model& m, Cost least) {
    const std::optional<Answer> answer = eliminate(m, 1 << 20);
    ASSERT_TRUE(answer);
    expect_exact(m, *answer, least);
  });
}

TEST_P(LayoutSolverStage, SparseElimination) {
  on_problems(150, [](const Model& m, Cost least) {
    const std::optional<Answer> answer = eliminate_sparse(m, kForbidden, 1 << 20);
    ASSERT_TRUE(answer);
    expect_exact(m, *answer, least);
    if (least == kForbidden) return;
    const std::optional<Answer> tight = eliminate_sparse(m, least + 1, 1 << 20);
    ASSERT_TRUE(tight);
    expect_exact(m, *tight, least);
    const std::optional<Answer> none = eliminate_sparse(m, least, 1 << 20);
    ASSERT_TRUE(none);
    ASSERT_FALSE(none->feasible);
  });
}

TEST_P(LayoutSolverStage, MinimumCut) {
  const bool always = GetParam().table == Kind::Table::kSubmodular;
  on_problems(150, [&](const Model& m, Cost least) {
    const std::optional<Answer> answer = min_cut(m);
    if (always) {
      ASSERT_TRUE(answer);
    }
    if (answer) expect_exact(m, *answer, least);
  });
}

TEST_P(LayoutSolverStage, RelaxationIsABoundAndKeepsTheCosts) {
  Random random(7);
  on_problems(100, [&](const Model& m, Cost least) {
    const Relaxed relaxed = relax(m, 1 << 20);
    ASSERT_LE(relaxed.bound, least);
    ASSERT_GE(relaxed.cost, least);
    if (relaxed.cost < kForbidden) {
      ASSERT_EQ(relaxed.cost, evaluate(m, relaxed.label));
    }
    if (relaxed.bound == kForbidden) return;
    for (int i = 0; i < 20; ++i) {
      std::vector<Label> label;
      for (std::size_t v = 0; v < m.size(); ++v) {
        label.push_back(random.below(static_cast<unsigned>(m.labels(v))));
      }
      ASSERT_EQ(evaluate(m, label), add(relaxed.bound, evaluate(relaxed.model, label)));
    }
    if (least == kForbidden) return;
    Model narrow = relaxed.model;
    forbid_from(narrow, least + 1 - relaxed.bound);
    const std::optional<Answer> answer = eliminate(narrow, 1 << 20);
    ASSERT_TRUE(answer);
    ASSERT_EQ(relaxed.bound + answer->cost, least);
  });
}

TEST_P(LayoutSolverStage, SearchNeverGetsWorse) {
  on_problems(60, [](const Model& m, Cost least) {
    const std::vector<Label> start(m.size(), 0);
    const std::vector<Label> label = search(m, start, 2000);
    ASSERT_LE(evaluate(m, label), evaluate(m, start));
    ASSERT_GE(evaluate(m, label), least);
  });
}

TEST_P(LayoutSolverStage, IntegerProgram) {
  const std::unique_ptr<Highs> highs = Highs::open(GANTRY_TEST_HIGHS);
  if (highs == nullptr) GTEST_SKIP() << "no HiGHS";
  on_problems(8, [&](const Model& m, Cost least) {
    const std::optional<Answer> answer = highs->solve(m, 60);
    ASSERT_TRUE(answer);
    expect_exact(m, *answer, least);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, LayoutSolverStage, ::testing::ValuesIn(kinds()), name_of);

TEST(LayoutSolverHighs, IsOptional) {
  EXPECT_EQ(Highs::open(""), nullptr);
  EXPECT_EQ(Highs::open("/no/such/libhighs.so"), nullptr);
  EXPECT_EQ(Highs::open("libm.so.6"), nullptr);
}

}  // namespace
}  // namespace gantry::layout::solver
