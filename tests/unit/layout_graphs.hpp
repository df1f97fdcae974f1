// Random small graphs for the layout engine: branches, views that split and merge axes, broadcasts, joins, products,
// values with many readers.
#pragma once

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "tests/unit/passes_evaluator.hpp"

namespace gantry::testing {

class LayoutGraphs {
 public:
  explicit LayoutGraphs(unsigned seed) : random_(seed) {}

  Graph make(std::int64_t nodes) {
    const Dims dims{1, 2 * (below(2) + 1), below(2) + 2, 2 * (below(2) + 1)};
    values_ = {g_.add_input(g_.main(), "x", Type::of(DType::float32, dims))};
    if (below(3) == 0) values_.push_back(g_.add_input(g_.main(), "z", Type::of(DType::float32, dims)));
    for (std::int64_t i = 0; i < nodes; ++i) values_.push_back(grow(pick()));
    g_.add_output(g_.main(), "y", values_.back());
    if (below(3) == 0) g_.add_output(g_.main(), "w", pick());
    return std::move(g_);
  }

  std::map<std::string, Array> inputs(const Graph& g) {
    std::map<std::string, Array> out;
    for (ValueId v : g.region(g.main()).inputs) {
      const Dims d = g.value(v).type.sizes();
      out[std::string(g.value(v).name)] = {d, floats(d)};
    }
    return out;
  }

 private:
  using Dims = std::vector<std::int64_t>;

  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }
  /// Mostly the newest value, sometimes an older one.
  ValueId pick() {
    return below(3) ? values_.back()
                    : values_[static_cast<std::size_t>(below(static_cast<std::int64_t>(values_.size())))];
  }
  Dims dims_of(ValueId v) const { return g_.value(v).type.sizes(); }

  std::vector<float> floats(const Dims& dims) {
    std::vector<float> v(static_cast<std::size_t>(*element_count(dims)));
    for (float& f : v) f = static_cast<float>(below(33) - 16) / 8.0F;
    return v;
  }
  ValueId constant(const Dims& dims) {
    const auto v = floats(dims);
    return g_.add_constant(Constant::of<float>(dims, std::span<const float>(v)));
  }
  ValueId ints(const Dims& values) {
    const std::vector<std::int32_t> v(values.begin(), values.end());
    return g_.add_constant(
        Constant::of<std::int32_t>({static_cast<std::int64_t>(v.size())}, std::span<const std::int32_t>(v)));
  }
  ValueId add(std::string_view op, const std::vector<ValueId>& inputs, const Dims& dims, Attrs attrs = {}) {
    const NodeId n =
        g_.add_node(g_.end(g_.main()), {"tflite", "", op, 1}, inputs, 1, std::move(attrs), std::string(op));
    const ValueId y = g_.node(n).outputs[0];
    g_.set_type(y, Type::of(DType::float32, dims));
    return y;
  }

  ValueId grow(ValueId x) {
    const Dims d = dims_of(x);
    switch (below(13)) {
      case 0:
      case 1:
        return transpose(x, d);
      case 2:
        return reshape(x, d);
      case 3:
        return add("RELU", {x}, d);
      case 4:
        return with_constant(x, d);
      case 5:
        return binary(x, d);
      case 6:
        return d.empty() ? x : add("SOFTMAX", {x}, d, {{"beta", 1.0F}});
      case 7:
        return linear(x, d);
      case 8:
        return sum(x, d);
      case 9:
        return join(x, d);
      case 10:
        return cut(x, d);
      case 11:
        return pointwise(x, d);
      default:
        return product(x, d);
    }
  }

  ValueId transpose(ValueId x, const Dims& d) {
    Dims perm(d.size()), out;
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    for (std::int64_t p : perm) out.push_back(d[static_cast<std::size_t>(p)]);
    return add("TRANSPOSE", {x, ints(perm)}, out);
  }

