#include "host/ir/text_lexer.hpp"

#include <algorithm>

#include "host/ir/text_quote.hpp"

namespace gantry::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Token Lexer::next() {
  skip_blanks();
  Token t;
  if (at_ == text_.size()) {
    t.offset = at_;
    return t;
  }
  const char c = peek(0);
  if (c == '"') {
    t = string();
  } else if (c == '%') {
    t = name();
  } else if (c == '#') {
    std::size_t n = 1;
    while (hex_digit(peek(n)) >= 0) ++n;
    t = n > 1 && n <= 17 ? token(Token::Kind::hash, n) : bad("a hash is # and 1 to 16 hexadecimal digits", n);
    if (t.kind == Token::Kind::hash) t.value = t.text.substr(1);
  } else if (const std::size_t n = word_length(); n > 0) {
    t = token(Token::Kind::word, n);
  } else if (is_digit(c) || c == '-') {
    t = number();
  } else if (c == ':' && peek(1) == ':') {
    t = token(Token::Kind::punct, 2);
  } else if (std::string_view("{}()[]=,:.@?*").find(c) != std::string_view::npos) {
    t = token(Token::Kind::punct, 1);
  } else {
    t = bad("unexpected character", 1);
  }
  if (t.kind != Token::Kind::bad) at_ += t.text.size();
  return t;
}

std::string Lexer::place(std::size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 == 0
  return std::to_string(line) + ":" + std::to_string(offset - start + 1);
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '/' && peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

Token Lexer::token(Token::Kind kind, std::size_t length) const {
  Token t;
  t.kind = kind;
  t.text = text_.substr(at_, length);
  t.offset = at_;
  return t;
}

Token Lexer::bad(std::string what, std::size_t length) const {
  Token t = token(Token::Kind::bad, length);
  t.value = std::move(what);
  return t;
}

Token Lexer::string() const {
  std::string value;
  std::size_t i = 1;
  while (true) {
    const char c = peek(i);
    if (at_ + i >= text_.size() || c == '\n') return bad("a string is not closed", i);
    ++i;
    if (c == '"') break;
    if (c != '\\') {
      value += c;
      continue;
    }
    const char escape = peek(i++);
    if (escape == '"' || escape == '\\') {
      value += escape;
    } else if (escape == 'n') {
      value += '\n';
    } else if (escape == 'r') {
      value += '\r';
    } else if (escape == 't') {
      value += '\t';
    } else if (escape == 'x' && hex_digit(peek(i)) >= 0 && hex_digit(peek(i + 1)) >= 0) {
      value += static_cast<char>(hex_digit(peek(i)) * 16 + hex_digit(peek(i + 1)));
      i += 2;
    } else {
      return bad("a string has an escape that is none of \\\" \\\\ \\n \\r \\t \\xHH", i);
    }
  }
  Token t = token(Token::Kind::string, i);
  t.value = std::move(value);
  return t;
}

Token Lexer::name() const {
  if (peek(1) == '"') {
    Lexer inner = *this;
    ++inner.at_;
    Token t = inner.string();
    if (t.kind == Token::Kind::bad) return t;
    if (t.value.empty()) return bad("a value's name is empty", 3);
    t.kind = Token::Kind::name;
    t.offset = at_;
    t.text = text_.substr(at_, t.text.size() + 1);
    return t;
  }
  std::size_t n = 1;
  while (at_ + n < text_.size() && is_plain_name(text_.substr(at_ + n, 1))) ++n;
  if (n == 1) return bad("a value's name is missing after %", 1);
  Token t = token(Token::Kind::name, n);
  t.value = t.text.substr(1);
  return t;
}

Token Lexer::number() const {
  std::size_t n = peek(0) == '-' ? 1 : 0;
  if (text_.substr(at_ + n).starts_with("inf")) return token(Token::Kind::word, n + 3);
  if (!is_digit(peek(n))) return bad("a number has no digits", n);
  while (is_digit(peek(n))) ++n;
  if (peek(n) == '.' && is_digit(peek(n + 1))) {
    ++n;
    while (is_digit(peek(n))) ++n;
  }
  if (peek(n) == 'e' || peek(n) == 'E') {
    const std::size_t sign = peek(n + 1) == '-' || peek(n + 1) == '+' ? 1 : 0;
    if (!is_digit(peek(n + 1 + sign))) return bad("a number has no digits after its e", n + 1);
    n += 1 + sign;
    while (is_digit(peek(n))) ++n;
  }
  return token(Token::Kind::number, n);
}

std::size_t Lexer::word_length() const {
  std::size_t n = 0;
  while (at_ + n < text_.size() && (is_identifier(text_.substr(at_ + n, 1)) || (n > 0 && is_digit(peek(n))))) ++n;
  if (text_.substr(at_, n) == "nan" && text_.substr(at_ + n).starts_with("(0x")) {
    const std::size_t close = text_.find(')', at_);
    if (close != text_.npos) return close + 1 - at_;
  }
  return n;
}

}  // namespace gantry::detail
