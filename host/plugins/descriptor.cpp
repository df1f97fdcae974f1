#include "host/plugins/descriptor.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "host/plugins/abi_values.hpp"

namespace gantry::plugins {
namespace {

std::string_view view(gantry_str s) { return s.size ? std::string_view(s.data, s.size) : std::string_view{}; }

std::string other_version(const std::string& why) {
  return "the plugin was built for another version of Gantry: " + why;
}

std::string version_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string rebuild_hint() {
  return "build the plugin again with this Gantry's SDK (plugin ABI " +
         version_text(GANTRY_ABI_MAJOR, GANTRY_ABI_MINOR) + ")";
}

Status check_version(const gantry_plugin* d, const std::filesystem::path& library) {
  const auto refuse = [&](const std::string& text, const std::string& hint) {
    return error(Code::plugin_abi, text).at(library.string()).try_this(hint);
  };
  const std::string rebuild = rebuild_hint();
  if (!d) return refuse("gantry_plugin_entry returned null", "the plugin is broken: tell its author");
  std::uint32_t size = 0;
  std::memcpy(&size, d, sizeof size);
  constexpr std::size_t kVersioned = offsetof(gantry_plugin, abi_minor) + sizeof d->abi_minor;
  if (size < kVersioned) {
    return refuse(other_version("struct_size of the descriptor is " + std::to_string(size) +
                                ", too small to hold the version of its ABI"),
                  rebuild);
  }
  const auto field = [&](const char* name, std::uint32_t theirs, std::uint32_t ours) {
    return refuse(other_version(std::string("its ") + name + " is " + std::to_string(theirs) + ", this Gantry's is " +
                                std::to_string(ours)),
                  theirs < ours ? rebuild
                                : "install a Gantry with plugin ABI " + version_text(d->abi_major, d->abi_minor) +
                                      ", or " + rebuild);
  };
  if (d->abi_major != GANTRY_ABI_MAJOR) return field("abi_major", d->abi_major, GANTRY_ABI_MAJOR);
  // Until 1.0 every minor is a contract of its own.
  const bool minor_fits = GANTRY_ABI_MAJOR == 0 ? d->abi_minor == GANTRY_ABI_MINOR : d->abi_minor <= GANTRY_ABI_MINOR;
  if (!minor_fits) return field("abi_minor", d->abi_minor, GANTRY_ABI_MINOR);
  if (size < sizeof(gantry_plugin)) {
    return refuse(other_version("struct_size of the descriptor is " + std::to_string(size) + ", at least " +
                                std::to_string(sizeof(gantry_plugin)) + " is needed"),
                  rebuild);
  }
  return {};
}

// Each check below gives plugin_failed with the field's name; check_descriptor makes plugin_abi with the file of it.

Status check_texts(gantry_strs list, const std::string& what) {
  GANTRY_ASSIGN(const auto entries, take_array(list.data, list.size, what));
  for (const gantry_str s : entries) GANTRY_TRY(take_name(s, "an entry of " + what));
  return {};
}

Status check_key(const gantry_op_key& k, const std::string& record) {
  GANTRY_TRY(take_name(k.dialect, record + ".dialect"));
  GANTRY_TRY(take_text(k.domain, record + ".domain"));
  GANTRY_TRY(take_name(k.op, record + ".op"));
  if (k.min_version < 1) return wrong_argument(record + ".min_version is " + std::to_string(k.min_version));
  if (k.max_version != 0 && k.max_version < k.min_version) {
    return wrong_argument(record + ".max_version is " + std::to_string(k.max_version) + ", below min_version " +
                          std::to_string(k.min_version));
  }
  return {};
}

Status check(const gantry_converter& c, const std::string& record) {
  GANTRY_TRY(check_key(c.key, record + ".key"));
  GANTRY_TRY(take_name(c.target, record + ".target"));
  if (!c.convert) return wrong_argument(record + ".convert is null");
  return {};
}

Status check(const gantry_pattern& p, const std::string& record) {
  GANTRY_TRY(take_name(p.name, record + ".name"));
  GANTRY_TRY(check_key(p.root, record + ".root"));
  GANTRY_TRY(check_texts(p.also, record + ".also"));
  if (!p.rewrite) return wrong_argument(record + ".rewrite is null");
  return {};
}

Status check(const gantry_operator& o, const std::string& record) {
  GANTRY_TRY(check_key(o.key, record + ".key"));
  GANTRY_TRY(take_text(o.note, record + ".note"));
  GANTRY_TRY(take_text(o.layout, record + ".layout"));
  if (o.min_rank < 0 || o.max_rank < 0 || (o.max_rank != 0 && o.max_rank < o.min_rank)) {
    return wrong_argument(record + ": ranks from " + std::to_string(o.min_rank) + " to " + std::to_string(o.max_rank));
  }
  return {};
}

Status check(const gantry_option& o, const std::string& record) {
  GANTRY_TRY(take_name(o.name, record + ".name"));
  GANTRY_TRY(take_text(o.help, record + ".help"));
  GANTRY_ASSIGN(const auto text, take_text(o.default_text, record + ".default_text"));
  if (o.kind < GANTRY_ATTR_INT || o.kind > GANTRY_ATTR_STRING) {
    return wrong_argument(record + ".kind is " + std::to_string(o.kind));
  }
  if (!parse_default(o.kind, o.boolean != 0, text)) {
    return wrong_argument(record + ".default_text '" + std::string(text) + "' is no " + std::string(option_type(o)));
  }
  return {};
}

Status check(const gantry_format& f, const std::string& record) {
  constexpr std::uint64_t kMostMagic = 64;
  GANTRY_TRY(take_name(f.name, record + ".name"));
  GANTRY_TRY(take_name(f.dialect, record + ".dialect"));
  GANTRY_TRY(check_texts(f.extensions, record + ".extensions"));
  GANTRY_TRY(take_array(static_cast<const std::byte*>(f.magic.data), f.magic.size, record + ".magic", kMostMagic));
  if (f.magic.size == 0 && f.extensions.size == 0) return wrong_argument(record + " has neither magic nor extensions");
  for (std::uint64_t i = 0; i < f.extensions.size; ++i) {
    if (view(f.extensions.data[i]).front() != '.')
      return wrong_argument(record + ".extensions are written with the dot");
  }
  if (!f.read) return wrong_argument(record + ".read is null");
  return {};
}

/// A record of an older SDK is shorter than this Gantry's.
template <class T>
Status check_size(const T* from, const std::string& record) {
  if (!from) return {};  // take_struct says so
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size >= sizeof(T)) return {};
  return error(Code::plugin_abi, "struct_size of " + record + " is " + std::to_string(size) + ", at least " +
                                     std::to_string(sizeof(T)) + " is needed");
}

template <class T>
Status check_records(const T* const* records, std::uint64_t count, const std::string& field) {
  GANTRY_ASSIGN(const auto list, take_array(records, count, field));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string record = field + "[" + std::to_string(i) + "]";
    GANTRY_TRY(check_size(list[i], record));
    GANTRY_ASSIGN(const T copy, take_struct(list[i], record));
    GANTRY_TRY(check(copy, record));
  }
  return {};
}

