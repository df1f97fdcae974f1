/* A plugin that keeps the contract: each operator of the domain org.test shows one thing that a converter may do. */
#include "plugin.h"

/* ---- converters ---- */

/* Good(x) = RELU(NEG(x)) */
static gantry_status good(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "tflite", "", "NEG", x, &x));
  CALL(emit1(h, c, "tflite", "", "RELU", x, &y));
  (void)h->message(c, GANTRY_NOTE, str("Good was converted"));
  return result1(h, c, y);
}

/* Emits, then declines: nothing may stay. */
static gantry_status declines(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "tflite", "", "NEG", x, &x));
  (void)h->message(c, GANTRY_WARNING, str("this warning is never seen"));
  (void)h->message(c, GANTRY_REASON, str("it does not feel like it"));
  return GANTRY_DECLINED;
}

/* The result is the operand itself. */
static gantry_status pass(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  (void)data;
  CALL(operand(h, c, n, &x));
  return result1(h, c, x);
}

/* The result is a constant, made from another without touching it: [1, 2, 3, 4], times 2 and 10, transposed. */
static gantry_status constant(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  static const float elements[4] = {1, 2, 3, 4};
  static const int64_t dims[2] = {2, 2}, swap[2] = {1, 0};
  static const float factors[2] = {2, 10};
  const gantry_bytes bytes = {elements, sizeof elements};
  gantry_type t;
  gantry_transform tr;
  gantry_value v;
  (void)n;
  (void)data;
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = GANTRY_FLOAT32;
  t.rank = 2;
  t.dims.data = dims;
  t.dims.size = 2;
  CALL(h->constant(c, &t, bytes, &v));
  memset(&tr, 0, sizeof tr);
  tr.struct_size = sizeof tr;
  tr.kind = GANTRY_SCALE_AXIS;
  tr.axis = 1;
  tr.floats.data = factors;
  tr.floats.size = 2;
  CALL(h->constant_transform(c, v, &tr, &v));
  memset(&tr, 0, sizeof tr);
  tr.struct_size = sizeof tr;
  tr.kind = GANTRY_PERMUTE;
  tr.ints.data = swap;
  tr.ints.size = 2;
  CALL(h->constant_transform(c, v, &tr, &v));
  return result1(h, c, v);
}

/* Copies every attribute, and gives the options as attributes too. */
static gantry_status attributes(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_node_info info;
  gantry_attr attrs[16];
  gantry_op_desc d;
  gantry_value y;
  uint64_t i, count;
  (void)data;
  memset(attrs, 0, sizeof attrs);
  for (i = 0; i < LENGTH(attrs); ++i) attrs[i].struct_size = sizeof attrs[i];
  info.struct_size = sizeof info;
  CALL(h->node_info(c, n, &info));
  if (h->node_attr(c, n, str("no such"), &attrs[0]) != GANTRY_ABSENT) return GANTRY_ERROR;
  if (h->option(c, str("no such"), &attrs[0]) != GANTRY_ABSENT) return GANTRY_ERROR;
  for (i = 0; i < info.attributes.size; ++i) CALL(h->node_attr(c, n, info.attributes.data[i], &attrs[i]));
  count = i;
  CALL(h->option(c, str("flag"), &attrs[count++]));
  CALL(h->option(c, str("level"), &attrs[count++]));
  CALL(h->option(c, str("ratio"), &attrs[count++]));
  CALL(h->option(c, str("word"), &attrs[count++]));
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.dialect = str("tflite");
  d.op = str("NEG");
  d.inputs = info.inputs;
  d.attributes = attrs;
  d.attribute_count = count;
  d.output_count = 1;
  d.name = str("renamed");
  CALL(h->emit(c, &d, &y));
  return result1(h, c, y);
}

/* RELU takes rank 6 at most; where it refuses, the fallback is NEG, which takes any; for deep = 1 there is none. */
static gantry_status deep(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  gantry_attr a;
  a.struct_size = sizeof a;
  (void)data;
  CALL(operand(h, c, n, &x));
  if (emit1(h, c, "tflite", "", "RELU", x, &y) != GANTRY_OK) {
    if (h->node_attr(c, n, str("strict"), &a) == GANTRY_OK) return GANTRY_ERROR;
    CALL(emit1(h, c, "tflite", "", "NEG", x, &y));
  }
  return result1(h, c, y);
}

/* ---- upgrades ---- */

