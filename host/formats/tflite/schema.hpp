// What the schema says of operators, read once from its binary form (tflite.fbs): every operator, the table of its
// options, and the fields of that table. The writer and the reader are driven by this alone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <vector>

namespace gantry::tflite_format {

/// An enumeration of the schema. Values count from 0 without gaps.
struct EnumInfo {
  std::string_view name;
  std::vector<std::string_view> values;

  /// -1 if there is no such value.
  int find(std::string_view value) const;
};

/// What a field holds. The attribute for it is an int64 (boolean as 0 or 1, integer), a string (enumeration: the name
/// of the value; text; bytes), a float (real), or the vector of these.
enum class FieldKind : std::uint8_t { boolean, integer, enumeration, real, text, bytes };

struct FieldInfo {
  std::string_view name;
  FieldKind kind = FieldKind::integer;
  bool is_vector = false;
  bool is_subgraph = false;  // holds indices of subgraphs: a region in the graph, not an attribute
  std::uint8_t width = 0;    // bytes of a scalar or of a vector's element
  bool is_signed = true;
  std::uint16_t slot = 0;  // place in a flatbuffer's vtable
  std::int64_t default_integer = 0;
  float default_real = 0;
  const EnumInfo* values = nullptr;  // enumeration only
};

/// A table of options: one member of one of the two unions.
struct OptionsInfo {
  std::string_view name;  // "Conv2DOptions"
  int union_number = 1;   // 1: builtin_options, 2: builtin_options_2
  std::uint8_t union_type = 0;
  std::vector<FieldInfo> fields;  // without deprecated ones, in the schema's order

  const FieldInfo* find(std::string_view field) const;
};

struct OperatorInfo {
  std::string_view name;  // "CONV_2D"
  std::int32_t code = 0;
  const OptionsInfo* options = nullptr;  // none: the operator has no options
};

class Schema {
 public:
  static const Schema& get();

  const OperatorInfo* find(std::string_view name) const;
  const OperatorInfo* find(std::int32_t code) const;
  const std::vector<OperatorInfo>& operators() const { return operators_; }  // by code
  const std::vector<OptionsInfo>& options() const { return options_; }
  const EnumInfo& tensor_types() const { return *tensor_types_; }

 private:
  Schema();

  std::deque<EnumInfo> enums_;
  std::vector<OptionsInfo> options_;
  std::vector<OperatorInfo> operators_;
  std::map<std::string_view, const OperatorInfo*> by_name_;
  const EnumInfo* tensor_types_ = nullptr;
};

}  // namespace gantry::tflite_format
