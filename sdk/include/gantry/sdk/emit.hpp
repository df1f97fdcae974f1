// Making nodes and constants. Emit knows the dialect it writes; emit.op("NAME", ...) makes a node of that dialect whose
// result types come from the operator's definition.
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gantry/sdk/graph.hpp"

namespace gantry::sdk {

/// A named attribute of a node to be made: number, bool, string (also enumerators such as "SAME"), lists, constant.
class Attribute {
 public:
  template <class T>
  Attribute(std::string_view name, T value) : name_(name) {
    if constexpr (std::is_floating_point_v<T>)
      value_ = static_cast<double>(value);
    else if constexpr (std::is_integral_v<T>)
      value_ = static_cast<std::int64_t>(value);
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      value_ = std::string(std::string_view(value));
    else
      value_ = std::move(value);
  }

  const std::string& name() const { return name_; }
  /// A view that lives as long as this Attribute; `scratch` holds what it points to besides.
  gantry_attr raw(std::vector<gantry_str>& scratch) const {
    gantry_attr a{};
    a.struct_size = sizeof a;
    a.name = view(name_);
    if (const auto* i = std::get_if<std::int64_t>(&value_))
      a.kind = GANTRY_ATTR_INT, a.i = *i;
    else if (const auto* f = std::get_if<double>(&value_))
      a.kind = GANTRY_ATTR_FLOAT, a.f = *f;
    else if (const auto* s = std::get_if<std::string>(&value_))
      a.kind = GANTRY_ATTR_STRING, a.s = view(*s);
    else if (const auto* n = std::get_if<Dims>(&value_))
      a.kind = GANTRY_ATTR_INTS, a.ints = view(*n);
    else if (const auto* x = std::get_if<std::vector<float>>(&value_))
      a.kind = GANTRY_ATTR_FLOATS, a.floats = {x->data(), x->size()};
    else if (const auto* v = std::get_if<Value>(&value_))
      a.kind = GANTRY_ATTR_TENSOR, a.value = v->id();
    else if (const auto* t = std::get_if<std::vector<std::string>>(&value_)) {
      for (const std::string& e : *t) scratch.push_back(view(e));
      a.kind = GANTRY_ATTR_STRINGS, a.strings = {scratch.data(), scratch.size()};
    }
    return a;
  }

 private:
  std::string name_;
  std::variant<std::int64_t, double, std::string, Dims, std::vector<float>, std::vector<std::string>, Value> value_;
};
using Attributes = std::vector<Attribute>;

/// All attributes of a node, to be given to another.
inline Attributes attributes_of(const Node& node) {
  Attributes out;
  for (const std::string& name : node.attribute_names()) {
    switch (node.attribute_kind(name)) {
      case GANTRY_ATTR_INT:
        out.emplace_back(name, node.attr<std::int64_t>(name));
        break;
      case GANTRY_ATTR_FLOAT:
        out.emplace_back(name, node.attr<double>(name));
        break;
      case GANTRY_ATTR_STRING:
        out.emplace_back(name, node.attr<std::string>(name));
        break;
      case GANTRY_ATTR_INTS:
        out.emplace_back(name, node.attr<Dims>(name));
        break;
      case GANTRY_ATTR_FLOATS:
        out.emplace_back(name, node.attr<std::vector<float>>(name));
        break;
      case GANTRY_ATTR_STRINGS:
        out.emplace_back(name, node.attr<std::vector<std::string>>(name));
        break;
      default:
        out.emplace_back(name, node.attr<Value>(name));
    }
  }
  return out;
}
/// Replaces an attribute, or adds it.
template <class T>
void set_attribute(Attributes& attributes, std::string_view name, T value) {
  std::erase_if(attributes, [&](const Attribute& a) { return a.name() == name; });
  attributes.emplace_back(name, std::move(value));
}

/// An operand of arithmetic: a value, or a number that becomes a constant of the other operand's element type.
class Operand {
 public:
  Operand(Value v) : value_(v) {}  // NOLINT: conversion is the point
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T number) : number_(static_cast<double>(number)), is_number_(true) {}  // NOLINT
  bool is_number() const { return is_number_; }
  double number() const { return number_; }
  const Value& value() const { return value_; }

