// The whole layout engine on generated graphs: a chain and a residual ladder of convolutions as converters leave them,
// each between its transposes. The argument is the number of blocks; the time should grow no worse than n log n.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "host/layout/engine.hpp"

namespace {

using namespace gantry;

constexpr std::int64_t kChannels = 8, kSide = 16;

/// Channels-first outside, channels-last kernels inside.
class Blocks {
 public:
  Graph make(std::size_t blocks, bool residual) {
    ValueId x = g_.add_input(g_.main(), "x", Type::of(DType::float32, {1, kChannels, kSide, kSide}));
    for (std::size_t i = 0; i < blocks; ++i) {
      ValueId y = convolution(add("RELU", {x}, first()));
      if (residual) y = add("ADD", {x, convolution(add("RELU", {y}, first()))}, first());
      x = y;
    }
    g_.add_output(g_.main(), "y", x);
    return std::move(g_);
  }

 private:
  using Dims = std::vector<std::int64_t>;
  static Dims first() { return {1, kChannels, kSide, kSide}; }
  static Dims last() { return {1, kSide, kSide, kChannels}; }

  ValueId add(std::string_view op, const std::vector<ValueId>& inputs, const Dims& dims, Attrs attrs = {}) {
    const NodeId n = g_.add_node(g_.end(g_.main()), {"tflite", "", op, 1}, inputs, 1, std::move(attrs));
    const ValueId y = g_.node(n).outputs[0];
    g_.set_type(y, Type::of(DType::float32, dims));
    return y;
  }
  ValueId transpose(ValueId x, const std::vector<std::int32_t>& perm, const Dims& dims) {
    return add("TRANSPOSE", {x, g_.add_constant(Constant::of<std::int32_t>({4}, std::span<const std::int32_t>(perm)))},
               dims);
  }
  ValueId floats(const Dims& dims) {
    std::int64_t n = 1;
    for (std::int64_t d : dims) n *= d;
    const std::vector<float> v(static_cast<std::size_t>(n), 0.5F);
    return g_.add_constant(Constant::of<float>(dims, std::span<const float>(v)));
  }
  ValueId convolution(ValueId x) {
    const ValueId y =
        add("CONV_2D", {transpose(x, {0, 2, 3, 1}, last()), floats({kChannels, 3, 3, kChannels}), floats({kChannels})},
            last(), {{"padding", "SAME"}, {"stride_h", std::int64_t{1}}, {"stride_w", std::int64_t{1}}});
    return transpose(y, {0, 3, 1, 2}, first());
  }

  Graph g_;
};

const layout::Rule* rule_of(const Op& op) {
  static const std::map<std::string, layout::Rule, std::less<>> rules = [] {
    std::map<std::string, layout::Rule, std::less<>> r;
    r["CONV_2D"] = *layout::parse_rule("n h! w! C, O kh! kw! C, O -> n h! w! O");
    r["RELU"] = *layout::parse_rule("* -> *");
    r["ADD"] = *layout::parse_rule("*, * -> *");
    return r;
  }();
  const auto it = rules.find(std::string_view(op.name));
  return it == rules.end() ? nullptr : &it->second;
}

template <bool Residual>
void engine(benchmark::State& state) {
  layout::EngineOptions options;
  options.model.rule = rule_of;
  layout::Statistics stats;
  for (auto _ : state) {
    state.PauseTiming();
    Graph g = Blocks().make(static_cast<std::size_t>(state.range(0)), Residual);
    state.ResumeTiming();
    const auto result = layout::run(g, options);
    if (!result.ok()) return state.SkipWithError("the engine failed");
    stats = *result;
    state.PauseTiming();
    {
      const Graph gone = std::move(g);
    }
    state.ResumeTiming();
  }
  state.counters["cost"] = static_cast<double>(stats.cost_after);
  state.counters["optimal"] = stats.optimal;
  state.SetComplexityN(state.range(0));
}

void sizes(benchmark::internal::Benchmark* b) {
  b->RangeMultiplier(10)->Range(10, 10'000)->Complexity(benchmark::oNLogN)->Unit(benchmark::kMillisecond);
}

BENCHMARK(engine<false>)->Name("layout_engine/chain")->Apply(sizes);
BENCHMARK(engine<true>)->Name("layout_engine/residual")->Apply(sizes);

}  // namespace
