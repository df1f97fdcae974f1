// What a plugin may make: nodes, constants, and what stands for what.
#include <algorithm>
#include <functional>

#include "host/plugins/call.hpp"
#include "host/plugins/order.hpp"

namespace gantry::plugins {
namespace {

Diagnostic not_here(std::string_view function, std::string_view where) {
  return wrong_argument(std::string(function) + " may not be called by " + std::string(where));
}

std::string_view text(Call::Kind k) {
  switch (k) {
    case Call::Kind::convert:
      return "a converter";
    case Call::Kind::pattern:
      return "a pattern";
    case Call::Kind::infer:
      return "type inference";
    case Call::Kind::fold:
      return "a folder";
    case Call::Kind::read:
      return "a reader";
  }
  return {};
}

std::string op_text(const Op& op) { return op.str() + "@" + std::to_string(op.version); }

Result<std::span<const std::int64_t>> take_ints(const gantry_transform& t) {
  return take_array(t.ints.data, t.ints.size, "ints of gantry_transform", kMostRank * 3);
}

std::vector<std::int64_t> part(std::span<const std::int64_t> all, std::size_t from, std::size_t size) {
  const auto piece = all.subspan(from, size);
  return {piece.begin(), piece.end()};
}

Result<Constant> transformed(const Constant& c, const gantry_transform& t) {
  GANTRY_ASSIGN(const auto ints, take_ints(t));
  GANTRY_ASSIGN(const auto floats,
                take_array(t.floats.data, t.floats.size, "floats of gantry_transform", kMostNumbers));
  const std::size_t rank = c.dims().size();
  switch (t.kind) {
    case GANTRY_PERMUTE:
      return c.permute(ints);
    case GANTRY_RESHAPE:
      return c.reshape({ints.begin(), ints.end()});
    case GANTRY_SLICE:
      if (ints.size() != 3 * rank) {
        return wrong_argument("a slice of rank " + std::to_string(rank) + " has " + std::to_string(ints.size()) +
                              " numbers, not three an axis");
      }
      return c.slice(Slice{part(ints, 0, rank), part(ints, rank, rank), part(ints, 2 * rank, rank)});
    case GANTRY_CAST: {
      GANTRY_ASSIGN(const DType to, take_dtype(t.dtype, "gantry_transform"));
      return c.cast(to);
    }
    case GANTRY_SCALE_AXIS:
      return c.scale(t.axis, {floats.begin(), floats.end()});
    case GANTRY_SHIFT_AXIS:
      return c.shift(t.axis, {floats.begin(), floats.end()});
    default:
      return wrong_argument("gantry_transform is of the unknown kind " + std::to_string(t.kind));
  }
}

}  // namespace

// ---- nodes ----

Status Call::check_makes(std::string_view function) const {
  if (kind_ == Kind::infer || kind_ == Kind::fold) return not_here(function, text(kind_));
  return {};
}

Result<Op> Call::take_op(const gantry_op_desc& d) const {
  Op op;
  GANTRY_ASSIGN(op.dialect, take_name(d.dialect, "the dialect of an operator"));
  GANTRY_ASSIGN(op.domain, take_text(d.domain, "the domain of an operator"));
  GANTRY_ASSIGN(op.name, take_name(d.op, "the name of an operator"));
  op.version = d.version != 0 ? d.version : definitions_.newest(OpName(op));
  if (op.dialect != dialect_) {
    return wrong_argument(op.str() + " is emitted where nodes of the dialect " + std::string(dialect_) +
                          " are expected");
  }
  if (op.version < 1) return wrong_argument(op_text(op) + " has a version that cannot be");
  return op;
}

Result<std::vector<ValueId>> Call::take_operands(gantry_values list) const {
  GANTRY_ASSIGN(const auto handles, take_array(list.data, list.size, "inputs"));
  const std::vector<ValueId>& own = g_.node(node_).inputs;
  std::vector<ValueId> operands;
  operands.reserve(handles.size());
  for (const gantry_value h : handles) {
    const ValueId v{h};
    operands.push_back(v);
    if (h == 0) continue;
    GANTRY_TRY(take_value(h, "operand"));
    if (std::ranges::find(own, v) != own.end()) continue;  // the usual ones need no walk
    if (!visible(v)) {
      return wrong_argument("'" + std::string(g_.value(v).name) + "' is not known yet where the node would stand");
    }
  }
  return operands;
}

Result<Attrs> Call::take_attrs(const gantry_op_desc& d) const {
  Attrs attrs;
  if (d.attribute_count == 0) return attrs;
  if (d.attribute_count > kMostEntries)
    return wrong_argument("a node has " + std::to_string(d.attribute_count) + " attributes");
  GANTRY_ASSIGN(const gantry_attr first, take_struct(d.attributes, "attributes[0]"));
  const auto* at = reinterpret_cast<const std::byte*>(d.attributes);
  for (std::uint64_t i = 0; i < d.attribute_count; ++i, at += first.struct_size) {
    const std::string what = "attributes[" + std::to_string(i) + "]";
    GANTRY_ASSIGN(const gantry_attr a, take_struct(reinterpret_cast<const gantry_attr*>(at), what));
    GANTRY_ASSIGN(auto attr, take_attr(g_, a));
    const auto [place, is_new] = attrs.insert(std::move(attr));
    if (!is_new) return wrong_argument("the attribute '" + place->first + "' is given twice");
  }
  return attrs;
}

Status Call::set_emitted_types(NodeId n, const gantry_op_desc& d) {
  const Op& op = g_.node(n).op;
  if (d.output_types) {
    GANTRY_ASSIGN(const gantry_type first, take_struct(d.output_types, "output_types[0]"));
    const auto* at = reinterpret_cast<const std::byte*>(d.output_types);
    for (const ValueId v : g_.node(n).outputs) {
      GANTRY_ASSIGN(Type t, take_type(reinterpret_cast<const gantry_type*>(at), "an entry of output_types"));
      g_.set_type(v, std::move(t));
      at += first.struct_size;
    }
  } else if (definitions_.infers(op)) {
    GANTRY_TRY(definitions_.infer_emitted(g_, n));
  } else if (d.output_count != 0 && kind_ != Kind::read) {
    return wrong_argument("no open plugin defines " + op_text(op) +
                          ", so its results need output_types, or its owner a place in depends");
  }
  return {};
}

void Call::drop_last_node() {
  g_.erase_node(nodes_.back());
  nodes_.pop_back();
}

Result<NodeId> Call::add_emitted(const Op& op, const std::vector<ValueId>& operands, const Attrs& attrs,
                                 const gantry_op_desc& d, const NamedRegions& regions) {
  GANTRY_ASSIGN(const std::string_view given_name, take_text(d.name, "the name of a node"));
  const std::string_view name = given_name.empty() ? g_.node(node_).name : given_name;
  const NodeId n = g_.add_node(place(), op, operands, static_cast<std::size_t>(d.output_count), Attrs(attrs), name);
  nodes_.push_back(n);
  for (const auto& [attribute, r] : regions) g_.move_region(r, n, attribute);
  if (Status s = set_emitted_types(n, d); !s.ok()) {
    drop_last_node();
    return s.take_error();
  }
  return n;
}

// A converter that by itself casts to float32 what its node has in float64, and gives out again.
bool Call::loses_digits(const Op& op, const std::vector<ValueId>& operands, const Attrs& attrs) const {
  const auto is_double = [&](ValueId v) { return v && g_.value(v).type.dtype == DType::float64; };
  if (kind_ != Kind::convert || !op.is("tflite", "CAST") || operands.empty() || !is_double(operands[0])) return false;
  const auto to = attrs.find("out_data_type");
  const auto* name = to == attrs.end() ? nullptr : std::get_if<std::string>(&to->second);
  return name && *name == "FLOAT32" && std::ranges::any_of(g_.node(node_).outputs, is_double);
}

Status Call::emit(const gantry_op_desc* desc, gantry_value* outputs) {
  constexpr std::uint64_t kMostOutputs = 1024;
  GANTRY_TRY(check_makes("emit"));
  GANTRY_ASSIGN(const gantry_op_desc d, take_struct(desc, "gantry_op_desc"));
  GANTRY_ASSIGN(const Op op, take_op(d));
  GANTRY_ASSIGN(const auto regions, take_regions(d));
  GANTRY_ASSIGN(const std::vector<ValueId> operands, take_operands(d.inputs));
  GANTRY_ASSIGN(const Attrs attrs, take_attrs(d));
  if (loses_digits(op, operands, attrs)) GANTRY_TRY(note_inexact(op, DType::float64, DType::float32));
  if (d.output_count > kMostOutputs) return wrong_argument("a node has " + std::to_string(d.output_count) + " results");
  if (d.output_count != 0 && !outputs) return wrong_argument("emit has nowhere to put the results");
  GANTRY_ASSIGN(const NodeId n, add_emitted(op, operands, attrs, d, regions));
  std::vector<ValueId> results = g_.node(n).outputs;
  // What has a body takes every type that its body does.
  const DType lacking = regions.empty() ? definitions_.lacking_type(g_, n) : DType::undefined;
  if (lacking != DType::undefined) {
    std::vector<Type> types;
    for (const ValueId v : results) types.push_back(g_.value(v).type);
    Status limits = definitions_.check_limits(g_, n);
    drop_last_node();
    if (!definitions_.detour(op, lacking)) return limits;
    GANTRY_ASSIGN(results, emit_by_detour(op, operands, attrs, d, lacking, std::move(types)));
  } else if (Status s = definitions_.check_limits(g_, n); !s.ok()) {
    drop_last_node();
    return s;
  }
  for (std::size_t i = 0; i < d.output_count; ++i) outputs[i] = results[i].index;
  return {};
}

// ---- constants ----

gantry_value Call::add_constant(Constant c) {
  const ValueId v = g_.add_constant(std::move(c), g_.node(node_).name);
  constants_.push_back(v);
  return v.index;
}

bool Call::within_file(const std::byte* data, std::uint64_t size) const {
  const std::less_equal<const std::byte*> before;
  return size != 0 && size <= file_.size() && before(file_.data(), data) &&
         before(data, file_.data() + (file_.size() - size));
}

Status Call::constant(const gantry_type* type, gantry_bytes elements, gantry_value* out) {
  if (kind_ == Kind::infer) return not_here("constant", text(kind_));
  if (!out) return wrong_argument("constant has nowhere to put the value");
  GANTRY_ASSIGN(const Type t, take_type(type, "the type of a constant"));
  const auto n = t.elements();
  const auto size = n ? packed_bytes(t.dtype, static_cast<std::uint64_t>(*n)) : std::nullopt;
  if (!size) return wrong_argument("a constant cannot be of type " + t.str());
  if (*size != elements.size) {
    return wrong_argument("a constant of type " + t.str() + " has " + std::to_string(*size) + " bytes, " +
                          std::to_string(elements.size) + " are given");
  }
  const auto* data = static_cast<const std::byte*>(elements.data);
  if (!data && *size != 0) return wrong_argument("the elements of a constant are null");
  if (t.dtype != DType::boolean && within_file(data, *size)) {
    *out = add_constant(Constant::view(t.dtype, t.sizes(), file_owner_, {data, static_cast<std::size_t>(*size)}));
    return {};
  }
  std::vector<std::byte> bytes(data, data + *size);
  if (t.dtype == DType::boolean && std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; })) {
    return wrong_argument("an element of a constant of booleans is neither 0 nor 1");
  }
  *out = add_constant(Constant::own(t.dtype, t.sizes(), std::move(bytes)));
  return {};
}

