// The function table that plugins call. Each entry finds its Call, and lets nothing out but a status: an exception that
// crossed into a plugin written in C would end the process.
#include <exception>
#include <string>
#include <type_traits>

#include "host/plugins/call.hpp"

namespace gantry::plugins {
namespace {

template <class F>
gantry_status guarded(gantry_context* context, F&& function) noexcept {
  if (!context) return GANTRY_ERROR;
  Call& call = *static_cast<Call*>(context);
  try {
    try {
      auto result = function(call);
      if (!result.ok()) {
        call.host_error(result.take_error());
        return GANTRY_ERROR;
      }
      if constexpr (std::is_same_v<decltype(result), Result<bool>>) return *result ? GANTRY_OK : GANTRY_ABSENT;
      return GANTRY_OK;
    } catch (const std::exception& e) {
      call.host_error(error(Code::internal, std::string("in a function of the host: ") + e.what()));
    }
  } catch (...) {
    // Not even the message could be kept.
  }
  return GANTRY_ERROR;
}

gantry_status node_info(gantry_context* c, gantry_node n, gantry_node_info* out) {
  return guarded(c, [&](Call& call) { return call.node_info(n, out); });
}
gantry_status value_info(gantry_context* c, gantry_value v, gantry_value_info* out) {
  return guarded(c, [&](Call& call) { return call.value_info(v, out); });
}
gantry_status node_attr(gantry_context* c, gantry_node n, gantry_str name, gantry_attr* out) {
  return guarded(c, [&](Call& call) { return call.node_attr(n, name, out); });
}
gantry_status constant_read(gantry_context* c, gantry_value v, gantry_dtype t, uint64_t first, uint64_t count,
                            void* out) {
  return guarded(c, [&](Call& call) { return call.constant_read(v, t, first, count, out); });
}
gantry_status value_users(gantry_context* c, gantry_value v, const gantry_node** out, uint64_t* count) {
  return guarded(c, [&](Call& call) { return call.value_users(v, out, count); });
}
gantry_status option(gantry_context* c, gantry_str name, gantry_attr* out) {
  return guarded(c, [&](Call& call) { return call.option(name, out); });
}
gantry_status emit(gantry_context* c, const gantry_op_desc* op, gantry_value* outputs) {
  return guarded(c, [&](Call& call) { return call.emit(op, outputs); });
}
gantry_status constant(gantry_context* c, const gantry_type* type, gantry_bytes elements, gantry_value* out) {
  return guarded(c, [&](Call& call) { return call.constant(type, elements, out); });
}
gantry_status constant_transform(gantry_context* c, gantry_value v, const gantry_transform* t, gantry_value* out) {
  return guarded(c, [&](Call& call) { return call.constant_transform(v, t, out); });
}
gantry_status set_results(gantry_context* c, gantry_values results) {
  return guarded(c, [&](Call& call) { return call.set_results(results); });
}
gantry_status replace(gantry_context* c, gantry_value old_value, gantry_value new_value) {
  return guarded(c, [&](Call& call) { return call.replace(old_value, new_value); });
}
gantry_status set_type(gantry_context* c, uint64_t index, const gantry_type* type) {
  return guarded(c, [&](Call& call) { return call.set_type(index, type); });
}
gantry_status message(gantry_context* c, gantry_severity severity, gantry_str text) {
  return guarded(c, [&](Call& call) { return call.message(severity, text); });
}
gantry_status has_definition(gantry_context* c, gantry_str dialect, gantry_str domain, gantry_str op) {
  return guarded(c, [&](Call& call) { return call.has_definition(dialect, domain, op); });
}
gantry_status add_input(gantry_context* c, gantry_str name, const gantry_type* type, gantry_value* out) {
  return guarded(c, [&](Call& call) { return call.add_input(name, type, out); });
}
gantry_status add_output(gantry_context* c, gantry_str name, gantry_value v) {
  return guarded(c, [&](Call& call) { return call.add_output(name, v); });
}
gantry_status node_region(gantry_context* c, gantry_node n, gantry_str name, gantry_region* out) {
  return guarded(c, [&](Call& call) { return call.node_region(n, name, out); });
}
gantry_status region_info(gantry_context* c, gantry_region r, gantry_region_info* out) {
  return guarded(c, [&](Call& call) { return call.region_info(r, out); });
}
gantry_status region_begin(gantry_context* c, gantry_str name, gantry_region* out) {
  return guarded(c, [&](Call& call) { return call.region_begin(name, out); });
}
gantry_status region_argument(gantry_context* c, const gantry_type* type, gantry_str name, gantry_value* out) {
  return guarded(c, [&](Call& call) { return call.region_argument(type, name, out); });
}
gantry_status region_end(gantry_context* c, gantry_values results) {
  return guarded(c, [&](Call& call) { return call.region_end(results); });
}
gantry_status region_copy(gantry_context* c, gantry_region r, gantry_values old_values, gantry_values new_values,
                          gantry_value* results) {
  return guarded(c, [&](Call& call) { return call.region_copy(r, old_values, new_values, results); });
}

constexpr gantry_host kHost = {
    .struct_size = sizeof(gantry_host),
    .abi_major = GANTRY_ABI_MAJOR,
    .abi_minor = GANTRY_ABI_MINOR,
    .reserved = 0,
    .node_info = node_info,
    .value_info = value_info,
    .node_attr = node_attr,
    .constant_read = constant_read,
    .value_users = value_users,
    .option = option,
    .emit = emit,
    .constant = constant,
    .constant_transform = constant_transform,
    .set_results = set_results,
    .replace = replace,
    .set_type = set_type,
    .message = message,
    .has_definition = has_definition,
    .add_input = add_input,
    .add_output = add_output,
    .node_region = node_region,
    .region_info = region_info,
    .region_begin = region_begin,
    .region_argument = region_argument,
    .region_end = region_end,
    .region_copy = region_copy,
};

}  // namespace

const gantry_host* host_table() { return &kHost; }

}  // namespace gantry::plugins