bool overlap(const ManifestRow& a, const ManifestRow& b) {
  return (a.max_version == 0 || b.min_version <= a.max_version) &&
         (b.max_version == 0 || a.min_version <= b.max_version);
}

// One key twice within a plugin, where nothing says which is meant.
Status check_distinct(const Manifest& m) {
  std::set<std::string_view> names;
  for (const ManifestOption& o : m.options) {
    if (!names.insert(o.name).second) return wrong_argument("two options are named '" + o.name + "'");
  }
  names.clear();
  for (const ManifestFormat& f : m.formats) {
    if (!names.insert(f.name).second) return wrong_argument("two formats are named '" + f.name + "'");
  }
  for (std::size_t i = 0; i < m.rows.size(); ++i) {
    const ManifestRow& a = m.rows[i];
    // Rows are sorted by kind, then operator: those of one operator are neighbours.
    for (std::size_t k = i + 1; k < m.rows.size(); ++k) {
      const ManifestRow& b = m.rows[k];
      if (a.kind != b.kind || a.op != b.op || a.domain != b.domain || a.dialect != b.dialect) break;
      // Patterns of one root are told apart by their names; they may share one with those of other roots.
      const bool pattern = a.kind == ManifestRow::Kind::pattern;
      if (pattern ? a.name != b.name : a.target != b.target || a.priority != b.priority) continue;
      if (!overlap(a, b)) continue;
      return wrong_argument("two records are for " + Op{a.dialect, a.domain, a.op}.str() + " version " +
                            std::to_string(b.min_version));
    }
  }
  return {};
}

