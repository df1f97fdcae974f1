#include <algorithm>
#include <cstring>

#include <flatbuffers/flatbuffers.h>

#include "host/formats/tflite/options.hpp"

namespace gantry::tflite_format {
namespace {

using flatbuffers::Table;

std::int64_t get_integer(const Table& t, const FieldInfo& f) {
  switch (f.width) {
    case 1:
      return t.GetField<std::int8_t>(f.slot, static_cast<std::int8_t>(f.default_integer));
    case 4:
      return t.GetField<std::int32_t>(f.slot, static_cast<std::int32_t>(f.default_integer));
    default:
      return t.GetField<std::int64_t>(f.slot, f.default_integer);
  }
}

// Element by element: flatbuffers' verifier does not see to it that a list of 64-bit numbers is aligned for them.
template <class T>
std::vector<std::int64_t> get_vector(const Table& t, const FieldInfo& f) {
  const auto* v = t.GetPointer<const flatbuffers::Vector<T>*>(f.slot);
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < v->size(); ++i) {
    T element;
    std::memcpy(&element, v->Data() + i * sizeof element, sizeof element);
    out.push_back(element);
  }
  return out;
}

std::vector<std::int64_t> get_integers(const Table& t, const FieldInfo& f) {
  switch (f.width) {
    case 1:
      return get_vector<std::uint8_t>(t, f);
    case 4:
      return get_vector<std::int32_t>(t, f);
    default:
      return get_vector<std::int64_t>(t, f);
  }
}

Result<std::string> value_name(const FieldInfo& f, std::int64_t v) {
  if (v < 0 || static_cast<std::uint64_t>(v) >= f.values->values.size()) {
    return error(Code::input_malformed, "option " + std::string(f.name) + " has the value " + std::to_string(v) +
                                            ", which " + std::string(f.values->name) + " does not have");
  }
  return std::string(f.values->values[static_cast<std::size_t>(v)]);
}

Result<Attr> read_vector(const Table& t, const FieldInfo& f) {
  switch (f.kind) {
    case FieldKind::text:
      return Attr(t.GetPointer<const flatbuffers::String*>(f.slot)->str());
    case FieldKind::bytes: {
      const auto* v = t.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(f.slot);
      return Attr(std::string(v->begin(), v->end()));
    }
    case FieldKind::real: {
      const auto* v = t.GetPointer<const flatbuffers::Vector<float>*>(f.slot);
      return Attr(std::vector<float>(v->begin(), v->end()));
    }
    case FieldKind::enumeration: {
      std::vector<std::string> names;
      for (const std::int64_t v : get_integers(t, f)) {
        GANTRY_ASSIGN(names.emplace_back(), value_name(f, v));
      }
      return Attr(std::move(names));
    }
    default:
      return Attr(get_integers(t, f));
  }
}

Result<Attr> read_scalar(const Table& t, const FieldInfo& f) {
  if (f.kind == FieldKind::real) return Attr(t.GetField<float>(f.slot, f.default_real));
  const std::int64_t v = get_integer(t, f);
  if (f.kind == FieldKind::boolean) return Attr(std::int64_t{v != 0});
  if (f.kind != FieldKind::enumeration)
    return Attr(f.is_signed ? v : static_cast<std::int64_t>(static_cast<std::uint32_t>(v)));
  GANTRY_ASSIGN(std::string name, value_name(f, v));
  return Attr(std::move(name));
}

bool is_default(const FieldInfo& f, const Table& t) {
  if (f.kind == FieldKind::real) return t.GetField<float>(f.slot, f.default_real) == f.default_real;
  return get_integer(t, f) == f.default_integer;
}

}  // namespace

std::uint64_t options_bytes(const Table& table, const OptionsInfo& info) {
  std::uint64_t bytes = 0;
  for (const FieldInfo& f : info.fields) {
    if ((!f.is_vector && f.kind != FieldKind::text) || !table.CheckField(f.slot)) continue;
    bytes += std::uint64_t{std::max<std::uint8_t>(f.width, 1)} *
             table.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(f.slot)->size();
  }
  return bytes;
}

Result<ReadOptions> read_options(const Table& table, const OptionsInfo& info) {
  ReadOptions out;
  for (const FieldInfo& f : info.fields) {
    const bool outside = f.is_vector || f.kind == FieldKind::text;
    if (f.is_subgraph) {
      std::vector<std::int64_t> subgraphs;
      if (!f.is_vector) {
        subgraphs = {get_integer(table, f)};
      } else if (table.CheckField(f.slot)) {
        subgraphs = get_integers(table, f);
      }
      for (const std::int64_t s : subgraphs) out.subgraphs.emplace_back(f.name, static_cast<std::int32_t>(s));
    } else if (table.CheckField(f.slot) && (outside || !is_default(f, table))) {
      GANTRY_ASSIGN(out.attrs[std::string(f.name)], outside ? read_vector(table, f) : read_scalar(table, f));
    }
  }
  return out;
}

}  // namespace gantry::tflite_format
