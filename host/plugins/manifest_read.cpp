// Reading a manifest. The form, of which write_manifest makes the canonical one:
//
//   manifest_version = 1
//   id = "org.gantry.core-ops"          # reverse domain
//   version = "0.1.0"
//   abi = "0.1"                         # of the SDK that it was built with
//   library = "core_ops.so"             # beside the manifest
//   license = "Apache-2.0"              # these three may be left out
//   description = "..."
//   depends = ["org.example.other"]     # plugins that are opened with it
//
//   # What the plugin brings, in groups of one line an operator. `domain` may be left out ("" = the dialect's own).
//   # Versions are since-versions: "6" only 6, "6-12" both included, "6-" and all later ones.
//   [[converters]]
//   dialect = "onnx"
//   domain = "com.microsoft"
//   target = "tflite"
//   rows = [
//     ["Attention", "1-"],
//     ["Gelu", "1-", 10],               # priority 10; the highest wins; 0 where it is left out
//   ]
//
//   [[operators]]                       # definitions: types, limits, folding
//   dialect = "tflite"
//   rows = [
//     ["SOFTMAX", "1-"],
//   ]
//
//   [[patterns]]                        # name, root operator, versions, operators that must occur too, priority
//   dialect = "onnx"
//   rows = [
//     ["conv_batch_norm", "BatchNormalization", "1-", ["Conv"], 0],
//   ]
//
//   options = [                         # before the groups: name, type (bool, int, float, string), default, help
//     ["fast_erf", "bool", "false", "Erf by a shorter polynomial, within 1e-4"],
//   ]
//   formats = [                         # files that it reads: name, dialect, extensions, first bytes in hexadecimal
//     ["Keras HDF5", "keras", [".h5", ".hdf5"], "894844460d0a1a0a"],
//   ]
#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <utility>

#include "host/plugins/manifest.hpp"
#include "host/plugins/toml_tape.hpp"
#include "host/report/nearest.hpp"

namespace gantry::plugins {
namespace {

using Kind = TomlValue::Kind;

constexpr std::uintmax_t kMostBytes = 16u << 20;

/// A number without sign at the front of `s`, which it takes off.
std::optional<int> take_number(std::string_view& s) {
  int n = 0;
  const auto [end, problem] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (problem != std::errc{} || n < 0) return std::nullopt;
  s.remove_prefix(static_cast<std::size_t>(end - s.data()));
  return n;
}

bool parse_versions(std::string_view s, ManifestRow& row) {
  const auto least = take_number(s);
  if (!least || *least < 1) return false;
  row.min_version = row.max_version = *least;
  if (s.empty()) return true;
  if (s.front() != '-') return false;
  s.remove_prefix(1);
  row.max_version = 0;
  if (s.empty()) return true;
  const auto most = take_number(s);
  if (!most || !s.empty() || *most < *least) return false;
  row.max_version = *most;
  return true;
}

bool parse_abi(std::string_view s, Manifest& m) {
  const auto major = take_number(s);
  if (!major || s.empty() || s.front() != '.') return false;
  s.remove_prefix(1);
  const auto minor = take_number(s);
  if (!minor || !s.empty()) return false;
  m.abi_major = *major;
  m.abi_minor = *minor;
  return true;
}

class Reader {
 public:
  Reader(const TomlTape& tape, Manifest& m) : tape_(tape), m_(m) {}

  Status run() {
    GANTRY_TRY(check_version());
    for (std::size_t i : inside(0)) GANTRY_TRY(top(value(i), i));
    return finish();
  }

 private:
  using Group = Status (Reader::*)(std::size_t list, const ManifestRow& common);

  const TomlValue& value(std::size_t i) const { return tape_.values[i]; }

  /// Indices of the values directly inside of a list or table.
  std::vector<std::size_t> inside(std::size_t index) const {
    std::vector<std::size_t> found;
    for (std::size_t i = index + 1; i < value(index).end; i = value(i).end) found.push_back(i);
    return found;
  }

  Diagnostic wrong(const TomlValue& v, const std::string& text) const {
    return error(Code::plugin_manifest, text)
        .at(m_.file.string() + ":" + std::to_string(v.line) + ":" + std::to_string(v.column));
  }
  Diagnostic unknown_key(const TomlValue& v, const std::vector<std::string>& known) const {
    const std::string near = nearest_name(v.key, known);
    Diagnostic d = wrong(v, "'" + std::string(v.key) + "' is no key of a manifest");
    if (!near.empty()) d.hint = "did you mean '" + near + "'?";
    return d;
  }

  // The version decides what the rest means, so it is looked at first, wherever it stands.
  Status check_version() const {
    for (const std::size_t i : inside(0)) {
      const TomlValue& v = value(i);
      if (v.key != "manifest_version") continue;
      if (v.kind != Kind::integer) return wrong(v, "manifest_version must be a number");
      if (v.number == kManifestVersion) return {};
      return wrong(v, "manifest_version is " + std::to_string(v.number) + ", this Gantry reads " +
                          std::to_string(kManifestVersion));
    }
    return wrong(value(0), "manifest_version is missing");
  }

