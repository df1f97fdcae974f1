// Random graphs give the same numbers before and after the clean-ups, which must also end, and leave a sound graph.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"
#include "host/passes/tflite.hpp"
#include "tests/unit/passes_evaluator.hpp"
#include "tests/unit/passes_fake.hpp"

namespace gantry::testing {
namespace {

using Dims = std::vector<std::int64_t>;

/// Makes graphs of convolutions, reorderings, arithmetic with constants, activations and padding, mostly in a chain,
/// with some values used twice.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Graph make() {
    ValueId v = g_.add_input(g_.main(), "x", Type::of(DType::float32, {1, below(3) + 3, below(3) + 3, below(3) + 1}));
    std::vector<ValueId> all{v};
    for (std::int64_t i = below(10) + 3; i > 0; --i) {
      if (below(8) == 0) v = all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
      v = grow(v);
      all.push_back(v);
    }
    g_.add_output(g_.main(), "y", v);
    for (const ValueId used : all) {
      if (below(12) == 0) g_.add_output(g_.main(), "z", used);
    }
    return std::move(g_);
  }

  Array array(const Dims& dims) { return {dims, floats(dims)}; }

 private:
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }

  std::vector<float> floats(const Dims& dims) {
    std::vector<float> values(static_cast<std::size_t>(*element_count(dims)));
    for (float& f : values) f = static_cast<float>(below(33) - 16) / 8.0F;
    return values;
  }

  ValueId constant(const Dims& dims, bool nonzero = false) {
    std::vector<float> values = floats(dims);
    if (nonzero) std::replace(values.begin(), values.end(), 0.0F, 1.0F);
    return g_.add_constant(Constant::of<float>(dims, std::span<const float>(values)));
  }

  ValueId add(std::string_view op, const std::vector<ValueId>& inputs, const Dims& dims, Attrs attrs = {}) {
    return passes::add_tflite(g_, g_.end(g_.main()), op, inputs, Type::of(DType::float32, dims), "", std::move(attrs));
  }

  ValueId grow(ValueId v) {
    const Dims dims = g_.value(v).type.sizes();
    switch (below(10)) {
      case 0:
      case 1:
        return dims.size() == 4 ? convolution(v, dims) : fully_connected(v, dims);
      case 2:
      case 3:
        return transpose(v, dims);
      case 4:
        return reshape(v, dims);
      case 5:
      case 6:
        return arithmetic(v, dims);
      case 7:
        return dims.size() == 4 ? pad(v, dims) : transpose(v, dims);
      case 8:
        return add(std::array{"NEG", "ABS"}[static_cast<std::size_t>(below(2))], {v}, dims);
      default:
        return add(std::array{"RELU", "RELU6", "RELU_N1_TO_1"}[static_cast<std::size_t>(below(3))], {v}, dims);
    }
  }

  ValueId convolution(ValueId v, const Dims& dims) {
    const bool depthwise = below(3) == 0;
    const std::int64_t out = depthwise ? dims[3] * (below(2) + 1) : below(3) + 1;
    const std::int64_t kh = std::min<std::int64_t>(below(3) + 1, dims[1]);
    const std::int64_t kw = std::min<std::int64_t>(below(3) + 1, dims[2]);
    const std::int64_t stride = below(2) + 1;
    const bool same = below(3) == 0;
    const auto results = [&](std::int64_t n, std::int64_t k) {
      return same ? (n + stride - 1) / stride : (n - k) / stride + 1;
    };
    const ValueId weights = constant(depthwise ? Dims{1, kh, kw, out} : Dims{out, kh, kw, dims[3]});
    std::vector<ValueId> inputs{v, weights};
    if (below(2) == 0) inputs.push_back(constant({out}));
    return add(depthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", inputs,
               {dims[0], results(dims[1], kh), results(dims[2], kw), out},
               {{"padding", std::string(same ? "SAME" : "VALID")}, {"stride_h", stride}, {"stride_w", stride}});
  }

  ValueId fully_connected(ValueId v, const Dims& dims) {
    const std::int64_t in = dims.back();
    const std::int64_t out = below(4) + 1;
    return add("FULLY_CONNECTED", {v, constant({out, in})}, {*element_count(dims) / in, out});
  }

  ValueId transpose(ValueId v, const Dims& dims) {
    Dims perm(dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    if (below(2) == 0 && dims.size() == 4) {
      perm = below(2) == 0 ? Dims{0, 2, 3, 1} : Dims{0, 3, 1, 2};  // often the ones that real graphs have
    } else {
      std::shuffle(perm.begin(), perm.end(), random_);
    }
    Dims to;
    for (const std::int64_t p : perm) to.push_back(dims[static_cast<std::size_t>(p)]);
    return add("TRANSPOSE", {v, passes::add_ints(g_, perm, "perm")}, to);
  }

  ValueId reshape(ValueId v, const Dims& dims) {
    Dims to = dims;
    for (std::size_t i = 0; i + 1 < to.size(); ++i) {
      if (below(3) == 0) continue;
      to[i + 1] *= to[i];  // into the next one, or an axis of size 1 elsewhere
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(i));
    }
    while (to.size() < 4) to.insert(to.begin() + below(static_cast<std::int64_t>(to.size()) + 1), 1);
    return add("RESHAPE", {v, passes::add_ints(g_, to, "shape")}, to);
  }

  ValueId arithmetic(ValueId v, const Dims& dims) {
    const std::array<std::string_view, 4> ops = {"ADD", "SUB", "MUL", "DIV"};
    const std::string_view op = ops[static_cast<std::size_t>(below(4))];
    Dims shape(dims.size(), 1);
    const auto axis = static_cast<std::size_t>(below(static_cast<std::int64_t>(dims.size()) + 1));
    if (axis < dims.size()) shape[axis] = dims[axis];
    while (!shape.empty() && shape.front() == 1 && below(2) == 0) shape.erase(shape.begin());
    const ValueId c = constant(shape, op == "DIV");
    const bool swap = (op == "ADD" || op == "MUL") && below(2) == 0;
    return add(op, swap ? std::vector{c, v} : std::vector{v, c}, dims);
  }

  ValueId pad(ValueId v, const Dims& dims) {
    const Dims amounts{0, 0, below(2), below(3), below(2), below(2), 0, 0};
    Dims to = dims;
    for (std::size_t i = 0; i < 4; ++i) to[i] += amounts[2 * i] + amounts[2 * i + 1];
    const ValueId flat = passes::add_ints(g_, amounts, "pads");
    const ValueId pads = g_.add_constant(*g_.value(flat).constant.reshape({4, 2}), "pads");
    return add("PAD", {v, pads}, to);
  }

  std::mt19937 random_;
  Graph g_;
};

