// Values and nodes as a plugin sees them. Both are small handles that are valid during the call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gantry/sdk/core.hpp"

namespace gantry::sdk {

class Node;

/// A type to give to a result: element type and dims (nullopt: unknown rank).
struct Type {
  DType dtype = DType::undefined;
  std::optional<Dims> dims;
};

/// A value of the graph. A default Value is an omitted operand.
class Value {
 public:
  Value() = default;
  Value(const Call& call, gantry_value id) : call_(&call), id_(id) {
    if (!id_) return;
    info_.struct_size = sizeof info_;
    call.check(call.host->value_info(call.context, id_, &info_));
  }

  explicit operator bool() const { return id_ != 0; }
  gantry_value id() const { return id_; }
  bool operator==(const Value& o) const { return id_ == o.id_; }
  std::string_view name() const { return view(info_.name); }
  DType dtype() const { return static_cast<DType>(info_.dtype); }
  Type type() const { return {dtype(), ranked() ? std::optional(dims()) : std::nullopt}; }

  bool ranked() const { return info_.rank >= 0; }
  /// Declines if the rank is not known.
  int rank() const {
    decline_if(!ranked(), "the rank of '", name(), "' is not known; give input shapes with --shape");
    return info_.rank;
  }
  /// -1 where unknown; declines if the rank is not known.
  Dims dims() const {
    const auto r = static_cast<std::size_t>(rank());
    return r ? Dims(info_.dims.data, info_.dims.data + r) : Dims{};
  }
  /// All dims; declines if one is unknown.
  Dims static_dims() const {
    Dims d = dims();
    decline_if(!known(d), "the shape ", text(d), " of '", name(),
               "' is not fully known; give input shapes with --shape");
    return d;
  }
  bool is_static() const { return ranked() && known(dims()); }
  /// Size of an axis, negative axes from the end; -1 if unknown.
  std::int64_t dim(int axis) const {
    const int r = rank(), a = axis < 0 ? axis + r : axis;
    decline_if(a < 0 || a >= r, "axis ", axis, " is out of range for rank ", r);
    return info_.dims.data[a];
  }
  /// Number of elements; declines unless static.
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t d : static_dims()) n *= d;
    return n;
  }
  std::string_view symbol(int axis) const {
    return info_.symbols.size > static_cast<std::uint64_t>(axis) ? view(info_.symbols.data[axis]) : std::string_view{};
  }

  bool constant() const { return info_.is_constant != 0; }
  /// Elements of a constant in row-major order, converted to T; declines if it is not constant.
  template <class T>
  std::vector<T> read() const {
    decline_if(!constant(), "'", name(), "' must be a constant");
    const auto n = static_cast<std::size_t>(elements());
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<std::uint8_t> raw = read<std::uint8_t>();
      return {raw.begin(), raw.end()};
    } else {
      std::vector<T> out(n);
      if (n)
        call_->check(call_->host->constant_read(call_->context, id_, static_cast<gantry_dtype>(dtype_of<T>()), 0, n,
                                                out.data()));
      return out;
    }
  }
  /// The one element of a constant; declines if there are more.
  template <class T>
  T scalar() const {
    decline_if(elements() != 1, "'", name(), "' must have one element, has shape ", text(dims()));
    return read<T>()[0];
  }

  /// The node that makes it, if one does.
  std::optional<Node> producer() const;
  std::vector<Node> users() const;
  /// Uses by nodes and as outputs, as they were when this handle was made.
  std::uint32_t use_count() const { return info_.use_count; }
  bool is_output() const { return info_.output_count != 0; }

  static bool known(const Dims& d) {
    for (std::int64_t n : d)
      if (n < 0) return false;
    return true;
  }

 private:
  const Call* call_ = nullptr;
  gantry_value id_ = 0;
  gantry_value_info info_{};
};

/// A subgraph.
class Region {
 public:
  Region(const Call& call, gantry_region id) : call_(&call), id_(id) {
    info_.struct_size = sizeof info_;
    call.check(call.host->region_info(call.context, id, &info_));
  }

  gantry_region id() const { return id_; }
  std::string_view name() const { return view(info_.name); }
  std::vector<Value> inputs() const { return values(info_.inputs); }
  std::vector<Value> outputs() const { return values(info_.outputs); }
  /// Values of outside that it, or a subgraph inside, uses; constants are not among them.
  std::vector<Value> captures() const { return values(info_.captures); }
  /// Nodes in it, with those of subgraphs inside.
  std::size_t node_count() const { return info_.node_count; }

 private:
  std::vector<Value> values(const gantry_values& list) const {
    std::vector<Value> v;
    for (std::uint64_t i = 0; i < list.size; ++i) v.emplace_back(*call_, list.data[i]);
    return v;
  }

  const Call* call_;
  gantry_region id_;
  gantry_region_info info_{};
};

/// A node of the graph.
class Node {
 public:
  Node(const Call& call, gantry_node id) : call_(&call), id_(id) {
    info_.struct_size = sizeof info_;
    call.check(call.host->node_info(call.context, id, &info_));
  }

