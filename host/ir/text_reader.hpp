// Recursive descent over tokens of the text form: what types, constants and attributes are. Private to host/ir.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"
#include "host/ir/text_lexer.hpp"

namespace gantry::detail {

/// Every function reads from the current token on and leaves the one behind what it read, or returns an error that
/// says where.
class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : lexer_(text), file_(file) { advance(); }

 protected:
  const Token& token() const { return token_; }
  Token peek() const;  // the one after the current
  void advance() { token_ = lexer_.next(); }
  bool accept(std::string_view text);
  Status expect(std::string_view text);
  Diagnostic fail(std::size_t offset, const std::string& what) const;
  Diagnostic fail(const std::string& what) const { return fail(token_.offset, what); }
  Diagnostic unexpected(const std::string& wanted) const;

  Result<std::string> string(const std::string& what);
  /// A word, or the same in quotes.
  Result<std::string> word(const std::string& what);
  template <class N>
  Result<N> integer(const std::string& what) {
    N n = 0;
    const std::string_view t = token_.text;
    if (token_.kind != Token::Kind::number) return unexpected(what);
    const auto [end, failure] = std::from_chars(t.data(), t.data() + t.size(), n);
    if (failure != std::errc{} || end != t.data() + t.size()) return unexpected(what + " (an integer in range)");
    advance();
    return n;
  }
  /// item { "," item } close, or close at once.
  template <class F>
  Status list(std::string_view close, F item) {
    if (accept(close)) return {};
    while (true) {
      GANTRY_TRY(item());
      if (accept(close)) return {};
      if (!accept(",")) return unexpected("\",\" or \"" + std::string(close) + "\"");
    }
  }

  Result<Type> type();
  /// type = [elements] or type = #hash.
  Result<Constant> tensor();
  Result<Attr> attribute();

 private:
  Result<DType> element_type();
  Status dimension(Type& t);
  bool at_float() const;
  Result<float> float_value();
  Result<Attr> attribute_list();
  Result<Attr> empty_list();
  Result<Constant> string_tensor(const Type& t, std::int64_t count, std::size_t offset);
  Status element(DType t, std::vector<std::byte>& bytes);
  Diagnostic wrong_count(std::size_t offset, const Type& t, std::int64_t found) const;

  Lexer lexer_;
  std::string_view file_;
  Token token_;
};

}  // namespace gantry::detail
