/* What the plain C plugins of tests/abi share. */
#ifndef GANTRY_TESTS_ABI_PLUGIN_H
#define GANTRY_TESTS_ABI_PLUGIN_H

#include <string.h>

#include <gantry/abi.h>

#define STR(s) {"" s, sizeof(s) - 1}
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

#define CALL(expr)                            \
  do {                                        \
    const gantry_status status_ = (expr);     \
    if (status_ != GANTRY_OK) return status_; \
  } while (0)

static inline gantry_str str(const char* s) {
  gantry_str view = {s, strlen(s)};
  return view;
}

/* Operand 0 and the node's version. */
static inline gantry_status operand(const gantry_host* h, gantry_context* c, gantry_node n, gantry_value* x) {
  gantry_node_info info;
  info.struct_size = sizeof info;
  CALL(h->node_info(c, n, &info));
  *x = info.inputs.size ? info.inputs.data[0] : 0;
  return GANTRY_OK;
}

/* A node of one operand and one result, whose type its definition infers. */
static inline gantry_status emit1(const gantry_host* h, gantry_context* c, const char* dialect, const char* domain,
                                  const char* op, gantry_value x, gantry_value* y) {
  gantry_op_desc d;
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.dialect = str(dialect);
  d.domain = str(domain);
  d.op = str(op);
  d.inputs.data = &x;
  d.inputs.size = 1;
  d.output_count = 1;
  return h->emit(c, &d, y);
}

static inline gantry_status result1(const gantry_host* h, gantry_context* c, gantry_value y) {
  const gantry_values results = {&y, 1};
  return h->set_results(c, results);
}

/* Inference: result 0 is of the type of operand 0. */
static inline gantry_status infer_like_first(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x;
  gantry_value_info info;
  gantry_type t;
  (void)data;
  CALL(operand(h, c, n, &x));
  info.struct_size = sizeof info;
  CALL(h->value_info(c, x, &info));
  memset(&t, 0, sizeof t);
  t.struct_size = sizeof t;
  t.dtype = info.dtype;
  t.rank = info.rank;
  t.dims = info.dims;
  t.symbols = info.symbols;
  return h->set_type(c, 0, &t);
}

#endif