void expect_equal(const std::vector<Array>& a, const std::vector<Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].dims, b[i].dims);
    float largest = 1;
    for (const float f : a[i].elements) largest = std::max(largest, std::fabs(f));
    for (std::size_t j = 0; j < a[i].elements.size(); ++j) {
      ASSERT_NEAR(a[i].elements[j], b[i].elements[j], 1e-4F * largest);
    }
  }
}

TEST(Numbers, StayTheSame) {
  const std::array<std::string_view, 6> passes = {"cancel_transposes", "fuse_bias", "fuse_pad",
                                                  "fuse_activation",   "cse",       "dce"};
  std::size_t before = 0;
  std::size_t after = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Maker maker(seed);
    Bench bench(maker.make());
    const std::string source = print(bench.graph);
    SCOPED_TRACE(source);
    before += bench.graph.live_nodes();
    const Value& x = bench.graph.value(bench.graph.region(RegionId{1}).inputs[0]);
    const std::map<std::string, Array> inputs{{"x", maker.array(x.type.sizes())}};
    const std::vector<Array> expected = evaluate(bench.graph, inputs);
    for (int round = 0; round < 3; ++round) {
      for (const std::string_view pass : passes) ASSERT_TRUE(bench.run(pass).ok());
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(bench.graph));
    ASSERT_TRUE(verify(bench.graph).ok());
    expect_equal(expected, evaluate(bench.graph, inputs));
    if (::testing::Test::HasFatalFailure()) return;
    const std::size_t nodes = bench.graph.live_nodes();
    after += nodes;
    for (const std::string_view pass : passes) ASSERT_TRUE(bench.run(pass).ok());
    EXPECT_EQ(bench.graph.live_nodes(), nodes) << "three rounds were not enough";
  }
  EXPECT_LT(after, before * 9 / 10);  // the graphs give the passes something to do
}

}  // namespace
}  // namespace gantry::testing