  const Call& call() const { return *call_; }
  gantry_node id() const { return id_; }
  std::string_view dialect() const { return view(info_.dialect); }
  std::string_view domain() const { return view(info_.domain); }
  std::string_view op() const { return view(info_.op); }
  std::string_view name() const { return view(info_.name); }
  int version() const { return info_.version; }
  bool is(std::string_view op_name, std::string_view in_domain = {}) const {
    return op() == op_name && domain() == in_domain;
  }

  std::size_t in_count() const { return static_cast<std::size_t>(info_.inputs.size); }
  std::size_t out_count() const { return static_cast<std::size_t>(info_.outputs.size); }
  /// Operand i; a default Value if it is omitted or beyond the last.
  Value in(std::size_t i) const { return i < in_count() ? Value(*call_, info_.inputs.data[i]) : Value(); }
  /// Result i with the type that it is known to have; a default Value if it is not wanted.
  Value out(std::size_t i = 0) const { return i < out_count() ? Value(*call_, info_.outputs.data[i]) : Value(); }
  std::vector<Value> ins() const {
    std::vector<Value> v;
    for (std::size_t i = 0; i < in_count(); ++i) v.push_back(in(i));
    return v;
  }

  bool has_region(std::string_view name) const { return find_region(name) != 0; }
  /// A subgraph, by the source's attribute name; declines if it is absent.
  Region region(std::string_view name) const {
    const gantry_region r = find_region(name);
    decline_if(!r, "subgraph '", name, "' is missing");
    return Region(*call_, r);
  }

  bool has_attr(std::string_view name) const { return find(name).has_value(); }
  std::vector<std::string> attribute_names() const {
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < info_.attributes.size; ++i) names.emplace_back(view(info_.attributes.data[i]));
    return names;
  }
  gantry_attr_kind attribute_kind(std::string_view name) const {
    const auto a = find(name);
    return a ? a->kind : 0;
  }
  /// An attribute, or `otherwise` where it is absent. Declines if it is of another kind than T.
  template <class T>
  T attr(std::string_view name, T otherwise) const {
    const auto a = find(name);
    return a ? as<T>(*a, name) : otherwise;
  }
  std::string attr(std::string_view name, const char* otherwise) const { return attr<std::string>(name, otherwise); }
  /// An attribute that the operator requires; declines if it is absent.
  template <class T>
  T attr(std::string_view name) const {
    const auto a = find(name);
    decline_if(!a, "attribute '", name, "' is missing");
    return as<T>(*a, name);
  }

 private:
  gantry_region find_region(std::string_view name) const {
    gantry_region r = 0;
    const gantry_status s = call_->host->node_region(call_->context, id_, view(name), &r);
    if (s == GANTRY_ABSENT) return 0;
    call_->check(s);
    return r;
  }
  std::optional<gantry_attr> find(std::string_view name) const {
    gantry_attr a{};
    a.struct_size = sizeof a;
    const gantry_status s = call_->host->node_attr(call_->context, id_, view(name), &a);
    if (s == GANTRY_ABSENT) return std::nullopt;
    call_->check(s);
    return a;
  }
  template <class T>
  T as(const gantry_attr& a, std::string_view name) const {
    const auto want = [&](gantry_attr_kind k) {
      decline_if(a.kind != k, "attribute '", name, "' is of the wrong kind");
    };
    if constexpr (std::is_same_v<T, Value>)
      return want(GANTRY_ATTR_TENSOR), Value(*call_, a.value);
    else if constexpr (std::is_integral_v<T>)
      return want(GANTRY_ATTR_INT), static_cast<T>(a.i);
    else if constexpr (std::is_floating_point_v<T>)
      return want(GANTRY_ATTR_FLOAT), static_cast<T>(a.f);
    else if constexpr (std::is_same_v<T, Dims>)
      return want(GANTRY_ATTR_INTS), a.ints.size ? Dims(a.ints.data, a.ints.data + a.ints.size) : Dims{};
    else if constexpr (std::is_same_v<T, std::vector<float>>)
      return want(GANTRY_ATTR_FLOATS), a.floats.size ? T(a.floats.data, a.floats.data + a.floats.size) : T{};
    else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      want(GANTRY_ATTR_STRINGS);
      T out;
      for (std::uint64_t i = 0; i < a.strings.size; ++i) out.emplace_back(view(a.strings.data[i]));
      return out;
    } else {
      return want(GANTRY_ATTR_STRING), T(view(a.s));
    }
  }

  const Call* call_;
  gantry_node id_;
  gantry_node_info info_{};
};

inline std::optional<Node> Value::producer() const {
  if (!id_ || !info_.producer) return std::nullopt;
  return Node(*call_, info_.producer);
}

inline std::vector<Node> Value::users() const {
  const gantry_node* nodes = nullptr;
  std::uint64_t n = 0;
  call_->check(call_->host->value_users(call_->context, id_, &nodes, &n));
  std::vector<Node> out;
  for (std::uint64_t i = 0; i < n; ++i) out.emplace_back(*call_, nodes[i]);
  return out;
}

/// An axis attribute brought into [0, rank); declines if it is out of range.
inline int normalize_axis(std::int64_t axis, int rank) {
  const std::int64_t a = axis < 0 ? axis + rank : axis;
  decline_if(a < 0 || a >= rank, "axis ", axis, " is out of range for rank ", rank);
  return static_cast<int>(a);
}

}  // namespace gantry::sdk
