// The layout of every struct of the ABI, against a table and against a copy of the header. Both fail on any change,
// which then is either a mistake, or the next version: raise GANTRY_ABI_MINOR, run the test with
// GANTRY_UPDATE_GOLDEN=1, and commit what it writes beside what was there. (From 1.0 on the old copies stay, and must
// stay true.)
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "gantry/abi.h"

namespace gantry::test {
namespace {

struct Row {
  const char *type, *field;  // field: null for the struct itself
  std::size_t offset, size;  // of the struct itself: its alignment, and its size
};

// clang-format off
#define STRUCT(s) {#s, nullptr, alignof(s), sizeof(s)}
#define FIELD(s, f) {#s, #f, offsetof(s, f), sizeof(s::f)}
constexpr Row kRows[] = {
    STRUCT(gantry_str),
    FIELD(gantry_str, data), FIELD(gantry_str, size),
    STRUCT(gantry_strs),
    FIELD(gantry_strs, data), FIELD(gantry_strs, size),
    STRUCT(gantry_ints),
    FIELD(gantry_ints, data), FIELD(gantry_ints, size),
    STRUCT(gantry_floats),
    FIELD(gantry_floats, data), FIELD(gantry_floats, size),
    STRUCT(gantry_values),
    FIELD(gantry_values, data), FIELD(gantry_values, size),
    STRUCT(gantry_bytes),
    FIELD(gantry_bytes, data), FIELD(gantry_bytes, size),
    STRUCT(gantry_regions),
    FIELD(gantry_regions, data), FIELD(gantry_regions, size),
    STRUCT(gantry_node_info),
    FIELD(gantry_node_info, struct_size), FIELD(gantry_node_info, version), FIELD(gantry_node_info, dialect),
    FIELD(gantry_node_info, domain), FIELD(gantry_node_info, op), FIELD(gantry_node_info, name),
    FIELD(gantry_node_info, inputs), FIELD(gantry_node_info, outputs), FIELD(gantry_node_info, attributes),
    FIELD(gantry_node_info, regions),
    STRUCT(gantry_value_info),
    FIELD(gantry_value_info, struct_size), FIELD(gantry_value_info, dtype), FIELD(gantry_value_info, rank),
    FIELD(gantry_value_info, is_constant), FIELD(gantry_value_info, dims), FIELD(gantry_value_info, symbols),
    FIELD(gantry_value_info, name), FIELD(gantry_value_info, producer), FIELD(gantry_value_info, result),
    FIELD(gantry_value_info, use_count), FIELD(gantry_value_info, output_count),
    STRUCT(gantry_attr),
    FIELD(gantry_attr, struct_size), FIELD(gantry_attr, kind), FIELD(gantry_attr, name), FIELD(gantry_attr, i),
    FIELD(gantry_attr, f), FIELD(gantry_attr, s), FIELD(gantry_attr, ints), FIELD(gantry_attr, floats),
    FIELD(gantry_attr, strings), FIELD(gantry_attr, value), FIELD(gantry_attr, reserved),
    STRUCT(gantry_type),
    FIELD(gantry_type, struct_size), FIELD(gantry_type, dtype), FIELD(gantry_type, rank),
    FIELD(gantry_type, reserved), FIELD(gantry_type, dims), FIELD(gantry_type, symbols),
    STRUCT(gantry_region_info),
    FIELD(gantry_region_info, struct_size), FIELD(gantry_region_info, node_count), FIELD(gantry_region_info, name),
    FIELD(gantry_region_info, inputs), FIELD(gantry_region_info, outputs), FIELD(gantry_region_info, captures),
    STRUCT(gantry_op_desc),
    FIELD(gantry_op_desc, struct_size), FIELD(gantry_op_desc, version), FIELD(gantry_op_desc, dialect),
    FIELD(gantry_op_desc, domain), FIELD(gantry_op_desc, op), FIELD(gantry_op_desc, inputs),
    FIELD(gantry_op_desc, attributes), FIELD(gantry_op_desc, attribute_count), FIELD(gantry_op_desc, output_count),
    FIELD(gantry_op_desc, output_types), FIELD(gantry_op_desc, name),
    FIELD(gantry_op_desc, region_names), FIELD(gantry_op_desc, regions),
    STRUCT(gantry_transform),
    FIELD(gantry_transform, struct_size), FIELD(gantry_transform, kind), FIELD(gantry_transform, ints),
    FIELD(gantry_transform, floats), FIELD(gantry_transform, axis), FIELD(gantry_transform, dtype),
    FIELD(gantry_transform, reserved),
    STRUCT(gantry_host),
    FIELD(gantry_host, struct_size), FIELD(gantry_host, abi_major), FIELD(gantry_host, abi_minor),
    FIELD(gantry_host, reserved), FIELD(gantry_host, node_info), FIELD(gantry_host, value_info),
    FIELD(gantry_host, node_attr), FIELD(gantry_host, constant_read), FIELD(gantry_host, value_users),
    FIELD(gantry_host, option), FIELD(gantry_host, emit), FIELD(gantry_host, constant),
    FIELD(gantry_host, constant_transform), FIELD(gantry_host, set_results), FIELD(gantry_host, replace),
    FIELD(gantry_host, set_type), FIELD(gantry_host, message), FIELD(gantry_host, has_definition),
    FIELD(gantry_host, add_input), FIELD(gantry_host, add_output),
    FIELD(gantry_host, node_region), FIELD(gantry_host, region_info), FIELD(gantry_host, region_begin),
    FIELD(gantry_host, region_argument), FIELD(gantry_host, region_end), FIELD(gantry_host, region_copy),
    STRUCT(gantry_op_key),
    FIELD(gantry_op_key, dialect), FIELD(gantry_op_key, domain), FIELD(gantry_op_key, op),
    FIELD(gantry_op_key, min_version), FIELD(gantry_op_key, max_version),
    STRUCT(gantry_converter),
    FIELD(gantry_converter, struct_size), FIELD(gantry_converter, priority), FIELD(gantry_converter, key),
    FIELD(gantry_converter, target), FIELD(gantry_converter, convert), FIELD(gantry_converter, data),
    STRUCT(gantry_pattern),
    FIELD(gantry_pattern, struct_size), FIELD(gantry_pattern, priority), FIELD(gantry_pattern, name),
    FIELD(gantry_pattern, root), FIELD(gantry_pattern, also), FIELD(gantry_pattern, rewrite),
    FIELD(gantry_pattern, data),
    STRUCT(gantry_operator),
    FIELD(gantry_operator, struct_size), FIELD(gantry_operator, flags), FIELD(gantry_operator, key),
    FIELD(gantry_operator, infer), FIELD(gantry_operator, infer_data), FIELD(gantry_operator, fold),
    FIELD(gantry_operator, fold_data), FIELD(gantry_operator, min_rank), FIELD(gantry_operator, max_rank),
    FIELD(gantry_operator, dtypes), FIELD(gantry_operator, note), FIELD(gantry_operator, operand_dtypes),
    FIELD(gantry_operator, layout),
    STRUCT(gantry_file),
    FIELD(gantry_file, struct_size), FIELD(gantry_file, reserved), FIELD(gantry_file, path), FIELD(gantry_file, bytes),
    STRUCT(gantry_format),
    FIELD(gantry_format, struct_size), FIELD(gantry_format, reserved), FIELD(gantry_format, name),
    FIELD(gantry_format, dialect), FIELD(gantry_format, extensions), FIELD(gantry_format, magic),
    FIELD(gantry_format, read), FIELD(gantry_format, data),
    STRUCT(gantry_option),
    FIELD(gantry_option, struct_size), FIELD(gantry_option, kind), FIELD(gantry_option, boolean),
    FIELD(gantry_option, reserved), FIELD(gantry_option, name), FIELD(gantry_option, default_text),
    FIELD(gantry_option, help),
    STRUCT(gantry_plugin),
    FIELD(gantry_plugin, struct_size), FIELD(gantry_plugin, abi_major), FIELD(gantry_plugin, abi_minor),
    FIELD(gantry_plugin, reserved), FIELD(gantry_plugin, id), FIELD(gantry_plugin, version),
    FIELD(gantry_plugin, license), FIELD(gantry_plugin, description), FIELD(gantry_plugin, depends),
    FIELD(gantry_plugin, converters), FIELD(gantry_plugin, converter_count), FIELD(gantry_plugin, patterns),
    FIELD(gantry_plugin, pattern_count), FIELD(gantry_plugin, operators), FIELD(gantry_plugin, operator_count),
    FIELD(gantry_plugin, options), FIELD(gantry_plugin, option_count),
    FIELD(gantry_plugin, formats), FIELD(gantry_plugin, format_count),
};
#undef STRUCT
#undef FIELD
// clang-format on

std::filesystem::path golden(const std::string& ending) {
  return std::filesystem::path(GANTRY_TEST_SOURCE_DIR) / "tests/abi/golden" /
         ("abi-" + std::to_string(GANTRY_ABI_MAJOR) + "." + std::to_string(GANTRY_ABI_MINOR) + ending);
}

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string layout() {
  std::ostringstream out;
  for (const Row& r : kRows) {
    if (r.field) {
      out << "  " << r.field << " at " << r.offset << ", " << r.size << " bytes\n";
    } else {
      out << r.type << ": " << r.size << " bytes, aligned to " << r.offset << "\n";
    }
  }
  return out.str();
}

/// Without comments, and with one blank for any number of them.
std::string code_of(const std::string& header) {
  std::string code;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header.compare(i, 2, "/*") == 0) {
      i = header.find("*/", i) + 1;
    } else if (header[i] != ' ' && header[i] != '\n') {
      code += header[i];
    } else if (!code.empty() && code.back() != ' ') {
      code += ' ';
    }
  }
  return code;
}

TEST(Abi, LayoutAndHeaderAreThoseOfTheVersion) {
  const std::filesystem::path header = std::filesystem::path(GANTRY_TEST_SOURCE_DIR) / "sdk/include/gantry/abi.h";
  if (std::getenv("GANTRY_UPDATE_GOLDEN")) {
    std::filesystem::copy_file(header, golden(".h"), std::filesystem::copy_options::overwrite_existing);
    std::ofstream(golden(".layout.txt"), std::ios::binary) << layout();
  }
  EXPECT_EQ(layout(), read(golden(".layout.txt")));
  EXPECT_EQ(code_of(read(header)), code_of(read(golden(".h"))));
}

TEST(Abi, StructsThatCrossBeginWithTheirSize) {
  EXPECT_EQ(offsetof(gantry_plugin, struct_size), 0U);
  EXPECT_EQ(offsetof(gantry_host, struct_size), 0U);
  // What tells the version of a plugin lies where every later host will look for it.
  EXPECT_EQ(offsetof(gantry_plugin, abi_major), 4U);
  EXPECT_EQ(offsetof(gantry_plugin, abi_minor), 8U);
}

}  // namespace
}  // namespace gantry::test