static gantry_status old(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "onnx", "org.test", "New", x, &y)); /* version 0: the newest, 2 */
  return result1(h, c, y);
}

static gantry_status again(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "onnx", "org.test", "Again", x, &y));
  return result1(h, c, y);
}

/* ---- patterns and folding ---- */

/* Neg(Neg(x)) = x */
static gantry_status neg_neg(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_node_info outer, inner;
  gantry_value_info x;
  (void)data;
  outer.struct_size = inner.struct_size = sizeof outer;
  x.struct_size = sizeof x;
  CALL(h->node_info(c, n, &outer));
  CALL(h->value_info(c, outer.inputs.data[0], &x));
  if (!x.producer) return GANTRY_DECLINED;
  CALL(h->node_info(c, x.producer, &inner));
  if (inner.op.size != 3 || memcmp(inner.op.data, "Neg", 3) != 0) return GANTRY_DECLINED;
  return h->replace(c, outer.outputs.data[0], inner.inputs.data[0]);
}

/* Marks what users see: y = Late(x), for every user of x. The users come before the new node, which is refused. */
static gantry_status late(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "onnx", "org.test", "New", x, &y));
  return h->replace(c, x, y);
}

static gantry_status twice(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  gantry_value_info info;
  float elements[16];
  uint64_t i, count = 1;
  gantry_type t;
  gantry_bytes bytes;
  (void)data;
  CALL(operand(h, c, n, &x));
  info.struct_size = sizeof info;
  CALL(h->value_info(c, x, &info));
  for (i = 0; i < info.dims.size; ++i) count *= (uint64_t)info.dims.data[i];
  if (count > LENGTH(elements)) return GANTRY_DECLINED;
  CALL(h->constant_read(c, x, GANTRY_FLOAT32, 0, count, elements));
  for (i = 0; i < count; ++i) elements[i] *= 2;
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = GANTRY_FLOAT32;
  t.rank = info.rank;
  t.dims = info.dims;
  bytes.data = elements;
  bytes.size = count * sizeof(float);
  CALL(h->constant(c, &t, bytes, &y));
  return result1(h, c, y);
}

/* ---- the descriptor ---- */

#define KEY(dialect, domain, op, min, max) {STR(dialect), STR(domain), STR(op), min, max}
/* Wrap(x) {body} = WRAP(x) whose subgraph has x and what the body captures as arguments, and gives NEG of the body's
 * result.  With `data`, it declines with a region half made. */
static gantry_status wrap(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  static const gantry_str name = STR("inside");
  gantry_region body, inside;
  gantry_region_info info;
  gantry_value_info x_info;
  gantry_value x, old_values[2], args[2], y;
  gantry_values results = {&y, 1}, from = {old_values, 0}, to = {args, 0};
  gantry_type t;
  gantry_op_desc d;
  uint64_t i;
  CALL(operand(h, c, n, &x));
  if (h->node_region(c, n, str("nobody"), &body) != GANTRY_ABSENT) return GANTRY_ERROR;
  CALL(h->node_region(c, n, str("body"), &body));
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CALL(h->region_info(c, body, &info));
  if (info.inputs.size != 1 || info.captures.size != 1 || info.outputs.size != 1) return GANTRY_ERROR;
  memset(&x_info, 0, sizeof x_info);
  x_info.struct_size = sizeof x_info;
  CALL(h->value_info(c, x, &x_info));
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = x_info.dtype;
  t.rank = x_info.rank;
  t.dims = x_info.dims;
  old_values[0] = info.inputs.data[0];
  old_values[1] = info.captures.data[0];
  from.size = to.size = 2;
  CALL(h->region_begin(c, str("made"), &inside));
  for (i = 0; i < 2; ++i) CALL(h->region_argument(c, &t, str("arg"), &args[i]));
  CALL(h->region_copy(c, body, from, to, &y));
  CALL(emit1(h, c, "tflite", "", "NEG", y, &y));
  if (data) {
    (void)h->message(c, GANTRY_REASON, str("half made"));
    return GANTRY_DECLINED;
  }
  CALL(h->region_end(c, results));
  args[0] = x;
  args[1] = info.captures.data[0];
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.dialect = str("tflite");
  d.op = str("WRAP");
  d.inputs = to;
  d.output_count = 1;
  d.output_types = &t;
  d.region_names.data = &name;
  d.regions.data = &inside;
  d.region_names.size = d.regions.size = 1;
  CALL(h->emit(c, &d, &y));
  return result1(h, c, y);
}