  Status top(const TomlValue& v, std::size_t i) {
    const std::pair<std::string_view, std::string*> texts[] = {
        {"id", &m_.id},           {"version", &m_.version},         {"license", &m_.license},
        {"library", &m_.library}, {"description", &m_.description},
    };
    for (const auto& [key, member] : texts) {
      if (v.key == key) return text(v, *member);
    }
    if (v.key == "manifest_version") return {};
    if (v.key == "abi") {
      if (v.kind != Kind::text || !parse_abi(v.text, m_)) return wrong(v, "abi must be a text like \"0.1\"");
      has_abi_ = true;
      return {};
    }
    if (v.key == "depends") return texts_in(i, m_.depends);
    if (v.key == "options") return options(i);
    if (v.key == "formats") return formats(i);
    if (v.key == "converters") return group(i, ManifestRow::Kind::converter, &Reader::operators);
    if (v.key == "operators") return group(i, ManifestRow::Kind::op_definition, &Reader::operators);
    if (v.key == "patterns") return group(i, ManifestRow::Kind::pattern, &Reader::patterns);
    return unknown_key(v, {"manifest_version", "id", "version", "license", "library", "description", "abi", "depends",
                           "options", "formats", "converters", "operators", "patterns"});
  }

  Status text(const TomlValue& v, std::string& to) const {
    if (v.kind != Kind::text) return wrong(v, std::string(v.key) + " must be a text");
    to = v.text;
    return {};
  }

  Status texts_in(std::size_t list, std::vector<std::string>& to) const {
    if (value(list).kind != Kind::list) return wrong(value(list), "a list of texts is expected here");
    for (std::size_t i = list + 1; i < value(list).end; i = value(i).end) {
      if (value(i).kind != Kind::text) return wrong(value(i), "a text is expected here");
      to.emplace_back(value(i).text);
    }
    return {};
  }

  Status group(std::size_t index, ManifestRow::Kind kind, Group read_rows) {
    const TomlValue& g = value(index);
    if (g.kind != Kind::table) return wrong(g, "this is written as a group: [[" + std::string(g.key) + "]]");
    ManifestRow common;
    common.kind = kind;
    std::size_t rows = 0;
    for (const std::size_t i : inside(index)) {
      const TomlValue& v = value(i);
      const bool converter = kind == ManifestRow::Kind::converter;
      if (v.key == "dialect") {
        GANTRY_TRY(text(v, common.dialect));
      } else if (v.key == "domain") {
        GANTRY_TRY(text(v, common.domain));
      } else if (v.key == "target" && converter) {
        GANTRY_TRY(text(v, common.target));
      } else if (v.key == "rows" && v.kind == Kind::list) {
        rows = i;
      } else {
        return unknown_key(v, {"dialect", "domain", "target", "rows"});
      }
    }
    if (common.dialect.empty()) return wrong(g, "the group names no dialect");
    if (kind == ManifestRow::Kind::converter && common.target.empty()) return wrong(g, "the group names no target");
    if (rows == 0) return wrong(g, "the group has no rows");
    return (this->*read_rows)(rows, common);
  }

  // The values of row `index`, at most `most`.
  Status cells(std::size_t index, std::size_t least, std::size_t most, const char* form) {
    cells_.clear();
    for (std::size_t i = index + 1; i < value(index).end; i = value(i).end) cells_.push_back(i);
    if (value(index).kind == Kind::list && cells_.size() >= least && cells_.size() <= most) return {};
    return wrong(value(index), std::string("a row is written ") + form);
  }

  Status name(std::size_t i, std::string& to) const {
    if (value(i).kind != Kind::text || value(i).text.empty()) return wrong(value(i), "a name is expected here");
    to = value(i).text;
    return {};
  }
  Status versions(std::size_t i, ManifestRow& row) const {
    if (value(i).kind == Kind::text && parse_versions(value(i).text, row)) return {};
    return wrong(value(i), R"(versions are written "6", "6-12" or "6-")");
  }
  Status priority(std::size_t i, ManifestRow& row) const {
    constexpr std::int64_t kMost = INT32_MAX;
    const std::int64_t n = value(i).number;
    if (value(i).kind != Kind::integer || n > kMost || n < -kMost) {
      return wrong(value(i), "a priority is a number of 32 bits");
    }
    row.priority = static_cast<int>(n);
    return {};
  }

  Status operators(std::size_t list, const ManifestRow& common) {
    m_.rows.reserve(m_.rows.size() + (value(list).end - list) / 3);  // a row is three values
    const bool converter = common.kind == ManifestRow::Kind::converter;
    for (std::size_t i = list + 1; i < value(list).end; i = value(i).end) {
      GANTRY_TRY(cells(i, 2, converter ? 3 : 2,
                       converter ? R"(["Relu", "6-"] or ["Relu", "6-", 10])" : R"(["SOFTMAX", "1-"])"));
      ManifestRow& row = m_.rows.emplace_back(common);
      GANTRY_TRY(name(cells_[0], row.op));
      GANTRY_TRY(versions(cells_[1], row));
      if (cells_.size() > 2) GANTRY_TRY(priority(cells_[2], row));
    }
    return {};
  }

