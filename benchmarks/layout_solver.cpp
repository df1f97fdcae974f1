// The layout solver on graphs of the shapes that networks have. The argument is the number of blocks.
#include <bit>
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

/// Operators that run in one order for all operands, some in a certain one only, and between them values, stored in one
/// order. A copy in another order is paid for once if it is shared, else by each reader: the labels of a value are all
/// pairs of its order and a set of shared copies.
class Network {
 public:
  Network(std::size_t orders, unsigned seed) : orders_(orders), engine_(seed) {}

  /// Returns the value that an operator makes of others.
  std::size_t apply(const std::vector<std::size_t>& operands) {
    std::vector<Cost> costs(orders_, 0);
    if (below(100) < 40) {  // a convolution, say
      const std::size_t wanted = below(100) < 70 ? 0 : below(orders_);
      for (std::size_t a = 0; a < orders_; ++a) costs[a] = a == wanted ? 0 : kForbidden;
    }
    const std::size_t op = problem.add_variable(std::move(costs));
    for (std::size_t value : operands) connect(op, value, true);
    const Cost bytes = 8192 + 4096 * static_cast<Cost>(below(64));
    costs.clear();
    for (std::size_t label = 0; label < orders_ << orders_; ++label) {
      const bool own = (copies(label) >> label_order(label) & 1) != 0;  // no copy in the order that is there
      costs.push_back(own ? kForbidden : bytes * std::popcount(copies(label)) + static_cast<Cost>(below(8)));
    }
    const std::size_t value = problem.add_variable(std::move(costs));
    bytes_.resize(value + 1);
    bytes_[value] = bytes;
    connect(op, value, false);
    return value;
  }

  Problem problem;

 private:
  std::size_t below(std::size_t n) { return engine_() % n; }
  std::size_t label_order(std::size_t label) const { return label >> orders_; }
  std::size_t copies(std::size_t label) const { return label & ((std::size_t{1} << orders_) - 1); }

  void connect(std::size_t op, std::size_t value, bool reads) {
    std::vector<Cost> table;
    for (std::size_t a = 0; a < orders_; ++a) {
      for (std::size_t label = 0; label < orders_ << orders_; ++label) {
        const bool there = label_order(label) == a || (reads && (copies(label) >> a & 1) != 0);
        table.push_back(there ? 0 : reads ? bytes_[value] : kForbidden);
      }
    }
    problem.add_pair(op, value, std::move(table));
  }

  std::size_t orders_;
  std::mt19937 engine_;
  std::vector<Cost> bytes_;  // of the variables that are values
};

Problem chain(std::size_t blocks, std::size_t labels) {
  Network net(labels, 1);
  std::size_t v = net.apply({});
  for (std::size_t i = 0; i < blocks; ++i) v = net.apply({v});
  return std::move(net.problem);
}

Problem residual(std::size_t blocks, std::size_t labels) {
  Network net(labels, 2);
  std::size_t v = net.apply({});
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t inner = net.apply({net.apply({v})});
    v = net.apply({v, inner});
  }
  return std::move(net.problem);
}

/// Each block reads all earlier ones of its group of 24, as in DenseNet.
Problem dense(std::size_t blocks, std::size_t labels) {
  Network net(labels, 3);
  std::vector<std::size_t> group{net.apply({})};
  for (std::size_t i = 0; i < blocks; ++i) {
    group.push_back(net.apply({net.apply(group)}));
    if (group.size() > 24) group = {net.apply(group)};
  }
  return std::move(net.problem);
}

/// One group.
Problem very_dense(std::size_t blocks, std::size_t labels) {
  Network net(labels, 4);
  std::vector<std::size_t> group{net.apply({})};
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

/// A square of variables with two labels that should agree: one minimum cut.
Problem cut(std::size_t side, std::size_t) {
  std::mt19937 engine(6);
  const auto below = [&](unsigned n) { return static_cast<Cost>(engine() % n); };
  Problem p;
  for (std::size_t i = 0; i < side * side; ++i) p.add_variable({below(100), below(100)});
  for (std::size_t i = 0; i < side * side; ++i) {
    const Cost weight = below(50);
    if (i % side + 1 < side) p.add_pair(i, i + 1, {0, weight, weight, 0});
    if (i + side < side * side) p.add_pair(i, i + side, {0, weight, weight, 0});
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
  for (int blocks : {10, 100, 1000, 10'000}) b->Args({blocks, 3});
  b->Unit(benchmark::kMillisecond);
}

BENCHMARK(solve<chain>)->Name("layout_solver/chain")->Apply(sizes);
BENCHMARK(solve<residual>)->Name("layout_solver/residual")->Apply(sizes);
BENCHMARK(solve<dense>)->Name("layout_solver/dense")->Apply([](auto* b) {
  b->ArgsProduct({{24, 240, 960}, {2, 3, 4}})->Unit(benchmark::kMillisecond);
});
BENCHMARK(solve<very_dense>)->Name("layout_solver/very_dense")->Apply([](auto* b) {
  b->ArgsProduct({{24, 58, 120}, {2, 3, 4}})->Unit(benchmark::kMillisecond);
});
BENCHMARK(solve<cut>)->Name("layout_solver/cut")->Apply([](auto* b) {
  b->ArgsProduct({{10, 50, 170}, {2}})->Unit(benchmark::kMillisecond);
});
BENCHMARK(solve<square>)->Name("layout_solver/square")->Apply([](auto* b) {
  b->ArgsProduct({{8, 16, 32}, {2, 4}})->Unit(benchmark::kMillisecond);
});

}  // namespace
