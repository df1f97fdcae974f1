/* A plugin whose functions break the contract, each in one way. The host must say so and lose nothing. */
#include "plugin.h"

/* Emits, then fails. */
static gantry_status fails(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "tflite", "", "ABS", x, &x));
  (void)h->message(c, GANTRY_REASON, str("out of luck"));
  return GANTRY_ERROR;
}

/* ABS of a float32 is no int32. */
static gantry_status wrong_type(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  static const int64_t dims[1] = {2};
  gantry_type t;
  gantry_op_desc d;
  gantry_value x, y;
  (void)data;
  CALL(operand(h, c, n, &x));
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = GANTRY_INT32;
  t.rank = 1;
  t.dims.data = dims;
  t.dims.size = 1;
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.dialect = str("tflite");
  d.op = str("ABS");
  d.inputs.data = &x;
  d.inputs.size = 1;
  d.output_count = 1;
  d.output_types = &t;
  CALL(h->emit(c, &d, &y));
  return result1(h, c, y);
}

static gantry_status no_results(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  (void)data;
  CALL(operand(h, c, n, &x));
  return emit1(h, c, "tflite", "", "ABS", x, &x);
}

static gantry_status strange_status(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  (void)h, (void)c, (void)n, (void)data;
  return 77;
}

static gantry_status undefined(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  (void)data;
  CALL(operand(h, c, n, &x));
  return emit1(h, c, "tflite", "", "NOBODY", x, &x);
}

static gantry_status wrong_dialect(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  (void)data;
  CALL(operand(h, c, n, &x));
  return emit1(h, c, "onnx", "", "Abs", x, &x);
}

/* ---- every function with arguments that it must refuse; the text of an attribute says how far it came ---- */

static const char* not_refused;
#define REFUSED(expr)                                             \
  do {                                                            \
    if ((expr) == GANTRY_OK && !not_refused) not_refused = #expr; \
  } while (0)

static void garbage_handles(const gantry_host* h, gantry_context* c, gantry_node n, gantry_value x) {
  gantry_node_info node;
  gantry_value_info value;
  gantry_attr attr;
  const gantry_node* users;
  uint64_t count;
  float f;
  static const gantry_value handles[] = {0xffffffffu, 0x7fffffffu, 1000000u};
  uint64_t i;
  node.struct_size = sizeof node;
  value.struct_size = sizeof value;
  attr.struct_size = sizeof attr;
  for (i = 0; i < LENGTH(handles); ++i) {
    REFUSED(h->node_info(c, handles[i], &node));
    REFUSED(h->value_info(c, handles[i], &value));
    REFUSED(h->node_attr(c, handles[i], str("a"), &attr));
    REFUSED(h->value_users(c, handles[i], &users, &count));
    REFUSED(h->constant_read(c, handles[i], GANTRY_FLOAT32, 0, 1, &f));
    REFUSED(h->replace(c, handles[i], handles[i]));
    REFUSED(result1(h, c, handles[i]));
    REFUSED(emit1(h, c, "tflite", "", "ABS", handles[i], &x));
  }
  REFUSED(h->node_info(c, 0, &node));
  REFUSED(h->value_info(c, 0, &value));
  REFUSED(h->constant_read(c, x, GANTRY_FLOAT32, 0, 1, &f)); /* no constant */
  REFUSED(h->node_info(0, n, &node));
  REFUSED(h->message(0, GANTRY_NOTE, str("x")));
}

