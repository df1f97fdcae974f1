/*
 * gantry/abi.h: the contract between the Gantry host and a plugin. Plain C11, nothing but fixed-width integers,
 * (pointer, length) views, opaque handles and function pointers.
 *
 * A plugin is a shared library that exports one symbol, gantry_plugin_entry, which returns a constant descriptor. The
 * descriptor lists what the plugin brings: converters, patterns, operator definitions, formats, options. The host calls
 * the functions in those records and hands each a table of host functions and a context.
 *
 * Ownership and lifetime
 *   - Everything the plugin returns from gantry_plugin_entry is constant and lives until the process ends. The library
 *     stays open.
 *   - The host owns graphs, values, constants and strings. Views that a host function gives out are valid until the
 *     plugin function that asked for them returns, unless stated otherwise.
 *   - Views that the plugin passes to a host function are copied before the call returns.
 * Threads: the host calls a plugin from one thread at a time; a context must not be used from another thread.
 * Errors: functions return a gantry_status. No exception, longjmp, exit or printing may cross. Text goes to
 *   host->message. If a function fails or declines, the host drops all that it emitted.
 * Versions: while the major is 0 the minor must be equal. Every struct begins with its size; fields are only appended;
 *   a field is read only if the size covers it.
 * Strings are UTF-8 views and need no terminating zero. Dimensions are int64, -1 = unknown.
 */
#ifndef GANTRY_ABI_H
#define GANTRY_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GANTRY_ABI_MAJOR 0u
#define GANTRY_ABI_MINOR 1u

/* ---- scalars and views ---------------------------------------------------------------------------------------- */

typedef int32_t gantry_status;
#define GANTRY_OK 0        /* done */
#define GANTRY_DECLINED 1  /* a converter or pattern does not apply; the reason was given by host->message */
#define GANTRY_ERROR 2     /* wrong argument, or the plugin failed; text was given by, or to, host->message */
#define GANTRY_ABSENT 3    /* what was asked for is not there (attribute, option) */

typedef uint32_t gantry_value;  /* a value of the graph; 0 = none (omitted operand) */
typedef uint32_t gantry_node;   /* a node of the graph; 0 = none */
typedef uint32_t gantry_region; /* a subgraph; 0 = none */
typedef struct gantry_context gantry_context; /* one call of a plugin function; opaque */

typedef struct gantry_str { const char* data; uint64_t size; } gantry_str;
typedef struct gantry_strs { const gantry_str* data; uint64_t size; } gantry_strs;
typedef struct gantry_ints { const int64_t* data; uint64_t size; } gantry_ints;
typedef struct gantry_floats { const float* data; uint64_t size; } gantry_floats;
typedef struct gantry_values { const gantry_value* data; uint64_t size; } gantry_values;
typedef struct gantry_bytes { const void* data; uint64_t size; } gantry_bytes;
typedef struct gantry_regions { const gantry_region* data; uint64_t size; } gantry_regions;

/* Element types. */
typedef uint32_t gantry_dtype;
#define GANTRY_UNDEFINED 0u
#define GANTRY_FLOAT32 1u
#define GANTRY_FLOAT16 2u
#define GANTRY_FLOAT64 3u
#define GANTRY_BFLOAT16 4u
#define GANTRY_INT8 5u
#define GANTRY_INT16 6u
#define GANTRY_INT32 7u
#define GANTRY_INT64 8u
#define GANTRY_UINT8 9u
#define GANTRY_UINT16 10u
#define GANTRY_UINT32 11u
#define GANTRY_UINT64 12u
#define GANTRY_BOOL 13u /* one byte, 0 or 1 */
#define GANTRY_STRING 14u
#define GANTRY_COMPLEX64 15u
#define GANTRY_COMPLEX128 16u
#define GANTRY_INT4 17u  /* two a byte, low nibble first */
#define GANTRY_UINT4 18u /* two a byte, low nibble first */
#define GANTRY_DTYPE_BIT(t) (1ull << (t))

/* ---- what the host tells --------------------------------------------------------------------------------------- */

typedef struct gantry_node_info {
  uint32_t struct_size;
  int32_t version;             /* since-version of the operator's form */
  gantry_str dialect, domain, op;
  gantry_str name;             /* the source's name of the node */
  gantry_values inputs;        /* 0 = omitted */
  gantry_values outputs;       /* 0 = not wanted */
  gantry_strs attributes;      /* names, sorted */
  gantry_strs regions;         /* names of its subgraphs */
} gantry_node_info;