Status check_all(const gantry_plugin& d, const std::filesystem::path& library) {
  GANTRY_TRY(take_name(d.id, "id"));
  GANTRY_TRY(take_name(d.version, "version"));
  GANTRY_TRY(take_text(d.license, "license"));
  GANTRY_TRY(take_text(d.description, "description"));
  GANTRY_TRY(check_texts(d.depends, "depends"));
  GANTRY_TRY(check_records(d.converters, d.converter_count, "converters"));
  GANTRY_TRY(check_records(d.patterns, d.pattern_count, "patterns"));
  GANTRY_TRY(check_records(d.operators, d.operator_count, "operators"));
  GANTRY_TRY(check_records(d.options, d.option_count, "options"));
  GANTRY_TRY(check_records(d.formats, d.format_count, "formats"));
  return check_distinct(manifest_of(d, library));
}

ManifestRow row(ManifestRow::Kind kind, const gantry_op_key& k) {
  ManifestRow r;
  r.kind = kind;
  r.dialect = view(k.dialect);
  r.domain = view(k.domain);
  r.op = view(k.op);
  r.min_version = k.min_version;
  r.max_version = k.max_version;
  return r;
}

std::vector<std::string> strings(gantry_strs list) {
  std::vector<std::string> out;
  for (std::uint64_t i = 0; i < list.size; ++i) out.emplace_back(view(list.data[i]));
  return out;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    out += {kDigits[u >> 4], kDigits[u & 15]};
  }
  return out;
}

template <class T>
std::span<const T* const> records(const T* const* list, std::uint64_t count) {
  return {list, static_cast<std::size_t>(count)};
}

}  // namespace

Status check_descriptor(const gantry_plugin* d, const std::filesystem::path& library) {
  GANTRY_TRY(check_version(d, library));
  Status s = check_all(*d, library);
  if (s.ok()) return s;
  if (s.error().code == Code::plugin_abi)
    return error(Code::plugin_abi, other_version(s.error().message)).at(library.string()).try_this(rebuild_hint());
  return error(Code::plugin_abi, "the plugin's descriptor is broken: " + s.error().message)
      .at(library.string())
      .try_this("the plugin is broken: tell its author");
}

Manifest manifest_of(const gantry_plugin& d, const std::filesystem::path& library) {
  Manifest m;
  m.library = library.filename().string();
  m.id = view(d.id);
  m.version = view(d.version);
  m.license = view(d.license);
  m.description = view(d.description);
  m.abi_major = static_cast<int>(d.abi_major);
  m.abi_minor = static_cast<int>(d.abi_minor);
  m.depends = strings(d.depends);
  std::sort(m.depends.begin(), m.depends.end());
  for (const gantry_converter* c : records(d.converters, d.converter_count)) {
    ManifestRow r = row(ManifestRow::Kind::converter, c->key);
    r.target = view(c->target);
    r.priority = c->priority;
    m.rows.push_back(std::move(r));
  }
  for (const gantry_pattern* p : records(d.patterns, d.pattern_count)) {
    ManifestRow r = row(ManifestRow::Kind::pattern, p->root);
    r.name = view(p->name);
    r.also = strings(p->also);
    r.priority = p->priority;
    m.rows.push_back(std::move(r));
  }
  for (const gantry_operator* o : records(d.operators, d.operator_count)) {
    m.rows.push_back(row(ManifestRow::Kind::op_definition, o->key));
  }
  std::sort(m.rows.begin(), m.rows.end());
  for (const gantry_option* o : records(d.options, d.option_count)) {
    m.options.push_back({std::string(view(o->name)), std::string(option_type(*o)), std::string(view(o->default_text)),
                         std::string(view(o->help))});
  }
  for (const gantry_format* f : records(d.formats, d.format_count)) {
    m.formats.push_back(
        {std::string(view(f->name)), std::string(view(f->dialect)), strings(f->extensions),
         hexadecimal({static_cast<const char*>(f->magic.data), static_cast<std::size_t>(f->magic.size)})});
  }
  std::sort(m.formats.begin(), m.formats.end());
  return m;
}

std::string_view option_type(const gantry_option& o) {
  if (o.kind == GANTRY_ATTR_INT) return o.boolean ? "bool" : "int";
  return o.kind == GANTRY_ATTR_FLOAT ? "float" : "string";
}

std::optional<OptionValue> parse_default(gantry_attr_kind kind, bool boolean, std::string_view text) {
  const auto number = [&](auto n) -> std::optional<OptionValue> {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return n;
  };
  if (kind == GANTRY_ATTR_INT && boolean) {
    if (text != "true" && text != "false") return std::nullopt;
    return std::int64_t{text == "true"};
  }
  if (kind == GANTRY_ATTR_INT) return number(std::int64_t{});
  if (kind == GANTRY_ATTR_FLOAT) return number(double{});
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace gantry::plugins
