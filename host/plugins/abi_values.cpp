#include "host/plugins/abi_values.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "host/ir/text_quote.hpp"

namespace gantry::plugins {
namespace {

// The numbers of the ABI are the host's own.
static_assert(GANTRY_FLOAT32 == static_cast<int>(DType::float32) && GANTRY_UINT4 == static_cast<int>(DType::uint4));

template <class T, class From, class F>
const T* list(Arena& arena, const From& from, F&& f) {
  T* to = arena.array<T>(from.size());
  std::transform(from.begin(), from.end(), to, f);
  return to;
}

template <class From, class F>
gantry_strs texts(Arena& arena, const From& from, F&& f) {
  return {list<gantry_str>(arena, from, [&](const auto& x) { return abi_text(f(x)); }), from.size()};
}

gantry_values values(Arena& arena, const std::vector<ValueId>& ids) {
  return {list<gantry_value>(arena, ids, [](ValueId v) { return v.index; }), ids.size()};
}

Result<std::vector<std::string>> take_texts(gantry_strs list, std::string_view what) {
  GANTRY_ASSIGN(const auto entries, take_array(list.data, list.size, what));
  std::vector<std::string> out;
  out.reserve(entries.size());
  for (const gantry_str s : entries) {
    GANTRY_ASSIGN(const std::string_view text, take_text(s, what));
    out.emplace_back(text);
  }
  return out;
}

}  // namespace

Diagnostic wrong_argument(std::string text) { return error(Code::plugin_failed, std::move(text)); }

Result<std::string_view> take_text(gantry_str s, std::string_view what) {
  GANTRY_ASSIGN(const auto bytes, take_array(s.data, s.size, what, kMostTextBytes));
  const std::string_view text(bytes.data() ? bytes.data() : "", bytes.size());
  if (!detail::is_utf8(text)) return wrong_argument(std::string(what) + " is not UTF-8");
  return text;
}

Result<std::string_view> take_name(gantry_str s, std::string_view what) {
  GANTRY_ASSIGN(const std::string_view text, take_text(s, what));
  if (text.empty()) return wrong_argument(std::string(what) + " is empty");
  return text;
}

Result<DType> take_dtype(gantry_dtype t, std::string_view what) {
  if (t > GANTRY_UINT4) {
    return wrong_argument(std::string(what) + " has the unknown element type " + std::to_string(t));
  }
  return static_cast<DType>(t);
}

Result<Type> take_type(const gantry_type* from, std::string_view what) {
  GANTRY_ASSIGN(const gantry_type t, take_struct(from, what));
  Type type;
  GANTRY_ASSIGN(type.dtype, take_dtype(t.dtype, what));
  if (t.rank < -1 || t.rank > kMostRank)
    return wrong_argument(std::string(what) + " has rank " + std::to_string(t.rank));
  if (t.rank == -1) return type;
  const auto rank = static_cast<std::uint64_t>(t.rank);
  GANTRY_ASSIGN(const auto dims, take_array(t.dims.data, t.dims.size, what));
  GANTRY_ASSIGN(const auto symbols, take_array(t.symbols.data, t.symbols.size, what));
  if (dims.size() != rank || (!symbols.empty() && symbols.size() != rank)) {
    return wrong_argument(std::string(what) + " has rank " + std::to_string(rank) + ", " + std::to_string(dims.size()) +
                          " dimensions and " + std::to_string(symbols.size()) + " symbols");
  }
  type.ranked = true;
  type.dims.reserve(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < -1) return wrong_argument(std::string(what) + " has the dimension " + std::to_string(dims[i]));
    Dim& d = type.dims.emplace_back(dims[i]);
    if (symbols.empty()) continue;
    GANTRY_ASSIGN(const std::string_view symbol, take_text(symbols[i], what));
    if (!d.known()) d.symbol = symbol;
  }
  return type;
}

