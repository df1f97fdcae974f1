// What a plugin may ask of the graph.
#include <algorithm>
#include <cstring>

#include "host/ir/text_quote.hpp"
#include "host/plugins/call.hpp"

namespace gantry::plugins {
namespace {

std::string bad_handle(std::string_view what, std::uint32_t handle) {
  return std::string(what) + " " + std::to_string(handle) + " is not of this graph";
}

template <class T>
Status copy_elements(const Constant& c, std::uint64_t first, std::uint64_t count, void* out) {
  GANTRY_ASSIGN(const std::vector<T> elements,
                c.read<T>(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count)));
  std::memcpy(out, elements.data(), elements.size() * sizeof(T));
  return {};
}

// Element types that C++ has no type for (float16, int4, ...): the part that is asked for as a constant of its own.
Status copy_packed(const Constant& c, DType t, std::uint64_t first, std::uint64_t count, void* out) {
  const auto n = static_cast<std::int64_t>(count);
  GANTRY_ASSIGN(const Constant flat, c.reshape({c.elements()}));
  GANTRY_ASSIGN(const Constant part, flat.slice(Slice{{static_cast<std::int64_t>(first)}, {1}, {n}}));
  GANTRY_ASSIGN(const Constant cast, part.cast(t));
  return cast.write(std::span(static_cast<std::byte*>(out), static_cast<std::size_t>(cast.byte_size())));
}

std::string printable(gantry_str text) {
  constexpr std::size_t kMost = 4096;
  const std::size_t size = std::min<std::uint64_t>(text.size, kMost);
  std::string s(text.data, size);
  if (size == kMost) s += "...";
  if (!detail::is_utf8(s)) {
    for (char& c : s) c = c < 0 ? '?' : c;
  }
  return s;
}

}  // namespace

Result<NodeId> Call::take_node(gantry_node n) const {
  if (!g_.contains(NodeId{n})) return wrong_argument(bad_handle("node", n));
  return NodeId{n};
}

Result<ValueId> Call::take_value(gantry_value v, std::string_view what) const {
  if (!g_.contains(ValueId{v})) return wrong_argument(bad_handle(what, v));
  return ValueId{v};
}

Result<ValueId> Call::take_constant(gantry_value v) const {
  GANTRY_ASSIGN(const ValueId id, take_value(v, "value"));
  const Value& value = g_.value(id);
  if (!value.is_constant()) return error(Code::declined, "'" + std::string(value.name) + "' must be a constant");
  return id;
}

Status Call::node_info(gantry_node n, gantry_node_info* out) {
  GANTRY_ASSIGN(const NodeId id, take_node(n));
  return give_struct(node_view(g_, id, arena_), out, "gantry_node_info");
}

Status Call::value_info(gantry_value v, gantry_value_info* out) {
  GANTRY_ASSIGN(const ValueId id, take_value(v, "value"));
  return give_struct(value_view(g_, id, arena_), out, "gantry_value_info");
}

Result<bool> Call::node_attr(gantry_node n, gantry_str name, gantry_attr* out) {
  GANTRY_ASSIGN(const NodeId id, take_node(n));
  GANTRY_ASSIGN(const std::string_view key, take_text(name, "the name of an attribute"));
  const auto& attrs = g_.node(id).attrs;
  const auto it = attrs.find(key);
  if (it == attrs.end()) return false;
  gantry_attr view = attr_view(it->first, it->second, arena_);
  if (const Constant* c = std::get_if<Constant>(&it->second)) view.value = add_constant(*c);
  GANTRY_TRY(give_struct(view, out, "gantry_attr"));
  return true;
}