Status Call::constant_transform(gantry_value v, const gantry_transform* transform, gantry_value* out) {
  if (kind_ == Kind::infer) return not_here("constant_transform", text(kind_));
  if (!out) return wrong_argument("constant_transform has nowhere to put the value");
  GANTRY_ASSIGN(const ValueId id, take_constant(v));
  GANTRY_ASSIGN(const gantry_transform t, take_struct(transform, "gantry_transform"));
  Result<Constant> c = transformed(g_.value(id).constant, t);
  if (!c.ok()) return wrong_argument(c.error().message);
  *out = add_constant(*std::move(c));
  return {};
}

// ---- results ----

Result<Type> Call::agreed_type(ValueId old_value, ValueId new_value) const {
  const Type &wanted = g_.value(old_value).type, &is = g_.value(new_value).type;
  std::optional<Type> both = merge(wanted, is);
  if (both) return *std::move(both);
  return wrong_argument("'" + std::string(g_.value(old_value).name) + "' is " + wanted.str() +
                        ", but what is to stand for it is " + is.str());
}

Status Call::set_results(gantry_values list) {
  if (kind_ != Kind::convert && kind_ != Kind::fold) return not_here("set_results", text(kind_));
  GANTRY_ASSIGN(const auto handles, take_array(list.data, list.size, "results"));
  if (!open_.empty()) return wrong_argument("results are given while a region is being built");
  const std::vector<ValueId>& old = g_.node(node_).outputs;
  if (handles.size() != old.size()) {
    return wrong_argument(std::to_string(handles.size()) + " results are given for a node that has " +
                          std::to_string(old.size()));
  }
  std::vector<Replacement> results(old.size());
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!old[i]) continue;
    if (handles[i] == 0) {
      if (g_.value(old[i]).unused()) continue;
      return wrong_argument("result " + std::to_string(i) + " is used, but nothing is given for it");
    }
    GANTRY_ASSIGN(const ValueId v, take_value(handles[i], "result"));
    if (kind_ == Kind::fold && !g_.value(v).is_constant())
      return wrong_argument("a folder gave a result that is no constant");
    if (!visible(v)) {
      return wrong_argument("'" + std::string(g_.value(v).name) + "' is not known yet where the node stands");
    }
    GANTRY_ASSIGN(Type type, agreed_type(old[i], v));
    results[i] = {old[i], v, std::move(type)};
  }
  results_ = std::move(results);
  has_results_ = true;
  return {};
}