Result<std::pair<std::string, Attr>> take_attr(const Graph& g, const gantry_attr& a) {
  GANTRY_ASSIGN(const std::string_view name, take_name(a.name, "the name of an attribute"));
  const std::string what = "attribute '" + std::string(name) + "'";
  const auto is = [&](Attr value) { return std::pair(std::string(name), std::move(value)); };
  switch (a.kind) {
    case GANTRY_ATTR_INT:
      return is(a.i);
    case GANTRY_ATTR_FLOAT:
      return is(static_cast<float>(a.f));
    case GANTRY_ATTR_STRING: {
      GANTRY_ASSIGN(const auto text, take_text(a.s, what));
      return is(std::string(text));
    }
    case GANTRY_ATTR_INTS: {
      GANTRY_ASSIGN(const auto ints, take_array(a.ints.data, a.ints.size, what, kMostNumbers));
      return is(std::vector<std::int64_t>(ints.begin(), ints.end()));
    }
    case GANTRY_ATTR_FLOATS: {
      GANTRY_ASSIGN(const auto floats, take_array(a.floats.data, a.floats.size, what, kMostNumbers));
      return is(std::vector<float>(floats.begin(), floats.end()));
    }
    case GANTRY_ATTR_STRINGS: {
      GANTRY_ASSIGN(auto strings, take_texts(a.strings, what));
      return is(std::move(strings));
    }
    case GANTRY_ATTR_TENSOR: {
      const ValueId v{a.value};
      if (!g.contains(v) || !g.value(v).is_constant()) return wrong_argument(what + " is no constant of this graph");
      return is(g.value(v).constant);
    }
    default:
      return wrong_argument(what + " is of the unknown kind " + std::to_string(a.kind));
  }
}

gantry_node_info node_view(const Graph& g, NodeId id, Arena& arena) {
  const Node& n = g.node(id);
  gantry_node_info info{};
  info.struct_size = sizeof info;
  info.version = n.op.version;
  info.dialect = abi_text(n.op.dialect);
  info.domain = abi_text(n.op.domain);
  info.op = abi_text(n.op.name);
  info.name = abi_text(n.name);
  info.inputs = values(arena, n.inputs);
  info.outputs = values(arena, n.outputs);
  info.attributes = texts(arena, n.attrs, [](const auto& entry) { return std::string_view(entry.first); });
  info.regions = texts(arena, n.regions, [](const auto& entry) { return std::string_view(entry.first); });
  return info;
}

gantry_value_info value_view(const Graph& g, ValueId id, Arena& arena) {
  const Value& v = g.value(id);
  gantry_value_info info{};
  info.struct_size = sizeof info;
  info.dtype = static_cast<gantry_dtype>(v.type.dtype);
  info.rank = v.type.ranked ? static_cast<std::int32_t>(v.type.rank()) : -1;
  info.is_constant = v.is_constant() && v.type.dtype != DType::string;
  const std::vector<Dim>& dims = v.type.dims;
  // The type of a value may be set anew while the plugin looks at it, so its symbols are copied.
  info.dims = {list<std::int64_t>(arena, dims, [](const Dim& d) { return d.known() ? d.size : -1; }), dims.size()};
  info.symbols = texts(arena, dims, [&](const Dim& d) {
    char* copy = arena.array<char>(d.symbol.size());
    std::copy(d.symbol.begin(), d.symbol.end(), copy);
    return std::string_view(copy, d.symbol.size());
  });
  info.name = abi_text(v.name);
  info.producer = v.producer.index;
  info.result = v.result;
  info.use_count = static_cast<std::uint32_t>(v.uses.size()) + v.output_uses;
  info.output_count = v.output_uses;
  return info;
}

gantry_attr attr_view(std::string_view name, const Attr& a, Arena& arena) {
  gantry_attr view{};
  view.struct_size = sizeof view;
  view.name = abi_text(name);
  const auto set = [&](const auto& x) {
    using T = std::decay_t<decltype(x)>;
    if constexpr (std::is_same_v<T, std::int64_t>) {
      view.kind = GANTRY_ATTR_INT;
      view.i = x;
    } else if constexpr (std::is_same_v<T, float>) {
      view.kind = GANTRY_ATTR_FLOAT;
      view.f = static_cast<double>(x);
    } else if constexpr (std::is_same_v<T, std::string>) {
      view.kind = GANTRY_ATTR_STRING;
      view.s = abi_text(x);
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      view.kind = GANTRY_ATTR_INTS;
      view.ints = {x.data(), x.size()};
    } else if constexpr (std::is_same_v<T, std::vector<float>>) {
      view.kind = GANTRY_ATTR_FLOATS;
      view.floats = {x.data(), x.size()};
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      view.kind = GANTRY_ATTR_STRINGS;
      view.strings = texts(arena, x, [](const std::string& s) { return std::string_view(s); });
    } else {
      view.kind = GANTRY_ATTR_TENSOR;
    }
  };
  std::visit(set, a);
  return view;
}

}  // namespace gantry::plugins
