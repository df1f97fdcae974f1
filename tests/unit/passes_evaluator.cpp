#include "tests/unit/passes_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

namespace gantry::testing {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t count(const Dims& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}

/// Calls f(index) for every index of the shape, in row-major order.
void for_each_index(const Dims& dims, const std::function<void(const Dims&)>& f) {
  Dims index(dims.size(), 0);
  for (std::int64_t i = 0, n = count(dims); i < n; ++i) {
    f(index);
    for (std::size_t a = dims.size(); a-- > 0;) {
      if (++index[a] < dims[a]) break;
      index[a] = 0;
    }
  }
}

float at(const Array& x, const Dims& index) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < index.size(); ++i) flat = flat * x.dims[i] + index[i];
  return x.elements[static_cast<std::size_t>(flat)];
}

/// With dimensions of size 1, and missing leading ones, repeated.
float broadcast_at(const Array& x, const Dims& index) {
  Dims own(x.dims.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = x.dims[i] == 1 ? 0 : index[i + index.size() - own.size()];
  }
  return at(x, own);
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims dims(std::max(a.size(), b.size()), 1);
  for (const Dims& d : {a, b}) {
    for (std::size_t i = 0; i < d.size(); ++i) {
      std::int64_t& r = dims[i + dims.size() - d.size()];
      if (d[i] != 1) r = d[i];
    }
  }
  return dims;
}

float activated(const Node& node, float x) {
  const auto f = node.attr_or<std::string>("fused_activation_function", "NONE");
  if (f == "RELU") return std::max(x, 0.0F);
  if (f == "RELU6") return std::clamp(x, 0.0F, 6.0F);
  if (f == "RELU_N1_TO_1") return std::clamp(x, -1.0F, 1.0F);
  if (f != "NONE") throw std::runtime_error("activation " + f);
  return x;
}

struct Window {
  std::int64_t stride, dilation, size, before, results;
};

Window window(const Node& node, const std::string& axis, std::int64_t n, std::int64_t k) {
  Window w{node.attr_or<std::int64_t>("stride_" + axis, 1),
           node.attr_or<std::int64_t>("dilation_" + axis + "_factor", 1), k, 0, 0};
  const std::int64_t reach = (k - 1) * w.dilation + 1;
  if (node.attr_or<std::string>("padding", "SAME") == "SAME") {
    w.results = (n + w.stride - 1) / w.stride;
    w.before = std::max<std::int64_t>((w.results - 1) * w.stride + reach - n, 0) / 2;
  } else {
    w.results = (n - reach) / w.stride + 1;
  }
  return w;
}

Array convolution(const Node& node, const Array& x, const Array& w, const Array* bias, bool depthwise) {
  const Window h = window(node, "h", x.dims[1], w.dims[1]);
  const Window v = window(node, "w", x.dims[2], w.dims[2]);
  const std::int64_t channels = depthwise ? w.dims[3] : w.dims[0];
  Array y{{x.dims[0], h.results, v.results, channels}, {}};
  for_each_index(y.dims, [&](const Dims& o) {
    double sum = bias ? bias->elements[static_cast<std::size_t>(o[3])] : 0;
    for (std::int64_t i = 0; i < h.size; ++i) {
      for (std::int64_t j = 0; j < v.size; ++j) {
        const std::int64_t r = o[1] * h.stride + i * h.dilation - h.before;
        const std::int64_t c = o[2] * v.stride + j * v.dilation - v.before;
        if (r < 0 || c < 0 || r >= x.dims[1] || c >= x.dims[2]) continue;
        if (depthwise) {
          sum += static_cast<double>(at(x, {o[0], r, c, o[3] * x.dims[3] / channels})) * at(w, {0, i, j, o[3]});
        } else {
          for (std::int64_t k = 0; k < x.dims[3]; ++k) {
            sum += static_cast<double>(at(x, {o[0], r, c, k})) * at(w, {o[3], i, j, k});
          }
        }
      }
    }
    y.elements.push_back(activated(node, static_cast<float>(sum)));
  });
  return y;
}

Array fully_connected(const Node& node, const Array& x, const Array& w, const Array* bias) {
  Array y{{count(x.dims) / w.dims[1], w.dims[0]}, {}};
  const Dims flat = y.dims;
  if (node.attr_or<std::int64_t>("keep_num_dims", 0) != 0) {
    y.dims = x.dims;
    y.dims.back() = w.dims[0];
  }
  for_each_index(flat, [&](const Dims& o) {
    double sum = bias ? bias->elements[static_cast<std::size_t>(o[1])] : 0;
    for (std::int64_t k = 0; k < w.dims[1]; ++k) {
      sum += static_cast<double>(x.elements[static_cast<std::size_t>(o[0] * w.dims[1] + k)]) * at(w, {o[1], k});
    }
    y.elements.push_back(activated(node, static_cast<float>(sum)));
  });
  return y;
}