static void garbage_structs(const gantry_host* h, gantry_context* c, gantry_node n, gantry_value x) {
  static const char not_utf8[] = "\xff\xfe";
  gantry_node_info node;
  gantry_value_info value;
  gantry_attr attrs[2];
  gantry_op_desc d;
  gantry_value out[2000];
  gantry_str s;
  REFUSED(h->node_info(c, n, 0));
  REFUSED(h->value_info(c, x, 0));
  node.struct_size = 8;
  REFUSED(h->node_info(c, n, &node));
  value.struct_size = 0;
  REFUSED(h->value_info(c, x, &value));
  REFUSED(h->node_attr(c, n, str("a"), 0));
  REFUSED(h->value_users(c, x, 0, 0));
  REFUSED(h->emit(c, 0, out));

  memset(&d, 0, sizeof d);
  d.dialect = str("tflite");
  d.op = str("ABS");
  d.inputs.data = &x;
  d.inputs.size = 1;
  d.output_count = 1;
  REFUSED(h->emit(c, &d, out)); /* struct_size 0 */
  d.struct_size = sizeof d;
  REFUSED(h->emit(c, &d, 0));
  d.output_count = 1u << 30;
  REFUSED(h->emit(c, &d, out));
  d.output_count = 1;
  d.inputs.size = UINT64_MAX;
  REFUSED(h->emit(c, &d, out));
  d.inputs.data = 0;
  d.inputs.size = 1;
  REFUSED(h->emit(c, &d, out));
  d.inputs.data = &x;
  d.version = -1;
  REFUSED(h->emit(c, &d, out));
  d.version = 0;
  d.op = str("");
  REFUSED(h->emit(c, &d, out));
  s.data = not_utf8;
  s.size = 2;
  d.op = s;
  REFUSED(h->emit(c, &d, out));
  s.data = 0;
  d.op = s;
  REFUSED(h->emit(c, &d, out));
  d.op = str("ABS");
  d.attribute_count = 1;
  REFUSED(h->emit(c, &d, out)); /* attributes null */
  d.attribute_count = UINT64_MAX;
  d.attributes = attrs;
  REFUSED(h->emit(c, &d, out));
  memset(attrs, 0, sizeof attrs);
  d.attribute_count = 2;
  REFUSED(h->emit(c, &d, out)); /* struct_size 0 */
  attrs[0].struct_size = attrs[1].struct_size = sizeof attrs[0];
  REFUSED(h->emit(c, &d, out)); /* no name */
  attrs[0].name = attrs[1].name = str("a");
  REFUSED(h->emit(c, &d, out)); /* no kind */
  attrs[0].kind = attrs[1].kind = GANTRY_ATTR_INT;
  REFUSED(h->emit(c, &d, out)); /* twice the same name */
  attrs[1].name = str("b");
  attrs[1].kind = GANTRY_ATTR_TENSOR;
  attrs[1].value = x;
  REFUSED(h->emit(c, &d, out)); /* no constant */
  attrs[1].kind = GANTRY_ATTR_INTS;
  attrs[1].ints.size = 3;
  REFUSED(h->emit(c, &d, out)); /* null */
}

static void garbage_constants(const gantry_host* h, gantry_context* c) {
  static const int64_t dims[2] = {2, 2}, huge[2] = {INT64_MAX, INT64_MAX}, negative[2] = {2, -1};
  static const unsigned char elements[16] = {2};
  static const float one = 1;
  const gantry_bytes bytes = {elements, sizeof elements}, few = {elements, 3}, null = {0, 16}, four = {elements, 4};
  gantry_transform tr;
  gantry_type t;
  gantry_value v = 0, w;
  float out[8];
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = GANTRY_FLOAT32;
  t.rank = 2;
  t.dims.size = 2;
  REFUSED(h->constant(c, &t, bytes, &v)); /* dims null */
  t.dims.data = dims;
  REFUSED(h->constant(c, 0, bytes, &v));
  REFUSED(h->constant(c, &t, bytes, 0));
  REFUSED(h->constant(c, &t, few, &v));
  REFUSED(h->constant(c, &t, null, &v));
  t.dims.data = huge;
  REFUSED(h->constant(c, &t, bytes, &v));
  t.dims.data = negative;
  REFUSED(h->constant(c, &t, bytes, &v));
  t.dims.data = dims;
  t.rank = 3;
  REFUSED(h->constant(c, &t, bytes, &v));
  t.rank = INT32_MIN;
  REFUSED(h->constant(c, &t, bytes, &v));
  t.rank = 2;
  t.dtype = 99;
  REFUSED(h->constant(c, &t, bytes, &v));
  t.dtype = GANTRY_STRING;
  REFUSED(h->constant(c, &t, bytes, &v));
  t.dtype = GANTRY_BOOL;
  REFUSED(h->constant(c, &t, four, &v)); /* a 2 */
  t.dtype = GANTRY_FLOAT32;
  if (h->constant(c, &t, bytes, &v) != GANTRY_OK) not_refused = "a good constant was refused";

  REFUSED(h->constant_read(c, v, GANTRY_FLOAT32, 0, 5, out));
  REFUSED(h->constant_read(c, v, GANTRY_FLOAT32, UINT64_MAX, 2, out));
  REFUSED(h->constant_read(c, v, GANTRY_FLOAT32, 0, 4, 0));
  REFUSED(h->constant_read(c, v, GANTRY_STRING, 0, 1, out));
  REFUSED(h->constant_read(c, v, 12345, 0, 1, out));

  REFUSED(h->constant_transform(c, v, 0, &w));
  memset(&tr, 0, sizeof tr);
  REFUSED(h->constant_transform(c, v, &tr, &w)); /* struct_size 0 */
  tr.struct_size = sizeof tr;
  REFUSED(h->constant_transform(c, v, &tr, &w)); /* no kind */
  tr.kind = GANTRY_PERMUTE;
  REFUSED(h->constant_transform(c, v, &tr, &w)); /* too few */
  tr.ints.data = huge;
  tr.ints.size = 2;
  REFUSED(h->constant_transform(c, v, &tr, &w));
  tr.kind = GANTRY_RESHAPE;
  REFUSED(h->constant_transform(c, v, &tr, &w));
  tr.ints.data = negative;
  REFUSED(h->constant_transform(c, v, &tr, &w));
  tr.kind = GANTRY_SLICE;
  REFUSED(h->constant_transform(c, v, &tr, &w));
  tr.kind = GANTRY_SCALE_AXIS;
  tr.axis = INT64_MIN;
  tr.floats.data = &one;
  tr.floats.size = 1;
  REFUSED(h->constant_transform(c, v, &tr, &w));
  tr.axis = 0;
  REFUSED(h->constant_transform(c, v, &tr, &w)); /* one factor for two */
  tr.kind = GANTRY_CAST;
  tr.dtype = 99;
  REFUSED(h->constant_transform(c, v, &tr, &w));
}