typedef struct gantry_value_info {
  uint32_t struct_size;
  gantry_dtype dtype;
  int32_t rank;                /* -1 = unknown */
  uint32_t is_constant;        /* 1 if its elements can be read with constant_read */
  gantry_ints dims;            /* rank entries, -1 = unknown */
  gantry_strs symbols;         /* rank entries; "" where the dimension is known or anonymous */
  gantry_str name;
  gantry_node producer;        /* 0 for inputs and constants */
  uint32_t result;             /* which result of the producer */
  uint32_t use_count;          /* operands that use it, plus outputs of the graph or a subgraph that are it */
  uint32_t output_count;       /* of these, outputs */
} gantry_value_info;

/* An attribute's or option's value. Exactly the member that `kind` names is set. */
typedef uint32_t gantry_attr_kind;
#define GANTRY_ATTR_INT 1u    /* i; also booleans (0 or 1) */
#define GANTRY_ATTR_FLOAT 2u  /* f */
#define GANTRY_ATTR_STRING 3u /* s; also enumerators of a target, by name */
#define GANTRY_ATTR_INTS 4u
#define GANTRY_ATTR_FLOATS 5u
#define GANTRY_ATTR_STRINGS 6u
#define GANTRY_ATTR_TENSOR 7u /* value: a constant */

typedef struct gantry_attr {
  uint32_t struct_size;
  gantry_attr_kind kind;
  gantry_str name;
  int64_t i;
  double f;                    /* exactly a float32 where the source has float32 */
  gantry_str s;
  gantry_ints ints;
  gantry_floats floats;
  gantry_strs strings;
  gantry_value value;
  uint32_t reserved;
} gantry_attr;

typedef struct gantry_type {
  uint32_t struct_size;
  gantry_dtype dtype;
  int32_t rank;                /* -1 = unknown */
  uint32_t reserved;
  gantry_ints dims;            /* rank entries, -1 = unknown */
  gantry_strs symbols;         /* empty, or rank entries */
} gantry_type;

typedef struct gantry_region_info {
  uint32_t struct_size;
  uint32_t node_count;         /* nodes in it, with those of regions inside */
  gantry_str name;
  gantry_values inputs;
  gantry_values outputs;
  gantry_values captures;      /* values of outside that it, or a region inside, uses; in order of first use, without
                                  constants, which may be used anywhere */
} gantry_region_info;

/* ---- what a plugin asks for ------------------------------------------------------------------------------------ */

/* A node to be made. It goes right before the node that the call is about, in that node's region. */
typedef struct gantry_op_desc {
  uint32_t struct_size;
  int32_t version;             /* 0 = the newest form that the operator's definition knows, else since-version */
  gantry_str dialect, domain, op;
  gantry_values inputs;
  const gantry_attr* attributes; /* array, stride = its first element's struct_size */
  uint64_t attribute_count;
  uint64_t output_count;
  const gantry_type* output_types; /* null: inferred by the operator's definition; else output_count of them */
  gantry_str name;             /* "" = that of the node that the call is about */
  gantry_strs region_names;    /* of its subgraphs, one for each of `regions`; may repeat */
  gantry_regions regions;      /* made with region_begin, ended, and not yet another node's */
} gantry_op_desc;

/* A constant made from another without touching its elements: carried out when the file is written. */
typedef uint32_t gantry_transform_kind;
#define GANTRY_PERMUTE 1u    /* ints: result axis i is source axis ints[i] */
#define GANTRY_RESHAPE 2u    /* ints: new dims, same number of elements */
#define GANTRY_SLICE 3u      /* ints: starts, then steps, then sizes; 3 * rank entries */
#define GANTRY_CAST 4u       /* dtype */
#define GANTRY_SCALE_AXIS 5u /* axis, floats: multiplied along the axis, in float32 */
#define GANTRY_SHIFT_AXIS 6u /* axis, floats: added along the axis, in float32 */

typedef struct gantry_transform {
  uint32_t struct_size;
  gantry_transform_kind kind;
  gantry_ints ints;
  gantry_floats floats;
  int64_t axis;
  gantry_dtype dtype;
  uint32_t reserved;
} gantry_transform;

typedef uint32_t gantry_severity;
#define GANTRY_REASON 0u  /* why a converter or pattern declines, or a function fails; reported only then */
#define GANTRY_NOTE 1u
#define GANTRY_WARNING 2u