  Status patterns(std::size_t list, const ManifestRow& common) {
    for (std::size_t i = list + 1; i < value(list).end; i = value(i).end) {
      GANTRY_TRY(cells(i, 3, 5, R"(["conv_batch_norm", "BatchNormalization", "1-", ["Conv"], 0])"));
      ManifestRow& row = m_.rows.emplace_back(common);
      GANTRY_TRY(name(cells_[0], row.name));
      GANTRY_TRY(name(cells_[1], row.op));
      GANTRY_TRY(versions(cells_[2], row));
      if (cells_.size() > 3) GANTRY_TRY(texts_in(cells_[3], row.also));
      if (cells_.size() > 4) GANTRY_TRY(priority(cells_[4], row));
    }
    return {};
  }

  Status options(std::size_t list) {
    if (value(list).kind != Kind::list) return wrong(value(list), "a list of rows is expected here");
    for (const std::size_t i : inside(list)) {
      GANTRY_TRY(cells(i, 4, 4, R"(["name", "bool", "false", "help"])"));
      ManifestOption& o = m_.options.emplace_back();
      GANTRY_TRY(name(cells_[0], o.name));
      GANTRY_TRY(name(cells_[1], o.type));
      for (const std::size_t k : {cells_[2], cells_[3]}) {
        if (value(k).kind != Kind::text) return wrong(value(k), "a text is expected here");
      }
      o.default_text = value(cells_[2]).text;
      o.help = value(cells_[3]).text;
      if (o.type != "bool" && o.type != "int" && o.type != "float" && o.type != "string") {
        return wrong(value(cells_[1]), "the type of an option is bool, int, float or string");
      }
    }
    return {};
  }

  Status formats(std::size_t list) {
    if (value(list).kind != Kind::list) return wrong(value(list), "a list of rows is expected here");
    for (const std::size_t i : inside(list)) {
      GANTRY_TRY(cells(i, 3, 4, R"(["Keras HDF5", "keras", [".h5"], "894844460d0a1a0a"])"));
      ManifestFormat& f = m_.formats.emplace_back();
      GANTRY_TRY(name(cells_[0], f.name));
      GANTRY_TRY(name(cells_[1], f.dialect));
      GANTRY_TRY(texts_in(cells_[2], f.extensions));
      if (cells_.size() < 4) continue;
      const TomlValue& magic = value(cells_[3]);
      const bool digits = magic.text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
      if (magic.kind != Kind::text || magic.text.size() % 2 != 0 || !digits) {
        return wrong(magic, "first bytes are written as a text of hexadecimal digits, two a byte");
      }
      f.magic = magic.text;
    }
    return {};
  }

  Status finish() {
    const TomlValue& document = value(0);
    if (m_.id.empty()) return wrong(document, "id is missing");
    if (m_.version.empty()) return wrong(document, "version is missing");
    if (m_.library.empty()) return wrong(document, "library is missing");
    if (!has_abi_) return wrong(document, "abi is missing");
    if (m_.library.find('/') != std::string::npos || m_.library == "..") {
      return wrong(document, "library must be the name of a file beside the manifest, not '" + m_.library + "'");
    }
    return {};
  }

  const TomlTape& tape_;
  Manifest& m_;
  std::vector<std::size_t> cells_;
  bool has_abi_ = false;
};

}  // namespace

Result<Manifest> manifest_from_text(const std::string& text, const std::filesystem::path& file) {
  Result<TomlTape> tape = read_toml(text);
  if (!tape.ok()) {
    const std::string& m = tape.error().message;  // line:column: text
    const std::size_t place = m.find(": ");
    return error(Code::plugin_manifest, m.substr(place + 2)).at(file.string() + ":" + m.substr(0, place));
  }
  Manifest m;
  m.file = file;
  GANTRY_TRY(Reader(*tape, m).run());
  if (!std::is_sorted(m.rows.begin(), m.rows.end())) std::sort(m.rows.begin(), m.rows.end());
  std::sort(m.depends.begin(), m.depends.end());
  std::sort(m.formats.begin(), m.formats.end());
  return m;
}

}  // namespace gantry::plugins

namespace gantry {

Result<Manifest> read_manifest(const std::filesystem::path& file) {
  const auto unreadable = [&](const std::string& why) {
    return error(Code::plugin_manifest, "the manifest cannot be read: " + why).at(file.string());
  };
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) return unreadable(problem ? problem.message() : "no file");
  const std::uintmax_t size = std::filesystem::file_size(file, problem);
  if (problem) return unreadable(problem.message());
  if (size > plugins::kMostBytes) return unreadable("it is larger than 16 MiB");
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream in(file, std::ios::binary);
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) return unreadable("reading failed");
  return plugins::manifest_from_text(text, file);
}

}  // namespace gantry
