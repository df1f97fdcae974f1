#include "host/ir/text_reader.hpp"

#include <optional>
#include <utility>

#include "host/ir/element_ops.hpp"
#include "host/ir/text_elements.hpp"
#include "host/ir/text_quote.hpp"

namespace gantry::detail {
using Kind = Token::Kind;

Token TextReader::peek() const {
  Lexer ahead = lexer_;
  return ahead.next();
}

bool TextReader::accept(std::string_view text) {
  if (!token_.is(text)) return false;
  advance();
  return true;
}

Status TextReader::expect(std::string_view text) {
  return accept(text) ? Status{} : unexpected("\"" + std::string(text) + "\"");
}

Diagnostic TextReader::fail(std::size_t offset, const std::string& what) const {
  return error(Code::input_malformed, what).at(std::string(file_) + ":" + lexer_.place(offset));
}

Diagnostic TextReader::unexpected(const std::string& wanted) const {
  if (token_.kind == Kind::bad) return fail(token_.value);
  if (token_.kind == Kind::end) return fail("expected " + wanted + ", found the end");
  return fail("expected " + wanted + ", found " + std::string(token_.text.substr(0, 40)));
}

Result<std::string> TextReader::string(const std::string& what) {
  if (token_.kind != Kind::string) return unexpected(what + " in quotes");
  std::string s = std::move(token_.value);
  advance();
  return s;
}

Result<std::string> TextReader::word(const std::string& what) {
  if (token_.kind == Kind::string && !token_.value.empty()) return string(what);
  if (token_.kind != Kind::word || !is_identifier(token_.text)) return unexpected(what);
  std::string s{token_.text};
  advance();
  return s;
}

// ---- types ----

Result<DType> TextReader::element_type() {
  std::optional<DType> t;
  if (token_.kind == Kind::word || token_.is("?")) t = dtype_from_name(token_.text);
  if (!t) return unexpected("an element type");
  advance();
  return *t;
}

Status TextReader::dimension(Type& t) {
  if (accept("?")) {
    t.dims.emplace_back();
    return {};
  }
  if (token_.kind != Kind::number) {
    GANTRY_ASSIGN(const std::string symbol, word("a dimension"));
    t.dims.push_back(Dim::named(symbol));
    return {};
  }
  const std::size_t offset = token_.offset;
  GANTRY_ASSIGN(const auto n, integer<std::int64_t>("a dimension"));
  if (n < 0) return fail(offset, "a dimension is negative");
  t.dims.emplace_back(n);
  return {};
}

Result<Type> TextReader::type() {
  Type t;
  GANTRY_ASSIGN(t.dtype, element_type());
  GANTRY_TRY(expect("["));
  if (accept("*")) {
    GANTRY_TRY(expect("]"));
    return t;
  }
  t.ranked = true;
  GANTRY_TRY(list("]", [&] { return dimension(t); }));
  return t;
}

// ---- constants ----

Result<Constant> TextReader::tensor() {
  const std::size_t offset = token_.offset;
  GANTRY_ASSIGN(const Type t, type());
  const auto count = t.elements();
  if (!count || t.dtype == DType::undefined) return fail(offset, "the type of a constant must be fully known");
  GANTRY_TRY(expect("="));
  if (token_.kind == Kind::hash && t.dtype != DType::string) {
    std::uint64_t label = 0;
    std::from_chars(token_.value.data(), token_.value.data() + token_.value.size(), label, 16);
    advance();
    Constant c = Constant::placeholder(t.dtype, t.sizes(), label);
    if (!c) return fail(offset, "the constant is too large");
    return c;
  }
  if (!accept("[")) return unexpected("\"[\" or a hash");
  if (t.dtype == DType::string) return string_tensor(t, *count, offset);
  std::vector<std::byte> bytes;
  std::int64_t found = 0;
  GANTRY_TRY(list("]", [&] {
    ++found;
    return element(t.dtype, bytes);
  }));
  if (found != *count) return wrong_count(offset, t, found);
  if (carrier(t.dtype) != t.dtype) {
    std::vector<std::byte> packed((bytes.size() + 1) / 2);
    pack4(bytes.data(), found, packed.data());
    bytes = std::move(packed);
  }
  return Constant::own(t.dtype, t.sizes(), std::move(bytes));
}

Result<Constant> TextReader::string_tensor(const Type& t, std::int64_t count, std::size_t offset) {
  std::vector<std::string> values;
  GANTRY_TRY(list("]", [&]() -> Status {
    GANTRY_ASSIGN(std::string s, string("a string"));
    values.push_back(std::move(s));
    return {};
  }));
  const auto found = static_cast<std::int64_t>(values.size());
  if (found != count) return wrong_count(offset, t, found);
  return Constant::strings(t.sizes(), std::move(values));
}

Status TextReader::element(DType t, std::vector<std::byte>& bytes) {
  if (const DType part = component(t); part != t) {  // complex
    GANTRY_TRY(expect("("));
    GANTRY_TRY(element(part, bytes));
    GANTRY_TRY(expect(","));
    GANTRY_TRY(element(part, bytes));
    return expect(")");
  }
  const bool is_value = token_.kind == Kind::number || token_.kind == Kind::word;
  if (!is_value || !parse_element(token_.text, t, bytes)) {
    return unexpected("a value of type " + std::string(dtype_name(t)));
  }
  advance();
  return {};
}

Diagnostic TextReader::wrong_count(std::size_t offset, const Type& t, std::int64_t found) const {
  return fail(offset, "a constant of type " + t.str() + " has " + std::to_string(found) + " elements in the text");
}

// ---- attributes ----

bool TextReader::at_float() const {
  if (token_.kind == Kind::number) return token_.text.find_first_of(".eE") != token_.text.npos;
  return token_.kind == Kind::word &&
         (token_.text == "inf" || token_.text == "-inf" || token_.text == "nan" || token_.text.starts_with("nan("));
}

Result<float> TextReader::float_value() {
  float x = 0;
  if (!at_float() || !parse_float(token_.text, x)) return unexpected("a float");
  advance();
  return x;
}

Result<Attr> TextReader::attribute() {
  if (token_.kind == Kind::string) {
    GANTRY_ASSIGN(std::string s, string("a string"));
    return Attr(std::move(s));
  }
  if (at_float()) {
    GANTRY_ASSIGN(const float x, float_value());
    return Attr(x);
  }
  if (token_.kind == Kind::number) {
    GANTRY_ASSIGN(const auto n, integer<std::int64_t>("an integer"));
    return Attr(n);
  }
  if (accept("[")) return attribute_list();
  if (token_.is("ints") || token_.is("floats") || token_.is("strs")) return empty_list();
  if (accept("none")) return Attr(Constant{});
  if (token_.kind != Kind::word) return unexpected("an attribute's value");
  GANTRY_ASSIGN(Constant c, tensor());
  return Attr(std::move(c));
}

Result<Attr> TextReader::empty_list() {
  const std::string_view kind = token_.text;
  advance();
  GANTRY_TRY(expect("["));
  GANTRY_TRY(expect("]"));
  if (kind == "ints") return Attr(std::vector<std::int64_t>{});
  if (kind == "floats") return Attr(std::vector<float>{});
  return Attr(std::vector<std::string>{});
}

// After "[": what the first element is, all are.
Result<Attr> TextReader::attribute_list() {
  const auto all = [&](auto read_one) -> Result<Attr> {
    std::vector<std::remove_cvref_t<decltype(*read_one())>> v;
    GANTRY_TRY(list("]", [&]() -> Status {
      GANTRY_ASSIGN(auto x, read_one());
      v.push_back(std::move(x));
      return {};
    }));
    return Attr(std::move(v));
  };
  if (token_.is("]")) return fail("an empty list says of what: ints[], floats[] or strs[]");
  if (token_.kind == Kind::string) return all([&] { return string("a string"); });
  if (at_float()) return all([&] { return float_value(); });
  return all([&] { return integer<std::int64_t>("an integer"); });
}

}  // namespace gantry::detail