 private:
  Value value_;
  double number_ = 0;
  bool is_number_ = false;
};

class Emit {
 public:
  Emit(const Call& call, std::string_view dialect, std::string_view domain = {})
      : call_(call), dialect_(dialect), domain_(domain) {}
  const Call& call() const { return call_; }
  /// The same, for nodes of a name of their own instead of that of the node that the call is about.
  Emit named(std::string_view name) const {
    Emit e = *this;
    e.name_ = name;
    return e;
  }
  bool tflite() const { return dialect_ == "tflite"; }

  // ---- nodes ----
  /// A node with one result, before the node being converted.
  Value op(std::string_view name, const std::vector<Value>& inputs, const Attributes& attributes = {}) const {
    return ops(name, 1, inputs, attributes)[0];
  }
  /// A node with `outputs` results.
  std::vector<Value> ops(std::string_view name, std::size_t outputs, const std::vector<Value>& inputs,
                         const Attributes& attributes = {}, const std::vector<Type>& types = {}) const {
    return make(domain_, name, outputs, inputs, attributes, types);
  }
  /// A node with subgraphs: regions by the name that the target has for them.
  std::vector<Value> ops_with(const std::vector<std::pair<std::string, Region>>& regions, std::string_view name,
                              const std::vector<Value>& inputs, const Attributes& attributes,
                              const std::vector<Type>& types) const {
    return make(domain_, name, types.size(), inputs, attributes, types, 0, regions);
  }
  /// Builds a region: `body` gets its arguments, emits, and gives its results. It must not catch what that throws.
  template <class Body>
  Region region(std::string_view name, const std::vector<Type>& arguments, Body body) const {
    gantry_region r = 0;
    call_.check(call_.host->region_begin(call_.context, view(name), &r));
    std::vector<Value> values;
    for (const Type& t : arguments) {
      const gantry_type type = raw(t);
      gantry_value v = 0;
      call_.check(call_.host->region_argument(call_.context, &type, view("arg"), &v));
      values.emplace_back(call_, v);
    }
    const std::vector<gantry_value> results = ids(body(static_cast<const std::vector<Value>&>(values)));
    call_.check(call_.host->region_end(call_.context, {results.data(), results.size()}));
    return Region(call_, r);
  }
  /// A copy of what is in a region, here, with `to[i]` for `from[i]`: all its inputs, and any captures. Its results.
  std::vector<Value> copy(const Region& region, const std::vector<Value>& from, const std::vector<Value>& to) const {
    const std::vector<gantry_value> a = ids(from), b = ids(to);
    std::vector<gantry_value> out(region.outputs().size());
    call_.check(
        call_.host->region_copy(call_.context, region.id(), {a.data(), a.size()}, {b.data(), b.size()}, out.data()));
    std::vector<Value> values;
    for (gantry_value v : out) values.emplace_back(call_, v);
    return values;
  }
  /// A node of another domain of the dialect, with given result types where nobody defines the operator.
  std::vector<Value> make(std::string_view domain, std::string_view name, std::size_t outputs,
                          const std::vector<Value>& inputs, const Attributes& attributes,
                          const std::vector<Type>& types, int version = 0,
                          const std::vector<std::pair<std::string, Region>>& regions = {}) const {
    const std::vector<gantry_value> in = ids(inputs);
    std::vector<gantry_str> region_names;
    std::vector<gantry_region> region_ids;
    for (const auto& [attribute, r] : regions) {
      region_names.push_back(view(attribute));
      region_ids.push_back(r.id());
    }
    std::vector<std::vector<gantry_str>> scratch(attributes.size());
    std::vector<gantry_attr> attrs;
    for (std::size_t i = 0; i < attributes.size(); ++i) attrs.push_back(attributes[i].raw(scratch[i]));
    std::vector<gantry_type> result_types;
    for (const Type& t : types) result_types.push_back(raw(t));
    gantry_op_desc d{};
    d.struct_size = sizeof d;
    d.version = version;
    d.dialect = view(dialect_);
    d.domain = view(domain);
    d.op = view(name);
    d.name = view(name_);
    d.inputs = {in.data(), in.size()};
    d.attributes = attrs.data();
    d.attribute_count = attrs.size();
    d.output_count = outputs;
    d.output_types = types.empty() ? nullptr : result_types.data();
    d.region_names = {region_names.data(), region_names.size()};
    d.regions = {region_ids.data(), region_ids.size()};
    std::vector<gantry_value> out(outputs);
    call_.check(call_.host->emit(call_.context, &d, out.data()));
    std::vector<Value> values;
    for (gantry_value v : out) values.emplace_back(call_, v);
    return values;
  }

