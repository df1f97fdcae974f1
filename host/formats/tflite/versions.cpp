#include "host/formats/tflite/versions.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace gantry::tflite_format {
namespace {

const Type* input_type(const Graph& g, const Node& node, std::size_t i) {
  const ValueId v = node.input(i);
  return v ? &g.value(v).type : nullptr;
}

bool is_one_of(const Type* t, unsigned types) { return t && (types >> static_cast<unsigned>(t->dtype) & 1u); }

bool broadcasts_above(const Graph& g, const Node& node, std::size_t rank) {
  const Type *a = input_type(g, node, 0), *b = input_type(g, node, 1);
  return a && b && a->dims != b->dims && std::max(a->rank(), b->rank()) > rank;
}

bool is_grouped(const Graph& g, const Node& node) {
  const Type *x = input_type(g, node, 0), *filter = input_type(g, node, 1);
  return x && filter && x->rank() == 4 && filter->rank() == 4 && x->dims[3] != filter->dims[3];
}

std::int64_t option_number(const Node& node, std::string_view name) { return node.attr_or<std::int64_t>(name, 0); }

const std::string* option_text(const Node& node, std::string_view name) {
  const Attr* a = node.attr(name);
  return a ? std::get_if<std::string>(a) : nullptr;
}

bool holds(const VersionTerm& t, const Graph& g, const Node& node) {
  using Kind = VersionTerm::Kind;
  const Type* type = input_type(g, node, t.index);
  switch (t.kind) {
    case Kind::none:
      return true;
    case Kind::input:
      return is_one_of(type, t.types);
    case Kind::output: {
      const ValueId v = node.output(t.index);
      return v && is_one_of(&g.value(v).type, t.types);
    }
    case Kind::rank_above:
      return type && type->rank() > t.number;
    case Kind::rank_not:
      return type && type->rank() != t.number;
    case Kind::broadcast_above:
      return broadcasts_above(g, node, t.number);
    case Kind::inputs:
      return node.inputs.size() == t.number;
    case Kind::option:
      return option_number(node, t.name) != 0;
    case Kind::option_above:
      return option_number(node, t.name) > t.number;
    case Kind::option_is: {
      const std::string* s = option_text(node, t.name);
      return s && *s == t.value;
    }
    case Kind::option_not: {
      const std::string* s = option_text(node, t.name);
      return s && *s != t.value;
    }
    case Kind::grouped:
      return is_grouped(g, node);
  }
  return false;
}

std::span<const VersionRow> rows_of(std::string_view op) {
  static const auto index = [] {
    std::map<std::string_view, std::span<const VersionRow>> m;
    const auto rows = version_rows();
    for (std::size_t i = 0, j; i < rows.size(); i = j) {
      for (j = i; j < rows.size() && rows[j].op == rows[i].op; ++j) {
      }
      m[rows[i].op] = rows.subspan(i, j - i);
    }
    return m;
  }();
  const auto it = index.find(op);
  return it == index.end() ? std::span<const VersionRow>() : it->second;
}

}  // namespace

OperatorVersion lowest_version(const Graph& g, const Node& node) {
  OperatorVersion best;
  for (const VersionRow& row : rows_of(node.op.name)) {
    if (row.version < best.version) continue;
    if (std::ranges::all_of(row.terms, [&](const VersionTerm& t) { return holds(t, g, node); })) {
      best = {row.version, row.runtime};
    }
  }
  return best;
}

bool runtime_before(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view& s) {
    int n = 0;
    const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), n);
    s.remove_prefix(ec == std::errc() ? static_cast<std::size_t>(end - s.data()) : s.size());
    if (s.starts_with('.')) s.remove_prefix(1);
    return n;
  };
  while (!a.empty() && !b.empty()) {
    const int x = number(a), y = number(b);
    if (x != y) return x < y;
  }
  return a.empty() && !b.empty();
}

}  // namespace gantry::tflite_format
