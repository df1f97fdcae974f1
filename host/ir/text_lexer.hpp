// Tokens of the text form. Private to host/ir.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gantry::detail {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,    // identifier; also -inf and nan(0x...)
    number,  // integer or decimal
    string,  // `value` is what it says
    name,    // %name: `value` without the %
    hash,    // #hex: `value` is the digits
    punct,   // one character, or ::
    bad,     // `value` says what is wrong
  } kind = Kind::end;
  std::string_view text;  // as written
  std::string value;
  std::size_t offset = 0;

  bool is(std::string_view punct_or_word) const {
    return (kind == Kind::punct || kind == Kind::word) && text == punct_or_word;
  }
};

/// Cheap to copy: a copy looks ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The next token; at the end, or after a bad one, the same again.
  Token next();
  /// "line:column" of an offset, from 1; columns count bytes.
  std::string place(std::size_t offset) const;

 private:
  void skip_blanks();
  Token token(Token::Kind kind, std::size_t length) const;
  Token bad(std::string what, std::size_t length) const;
  Token string() const;
  Token name() const;
  Token number() const;
  std::size_t word_length() const;
  char peek(std::size_t i) const { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace gantry::detail
