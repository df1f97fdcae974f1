#include <algorithm>
#include <limits>
#include <map>

#include <flatbuffers/flatbuffers.h>

#include "host/formats/tflite/options.hpp"

namespace gantry::tflite_format {
namespace {

using flatbuffers::FlatBufferBuilder;

Diagnostic wrong(const Node& node, std::string_view name, std::string_view what) {
  return error(Code::internal, "attribute \"" + std::string(name) + "\" of " + node.op.str() + ": " + std::string(what))
      .on_node(node.name)
      .on_op(node.op.str());
}

// A model may ask for a stride of 2^40; nothing is broken then.
Diagnostic out_of_range(const Node& node, std::string_view name, std::int64_t value) {
  return error(Code::target_limit, "attribute \"" + std::string(name) + "\" is " + std::to_string(value) +
                                       ", beyond what the file can hold")
      .on_node(node.name)
      .on_op(node.op.str());
}

bool fits(const FieldInfo& f, std::int64_t v) {
  if (f.kind == FieldKind::boolean) return v == 0 || v == 1;
  if (f.kind == FieldKind::enumeration) return v >= 0 && static_cast<std::uint64_t>(v) < f.values->values.size();
  if (f.width == 8) return f.is_signed || v >= 0;
  const std::int64_t span = std::int64_t{1} << (8 * f.width);
  return f.is_signed ? v >= -span / 2 && v < span / 2 : v >= 0 && v < span;
}

// The integers that an attribute means for a field of integers, booleans or enumeration values.
Result<std::vector<std::int64_t>> integers(const Node& node, const FieldInfo& f, const Attr& attr) {
  std::vector<std::int64_t> out;
  std::vector<std::string> names;
  if (const auto* i = std::get_if<std::int64_t>(&attr); i && !f.is_vector) {
    out = {*i};
  } else if (const auto* v = std::get_if<std::vector<std::int64_t>>(&attr); v && f.is_vector) {
    out = *v;
  } else if (const auto* s = std::get_if<std::string>(&attr); s && !f.is_vector && f.values) {
    names = {*s};
  } else if (const auto* l = std::get_if<std::vector<std::string>>(&attr); l && f.is_vector && f.values) {
    names = *l;
  } else {
    return wrong(node, f.name, f.is_vector ? "the schema has a list of another type" : "the schema has another type");
  }
  for (const std::string& name : names) {
    out.push_back(f.values->find(name));
    if (out.back() < 0) return wrong(node, f.name, std::string(f.values->name) + " has no value \"" + name + "\"");
  }
  for (const std::int64_t v : out) {
    if (!fits(f, v)) return out_of_range(node, f.name, v);
  }
  return out;
}

template <class T>
std::uint32_t vector_of(FlatBufferBuilder& b, const std::vector<std::int64_t>& values) {
  std::vector<T> converted;
  for (const std::int64_t v : values) converted.push_back(static_cast<T>(v));
  return b.CreateVector(converted).o;
}

std::uint32_t integer_vector(FlatBufferBuilder& b, const FieldInfo& f, const std::vector<std::int64_t>& values) {
  switch (f.width) {
    case 1:
      return vector_of<std::uint8_t>(b, values);
    case 4:
      return vector_of<std::int32_t>(b, values);
    default:
      return vector_of<std::int64_t>(b, values);
  }
}

void add_integer(FlatBufferBuilder& b, const FieldInfo& f, std::int64_t v) {
  switch (f.width) {
    case 1:
      return b.AddElement(f.slot, static_cast<std::int8_t>(v), static_cast<std::int8_t>(f.default_integer));
    case 4:
      return b.AddElement(f.slot, static_cast<std::int32_t>(v), static_cast<std::int32_t>(f.default_integer));
    default:
      return b.AddElement(f.slot, v, f.default_integer);
  }
}

// A field with its value, ready to go into the table: what lies outside the table is written already.
struct Ready {
  const FieldInfo* field = nullptr;
  std::int64_t integer = 0;
  float real = 0;
  std::uint32_t offset = 0;  // set: vector or string
};

// Bytes that are no UTF-8 come as a list of numbers.
std::optional<std::string> bytes_of(const Attr& attr) {
  const auto* list = std::get_if<std::vector<std::int64_t>>(&attr);
  if (!list) return std::nullopt;
  std::string bytes;
  for (const std::int64_t v : *list) {
    if (v < 0 || v > 255) return std::nullopt;
    bytes.push_back(static_cast<char>(v));
  }
  return bytes;
}

Result<Ready> ready(FlatBufferBuilder& b, const Node& node, const FieldInfo& f, const Attr& attr) {
  Ready r{.field = &f};
  if (f.kind == FieldKind::text || f.kind == FieldKind::bytes) {
    const auto* s = std::get_if<std::string>(&attr);
    std::optional<std::string> listed;
    if (!s && f.kind == FieldKind::bytes) {
      listed = bytes_of(attr);
      s = listed ? &*listed : nullptr;
    }
    if (!s) return wrong(node, f.name, f.kind == FieldKind::text ? "must be a string" : "must be bytes");
    r.offset = f.kind == FieldKind::text
                   ? b.CreateString(*s).o
                   : b.CreateVector(reinterpret_cast<const std::uint8_t*>(s->data()), s->size()).o;
  } else if (f.kind == FieldKind::real && f.is_vector) {
    const auto* v = std::get_if<std::vector<float>>(&attr);
    if (!v) return wrong(node, f.name, "must be a list of floats");
    r.offset = b.CreateVector(*v).o;
  } else if (f.kind == FieldKind::real) {
    const auto* v = std::get_if<float>(&attr);
    if (!v) return wrong(node, f.name, "must be a float");
    r.real = *v;
  } else {
    GANTRY_ASSIGN(const std::vector<std::int64_t> values, integers(node, f, attr));
    if (f.is_vector) {
      r.offset = integer_vector(b, f, values);
    } else {
      r.integer = values.front();
    }
  }
  return r;
}

// The subgraphs of a node's regions, by field.
Status add_regions(FlatBufferBuilder& b, const Node& node, const OptionsInfo& table,
                   std::span<const std::int32_t> subgraph_of, std::vector<Ready>& out) {
  std::map<const FieldInfo*, std::vector<std::int64_t>> found;
  for (const auto& [name, region] : node.regions) {
    const FieldInfo* f = table.find(name);
    if (!f || !f->is_subgraph) return wrong(node, name, std::string(table.name) + " has no subgraph of this name");
    found[f].push_back(subgraph_of[region.index]);
  }
  for (const FieldInfo& f : table.fields) {
    if (!f.is_subgraph) continue;
    const std::vector<std::int64_t>& subgraphs = found[&f];
    if (f.is_vector) {
      if (!subgraphs.empty()) out.push_back({.field = &f, .offset = integer_vector(b, f, subgraphs)});
    } else if (subgraphs.size() != 1) {
      return wrong(node, f.name, "the node must have one region of this name");
    } else {
      out.push_back({.field = &f, .integer = subgraphs.front()});
    }
  }
  return {};
}

}  // namespace

Result<std::uint32_t> write_options(FlatBufferBuilder& builder, const Node& node, const OptionsInfo& table,
                                    std::span<const std::int32_t> subgraph_of) {
  std::vector<Ready> fields;
  for (const auto& [name, attr] : node.attrs) {
    const FieldInfo* f = table.find(name);
    if (!f) return wrong(node, name, std::string(table.name) + " has no such field");
    if (f->is_subgraph) return wrong(node, name, "must be a region, not an attribute");
    GANTRY_ASSIGN(fields.emplace_back(), ready(builder, node, *f, attr));
  }
  GANTRY_TRY(add_regions(builder, node, table, subgraph_of, fields));
  // Wide fields first, so that no padding is needed between them.
  const auto key = [](const Ready& r) { return std::pair(r.offset ? -4 : -int{r.field->width}, r.field->slot); };
  std::ranges::sort(fields, {}, key);

  const std::uint32_t start = builder.StartTable();
  for (const Ready& r : fields) {
    if (r.offset) {
      builder.AddOffset(r.field->slot, flatbuffers::Offset<void>(r.offset));
    } else if (r.field->kind == FieldKind::real) {
      builder.AddElement(r.field->slot, r.real, r.field->default_real);
    } else {
      add_integer(builder, *r.field, r.integer);
    }
  }
  return builder.EndTable(start);
}

}  // namespace gantry::tflite_format