typedef struct gantry_host {
  uint32_t struct_size;
  uint32_t abi_major, abi_minor;
  uint32_t reserved;

  /* Reading. All give GANTRY_ERROR for a handle that is not of this graph. */
  gantry_status (*node_info)(gantry_context*, gantry_node, gantry_node_info* out);
  gantry_status (*value_info)(gantry_context*, gantry_value, gantry_value_info* out);
  gantry_status (*node_attr)(gantry_context*, gantry_node, gantry_str name, gantry_attr* out); /* or GANTRY_ABSENT */
  /* Elements [first, first + count) in row-major order, converted to dtype (float to integer truncates), into `out`,
   * which holds `count` elements of dtype. */
  gantry_status (*constant_read)(gantry_context*, gantry_value, gantry_dtype, uint64_t first, uint64_t count, void* out);
  /* Nodes that use a value, each as often as it does. */
  gantry_status (*value_users)(gantry_context*, gantry_value, const gantry_node** out, uint64_t* count);
  /* An option declared by this plugin, from [plugins."ID"], else its default. */
  gantry_status (*option)(gantry_context*, gantry_str name, gantry_attr* out);

  /* Making. */
  gantry_status (*emit)(gantry_context*, const gantry_op_desc*, gantry_value* outputs);
  gantry_status (*constant)(gantry_context*, const gantry_type*, gantry_bytes elements, gantry_value* out);
  gantry_status (*constant_transform)(gantry_context*, gantry_value, const gantry_transform*, gantry_value* out);

  /* Results, by the kind of function that is being called:
   * - converter: the values that stand for the node's results from now on; one for each (0 where the node has none).
   *   Their types must agree with the node's.
   * - pattern: replaces uses of the given value; may be called several times.
   * - folder: the values must be constants. */
  gantry_status (*set_results)(gantry_context*, gantry_values);
  gantry_status (*replace)(gantry_context*, gantry_value old_value, gantry_value new_value);
  /* Type inference: the type of result `index`. */
  gantry_status (*set_type)(gantry_context*, uint64_t index, const gantry_type*);

  gantry_status (*message)(gantry_context*, gantry_severity, gantry_str text);
  /* GANTRY_OK if some open plugin, or the host, defines the operator; else GANTRY_ABSENT. */
  gantry_status (*has_definition)(gantry_context*, gantry_str dialect, gantry_str domain, gantry_str op);

  /* Reading a file (gantry_format). Names of inputs are distinct, those of outputs too. */
  gantry_status (*add_input)(gantry_context*, gantry_str name, const gantry_type*, gantry_value* out);
  gantry_status (*add_output)(gantry_context*, gantry_str name, gantry_value);
  /* Regions. A converter builds one from nothing, or copies what is in a region of the node that it converts, or both;
   * then emit gives it to a node. Between region_begin and region_end emit makes nodes at the end of that region; begins
   * nest. Nodes in a region may use what is known where the region's node will stand: whether the target can say that
   * is the converter's business (TFLite cannot: there every value from outside must be an operand and an argument). */
  gantry_status (*node_region)(gantry_context*, gantry_node, gantry_str name, gantry_region* out); /* or GANTRY_ABSENT */
  gantry_status (*region_info)(gantry_context*, gantry_region, gantry_region_info* out);
  gantry_status (*region_begin)(gantry_context*, gantry_str name, gantry_region* out);
  /* An argument of the region begun last. */
  gantry_status (*region_argument)(gantry_context*, const gantry_type*, gantry_str name, gantry_value* out);
  /* Ends the region begun last, with these results. */
  gantry_status (*region_end)(gantry_context*, gantry_values results);
  /* Copies the nodes of a region, with regions inside, to where emit makes nodes now. For each i, old_values[i] becomes
   * new_values[i], whose type must say at least as much: every input of the region, and any captures. `results` gets a
   * value for each output of the region. The region itself stays as it is. */
  gantry_status (*region_copy)(gantry_context*, gantry_region, gantry_values old_values, gantry_values new_values,
                               gantry_value* results);
} gantry_host;

/* ---- what a plugin brings -------------------------------------------------------------------------------------- */

/* A call about one node. `data` is the record's own data. */
typedef gantry_status (*gantry_node_fn)(const gantry_host*, gantry_context*, gantry_node, const void* data);

/* Versions are since-versions of the operator, both ends included; max_version 0 = no end. */
typedef struct gantry_op_key {
  gantry_str dialect, domain, op;
  int32_t min_version, max_version;
} gantry_op_key;

/* Turns one node into nodes of `target`. If target is the node's own dialect it is an upgrade: it rewrites an old form
 * into the newest one. */
typedef struct gantry_converter {
  uint32_t struct_size;
  int32_t priority;            /* the highest wins; 0 is usual */
  gantry_op_key key;
  gantry_str target;
  gantry_node_fn convert;
  const void* data;
} gantry_converter;

/* Turns a matched subgraph into fewer nodes of the same dialect. The function is called for every node of the root
 * operator; it looks around, and rewrites with emit and replace, or returns GANTRY_DECLINED (without a reason is fine). */
