// The scanner for the plain part of TOML. It takes only text whose meaning it is sure of.
#include <algorithm>

#include "host/ir/text_quote.hpp"
#include "host/plugins/toml_tape.hpp"

namespace gantry::plugins {
namespace {

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

class Scanner {
 public:
  Scanner(std::string_view text, std::vector<TomlValue>& out) : text_(text), out_(out) {}

  bool run() {
    open(TomlValue::Kind::table, {});
    std::size_t group = 0;  // index of the open group; 0: none yet
    while (skip_blank(true), at_ < text_.size()) {
      if (text_[at_] == '[') {
        if (group != 0) close(group);
        group = out_.size();
        if (!group_header()) return false;
      } else if (!entry(group)) {
        return false;
      }
      if (!end_of_line()) return false;
    }
    if (group != 0) close(group);
    close(0);
    return true;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  TomlValue& open(TomlValue::Kind kind, std::string_view key) {
    TomlValue v;
    v.kind = kind;
    v.line = line_;
    v.column = static_cast<std::uint32_t>(at_ - line_start_ + 1);
    v.key = key;
    v.end = static_cast<std::uint32_t>(out_.size() + 1);
    return out_.emplace_back(v);
  }
  void close(std::size_t index) { out_[index].end = static_cast<std::uint32_t>(out_.size()); }

  // Blanks and comments; with `lines` also line feeds. Other control characters end it, and then the scan.
  void skip_blank(bool lines) {
    for (;; ++at_) {
      const char c = peek();
      if (c == '#') {
        skip_comment();
      }
      if (peek() == '\n' && lines) {
        ++line_;
        line_start_ = at_ + 1;
      } else if (peek() != ' ' && peek() != '\t') {
        return;
      }
    }
  }
  void skip_comment() {
    while (at_ < text_.size() && text_[at_] >= ' ' && text_[at_] < '\x7f') ++at_;
  }
  bool end_of_line() {
    skip_blank(false);
    return at_ == text_.size() || text_[at_] == '\n';
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (is_key_char(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool group_header() {
    if (peek(1) != '[') return false;
    const std::size_t begin = at_;
    at_ += 2;
    const std::string_view key = word();
    if (key.empty() || peek() != ']' || peek(1) != ']' || taken(0, key, true)) return false;
    const std::size_t end = at_ + 2;
    at_ = begin;
    open(TomlValue::Kind::table, key);
    at_ = end;
    return true;
  }

  bool entry(std::size_t table) {
    const std::string_view key = word();
    if (key.empty() || taken(table, key, false)) return false;
    skip_blank(false);
    if (peek() != '=') return false;
    ++at_;
    skip_blank(false);
    return value(key, 0);
  }

  // Whether the table has the key already; groups of one key may be many, but nothing else.
  bool taken(std::size_t table, std::string_view key, bool group) const {
    for (std::size_t i = table + 1; i < out_.size(); i = out_[i].end) {
      if (out_[i].key == key && !(group && out_[i].kind == TomlValue::Kind::table)) return true;
    }
    return false;
  }

  bool value(std::string_view key, int depth) {
    constexpr int kMaxDepth = 8;
    const char c = peek();
    if (c == '"') return quoted(key);
    if (c == '[') return depth < kMaxDepth && list(key, depth);
    if (c == '-' || (c >= '0' && c <= '9')) return integer(key);
    TomlValue& v = open(TomlValue::Kind::boolean, key);
    const std::string_view w = word();
    v.number = w == "true";
    return w == "true" || w == "false";
  }

  bool quoted(std::string_view key) {
    TomlValue& v = open(TomlValue::Kind::text, key);
    const std::size_t begin = ++at_;
    bool ascii = true;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (c == '\\' || c == '\x7f' || (c >= 0 && c < ' ')) return false;
      ascii = ascii && c >= 0;
    }
    if (at_ == text_.size()) return false;
    v.text = text_.substr(begin, at_ - begin);
    ++at_;
    return (!v.text.empty() || peek() != '"') && (ascii || detail::is_utf8(v.text));
  }

  bool integer(std::string_view key) {
    TomlValue& v = open(TomlValue::Kind::integer, key);
    const bool negative = peek() == '-';
    if (negative) ++at_;
    const std::size_t begin = at_;
    std::int64_t n = 0;
    constexpr std::size_t kMostDigits = 18;
    while (peek() >= '0' && peek() <= '9' && at_ - begin < kMostDigits) n = n * 10 + (text_[at_++] - '0');
    const bool plain = at_ > begin && (at_ - begin == 1 || text_[begin] != '0') && !is_key_char(peek()) &&
                       peek() != '.' && peek() != ':';
    v.number = negative ? -n : n;
    return plain;
  }

  bool list(std::string_view key, int depth) {
    const std::size_t index = out_.size();
    open(TomlValue::Kind::list, key);
    ++at_;
    for (;;) {
      skip_blank(true);
      if (peek() == ']') break;
      if (!value({}, depth + 1)) return false;
      skip_blank(true);
      if (peek() == ',') {
        ++at_;
      } else if (peek() != ']') {
        return false;
      }
    }
    ++at_;
    close(index);
    return true;
  }

  std::string_view text_;
  std::vector<TomlValue>& out_;
  std::size_t at_ = 0, line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

bool scan_toml(std::string_view text, TomlTape& tape) {
  tape.values.clear();
  tape.kept.clear();
  tape.values.reserve(std::min<std::size_t>(text.size() / 8, 4096));
  return Scanner(text, tape.values).run();
}

Result<TomlTape> read_toml(std::string_view text) {
  TomlTape tape;
  if (scan_toml(text, tape)) return tape;
  return parse_toml(text);
}

}  // namespace gantry::plugins
