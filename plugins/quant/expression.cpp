#include "expression.hpp"

#include <cctype>
#include <charconv>

#include <gantry/sdk.hpp>

namespace gantry::quant {
namespace {

using Json = nlohmann::json;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), all_(text) {}

  Expression call() {
    Expression e;
    e.name = name();
    if (e.name.empty()) fail();
    if (!take('(')) {
      if (!at_end()) fail();
      return e;
    }
    e.called = true;
    while (!take(')')) {
      argument(e);
      if (take(',')) continue;
      if (!take(')')) fail();
      break;
    }
    if (!at_end()) fail();
    return e;
  }

 private:
  [[noreturn]] void fail() const { sdk::decline("the quantizer '", all_.substr(0, 200), "' is not understood"); }
  void skip() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool at_end() {
    skip();
    return text_.empty();
  }
  std::string name() {
    skip();
    std::size_t n = 0;
    while (n < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[n])) || text_[n] == '_' || text_[n] == '.'))
      ++n;
    std::string s(text_.substr(0, n));
    text_.remove_prefix(n);
    return s;
  }
  void argument(Expression& e) {
    skip();
    const std::string_view before = text_;
    const std::string key = name();
    if (!key.empty() && !std::isdigit(static_cast<unsigned char>(key[0])) && take('=')) {
      e.keywords.emplace_back(key, literal(0));
      return;
    }
    text_ = before;
    e.positional.push_back(literal(0));
  }
  Json literal(int depth) {
    if (depth > 8) fail();
    skip();
    if (text_.empty()) fail();
    const char c = text_.front();
    if (c == '\'' || c == '"') {
      const std::size_t end = text_.find(c, 1);
      if (end == std::string_view::npos) fail();
      Json s = std::string(text_.substr(1, end - 1));
      text_.remove_prefix(end + 1);
      return s;
    }
    if (c == '[' || c == '(') {
      text_.remove_prefix(1);
      Json list = Json::array();
      const char close = c == '[' ? ']' : ')';
      while (!take(close)) {
        list.push_back(literal(depth + 1));
        if (take(',')) continue;
        if (!take(close)) fail();
        break;
      }
      return list;
    }
    if (std::isalpha(static_cast<unsigned char>(c))) return word();
    return number();
  }
  Json word() {
    const std::string w = name();
    if (w == "True") return true;
    if (w == "False") return false;
    if (w == "None") return nullptr;
    fail();
  }
  Json number() {
    if (text_.front() == '+') text_.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{}) fail();
    const std::string_view digits(text_.data(), static_cast<std::size_t>(end - text_.data()));
    text_.remove_prefix(digits.size());
    if (digits.find_first_of(".eEn") == std::string_view::npos && value > -1e15 && value < 1e15)
      return static_cast<std::int64_t>(value);
    return value;
  }

  std::string_view text_, all_;
};

}  // namespace

Expression parse_expression(std::string_view text) { return Parser(text).call(); }

}  // namespace gantry::quant
