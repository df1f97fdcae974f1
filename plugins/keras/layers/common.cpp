#include "common.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "../json.hpp"

namespace gantry::keras {

double number(const Node& node, std::string_view name, double otherwise) {
  switch (node.attribute_kind(name)) {
    case 0:
      return otherwise;
    case GANTRY_ATTR_INT:
      return static_cast<double>(node.attr<std::int64_t>(name));
    case GANTRY_ATTR_INTS: {
      const Dims d = node.attr<Dims>(name);
      decline_if(d.size() != 1, "'", name, "' has ", d.size(), " numbers");
      return static_cast<double>(d[0]);
    }
    case GANTRY_ATTR_FLOATS: {
      const auto f = node.attr<std::vector<float>>(name);
      decline_if(f.size() != 1, "'", name, "' has ", f.size(), " numbers");
      return f[0];
    }
    case GANTRY_ATTR_STRING: {  // Keras 3 writes numpy numbers as {"class_name": "__numpy__", "config": {"value": ...}}
      const Json j = parse_json(node.attr<std::string>(name), name);
      const Json& value = member(member(j, "config"), "value");
      decline_if(!value.is_number(), "'", name, "' is no number");
      return value.get<double>();
    }
    default:
      return node.attr<double>(name);
  }
}

std::int64_t integer(const Node& node, std::string_view name, std::int64_t otherwise) {
  const double d = number(node, name, static_cast<double>(otherwise));
  decline_if(!(d > -1e15 && d < 1e15) || d != static_cast<double>(static_cast<std::int64_t>(d)), "'", name,
             "' is no integer");
  return static_cast<std::int64_t>(d);
}

Dims integers(const Node& node, std::string_view name, std::size_t count, std::int64_t otherwise) {
  Dims d;
  if (node.attribute_kind(name) == GANTRY_ATTR_INTS)
    d = node.attr<Dims>(name);
  else
    d = {integer(node, name, otherwise)};
  if (d.size() == 1) d.assign(count, d[0]);
  decline_if(d.size() != count, "'", name, "' has ", d.size(), " numbers, not ", count);
  return d;
}

std::vector<std::int64_t> axes_in(const Node& node, std::string_view name, int rank) {
  Dims axes = node.attribute_kind(name) == GANTRY_ATTR_INTS ? node.attr<Dims>(name) : Dims{integer(node, name, -1)};
  for (std::int64_t& a : axes) a = normalize_axis(a, rank);
  return axes;
}

int keras_version(const Node& node) { return static_cast<int>(integer(node, "keras_version", 2)); }

bool channels_first(const Node& node) {
  return node.attr<std::string>("data_format", "channels_last") == "channels_first";
}

std::vector<Value> operands(const Node& node, std::size_t least, std::size_t most, std::string_view keyword) {
  const auto n = static_cast<std::size_t>(integer(node, "operand_count", 1));
  for (const std::string& k : node.attr<std::vector<std::string>>("keywords", {}))
    decline_if(k != keyword, "it is called with a tensor as ", k);
  if (node.has_attr("call")) {
    const Json call = parse_json(node.attr<std::string>("call"), "call");
    for (const auto& [name, value] : call.items()) {
      const bool harmless = name == "training" || value.is_null() || (value.is_boolean() && !value.get<bool>());
      decline_if(!harmless, "it is called with ", name, " = ", value.dump());
    }
  }
  decline_if(n < least || n > most || n > node.in_count(), "it is called with ", n, " tensors");
  std::vector<Value> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(node.in(i));
  return v;
}

Value weight(const Node& node, std::size_t i) {
  const auto n = static_cast<std::size_t>(integer(node, "operand_count", 1));
  decline_if(n + i >= node.in_count(), "it has no weight ", i);
  return node.in(n + i);
}

Value float_operand(const Node& node, const Emit& emit) { return emit.cast(operands(node, 1, 1)[0], DType::float32); }

Value square(const Emit& emit, const Value& x) { return emit.op("Pow", {x, emit.scalar(DType::float32, 2)}); }

Dims identity_perm(int rank) {
  Dims p(static_cast<std::size_t>(rank));
  std::iota(p.begin(), p.end(), 0);
  return p;
}
Dims to_the_end(int rank, const Dims& axes) {
  Dims p;
  for (std::int64_t i = 0; i < rank; ++i)
    if (std::ranges::find(axes, i) == axes.end()) p.push_back(i);
  p.insert(p.end(), axes.begin(), axes.end());
  return p;
}
Dims inverse(const Dims& perm) {
  Dims p(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) p[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return p;
}
Dims to_second(int rank) {
  Dims p = identity_perm(rank);
  if (rank > 2) std::rotate(p.begin() + 1, p.end() - 1, p.end());
  return p;
}
Dims to_last(int rank) {
  Dims p = identity_perm(rank);
  if (rank > 2) std::rotate(p.begin() + 1, p.begin() + 2, p.end());
  return p;
}
Value channels_second(const Node& node, const Emit& emit, const Value& x) {
  return channels_first(node) ? x : emit.transpose(x, to_second(x.rank()));
}
Value as_layer(const Node& node, const Emit& emit, const Value& y) {
  return channels_first(node) ? y : emit.transpose(y, to_last(y.rank()));
}

namespace {

// A scale of size 1 along an axis that is now part of several: as many elements as the result's first axis has.
Value expanded(const Emit& emit, const Value& v, const Dims& full, const Dims& perm, const Dims& dims) {
  const Value p = emit.permute_constant(v, perm);
  const Dims have = p.static_dims();
  if (std::ranges::all_of(have, [](std::int64_t d) { return d == 1; }))
    return emit.reshape_constant(p, Dims(dims.size(), 1));
  // Only [in, multiplier, 1...] -> [in * multiplier, 1, 1...] occurs: kernels of depthwise convolutions.
  const std::vector<float> elements = p.read<float>();
  const std::int64_t rows = full[static_cast<std::size_t>(perm[0])], columns = full[static_cast<std::size_t>(perm[1])];
  std::vector<float> out;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      out.push_back(elements[static_cast<std::size_t>((have[0] == 1 ? 0 : r) * have[1] + (have[1] == 1 ? 0 : c))]);
  Dims shape(dims.size(), 1);
  shape[0] = rows * columns;
  return emit.constant(shape, out);
}

}  // namespace

Value weight_as(const Emit& emit, const Value& w, const Dims& perm, const Dims& dims) {
  const Dims full = w.static_dims();
  Dims permuted;
  for (const std::int64_t p : perm) permuted.push_back(full[static_cast<std::size_t>(p)]);
  if (perm == identity_perm(static_cast<int>(perm.size())) && dims == full) return w;
  const bool reshaped = permuted != dims;
  if (w.constant()) return emit.reshape(emit.transpose(w, perm), dims);
  const std::optional<Node> maker = w.producer();
  const bool elementwise = maker && maker->out_count() == 1 && maker->in_count() > 0 && maker->in(0).ranked() &&
                           maker->in(0).dims() == full && !maker->has_attr("axis") && !maker->is("Transpose") &&
                           !maker->is("Reshape");
  if (!elementwise) return emit.reshape(emit.transpose(w, perm), dims);
  std::vector<Value> inputs;
  for (const Value& v : maker->ins()) {
    if (!v || v.rank() == 0)
      inputs.push_back(v);
    else if (v.dims() == full)
      inputs.push_back(weight_as(emit, v, perm, dims));
    else if (v.constant() && v.rank() == static_cast<int>(perm.size()))
      inputs.push_back(reshaped ? expanded(emit, v, full, perm, dims) : emit.permute_constant(v, perm));
    else
      return emit.reshape(emit.transpose(w, perm), dims);
  }
  return emit.make(maker->domain(), maker->op(), 1, inputs, attributes_of(*maker), {}, maker->version())[0];
}

Value reshape_rows(const Emit& emit, const Value& x, const Dims& rest) {
  Dims dims{x.dim(0) < 0 ? 0 : x.dim(0)};  // 0: as it was
  dims.insert(dims.end(), rest.begin(), rest.end());
  if (dims[0] != 0) return emit.reshape(x, dims);
  return emit.op("Reshape", {x, emit.i64(dims)});
}

}  // namespace gantry::keras