#define CONVERTER(op, fn) {sizeof(gantry_converter), 0, KEY("onnx", "org.test", op, 1, 0), STR("tflite"), fn, 0}
#define UPGRADE(op, fn) {sizeof(gantry_converter), 0, KEY("onnx", "org.test", op, 1, 1), STR("onnx"), fn, 0}
#define OPERATOR(dialect, domain, opname, min, max, fold_fn, rank, types) \
  {.struct_size = sizeof(gantry_operator),                                \
   .key = KEY(dialect, domain, opname, min, max),                         \
   .infer = infer_like_first,                                             \
   .fold = fold_fn,                                                       \
   .max_rank = rank,                                                      \
   .dtypes = types}

static const gantry_converter converters[] = {
    CONVERTER("Good", good),
    CONVERTER("Declines", declines),
    CONVERTER("Pass", pass),
    CONVERTER("Constant", constant),
    CONVERTER("Attrs", attributes),
    CONVERTER("Deep", deep),
    CONVERTER("Wrap", wrap),
    {sizeof(gantry_converter), 0, KEY("onnx", "org.test", "HalfWrap", 1, 0), STR("tflite"), wrap, "half"},
    UPGRADE("New", old),
    UPGRADE("Again", again),
};
static const gantry_str neg[] = {STR("org.test::Neg")};
static const gantry_pattern patterns[] = {
    {sizeof(gantry_pattern), 1, STR("neg_neg"), KEY("onnx", "org.test", "Neg", 1, 0), {neg, 1}, neg_neg, 0},
    {sizeof(gantry_pattern), 0, STR("late"), KEY("onnx", "org.test", "Late", 1, 0), {0, 0}, late, 0},
};
static const gantry_operator operators[] = {
    OPERATOR("tflite", "", "NEG", 1, 0, 0, 0, 0),
    OPERATOR("tflite", "", "RELU", 1, 0, 0, 6, GANTRY_DTYPE_BIT(GANTRY_FLOAT32) | GANTRY_DTYPE_BIT(GANTRY_INT8)),
    OPERATOR("onnx", "org.test", "New", 1, 2, 0, 0, 0),
    OPERATOR("onnx", "org.test", "Again", 1, 1, 0, 0, 0),
    OPERATOR("onnx", "org.test", "Neg", 1, 0, 0, 0, 0),
    OPERATOR("onnx", "org.test", "Twice", 1, 0, twice, 0, 0),
};
static const gantry_option options[] = {
    {sizeof(gantry_option), GANTRY_ATTR_INT, 1, 0, STR("flag"), STR("false"), STR("A switch")},
    {sizeof(gantry_option), GANTRY_ATTR_INT, 0, 0, STR("level"), STR("3"), STR("A number")},
    {sizeof(gantry_option), GANTRY_ATTR_FLOAT, 0, 0, STR("ratio"), STR("0.5"), STR("A fraction")},
    {sizeof(gantry_option), GANTRY_ATTR_STRING, 0, 0, STR("word"), STR("\"hello\""), STR("A text")},
};
static const gantry_converter* const converter_list[] = {&converters[0], &converters[1], &converters[2], &converters[3],
                                                         &converters[4], &converters[5], &converters[6], &converters[7],
                                                         &converters[8], &converters[9]};
static const gantry_pattern* const pattern_list[] = {&patterns[0], &patterns[1]};
static const gantry_operator* const operator_list[] = {&operators[0], &operators[1], &operators[2],
                                                       &operators[3], &operators[4], &operators[5]};
static const gantry_option* const option_list[] = {&options[0], &options[1], &options[2], &options[3]};

static const gantry_plugin plugin = {
    .struct_size = sizeof(gantry_plugin),
    .abi_major = GANTRY_ABI_MAJOR,
    .abi_minor = GANTRY_ABI_MINOR,
    .id = STR("org.test.good"),
    .version = STR("1.0"),
    .license = STR("Apache-2.0"),
    .description = STR("keeps the contract"),
    .converters = converter_list,
    .converter_count = LENGTH(converter_list),
    .patterns = pattern_list,
    .pattern_count = LENGTH(pattern_list),
    .operators = operator_list,
    .operator_count = LENGTH(operator_list),
    .options = option_list,
    .option_count = LENGTH(option_list),
};

const gantry_plugin* gantry_plugin_entry(void) { return &plugin; }