  /// Splits an axis, or joins two neighbours.
  ValueId reshape(ValueId x, Dims d) {
    if (d.empty()) return x;
    const auto a = static_cast<std::size_t>(below(static_cast<std::int64_t>(d.size())));
    if (below(2) && d[a] % 2 == 0 && d.size() < 5) {
      d[a] /= 2;
      d.insert(d.begin() + static_cast<std::ptrdiff_t>(a), 2);
    } else if (a + 1 < d.size()) {
      d[a] *= d[a + 1];
      d.erase(d.begin() + static_cast<std::ptrdiff_t>(a) + 1);
    } else {
      d.insert(d.begin(), 1);
    }
    if (d.size() > 5) return x;
    return add("RESHAPE", {x, ints(d)}, d, {{"new_shape", d}});
  }

  ValueId with_constant(ValueId x, const Dims& d) {
    Dims c = d;
    for (std::int64_t& n : c)
      if (below(2)) n = 1;
    while (!c.empty() && below(2)) c.erase(c.begin());
    return add(below(2) ? "ADD" : "MUL", {x, constant(c)}, d, {{"fused_activation_function", "NONE"}});
  }

  ValueId binary(ValueId x, const Dims& d) {
    for (ValueId other : values_)
      if (other != x && dims_of(other) == d) return add("ADD", {x, other}, d, {{"fused_activation_function", "NONE"}});
    return add("MUL", {x, x}, d, {{"fused_activation_function", "NONE"}});
  }

  ValueId linear(ValueId x, Dims d) {
    if (d.empty()) return x;
    const std::int64_t n = below(3) + 1, k = d.back();
    d.back() = n;
    return add("FULLY_CONNECTED", {x, constant({n, k}), constant({n})}, d,
               {{"keep_num_dims", std::int64_t{1}}, {"fused_activation_function", "NONE"}});
  }

  /// A convolution with one tap, if the value is an image.
  ValueId pointwise(ValueId x, Dims d) {
    if (d.size() != 4) return x;
    const std::int64_t n = below(3) + 1, k = d.back();
    d.back() = n;
    return add("CONV_2D", {x, constant({n, 1, 1, k}), constant({n})}, d,
               {{"padding", "VALID"},
                {"stride_h", std::int64_t{1}},
                {"stride_w", std::int64_t{1}},
                {"dilation_h_factor", std::int64_t{1}},
                {"dilation_w_factor", std::int64_t{1}},
                {"fused_activation_function", below(2) ? "RELU" : "NONE"}});
  }

  ValueId sum(ValueId x, const Dims& d) {
    Dims axes, out;
    const bool keep = below(2) != 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (below(3) == 0) {
        axes.push_back(static_cast<std::int64_t>(i));
        if (keep) out.push_back(1);
      } else {
        out.push_back(d[i]);
      }
    }
    if (axes.empty() || out.empty()) return x;
    return add(below(2) ? "SUM" : "MEAN", {x, ints(axes)}, out, {{"keep_dims", std::int64_t{keep}}});
  }

  ValueId join(ValueId x, Dims d) {
    if (d.empty()) return x;
    const auto a = static_cast<std::size_t>(below(static_cast<std::int64_t>(d.size())));
    Dims other = d;
    other[a] = below(2) ? d[a] : below(3) + 1;
    const ValueId y = below(3) ? constant(other) : other == d ? x : constant(other);
    d[a] += other[a];
    return add("CONCATENATION", {x, y}, d,
               {{"axis", static_cast<std::int64_t>(a)}, {"fused_activation_function", "NONE"}});
  }

  ValueId cut(ValueId x, const Dims& d) {
    if (d.empty()) return x;
    Dims begin(d.size(), 0), size = d;
    const auto a = static_cast<std::size_t>(below(static_cast<std::int64_t>(d.size())));
    size[a] = below(d[a]) + 1;
    begin[a] = below(d[a] - size[a] + 1);
    return add("SLICE", {x, ints(begin), ints(size)}, size);
  }

  /// A product with its own transpose over the last two axes.
  ValueId product(ValueId x, Dims d) {
    if (d.size() < 2) return x;
    d.back() = d[d.size() - 2];
    return add("BATCH_MATMUL", {x, x}, d, {{"adj_x", std::int64_t{0}}, {"adj_y", std::int64_t{1}}});
  }

  std::mt19937 random_;
  Graph g_;
  std::vector<ValueId> values_;
};

}  // namespace gantry::testing
