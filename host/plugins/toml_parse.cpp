// All of TOML, by toml++.
#include <sstream>

#include <toml++/toml.h>

#include "host/plugins/toml_tape.hpp"

namespace gantry::plugins {
namespace {

class Flattener {
 public:
  explicit Flattener(TomlTape& tape) : tape_(tape) {}

  void table(std::string_view key, const toml::table& t) {
    const std::size_t index = open(TomlValue::Kind::table, key, t);
    for (const auto& [k, v] : t) value(keep(k.str()), v);
    close(index);
  }

 private:
  std::string_view keep(std::string_view s) { return tape_.kept.emplace_back(s); }

  std::size_t open(TomlValue::Kind kind, std::string_view key, const toml::node& node) {
    TomlValue v;
    v.kind = kind;
    v.line = node.source().begin.line;
    v.column = node.source().begin.column;
    v.key = key;
    v.end = static_cast<std::uint32_t>(tape_.values.size() + 1);
    tape_.values.push_back(v);
    return tape_.values.size() - 1;
  }
  void close(std::size_t index) { tape_.values[index].end = static_cast<std::uint32_t>(tape_.values.size()); }

  void value(std::string_view key, const toml::node& node) {
    if (const toml::table* t = node.as_table()) {
      table(key, *t);
    } else if (const toml::array* a = node.as_array()) {
      list(key, *a);
    } else if (const auto* s = node.as_string()) {
      tape_.values[open(TomlValue::Kind::text, key, node)].text = keep(s->get());
    } else if (const auto* i = node.as_integer()) {
      tape_.values[open(TomlValue::Kind::integer, key, node)].number = i->get();
    } else if (const auto* b = node.as_boolean()) {
      tape_.values[open(TomlValue::Kind::boolean, key, node)].number = b->get();
    } else {
      open(TomlValue::Kind::other, key, node);
    }
  }

  // [[key]] [[key]], or key = [{...}, {...}]: tables of one key, as the scanner gives them.
  void list(std::string_view key, const toml::array& a) {
    if (!a.empty() && !key.empty() && a.is_homogeneous(toml::node_type::table)) {
      for (const toml::node& t : a) table(key, *t.as_table());
      return;
    }
    const std::size_t index = open(TomlValue::Kind::list, key, a);
    for (const toml::node& v : a) value({}, v);
    close(index);
  }

  TomlTape& tape_;
};

}  // namespace

Result<TomlTape> parse_toml(std::string_view text) try {
  const toml::table document = toml::parse(text);
  TomlTape tape;
  Flattener(tape).table({}, document);
  return tape;
} catch (const toml::parse_error& e) {
  std::ostringstream where;
  where << e.source().begin.line << ':' << e.source().begin.column << ": " << e.description();
  return error(Code::plugin_manifest, where.str());
} catch (const std::exception& e) {
  return error(Code::plugin_manifest, std::string("1:1: ") + e.what());
}

}  // namespace gantry::plugins
