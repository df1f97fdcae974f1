/*
 * SoftClip(x) = limit * tanh(x / limit): com.example.softclip::SoftClip, attribute limit (float, default 1).
 * The same contract as the C++ SDK stands on, used directly from C11.
 */
#include <stddef.h>
#include <string.h>

#include <gantry/abi.h>

#define STR(s) {s, sizeof(s) - 1}

static gantry_str text(const char* s) {
  gantry_str v = {s, strlen(s)};
  return v;
}

/* The result has the operand's type. */
static gantry_status infer(const gantry_host* host, gantry_context* ctx, gantry_node node, const void* data) {
  (void)data;
  gantry_node_info n = {.struct_size = sizeof n};
  gantry_value_info x = {.struct_size = sizeof x};
  gantry_status s = host->node_info(ctx, node, &n);
  if (s != GANTRY_OK) return s;
  if (n.inputs.size != 1) {
    host->message(ctx, GANTRY_REASON, text("SoftClip takes one operand"));
    return GANTRY_ERROR;
  }
  s = host->value_info(ctx, n.inputs.data[0], &x);
  if (s != GANTRY_OK) return s;
  gantry_type t = {.struct_size = sizeof t, .dtype = x.dtype, .rank = x.rank, .dims = x.dims, .symbols = x.symbols};
  return host->set_type(ctx, 0, &t);
}

static gantry_status scalar(const gantry_host* host, gantry_context* ctx, float number, gantry_value* out) {
  gantry_type t = {.struct_size = sizeof t, .dtype = GANTRY_FLOAT32, .rank = 0};
  gantry_bytes bytes = {&number, sizeof number};
  return host->constant(ctx, &t, bytes, out);
}

/* One operator of TFLite with one result and no attributes. */
static gantry_status emit(const gantry_host* host, gantry_context* ctx, const char* op, const gantry_value* in,
                          uint64_t count, gantry_value* out) {
  gantry_op_desc d = {.struct_size = sizeof d, .dialect = STR("tflite"), .inputs = {in, count}, .output_count = 1};
  d.op = text(op);
  return host->emit(ctx, &d, out);
}

static gantry_status convert(const gantry_host* host, gantry_context* ctx, gantry_node node, const void* data) {
  (void)data;
  gantry_node_info n = {.struct_size = sizeof n};
  gantry_attr limit = {.struct_size = sizeof limit};
  gantry_status s = host->node_info(ctx, node, &n);
  if (s != GANTRY_OK) return s;
  s = host->node_attr(ctx, node, text("limit"), &limit);
  if (s != GANTRY_OK && s != GANTRY_ABSENT) return s;
  float number = s == GANTRY_ABSENT ? 1.0f : (float)limit.f;
  if (!(number > 0)) {
    host->message(ctx, GANTRY_REASON, text("attribute limit must be positive"));
    return GANTRY_DECLINED;
  }
  gantry_value c, scaled, squashed, result;
  if ((s = scalar(host, ctx, number, &c)) != GANTRY_OK) return s;
  if ((s = emit(host, ctx, "DIV", (gantry_value[]){n.inputs.data[0], c}, 2, &scaled)) != GANTRY_OK) return s;
  if ((s = emit(host, ctx, "TANH", &scaled, 1, &squashed)) != GANTRY_OK) return s;
  if ((s = emit(host, ctx, "MUL", (gantry_value[]){squashed, c}, 2, &result)) != GANTRY_OK) return s;
  gantry_values results = {&result, 1};
  return host->set_results(ctx, results);
}

#define SOFTCLIP_KEY {STR("onnx"), STR("com.example.softclip"), STR("SoftClip"), 1, 0}

static const gantry_converter converter = {
    .struct_size = sizeof converter, .key = SOFTCLIP_KEY, .target = STR("tflite"), .convert = convert};
static const gantry_converter* const converters[] = {&converter};
static const gantry_operator definition = {.struct_size = sizeof definition, .key = SOFTCLIP_KEY, .infer = infer};
static const gantry_operator* const operators[] = {&definition};
static const gantry_str depends[] = {STR("org.gantry.core-ops")};

static const gantry_plugin plugin = {
    .struct_size = sizeof plugin,
    .abi_major = GANTRY_ABI_MAJOR,
    .abi_minor = GANTRY_ABI_MINOR,
    .id = STR("com.example.softclip"),
    .version = STR("1.0.0"),
    .license = STR("Apache-2.0"),
    .description = STR("A smooth clip, written in C11"),
    .depends = {depends, 1},
    .converters = converters,
    .converter_count = 1,
    .operators = operators,
    .operator_count = 1,
};

GANTRY_EXPORT const gantry_plugin* gantry_plugin_entry(void) { return &plugin; }
