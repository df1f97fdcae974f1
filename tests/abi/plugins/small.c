/* Small plugins, one for each set of definitions: ID, PRIORITY, EMITS, and what is wrong with it, if anything.
 *   converts org.test::Shared to the custom operator EMITS */
#include "plugin.h"

#ifndef ID
#define ID "org.test.small"
#endif
#ifndef PRIORITY
#define PRIORITY 0
#endif
#ifndef EMITS
#define EMITS "SMALL"
#endif
#ifndef ABI_MAJOR
#define ABI_MAJOR GANTRY_ABI_MAJOR
#endif
#ifndef ABI_MINOR
#define ABI_MINOR GANTRY_ABI_MINOR
#endif
#ifndef STRUCT_SIZE
#define STRUCT_SIZE sizeof(gantry_plugin)
#endif

static gantry_status shared(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  gantry_value x, y;
  (void)data;
  CALL(operand(h, c, n, &x));
  CALL(emit1(h, c, "tflite", ID, EMITS, x, &y));
  return result1(h, c, y);
}

static const gantry_converter converter = {
    sizeof(gantry_converter), PRIORITY, {STR("onnx"), STR("org.test"), STR("Shared"), 1, 0}, STR("tflite"), shared, 0};
static const gantry_operator operator_ = {.struct_size = sizeof(gantry_operator),
                                          .key = {STR("tflite"), STR(ID), STR(EMITS), 1, 0},
                                          .infer = infer_like_first};
static const gantry_converter* const converters[] = {&converter};
static const gantry_operator* const operators[] = {&operator_};
#ifdef DEPENDS
static const gantry_str depends[] = {STR(DEPENDS)};
#endif

static const gantry_plugin plugin = {
    .struct_size = STRUCT_SIZE,
    .abi_major = ABI_MAJOR,
    .abi_minor = ABI_MINOR,
    .id = STR(ID),
    .version = STR("1.0"),
#ifdef DEPENDS
    .depends = {depends, 1},
#endif
    .converters = converters,
    .converter_count = 1,
    .operators = operators,
    .operator_count = 1,
};

#ifdef RETURNS_NULL
static const gantry_plugin* unused(void) { return &plugin; }
const gantry_plugin* gantry_plugin_entry(void) { return unused() ? 0 : &plugin; }
#elif defined(NO_ENTRY)
GANTRY_EXPORT const gantry_plugin* another_entry(void);
const gantry_plugin* another_entry(void) { return &plugin; }
#else
const gantry_plugin* gantry_plugin_entry(void) { return &plugin; }
#endif