Status Call::check_replacement(ValueId from, ValueId to) const {
  if (from == to) return wrong_argument("a value is to be replaced by itself");
  if (made(from)) return wrong_argument("a value that this call made is to be replaced");
  for (const Replacement& r : replacements_) {
    if (r.from == from || r.from == to || r.to == from) {
      return wrong_argument("'" + std::string(g_.value(from).name) + "' or what is to replace it was replaced already");
    }
  }
  // Whatever uses the old value must come after the new one.
  if (g_.value(from).producer == node_ && (made(to) || available_before(g_, to, node_))) return {};
  const auto late = [&] {
    return wrong_argument("'" + std::string(g_.value(to).name) + "' is not known yet where '" +
                          std::string(g_.value(from).name) + "' is used");
  };
  for (const Use& u : g_.value(from).uses) {
    if (!made(u.node) && !available_before(g_, to, u.node)) return late();
  }
  for (const OutputUse& u : g_.output_uses(from)) {
    if (!available_at_end(g_, to, u.region)) return late();
  }
  return {};
}

Status Call::replace(gantry_value old_value, gantry_value new_value) {
  if (kind_ != Kind::pattern) return not_here("replace", text(kind_));
  GANTRY_ASSIGN(const ValueId from, take_value(old_value, "value"));
  GANTRY_ASSIGN(const ValueId to, take_value(new_value, "value"));
  GANTRY_TRY(check_replacement(from, to));
  GANTRY_ASSIGN(Type type, agreed_type(from, to));
  replacements_.push_back({from, to, std::move(type)});
  return {};
}