Array transpose(const Array& x, const Array& perm) {
  Array y;
  for (const float p : perm.elements) y.dims.push_back(x.dims[static_cast<std::size_t>(p)]);
  for_each_index(y.dims, [&](const Dims& o) {
    Dims index(o.size());
    for (std::size_t i = 0; i < o.size(); ++i) index[static_cast<std::size_t>(perm.elements[i])] = o[i];
    y.elements.push_back(at(x, index));
  });
  return y;
}

Array pad(const Array& x, const Array& amounts) {
  Array y{x.dims, {}};
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    y.dims[i] += static_cast<std::int64_t>(amounts.elements[2 * i] + amounts.elements[2 * i + 1]);
  }
  for_each_index(y.dims, [&](Dims o) {
    for (std::size_t i = 0; i < o.size(); ++i) {
      o[i] -= static_cast<std::int64_t>(amounts.elements[2 * i]);
      if (o[i] < 0 || o[i] >= x.dims[i]) return y.elements.push_back(0);
    }
    y.elements.push_back(at(x, o));
  });
  return y;
}

Array elementwise(const Node& node, const std::vector<Array>& in) {
  const std::string_view op = node.op.name;
  const Array& a = in[0];
  const Array& b = in.size() > 1 ? in[1] : in[0];
  Array y{broadcast(a.dims, b.dims), {}};
  for_each_index(y.dims, [&](const Dims& o) {
    const float p = broadcast_at(a, o);
    const float q = broadcast_at(b, o);
    float r = 0;
    if (op == "ADD")
      r = p + q;
    else if (op == "SUB")
      r = p - q;
    else if (op == "MUL")
      r = p * q;
    else if (op == "DIV")
      r = p / q;
    else if (op == "RELU")
      r = std::max(p, 0.0F);
    else if (op == "RELU6")
      r = std::clamp(p, 0.0F, 6.0F);
    else if (op == "RELU_N1_TO_1")
      r = std::clamp(p, -1.0F, 1.0F);
    else if (op == "NEG")
      r = -p;
    else if (op == "ABS")
      r = std::fabs(p);
    else
      throw std::runtime_error("operator " + std::string(op));
    y.elements.push_back(activated(node, r));
  });
  return y;
}

Array batch_matmul(const Node& node, const Array& a, const Array& b) {
  const bool adj_x = node.attr_or<std::int64_t>("adj_x", 0) != 0, adj_y = node.attr_or<std::int64_t>("adj_y", 0) != 0;
  const std::size_t ra = a.dims.size(), rb = b.dims.size();
  Array y{broadcast(Dims(a.dims.begin(), a.dims.end() - 2), Dims(b.dims.begin(), b.dims.end() - 2)), {}};
  y.dims.push_back(a.dims[ra - (adj_x ? 1 : 2)]);
  y.dims.push_back(b.dims[rb - (adj_y ? 2 : 1)]);
  const std::int64_t depth = a.dims[ra - (adj_x ? 2 : 1)];
  const auto element = [](const Array& x, Dims o, std::int64_t row, std::int64_t column) {
    o[o.size() - 2] = row;
    o.back() = column;
    return broadcast_at(x, o);
  };
  for_each_index(y.dims, [&](const Dims& o) {
    const std::int64_t m = o[o.size() - 2], n = o.back();
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += static_cast<double>(adj_x ? element(a, o, k, m) : element(a, o, m, k)) *
             (adj_y ? element(b, o, n, k) : element(b, o, k, n));
    y.elements.push_back(static_cast<float>(sum));
  });
  return y;
}

Array concatenation(const Node& node, const std::vector<Array>& in) {
  const auto axis = static_cast<std::size_t>(node.attr_or<std::int64_t>("axis", 0));
  Array y{in[0].dims, {}};
  for (std::size_t i = 1; i < in.size(); ++i) y.dims[axis] += in[i].dims[axis];
  for_each_index(y.dims, [&](Dims o) {
    std::size_t i = 0;
    for (; o[axis] >= in[i].dims[axis]; ++i) o[axis] -= in[i].dims[axis];
    y.elements.push_back(at(in[i], o));
  });
  return y;
}