typedef struct gantry_pattern {
  uint32_t struct_size;
  int32_t priority;            /* higher is tried first */
  gantry_str name;             /* for the report and the off switch, e.g. "conv_batch_norm" */
  gantry_op_key root;
  gantry_strs also;            /* operators ("Name" or "domain::Name") that must occur too for the pattern to apply */
  gantry_node_fn rewrite;
  const void* data;
} gantry_pattern;

/* What may be done about an element type that the kernel lacks, besides computing in a wider number and casting back. */
#define GANTRY_OP_MOVES 1u   /* elements of results are elements of operands: any type of the same size does */
#define GANTRY_OP_ORDERED 2u /* elements of results are chosen by order: any type that keeps the order does */
#define GANTRY_OP_MODULAR 4u /* integers wrap: the sign does not matter, only the width */

/* What one plugin, the owner of the domain, declares of an operator. */
typedef struct gantry_operator {
  uint32_t struct_size;
  uint32_t flags;              /* GANTRY_OP_* */
  gantry_op_key key;
  gantry_node_fn infer;        /* set_type for each result; null if the host knows (ai.onnx) */
  const void* infer_data;
  gantry_node_fn fold;         /* all operands constant: set_results, or GANTRY_DECLINED; null = never folded */
  const void* fold_data;
  /* Limits of the target's kernel. */
  int32_t min_rank, max_rank;  /* of every operand and result; max_rank 0 = no limit */
  uint64_t dtypes;             /* bits GANTRY_DTYPE_BIT that result 0 may have; 0 = any */
  gantry_str note;             /* for people: what is special; may be empty */
  uint64_t operand_dtypes;     /* bits GANTRY_DTYPE_BIT that operand 0 may have; 0 = any */
  gantry_str layout;           /* which orders of axes it can run in, in the notation of docs/layout.md; empty: the
                                  logical order of every operand and result */
} gantry_operator;

/* A file that is to be read. */
typedef struct gantry_file {
  uint32_t struct_size;
  uint32_t reserved;
  gantry_str path;             /* as the user gave it; files that belong to it are looked for in its folder only */
  gantry_bytes bytes;          /* the whole file, mapped. A constant whose elements lie within is not copied */
} gantry_file;

/* Reads files of one kind into a graph: add_input, then constant and emit in the order of computation, then add_output.
 * What emit makes may have no known types. `read` returns GANTRY_DECLINED with a reason where the file is sound but
 * holds what cannot be read, GANTRY_ERROR with a reason where it is damaged. */
typedef struct gantry_format {
  uint32_t struct_size;
  uint32_t reserved;
  gantry_str name;             /* for people and the report: "Keras HDF5" */
  gantry_str dialect;          /* of the nodes that it makes */
  gantry_strs extensions;      /* with the dot, in lower case; the first bytes decide before them */
  gantry_bytes magic;          /* how such files begin; may be empty: by extension alone */
  gantry_status (*read)(const gantry_host*, gantry_context*, const gantry_file*, const void* data);
  const void* data;
} gantry_format;

typedef struct gantry_option {
  uint32_t struct_size;
  gantry_attr_kind kind;       /* GANTRY_ATTR_INT, _FLOAT, _STRING; booleans are ints with boolean = 1 */
  uint32_t boolean;
  uint32_t reserved;
  gantry_str name;
  gantry_str default_text;     /* as in TOML */
  gantry_str help;
} gantry_option;

typedef struct gantry_plugin {
  uint32_t struct_size;
  uint32_t abi_major;          /* GANTRY_ABI_MAJOR that it was built with */
  uint32_t abi_minor;          /* the lowest minor that it needs */
  uint32_t reserved;
  gantry_str id;               /* reverse domain, e.g. "org.gantry.core-ops" */
  gantry_str version, license, description;
  gantry_strs depends;         /* identifiers of plugins that are opened with it */
  const gantry_converter* const* converters;
  uint64_t converter_count;
  const gantry_pattern* const* patterns;
  uint64_t pattern_count;
  const gantry_operator* const* operators;
  uint64_t operator_count;
  const gantry_option* const* options;
  uint64_t option_count;
  const gantry_format* const* formats;
  uint64_t format_count;
} gantry_plugin;

#if defined(__GNUC__)
#define GANTRY_EXPORT __attribute__((visibility("default")))
#else
#define GANTRY_EXPORT
#endif

/* The one exported symbol. Must not fail; called once, before anything else. */
GANTRY_EXPORT const gantry_plugin* gantry_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* GANTRY_ABI_H */