// ---- reading a file ----

Status Call::add_input(gantry_str name, const gantry_type* type, gantry_value* out) {
  if (kind_ != Kind::read) return not_here("add_input", text(kind_));
  if (!out) return wrong_argument("add_input has nowhere to put the value");
  GANTRY_ASSIGN(const std::string_view text, take_name(name, "the name of an input"));
  GANTRY_ASSIGN(Type t, take_type(type, "the type of an input"));
  const std::vector<std::string>& names = g_.region(g_.main()).input_names;
  if (std::ranges::find(names, text) != names.end()) {
    return wrong_argument("two inputs are named '" + std::string(text) + "'");
  }
  *out = g_.add_input(g_.main(), text, std::move(t)).index;
  return {};
}

Status Call::add_output(gantry_str name, gantry_value v) {
  if (kind_ != Kind::read) return not_here("add_output", text(kind_));
  GANTRY_ASSIGN(const std::string_view text, take_name(name, "the name of an output"));
  GANTRY_ASSIGN(const ValueId id, take_value(v, "output"));
  for (const Output& o : g_.region(g_.main()).outputs) {
    if (o.name == text) return wrong_argument("two outputs are named '" + std::string(text) + "'");
  }
  g_.add_output(g_.main(), text, id);
  return {};
}

Status Call::set_type(std::uint64_t index, const gantry_type* type) {
  if (kind_ != Kind::infer) return not_here("set_type", text(kind_));
  if (index >= types_.size()) {
    return wrong_argument("the type of result " + std::to_string(index) + " is given for a node that has " +
                          std::to_string(types_.size()));
  }
  GANTRY_ASSIGN(types_[static_cast<std::size_t>(index)], take_type(type, "the type of a result"));
  return {};
}

}  // namespace gantry::plugins