Status Call::constant_read(gantry_value v, gantry_dtype t, std::uint64_t first, std::uint64_t count, void* out) {
  GANTRY_ASSIGN(const ValueId id, take_constant(v));
  GANTRY_ASSIGN(const DType dtype, take_dtype(t, "constant_read"));
  const Constant& c = g_.value(id).constant;
  if (c.dtype() == DType::string || dtype_bits(dtype) == 0) {
    return wrong_argument("elements of type " + std::string(dtype_name(c.dtype())) + " cannot be read as " +
                          std::string(dtype_name(dtype)));
  }
  const auto elements = static_cast<std::uint64_t>(c.elements());
  if (first > elements || count > elements - first) {
    return wrong_argument(std::to_string(count) + " elements from " + std::to_string(first) + " are read of '" +
                          std::string(g_.value(id).name) + "', which has " + std::to_string(elements));
  }
  if (count == 0) return {};
  if (!out) return wrong_argument("constant_read has nowhere to put the elements");
  return read_elements(c, dtype, first, count, out);
}

Status Call::read_elements(const Constant& c, DType t, std::uint64_t first, std::uint64_t count, void* out) const {
  switch (t) {
    case DType::float32:
      return copy_elements<float>(c, first, count, out);
    case DType::float64:
      return copy_elements<double>(c, first, count, out);
    case DType::int8:
      return copy_elements<std::int8_t>(c, first, count, out);
    case DType::int16:
      return copy_elements<std::int16_t>(c, first, count, out);
    case DType::int32:
      return copy_elements<std::int32_t>(c, first, count, out);
    case DType::int64:
      return copy_elements<std::int64_t>(c, first, count, out);
    case DType::uint8:
      return copy_elements<std::uint8_t>(c, first, count, out);
    case DType::uint16:
      return copy_elements<std::uint16_t>(c, first, count, out);
    case DType::uint32:
      return copy_elements<std::uint32_t>(c, first, count, out);
    case DType::uint64:
      return copy_elements<std::uint64_t>(c, first, count, out);
    default:
      return copy_packed(c, t, first, count, out);
  }
}

Status Call::value_users(gantry_value v, const gantry_node** out, std::uint64_t* count) {
  GANTRY_ASSIGN(const ValueId id, take_value(v, "value"));
  if (!out || !count) return wrong_argument("value_users has nowhere to put the nodes");
  const std::vector<Use>& uses = g_.value(id).uses;
  auto* users = arena_.array<gantry_node>(uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) users[i] = uses[i].node.index;
  std::sort(users, users + uses.size());  // the graph keeps them in no order: same input, same bytes out
  *out = users;
  *count = uses.size();
  return {};
}

Result<bool> Call::option(gantry_str name, gantry_attr* out) {
  GANTRY_ASSIGN(const std::string_view wanted, take_text(name, "the name of an option"));
  for (const OpenPlugin::Option& o : plugin_.options) {
    if (o.name != wanted) continue;
    gantry_attr view{};
    view.name = abi_text(o.name);
    view.kind = o.kind;
    if (const auto* i = std::get_if<std::int64_t>(&o.value)) view.i = *i;
    if (const auto* f = std::get_if<double>(&o.value)) view.f = *f;
    if (const auto* s = std::get_if<std::string>(&o.value)) view.s = abi_text(*s);
    GANTRY_TRY(give_struct(view, out, "gantry_attr"));
    return true;
  }
  return false;
}

Status Call::message(gantry_severity severity, gantry_str text) {
  GANTRY_TRY(take_array(text.data, text.size, "the text of a message", UINT32_MAX));
  switch (severity) {
    case GANTRY_REASON:
      if (text.size != 0) reason_ += (reason_.empty() ? "" : "; ") + printable(text);
      return {};
    case GANTRY_NOTE:
      messages_.push_back(about(note(printable(text))));
      return {};
    case GANTRY_WARNING:
      messages_.push_back(about(warning(Code::warn_plugin, printable(text))));
      return {};
    default:
      return wrong_argument("a message has the unknown severity " + std::to_string(severity));
  }
}

Result<bool> Call::has_definition(gantry_str dialect, gantry_str domain, gantry_str op) {
  GANTRY_ASSIGN(const std::string_view d, take_name(dialect, "dialect"));
  GANTRY_ASSIGN(const std::string_view m, take_text(domain, "domain"));
  GANTRY_ASSIGN(const std::string_view o, take_name(op, "op"));
  return definitions_.has(OpName(d, m, o));
}

}  // namespace gantry::plugins
