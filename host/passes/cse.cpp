// Common subexpressions: of nodes that do the same to the same operands, the first one stays; of constants that are
// equal, the one with the lowest id. Constants are compared by handle, and small ones by value too (a look at every
// byte of the weights would cost as much as writing them). Nodes with regions, and operators that give something else
// each time or change something, stay as they are. Hash tables: linear.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

constexpr std::uint64_t kSmallBytes = 4096;

void mix(std::size_t& h, std::size_t more) { h ^= more + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2); }

template <class T>
std::size_t hash_of(const T& x) {
  return std::hash<T>{}(x);
}

template <class T>
std::size_t hash_of(const std::vector<T>& xs) {
  std::size_t h = xs.size();
  for (const T& x : xs) mix(h, std::hash<T>{}(x));
  return h;
}

std::size_t hash_of(const Constant& c) { return c.hash(); }

bool equal(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Constant>) return x.same(y);
        // NaN is equal to itself here, and -0 is not 0.
        else if constexpr (std::is_same_v<T, float>)
          return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
        else
          return x == y;
      },
      a);
}

// ---- constants ----

bool is_small(const Constant& c) { return c.dtype() != DType::string && c.byte_size() <= kSmallBytes; }

std::string bytes_of(const Constant& c) {
  std::string bytes(c.byte_size(), '\0');
  if (!c.write(std::as_writable_bytes(std::span(bytes))).ok()) return {};
  return bytes;
}

class Constants {
 public:
  explicit Constants(Graph& g) : g_(g) {}

  void merge() {
    for (std::uint32_t i = 1; i < g_.value_slots(); ++i) {
      const ValueId v{i};
      if (!g_.contains(v) || !g_.value(v).is_constant()) continue;
      const ValueId first = is_small(g_.value(v).constant) ? first_by_value(v) : first_by_handle(v);
      if (first != v) g_.replace_uses(v, first);
    }
  }

 private:
  ValueId first_by_value(ValueId v) {
    const Constant& c = g_.value(v).constant;
    std::string key = c.type().str() + ':';
    const std::string bytes = bytes_of(c);
    if (bytes.size() != c.byte_size()) return v;
    return by_value_.emplace(key += bytes, v).first->second;
  }

  ValueId first_by_handle(ValueId v) {
    const Constant& c = g_.value(v).constant;
    std::vector<ValueId>& candidates = by_handle_[c.hash()];
    for (const ValueId other : candidates) {
      if (g_.value(other).constant.same(c)) return other;
    }
    candidates.push_back(v);
    return v;
  }

  Graph& g_;
  std::unordered_map<std::string, ValueId> by_value_;
  std::unordered_map<std::size_t, std::vector<ValueId>> by_handle_;
};

// ---- nodes ----

// Operators that are not a function of their operands, or do something besides. Of domains that are not a dialect's own
// nothing is known.
bool is_pure(const Node& n) {
  constexpr std::array<std::string_view, 18> kImpure = {"RandomNormal",
                                                        "RandomNormalLike",
                                                        "RandomUniform",
                                                        "RandomUniformLike",
                                                        "Multinomial",
                                                        "Bernoulli",
                                                        "Dropout",
                                                        "RANDOM_UNIFORM",
                                                        "RANDOM_STANDARD_NORMAL",
                                                        "MULTINOMIAL",
                                                        "STABLEHLO_RNG_BIT_GENERATOR",
                                                        "VAR_HANDLE",
                                                        "READ_VARIABLE",
                                                        "ASSIGN_VARIABLE",
                                                        "HASHTABLE",
                                                        "HASHTABLE_FIND",
                                                        "HASHTABLE_IMPORT",
                                                        "HASHTABLE_SIZE"};
  return n.op.domain.empty() && n.regions.empty() && !n.outputs.empty() &&
         std::find(kImpure.begin(), kImpure.end(), n.op.name) == kImpure.end();
}

std::size_t hash_of(const Node& n) {
  std::size_t h = std::hash<std::string_view>{}(n.op.name);
  mix(h, static_cast<std::size_t>(n.op.version));
  for (const ValueId v : n.inputs) mix(h, v.index);
  for (const auto& [name, attr] : n.attrs) {
    mix(h, std::hash<std::string>{}(name));
    mix(h, std::visit([](const auto& x) { return hash_of(x); }, attr));
  }
  return h;
}

bool same_op(const Op& a, const Op& b) {
  return a.name == b.name && a.dialect == b.dialect && a.domain == b.domain && a.version == b.version;
}

// Whether `first` can stand for `n`: it does the same, and has every result that n has, of the same type.
bool stands_for(const Graph& g, const Node& first, const Node& n) {
  if (!same_op(first.op, n.op) || first.inputs != n.inputs || first.outputs.size() != n.outputs.size()) return false;
  const auto equal_attr = [](const auto& a, const auto& b) { return a.first == b.first && equal(a.second, b.second); };
  if (!std::equal(first.attrs.begin(), first.attrs.end(), n.attrs.begin(), n.attrs.end(), equal_attr)) return false;
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    if (!n.outputs[i]) continue;
    if (!first.outputs[i] || g.value(first.outputs[i]).type != g.value(n.outputs[i]).type) return false;
  }
  return true;
}

void merge_nodes(Graph& g, RegionId region) {
  std::unordered_map<std::size_t, std::vector<NodeId>> seen;
  for (const NodeId n : g.nodes(region)) {
    if (!is_pure(g.node(n))) continue;
    std::vector<NodeId>& candidates = seen[hash_of(g.node(n))];
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [&](NodeId c) { return stands_for(g, g.node(c), g.node(n)); });
    if (first == candidates.end()) {
      candidates.push_back(n);
      continue;
    }
    for (std::size_t i = 0; i < g.node(n).outputs.size(); ++i) {
      if (g.node(n).outputs[i]) g.replace_uses(g.node(n).outputs[i], g.node(*first).outputs[i]);
    }
    g.erase_node(n);
  }
}

}  // namespace

Status cse(PassContext& c) {
  Constants(c.graph).merge();
  for (const RegionId r : c.graph.regions()) merge_nodes(c.graph, r);
  return {};
}

Status dce(PassContext& c) {
  c.graph.erase_dead();
  return {};
}

}  // namespace gantry::passes
