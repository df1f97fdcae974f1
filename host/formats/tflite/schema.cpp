#include "host/formats/tflite/schema.hpp"

#include <algorithm>
#include <string>
#include <tflite_bfbs.h>

#include <flatbuffers/reflection_generated.h>

namespace gantry::tflite_format {
namespace {

// Operators whose table of options is not named after them.
struct Irregular {
  std::string_view op, table;
};
constexpr Irregular kIrregular[] = {
    {"AVERAGE_POOL_2D", "Pool2DOptions"},
    {"CONV_3D_TRANSPOSE", "Conv3DOptions"},
    {"L2_NORMALIZATION", "L2NormOptions"},
    {"L2_POOL_2D", "Pool2DOptions"},
    {"MAXIMUM", "MaximumMinimumOptions"},
    {"MAX_POOL_2D", "Pool2DOptions"},
    {"MEAN", "ReducerOptions"},
    {"MINIMUM", "MaximumMinimumOptions"},
    {"MULTINOMIAL", "RandomOptions"},
    {"RANDOM_STANDARD_NORMAL", "RandomOptions"},
    {"RANDOM_UNIFORM", "RandomOptions"},
    {"REDUCE_ALL", "ReducerOptions"},
    {"REDUCE_ANY", "ReducerOptions"},
    {"REDUCE_MAX", "ReducerOptions"},
    {"REDUCE_MIN", "ReducerOptions"},
    {"REDUCE_PROD", "ReducerOptions"},
    {"SUM", "ReducerOptions"},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", "SequenceRNNOptions"},
};

std::string_view view(const flatbuffers::String* s) { return {s->c_str(), s->size()}; }

std::string_view without_namespace(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// "CONV_2D" and "Conv2DOptions" both become "conv2d", so that a table finds its operator.
std::string key(std::string_view name) {
  if (name.ends_with("Options")) name.remove_suffix(7);
  std::string k;
  for (const char c : name) {
    if (c != '_') k += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return k;
}

bool names_subgraph(std::string_view field) {
  return field.ends_with("subgraph_index") || field.ends_with("subgraph_indices") || field == "subgraph" ||
         field == "called_computations";
}

std::uint8_t width_of(reflection::BaseType t) {
  switch (t) {
    case reflection::Bool:
    case reflection::Byte:
    case reflection::UByte:
      return 1;
    case reflection::Int:
    case reflection::UInt:
    case reflection::Float:
      return 4;
    case reflection::Long:
      return 8;
    default:
      return 0;
  }
}

FieldInfo field_info(const reflection::Field& f, const std::map<std::int32_t, const EnumInfo*>& enums) {
  const reflection::Type& type = *f.type();
  FieldInfo info;
  info.name = view(f.name());
  info.is_vector = type.base_type() == reflection::Vector;
  info.is_subgraph = names_subgraph(info.name);
  info.slot = f.offset();
  const reflection::BaseType scalar = info.is_vector ? type.element() : type.base_type();
  info.width = width_of(scalar);
  info.is_signed = scalar != reflection::UByte && scalar != reflection::UInt;
  info.default_integer = f.default_integer();
  info.default_real = static_cast<float>(f.default_real());
  if (scalar == reflection::String) {
    info.kind = FieldKind::text;
  } else if (scalar == reflection::Float) {
    info.kind = FieldKind::real;
  } else if (scalar == reflection::Bool) {
    info.kind = FieldKind::boolean;
  } else if (type.index() >= 0) {
    info.kind = FieldKind::enumeration;
    info.values = enums.at(type.index());
  } else if (info.is_vector && scalar == reflection::UByte) {
    info.kind = FieldKind::bytes;
  }
  return info;
}

std::vector<FieldInfo> fields_of(const reflection::Object& table,
                                 const std::map<std::int32_t, const EnumInfo*>& enums) {
  std::vector<const reflection::Field*> sorted;  // the binary schema has them by name
  for (const reflection::Field* f : *table.fields()) {
    if (!f->deprecated()) sorted.push_back(f);
  }
  std::ranges::sort(sorted, {}, [](const reflection::Field* f) { return f->id(); });
  std::vector<FieldInfo> fields;
  for (const reflection::Field* f : sorted) fields.push_back(field_info(*f, enums));
  return fields;
}

}  // namespace

int EnumInfo::find(std::string_view value) const {
  const auto it = std::ranges::find(values, value);
  return it == values.end() ? -1 : static_cast<int>(it - values.begin());
}

const FieldInfo* OptionsInfo::find(std::string_view field) const {
  const auto it = std::ranges::find(fields, field, &FieldInfo::name);
  return it == fields.end() ? nullptr : &*it;
}

Schema::Schema() {
  const reflection::Schema& schema = *reflection::GetSchema(kTfliteBfbs);
  std::map<std::int32_t, const EnumInfo*> enums;  // by index in the binary schema
  std::int32_t index = 0;
  for (const reflection::Enum* e : *schema.enums()) {
    EnumInfo& info = enums_.emplace_back();
    info.name = without_namespace(view(e->name()));
    for (const reflection::EnumVal* v : *e->values()) info.values.push_back(view(v->name()));
    enums[index++] = &info;
    if (info.name == "TensorType") tensor_types_ = &info;
  }

  const EnumInfo* codes = nullptr;
  for (const reflection::Enum* e : *schema.enums()) {
    const std::string_view name = without_namespace(view(e->name()));
    if (name == "BuiltinOperator") codes = &*std::ranges::find(enums_, name, &EnumInfo::name);
    if (name != "BuiltinOptions" && name != "BuiltinOptions2") continue;
    for (const reflection::EnumVal* v : *e->values()) {
      if (v->value() == 0) continue;  // NONE
      const auto table = static_cast<flatbuffers::uoffset_t>(v->union_type()->index());
      options_.push_back({.name = view(v->name()),
                          .union_number = name == "BuiltinOptions" ? 1 : 2,
                          .union_type = static_cast<std::uint8_t>(v->value()),
                          .fields = fields_of(*schema.objects()->Get(table), enums)});
    }
  }

  std::map<std::string, const OptionsInfo*> by_key;
  for (const OptionsInfo& o : options_) by_key[key(o.name)] = &o;
  for (const Irregular& i : kIrregular) by_key[key(i.op)] = by_key.at(key(i.table));
  for (const std::string_view name : codes->values) {
    const auto options = by_key.find(key(name));
    operators_.push_back({.name = name,
                          .code = static_cast<std::int32_t>(operators_.size()),
                          .options = options == by_key.end() ? nullptr : options->second});
  }
  for (const OperatorInfo& o : operators_) by_name_[o.name] = &o;
}

const Schema& Schema::get() {
  static const Schema schema;
  return schema;
}

const OperatorInfo* Schema::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const OperatorInfo* Schema::find(std::int32_t code) const {
  const auto i = static_cast<std::size_t>(code);
  return code >= 0 && i < operators_.size() ? &operators_[i] : nullptr;
}

}  // namespace gantry::tflite_format
