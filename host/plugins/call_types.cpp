// A node whose kernel lacks an element type, made by a detour through another type: casts before and after.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "host/plugins/call.hpp"

namespace gantry::plugins {
namespace {

/// Name of an element type in TFLite's schema.
std::string schema_name(DType t) {
  constexpr std::array<std::string_view, 19> kNames = {
      "",       "FLOAT32", "FLOAT16", "FLOAT64", "BFLOAT16", "INT8",      "INT16",      "INT32", "INT64", "UINT8",
      "UINT16", "UINT32",  "UINT64",  "BOOL",    "STRING",   "COMPLEX64", "COMPLEX128", "INT4",  "UINT4"};
  return std::string(kNames[static_cast<std::size_t>(t)]);
}

}  // namespace

Result<ValueId> Call::converted(ValueId v, DType to, bool bits) {
  const Value& value = g_.value(v);
  if (value.is_constant() && !bits) {
    GANTRY_ASSIGN(Constant c, value.constant.cast(to));
    return ValueId{add_constant(std::move(c))};
  }
  Attrs attrs;
  if (!bits) attrs = {{"in_data_type", schema_name(value.type.dtype)}, {"out_data_type", schema_name(to)}};
  Type type = value.type;
  type.dtype = to;
  const std::array operands = {v};
  const NodeId n = g_.add_node(place(), Op{"tflite", "", bits ? "BITCAST" : "CAST", 1}, operands, 1, std::move(attrs),
                               g_.node(node_).name);
  nodes_.push_back(n);
  const ValueId result = g_.node(n).outputs[0];
  g_.set_type(result, std::move(type));
  return result;
}

/// Says once for each operator of the source that digits are lost, or forbids it.
Status Call::note_inexact(const Op& op, DType from, DType in) {
  const std::string text = std::string(dtype_name(from)) + " is computed in " + std::string(dtype_name(in));
  if (definitions_.strict_types)
    return error(Code::target_limit, std::string(op.name) + ": " + text + ", which --strict-types forbids");
  messages_.push_back(about(warning(Code::warn_precision, text)));
  return {};
}

// `types` are those that the results would have without the detour.
Result<std::vector<ValueId>> Call::emit_by_detour(const Op& op, std::vector<ValueId> operands, const Attrs& attrs,
                                                  const gantry_op_desc& d, DType lacking, std::vector<Type> types) {
  const Detour detour = *definitions_.detour(op, lacking);
  if (!detour.exact) {
    GANTRY_TRY(note_inexact(op, lacking, detour.via));
  }
  std::map<std::uint32_t, ValueId> done;
  for (ValueId& v : operands) {
    if (!v || g_.value(v).type.dtype != lacking) continue;
    const auto [it, is_new] = done.try_emplace(v.index);
    if (is_new) {
      GANTRY_ASSIGN(it->second, converted(v, detour.via, detour.bits));
    }
    v = it->second;
  }
  GANTRY_ASSIGN(const NodeId n, add_emitted(op, operands, attrs, d, {}));
  const std::vector<ValueId> made = g_.node(n).outputs;
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const bool back = types[i].dtype == lacking;
    if (d.output_types && back) {  // the plugin said the type; the kernel gives the other one
      Type type = types[i];
      type.dtype = detour.via;
      g_.set_type(made[i], std::move(type));
    }
    if (!back) {
      results.push_back(made[i]);
      continue;
    }
    GANTRY_ASSIGN(const ValueId v, converted(made[i], lacking, detour.bits));
    results.push_back(v);
  }
  GANTRY_TRY(definitions_.check_limits(g_, n));
  return results;
}

}  // namespace gantry::plugins
