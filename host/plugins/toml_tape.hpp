// A TOML document as one flat list of values. Private to host/plugins.
//
// A search path may hold a hundred manifests of hundreds of rows, and all are read at every start. The text that
// write_manifest writes, and what a person is likely to write, is a small part of TOML: keys with strings, numbers and
// arrays, comments, and [[groups]]. A scanner reads just that, in about 50 ns a value. Whatever it does not know goes
// to toml++, which is fifty times slower, reads all of TOML, and finds every error.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry::plugins {

struct TomlValue {
  enum class Kind : std::uint8_t { text, integer, boolean, list, table, other };
  Kind kind = Kind::other;
  std::uint32_t line = 0, column = 0;
  std::uint32_t end = 0;    // index behind the last value inside of it (lists and tables)
  std::string_view key;     // in a table
  std::string_view text;    // texts
  std::int64_t number = 0;  // integers and booleans
};

/// values[0] is the document, a table. Each value is followed by those inside of it. Views point into the parsed text
/// or into `kept`. A group [[key]] is a table of that key; there may be several.
struct TomlTape {
  std::vector<TomlValue> values;
  std::deque<std::string> kept;
};

/// Errors: `line:column: what is wrong` in the message, of code plugin_manifest. The text must outlive the tape.
Result<TomlTape> read_toml(std::string_view text);

/// The two ways, for tests: scan_toml is false if the text is beyond the scanner.
bool scan_toml(std::string_view text, TomlTape& tape);
Result<TomlTape> parse_toml(std::string_view text);

}  // namespace gantry::plugins
