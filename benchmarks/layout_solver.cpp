// The layout solver on graphs of the shapes that networks have. The argument is the number of blocks.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "host/layout/solver.hpp"

namespace {

using gantry::layout::Cost;
using gantry::layout::kForbidden;
using gantry::layout::Problem;

/// Values (orders to choose from), operators (labels that say what each operand has to be), and one payment for each
/// order of a value that is not the one it is stored in, however many operators use it.
class Network {
 public:
  Network(std::size_t labels, unsigned seed) : labels_(labels), engine_(seed) {}

  struct Value {
    std::size_t variable;
    std::vector<std::size_t> copies;  // two labels: 1 if the order is there
  };

  Cost below(Cost n) { return static_cast<Cost>(engine_() % static_cast<std::uint64_t>(n)); }

  /// Stored in one of its orders; wants one of them a little.
  Value value() {
    std::vector<Cost> costs;
    for (std::size_t a = 0; a < labels_; ++a) costs.push_back(below(8));
    Value v{problem.add_variable(std::move(costs)), {}};
    const Cost bytes = 8192 + 4096 * below(64);
    for (std::size_t a = 0; a < labels_; ++a) {
      v.copies.push_back(problem.add_variable({0, 0}));
      std::vector<Cost> table(labels_ * 2, 0);
      for (std::size_t b = 0; b < labels_; ++b) table[b * 2 + 1] = a == b ? 0 : bytes;
      problem.add_pair(v.variable, v.copies[a], std::move(table));
    }
    return v;
  }

  /// An operator that reads all operands in the same order and writes it; some orders it cannot.
  Value apply(const std::vector<Value>& operands) {
    Value out = value();
    std::vector<Cost> costs;
    for (std::size_t a = 0; a < labels_; ++a) costs.push_back(below(100) < forbidden ? kForbidden : 0);
    costs[static_cast<std::size_t>(below(static_cast<Cost>(labels_)))] = 0;
    const std::size_t op = problem.add_variable(std::move(costs));
    for (const Value& v : operands) {
      for (std::size_t a = 0; a < labels_; ++a) {
        std::vector<Cost> table(labels_ * 2, 0);
        table[a * 2] = kForbidden;  // it needs that copy
        problem.add_pair(op, v.copies[a], std::move(table));
      }
    }
    std::vector<Cost> same(labels_ * labels_, kForbidden);
    for (std::size_t a = 0; a < labels_; ++a) same[a * labels_ + a] = 0;
    problem.add_pair(op, out.variable, std::move(same));
    return out;
  }

  Problem problem;
  Cost forbidden = 30;  // percent

 private:
  std::size_t labels_;
  std::mt19937 engine_;
};

Problem chain(std::size_t blocks, std::size_t labels) {
  Network net(labels, 1);
  Network::Value v = net.value();
  for (std::size_t i = 0; i < blocks; ++i) v = net.apply({v});
  return std::move(net.problem);
}

Problem residual(std::size_t blocks, std::size_t labels) {
  Network net(labels, 2);
  Network::Value v = net.value();
  for (std::size_t i = 0; i < blocks; ++i) {
    const Network::Value inner = net.apply({net.apply({v})});
    v = net.apply({v, inner});
  }
  return std::move(net.problem);
}

/// Each block reads all earlier ones of its group of 24, as in DenseNet.
Problem dense(std::size_t blocks, std::size_t labels) {
  Network net(labels, 3);
  std::vector<Network::Value> group{net.value()};
  for (std::size_t i = 0; i < blocks; ++i) {
    group.push_back(net.apply({net.apply(group)}));
    if (group.size() > 24) group = {net.apply(group)};
  }
  return std::move(net.problem);
}

/// One group.
Problem very_dense(std::size_t blocks, std::size_t labels) {
  Network net(labels, 4);
  std::vector<Network::Value> group{net.value()};
  for (std::size_t i = 0; i < blocks; ++i) group.push_back(net.apply({net.apply(group)}));
  return std::move(net.problem);
}

/// A square of variables with any costs: hard, and like no network.
Problem square(std::size_t side, std::size_t labels) {
  std::mt19937 engine(5);
  Problem p;
  const auto costs = [&](std::size_t n) {
    std::vector<Cost> c(n);
    for (Cost& x : c) x = static_cast<Cost>(engine() % 1000);
    return c;
  };
  for (std::size_t i = 0; i < side * side; ++i) p.add_variable(costs(labels));
  for (std::size_t i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) p.add_pair(i, i + 1, costs(labels * labels));
    if (i + side < side * side) p.add_pair(i, i + side, costs(labels * labels));
  }
  return p;
}

template <Problem (*Make)(std::size_t, std::size_t)>
void solve(benchmark::State& state) {
  const auto blocks = static_cast<std::size_t>(state.range(0)), labels = static_cast<std::size_t>(state.range(1));
  const Problem p = Make(blocks, labels);
  gantry::layout::SolverOptions options;
  if (const char* highs = std::getenv("GANTRY_BENCHMARK_HIGHS")) options.highs_library = highs;
  gantry::layout::Solution s;
  for (auto _ : state) {
    s = gantry::layout::solve(p, options);
    benchmark::DoNotOptimize(s);
  }
  state.counters["variables"] = static_cast<double>(p.variables());
  state.counters["cost"] = static_cast<double>(s.cost);
  state.counters["gap"] = static_cast<double>(s.cost - s.lower_bound);
  state.counters["cut"] = static_cast<double>(s.by_min_cut);
  state.counters["elim"] = static_cast<double>(s.by_elimination);
  state.counters["ip"] = static_cast<double>(s.by_integer_program);
  state.counters["search"] = static_cast<double>(s.by_search);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (int blocks : {10, 100, 1000, 10'000}) b->Args({blocks, 2});
  for (int blocks : {10, 100, 1000}) b->Args({blocks, 6});
  b->Unit(benchmark::kMillisecond);
}

BENCHMARK(solve<chain>)->Name("layout_solver/chain")->Apply(sizes);
BENCHMARK(solve<residual>)->Name("layout_solver/residual")->Apply(sizes);
BENCHMARK(solve<dense>)->Name("layout_solver/dense")->Apply([](auto* b) {
  b->ArgsProduct({{24, 240, 960}, {2, 4}})->Unit(benchmark::kMillisecond);
});
BENCHMARK(solve<very_dense>)->Name("layout_solver/very_dense")->Apply([](auto* b) {
  b->ArgsProduct({{24, 58, 120}, {2, 4}})->Unit(benchmark::kMillisecond);
});
BENCHMARK(solve<square>)->Name("layout_solver/square")->Apply([](auto* b) {
  b->ArgsProduct({{8, 16, 32}, {2, 4}})->Unit(benchmark::kMillisecond);
});

}  // namespace
