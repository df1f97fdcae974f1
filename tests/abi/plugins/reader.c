/* A reader of files that begin with "letters:". Each byte after that does one thing:
 *   i  an input "x", float32[2]       n  a node Letter on the last value, without types
 *   w  a constant float32[2] of the next 8 bytes of the file, as an operand of a node Weight with the last value
 *   o  the last value is the output "y"
 *   d  declines    e  fails    others: fails */
#include "plugin.h"

static gantry_status make(const gantry_host* h, gantry_context* c, const char* op, const gantry_value* in, uint64_t n,
                          gantry_value* out) {
  gantry_op_desc d;
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.version = 1;
  d.dialect = str("letters");
  d.op = str(op);
  d.name = str(op);
  d.inputs.data = in;
  d.inputs.size = n;
  d.output_count = 1;
  return h->emit(c, &d, out);
}

static gantry_status read_letters(const gantry_host* h, gantry_context* c, const gantry_file* file, const void* data) {
  static const int64_t two[] = {2};
  const char* text = file->bytes.data;
  gantry_type type;
  gantry_value last = 0, pair[2];
  gantry_bytes weight;
  uint64_t i;
  (void)data;
  memset(&type, 0, sizeof type);
  type.struct_size = sizeof type;
  type.dtype = GANTRY_FLOAT32;
  type.rank = 1;
  type.dims.data = two;
  type.dims.size = 1;
  for (i = 8; i < file->bytes.size; ++i) {
    switch (text[i]) {
      case 'i':
        CALL(h->add_input(c, str("x"), &type, &last));
        break;
      case 'n':
        CALL(make(h, c, "Letter", &last, 1, &last));
        break;
      case 'w':
        weight.data = text + i + 1;
        weight.size = 8;
        pair[0] = last;
        CALL(h->constant(c, &type, weight, &pair[1]));
        CALL(make(h, c, "Weight", pair, 2, &last));
        i += 8;
        break;
      case 'o':
        CALL(h->add_output(c, str("y"), last));
        break;
      case 'd':
        (void)h->message(c, GANTRY_REASON, str("a letter d cannot be read"));
        return GANTRY_DECLINED;
      default:
        (void)h->message(c, GANTRY_REASON, str("no such letter"));
        return GANTRY_ERROR;
    }
  }
  return GANTRY_OK;
}

static const gantry_str extensions[] = {STR(".letters")};
static const gantry_format format = {.struct_size = sizeof(gantry_format),
                                     .name = STR("Letters"),
                                     .dialect = STR("letters"),
                                     .extensions = {extensions, 1},
                                     .magic = {"letters:", 8},
                                     .read = read_letters};
static const gantry_format* const formats[] = {&format};
static const gantry_plugin plugin = {.struct_size = sizeof(gantry_plugin),
                                     .abi_major = GANTRY_ABI_MAJOR,
                                     .abi_minor = GANTRY_ABI_MINOR,
                                     .id = STR("org.test.reader"),
                                     .version = STR("1.0"),
                                     .formats = formats,
                                     .format_count = 1};

const gantry_plugin* gantry_plugin_entry(void) { return &plugin; }