  // ---- constants ----
  /// A constant of element type T; the number of elements must be the product of dims.
  template <class T>
  Value constant(const Dims& dims, const std::vector<T>& elements) const {
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<std::uint8_t> raw(elements.begin(), elements.end());
      return bytes({DType::boolean, dims}, raw.data(), raw.size());
    } else {
      return bytes({dtype_of<T>(), dims}, elements.data(), elements.size() * sizeof(T));
    }
  }
  /// A constant whose numbers are converted to `dtype` (float types other than float32 through a cast).
  Value numbers(DType dtype, const Dims& dims, const std::vector<double>& elements) const {
    switch (dtype) {
      case DType::float32:
        return constant(dims, converted<float>(elements));
      case DType::float64:
        return constant(dims, elements);
      case DType::int8:
        return constant(dims, converted<std::int8_t>(elements));
      case DType::int16:
        return constant(dims, converted<std::int16_t>(elements));
      case DType::int32:
        return constant(dims, converted<std::int32_t>(elements));
      case DType::int64:
        return constant(dims, converted<std::int64_t>(elements));
      case DType::uint8:
        return constant(dims, converted<std::uint8_t>(elements));
      case DType::uint16:
        return constant(dims, converted<std::uint16_t>(elements));
      case DType::uint32:
        return constant(dims, converted<std::uint32_t>(elements));
      case DType::uint64:
        return constant(dims, converted<std::uint64_t>(elements));
      case DType::boolean:
        return constant(dims, converted<bool>(elements));
      default:
        return cast_constant(constant(dims, converted<float>(elements)), dtype);
    }
  }
  Value scalar(DType dtype, double number) const { return numbers(dtype, {}, {number}); }
  /// A 1-D int32 constant, as TFLite takes axes, perms and shapes.
  Value i32(const Dims& elements) const {
    return constant<std::int32_t>({static_cast<std::int64_t>(elements.size())}, converted<std::int32_t>(elements));
  }
  Value i64(const Dims& elements) const {
    return constant<std::int64_t>({static_cast<std::int64_t>(elements.size())}, elements);
  }

  // Lazy transforms of constants: nothing is read until the file is written.
  Value permute_constant(const Value& c, const Dims& perm) const { return transform(c, GANTRY_PERMUTE, perm); }
  Value reshape_constant(const Value& c, const Dims& dims) const { return transform(c, GANTRY_RESHAPE, dims); }
  Value slice_constant(const Value& c, const Dims& starts, const Dims& steps, const Dims& sizes) const {
    Dims all = starts;
    all.insert(all.end(), steps.begin(), steps.end());
    all.insert(all.end(), sizes.begin(), sizes.end());
    return transform(c, GANTRY_SLICE, all);
  }
  Value cast_constant(const Value& c, DType to) const { return transform(c, GANTRY_CAST, {}, {}, 0, to); }
  Value scale_constant(const Value& c, std::int64_t axis, const std::vector<float>& by) const {
    return transform(c, GANTRY_SCALE_AXIS, {}, by, axis);
  }
  Value shift_constant(const Value& c, std::int64_t axis, const std::vector<float>& by) const {
    return transform(c, GANTRY_SHIFT_AXIS, {}, by, axis);
  }

  // ---- what every converter needs ----
  /// Axes in a new order; a constant is transformed, an identity is the value itself.
  Value transpose(const Value& v, const Dims& perm) const {
    Dims identity(perm.size());
    std::iota(identity.begin(), identity.end(), 0);
    if (perm == identity) return v;
    if (v.constant()) return permute_constant(v, perm);
    return tflite() ? op("TRANSPOSE", {v, i32(perm)}) : op("Transpose", {v}, {{"perm", perm}});
  }
  /// The same elements under other dims, of which one may be -1; a constant is transformed.
  Value reshape(const Value& v, Dims dims) const {
    if (v.is_static()) {
      resolve(dims, v.elements());
      if (dims == v.dims()) return v;
      if (v.constant()) return reshape_constant(v, dims);
    }
    return tflite() ? op("RESHAPE", {v, i32(dims)}, {{"new_shape", dims}}) : op("Reshape", {v, i64(dims)});
  }
  Value cast(const Value& v, DType to) const {
    if (v.dtype() == to) return v;
    if (v.constant()) return cast_constant(v, to);
    if (!tflite()) return op("Cast", {v}, {{"to", onnx_dtype(to)}});
    return op("CAST", {v}, {{"in_data_type", tflite_dtype(v.dtype())}, {"out_data_type", tflite_dtype(to)}});
  }

  // Arithmetic with broadcasting. Two numbers are not taken.
  Value add(const Operand& a, const Operand& b) const { return binary("ADD", "Add", a, b); }
  Value sub(const Operand& a, const Operand& b) const { return binary("SUB", "Sub", a, b); }
  Value mul(const Operand& a, const Operand& b) const { return binary("MUL", "Mul", a, b); }
  Value div(const Operand& a, const Operand& b) const { return binary("DIV", "Div", a, b); }
  Value maximum(const Operand& a, const Operand& b) const { return binary("MAXIMUM", "Max", a, b); }
  Value minimum(const Operand& a, const Operand& b) const { return binary("MINIMUM", "Min", a, b); }
  Value pow(const Operand& a, const Operand& b) const { return binary("POW", "Pow", a, b); }
  Value binary(std::string_view tflite_name, std::string_view onnx_name, const Operand& a, const Operand& b) const {
    const auto [x, y] = values(a, b);
    return op(tflite() ? tflite_name : onnx_name, {x, y});
  }
  /// Both as values; a number becomes a scalar constant of the other's element type.
  std::pair<Value, Value> values(const Operand& a, const Operand& b) const {
    if (a.is_number() && b.is_number()) throw std::logic_error("arithmetic on two numbers");
    return {a.is_number() ? scalar(b.value().dtype(), a.number()) : a.value(),
            b.is_number() ? scalar(a.value().dtype(), b.number()) : b.value()};
  }

  // ---- patterns ----
  /// Uses of `old_value` become uses of `new_value`, of the same type.
  void replace(const Value& old_value, const Value& new_value) const {
    call_.check(call_.host->replace(call_.context, old_value.id(), new_value.id()));
  }
  /// The same; false where a reader cannot have the new value, because it stands before it.
  bool try_replace(const Value& old_value, const Value& new_value) const {
    return call_.host->replace(call_.context, old_value.id(), new_value.id()) == GANTRY_OK;
  }

  /// A dim of -1 becomes what is left of `elements`; declines if that does not come out even.
  static void resolve(Dims& dims, std::int64_t elements) {
    std::int64_t known = 1, *free = nullptr;
    for (std::int64_t& d : dims) d < 0 ? void(free = &d) : void(known *= d);
    if (free && known) *free = elements / known;
    decline_if(free ? !known || elements % known : known != elements, elements, " elements cannot have the shape ",
               text(dims));
  }
  /// Name of an element type in TFLite's schema; declines if it has none.
  static std::string_view tflite_dtype(DType t) {
    switch (t) {
      case DType::float32:
        return "FLOAT32";
      case DType::float16:
        return "FLOAT16";
      case DType::float64:
        return "FLOAT64";
      case DType::bfloat16:
        return "BFLOAT16";
      case DType::int8:
        return "INT8";
      case DType::int16:
        return "INT16";
      case DType::int32:
        return "INT32";
      case DType::int64:
        return "INT64";
      case DType::uint8:
        return "UINT8";
      case DType::uint16:
        return "UINT16";
      case DType::uint32:
        return "UINT32";
      case DType::uint64:
        return "UINT64";
      case DType::boolean:
        return "BOOL";
      case DType::string:
        return "STRING";
      case DType::complex64:
        return "COMPLEX64";
      case DType::complex128:
        return "COMPLEX128";
      case DType::int4:
        return "INT4";
      case DType::uint4:
        return "UINT4";
      default:
        decline("TFLite has no element type ", name_of(t));
    }
  }
  /// Number of an element type in ONNX's TensorProto.
  static std::int64_t onnx_dtype(DType t) {
    constexpr std::int64_t numbers[] = {0, 1, 10, 11, 16, 3, 5, 6, 7, 2, 4, 12, 13, 9, 8, 14, 15, 22, 21};
    return numbers[static_cast<std::size_t>(t)];
  }
  static DType from_onnx_dtype(std::int64_t n) {
    for (gantry_dtype t = 1; t <= GANTRY_UINT4; ++t)
      if (onnx_dtype(static_cast<DType>(t)) == n) return static_cast<DType>(t);
    decline("element type ", n, " of ONNX is not supported");
  }
  /// A view of `t`, which must outlive it.
  static gantry_type raw(Type&&) = delete;
  static gantry_type raw(const Type& t) {
    gantry_type r{};
    r.struct_size = sizeof r;
    r.dtype = static_cast<gantry_dtype>(t.dtype);
    r.rank = t.dims ? static_cast<std::int32_t>(t.dims->size()) : -1;
    if (t.dims) r.dims = view(*t.dims);
    return r;
  }

 private:
  static std::vector<gantry_value> ids(const std::vector<Value>& values) {
    std::vector<gantry_value> out;
    for (const Value& v : values) out.push_back(v.id());
    return out;
  }
  template <class T, class From>
  static std::vector<T> converted(const std::vector<From>& from) {
    std::vector<T> to;
    to.reserve(from.size());
    for (From x : from) {
      if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From> && !std::is_same_v<T, bool>) {
        const auto lo = static_cast<double>(std::numeric_limits<T>::lowest()),
                   hi = static_cast<double>(std::numeric_limits<T>::max());
        to.push_back(x <= lo         ? std::numeric_limits<T>::lowest()
                     : x >= hi       ? std::numeric_limits<T>::max()
                     : std::isnan(x) ? T{0}
                                     : static_cast<T>(x));
      } else {
        to.push_back(static_cast<T>(x));
      }
    }
    return to;
  }
  Value bytes(const Type& type, const void* data, std::size_t size) const {
    const gantry_type t = raw(type);
    gantry_value out = 0;
    call_.check(call_.host->constant(call_.context, &t, {data, size}, &out));
    return Value(call_, out);
  }
  Value transform(const Value& c, gantry_transform_kind kind, const Dims& ints, const std::vector<float>& floats = {},
                  std::int64_t axis = 0, DType dtype = DType::undefined) const {
    gantry_transform t{};
    t.struct_size = sizeof t;
    t.kind = kind;
    t.ints = view(ints);
    t.floats = {floats.data(), floats.size()};
    t.axis = axis;
    t.dtype = static_cast<gantry_dtype>(dtype);
    gantry_value out = 0;
    call_.check(call_.host->constant_transform(call_.context, c.id(), &t, &out));
    return Value(call_, out);
  }

  const Call& call_;
  std::string_view dialect_, domain_, name_;
};

}  // namespace gantry::sdk