Array sum(const Node& node, const Array& x, const Array& axes, bool mean) {
  std::vector<bool> gone(x.dims.size());
  for (const float a : axes.elements) gone[static_cast<std::size_t>(a)] = true;
  Array kept{x.dims, {}};
  double folded = 1;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (gone[i]) folded *= static_cast<double>(std::exchange(kept.dims[i], 1));
  std::vector<double> sums(static_cast<std::size_t>(count(kept.dims)), 0.0);
  for_each_index(x.dims, [&](const Dims& o) {
    std::size_t flat = 0;
    for (std::size_t i = 0; i < o.size(); ++i)
      flat = flat * static_cast<std::size_t>(kept.dims[i]) + static_cast<std::size_t>(gone[i] ? 0 : o[i]);
    sums[flat] += at(x, o);
  });
  for (const double s : sums) kept.elements.push_back(static_cast<float>(mean ? s / folded : s));
  if (node.attr_or<std::int64_t>("keep_dims", 0) == 0) {
    Dims dims;
    for (std::size_t i = 0; i < gone.size(); ++i)
      if (!gone[i]) dims.push_back(kept.dims[i]);
    kept.dims = dims;
  }
  return kept;
}

Array softmax(const Array& x) {
  Array y = x;
  const auto n = static_cast<std::size_t>(x.dims.back());
  for (std::size_t row = 0; row < y.elements.size(); row += n) {
    const float top = *std::max_element(x.elements.begin() + static_cast<std::ptrdiff_t>(row),
                                        x.elements.begin() + static_cast<std::ptrdiff_t>(row + n));
    double total = 0;
    for (std::size_t i = row; i < row + n; ++i) total += std::exp(static_cast<double>(x.elements[i] - top));
    for (std::size_t i = row; i < row + n; ++i)
      y.elements[i] = static_cast<float>(std::exp(static_cast<double>(x.elements[i] - top)) / total);
  }
  return y;
}

Array slice(const Array& x, const Array& begin, const Array& size) {
  Array y;
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    y.dims.push_back(size.elements[i] < 0 ? x.dims[i] - static_cast<std::int64_t>(begin.elements[i])
                                          : static_cast<std::int64_t>(size.elements[i]));
  for_each_index(y.dims, [&](Dims o) {
    for (std::size_t i = 0; i < o.size(); ++i) o[i] += static_cast<std::int64_t>(begin.elements[i]);
    y.elements.push_back(at(x, o));
  });
  return y;
}

Array tile(const Array& x, const Array& times) {
  Array y;
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    y.dims.push_back(x.dims[i] * static_cast<std::int64_t>(times.elements[i]));
  for_each_index(y.dims, [&](Dims o) {
    for (std::size_t i = 0; i < o.size(); ++i) o[i] %= x.dims[i];
    y.elements.push_back(at(x, o));
  });
  return y;
}

Array run(const Node& node, const std::vector<Array>& in) {
  const std::string_view op = node.op.name;
  const Array* bias = in.size() > 2 ? &in[2] : nullptr;
  if (op == "CONV_2D" || op == "DEPTHWISE_CONV_2D")
    return convolution(node, in[0], in[1], bias, op == "DEPTHWISE_CONV_2D");
  if (op == "FULLY_CONNECTED") return fully_connected(node, in[0], in[1], bias);
  if (op == "TRANSPOSE") return transpose(in[0], in[1]);
  if (op == "PAD") return pad(in[0], in[1]);
  if (op == "BATCH_MATMUL") return batch_matmul(node, in[0], in[1]);
  if (op == "CONCATENATION") return concatenation(node, in);
  if (op == "SUM" || op == "MEAN") return sum(node, in[0], in[1], op == "MEAN");
  if (op == "SOFTMAX") return softmax(in[0]);
  if (op == "SLICE") return slice(in[0], in[1], in[2]);
  if (op == "TILE") return tile(in[0], in[1]);
  if (op == "RESHAPE") return Array{Dims(in[1].elements.begin(), in[1].elements.end()), in[0].elements};
  return elementwise(node, in);
}

}  // namespace

std::vector<Array> evaluate(const Graph& g, const std::map<std::string, Array>& inputs) {
  std::map<ValueId, Array> values;
  const auto get = [&](ValueId v) -> Array {
    if (const auto it = values.find(v); it != values.end()) return it->second;
    const Value& value = g.value(v);
    if (!value.is_constant()) return inputs.at(std::string(value.name));
    return {value.constant.dims(), *value.constant.read<float>()};
  };
  for (const NodeId n : g.nodes(g.main())) {
    const Node& node = g.node(n);
    std::vector<Array> operands;
    for (const ValueId v : node.inputs) {
      if (v) operands.push_back(get(v));
    }
    Array result = run(node, operands);
    if (result.dims != g.value(node.output(0)).type.sizes())
      throw std::runtime_error("shape of " + std::string(node.op.name));
    if (static_cast<std::int64_t>(result.elements.size()) != count(result.dims)) {
      throw std::runtime_error("elements of " + std::string(node.op.name));
    }
    values[node.output(0)] = std::move(result);
  }
  std::vector<Array> outputs;
  for (const Output& o : g.region(g.main()).outputs) outputs.push_back(get(o.value));
  return outputs;
}

}  // namespace gantry::testing