static void garbage_regions(const gantry_host* h, gantry_context* c, gantry_node n, gantry_value x) {
  const gantry_values none = {0, 0}, one = {&x, 1};
  gantry_region_info info;
  gantry_region r = 0;
  gantry_value y = 0;
  gantry_type t;
  gantry_op_desc d;
  static const gantry_str name = STR("inside");
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  REFUSED(h->node_region(c, n, str("body"), 0));
  REFUSED(h->node_region(c, 12345, str("body"), &r));
  REFUSED(h->region_info(c, 0, &info));
  REFUSED(h->region_info(c, 12345, &info));
  REFUSED(h->region_info(c, 1, 0));
  REFUSED(h->region_end(c, none));
  REFUSED(h->region_argument(c, &t, str("a"), &y));
  REFUSED(h->region_copy(c, 12345, none, none, &y));
  REFUSED(h->region_copy(c, 1, one, none, &y));
  REFUSED(h->region_begin(c, str("r"), 0));
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.dialect = str("tflite");
  d.op = str("ABS");
  d.inputs = one;
  d.output_count = 1;
  d.region_names.data = &name;
  d.regions.data = &r;
  d.region_names.size = 1;
  REFUSED(h->emit(c, &d, &y)); /* a name and no region */
  d.regions.size = 1;
  r = 1;
  REFUSED(h->emit(c, &d, &y)); /* the main region */
  if (h->region_begin(c, str("r"), &r) != GANTRY_OK) not_refused = "region_begin works";
  REFUSED(h->region_copy(c, r, none, none, &y));
  REFUSED(h->emit(c, &d, &y)); /* still open */
  REFUSED(result1(h, c, x));
}

static gantry_status garbage(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  gantry_type t;
  const gantry_values none = {0, 0}, many = {0, 12};
  (void)data;
  CALL(operand(h, c, n, &x));
  not_refused = 0;
  garbage_handles(h, c, n, x);
  garbage_structs(h, c, n, x);
  garbage_constants(h, c);
  garbage_regions(h, c, n, x);
  REFUSED(h->set_results(c, none));
  REFUSED(h->set_results(c, many));
  REFUSED(result1(h, c, 0));
  REFUSED(h->replace(c, x, x)); /* for patterns only */
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  REFUSED(h->set_type(c, 0, &t)); /* for inference only */
  REFUSED(h->message(c, 9, str("x")));
  REFUSED(h->has_definition(c, str(""), str(""), str("")));
  (void)h->message(c, GANTRY_REASON, str(not_refused ? not_refused : "all was refused"));
  return GANTRY_DECLINED;
}

/* Inference that says what cannot be. */
static gantry_status infer_badly(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_type t;
  (void)n, (void)data;
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = GANTRY_INT64;
  t.rank = -1;
  return h->set_type(c, 0, &t);
}

/* ---- the descriptor ---- */

#define KEY(dialect, domain, op) {STR(dialect), STR(domain), STR(op), 1, 0}
#define CONVERTER(op, fn) {sizeof(gantry_converter), 0, KEY("onnx", "org.bad", op), STR("tflite"), fn, 0}

static const gantry_converter converters[] = {
    CONVERTER("Fails", fails),           CONVERTER("WrongType", wrong_type), CONVERTER("NoResults", no_results),
    CONVERTER("Status", strange_status), CONVERTER("Undefined", undefined),  CONVERTER("Dialect", wrong_dialect),
    CONVERTER("Garbage", garbage),
};
static const gantry_operator operators[] = {
    {.struct_size = sizeof(gantry_operator), .key = KEY("tflite", "", "ABS"), .infer = infer_like_first},
    {.struct_size = sizeof(gantry_operator), .key = KEY("onnx", "org.bad", "Infers"), .infer = infer_badly},
};
static const gantry_converter* const converter_list[] = {&converters[0], &converters[1], &converters[2], &converters[3],
                                                         &converters[4], &converters[5], &converters[6]};
static const gantry_operator* const operator_list[] = {&operators[0], &operators[1]};

static const gantry_plugin plugin = {
    .struct_size = sizeof(gantry_plugin),
    .abi_major = GANTRY_ABI_MAJOR,
    .abi_minor = GANTRY_ABI_MINOR,
    .id = STR("org.test.bad"),
    .version = STR("1.0"),
    .converters = converter_list,
    .converter_count = LENGTH(converter_list),
    .operators = operator_list,
    .operator_count = LENGTH(operator_list),
};

const gantry_plugin* gantry_plugin_entry(void) { return &plugin; }
