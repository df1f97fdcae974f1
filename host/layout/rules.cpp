#include "host/layout/rules.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace gantry::layout {
namespace {

constexpr std::string_view kRoles[] = {"axis", "axes",    "pick", "drop",   "begin",   "size",
                                       "end",  "strides", "pads", "mirror", "repeats", "shape"};

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Rule> rule() {
    Rule r;
    do {
      Variant v;
      GANTRY_TRY(variant(v));
      r.variants.push_back(std::move(v));
    } while (take(";"));
    if (!at_end()) return fail("expected ';' or the end");
    return r;
  }

 private:
  Diagnostic fail(const std::string& what) const {
    return error(Code::plugin_manifest,
                 "layout rule \"" + std::string(text_) + "\", column " + std::to_string(at_ + 1) + ": " + what)
        .try_this("see the notation in docs/layout.md");
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool at_end() { return skip(), at_ == text_.size(); }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && word_char(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Status variant(Variant& v) {
    if (take("fixed")) {
      v.fixed = true;
      skip();
      const std::size_t end = std::min(text_.find(';', at_), text_.size());
      v.reason = text_.substr(at_, end - at_);
      at_ = end;
      return {};
    }
    GANTRY_TRY(operands(v.operands, v.operands_repeat));
    if (!take("->")) return fail("expected '->'");
    GANTRY_TRY(operands(v.results, v.results_repeat));
    only_first_is_rest(v);
    return check_names(v);
  }

  Status operands(std::vector<OperandPattern>& list, bool& repeat) {
    do {
      OperandPattern p;
      GANTRY_TRY(operand(p));
      list.push_back(std::move(p));
    } while (take(","));
    repeat = take("...");
    return {};
  }

  Status operand(OperandPattern& p) {
    skip();
    const std::size_t begin = at_;
    if (word() == "_") {
      p.none = true;
      return {};
    }
    at_ = begin;
    do {
      Alternative a;
      GANTRY_TRY(alternative(a, p));
      p.alternatives.push_back(std::move(a));
    } while (take("|"));
    return {};
  }

  Status alternative(Alternative& a, OperandPattern& p) {
    for (;;) {
      if (take("*")) {
        if (!a.items.empty()) return fail("'*' stands alone");
        a.items.push_back({"*", false, true});
        if (take("[")) GANTRY_TRY(roles(p));
        return {};
      }
      Item item;
      item.name = word();
      if (item.name.empty()) break;
      if (item.name == "_") return fail("'_' stands alone");
      item.block = take("!");
      if (take(":")) {
        const std::string dims = word();
        if (dims.size() != 1 || !std::isdigit(static_cast<unsigned char>(dims[0])))
          return fail("expected one digit after ':'");
        item.dims = dims[0] - '0';
      }
      item.rest = a.items.empty() && std::isupper(static_cast<unsigned char>(item.name[0])) && !item.block;
      a.items.push_back(std::move(item));
    }
    if (a.items.empty()) return fail("expected a name, '*' or '_'");
    if (take("{")) {
      a.flag = word();
      if (a.flag.empty() || !take("}")) return fail("expected a flag and '}'");
    }
    return {};
  }

  Status roles(OperandPattern& p) {
    while (!take("]")) {
      const std::string role = word();
      if (std::find(std::begin(kRoles), std::end(kRoles), role) == std::end(kRoles))
        return fail("unknown role '" + role + "'");
      if (!take("=")) return fail("expected '=' after the role");
      Source s;
      const bool operand = take("#");
      const std::string source = word();
      if (source.empty()) return fail("expected an attribute or '#' and an operand");
      if (operand && !std::all_of(source.begin(), source.end(),
                                  [](char c) { return std::isdigit(static_cast<unsigned char>(c)); }))
        return fail("expected the number of an operand after '#'");
      if (operand && source.size() > 3) return fail("no operator has so many operands");
      if (operand)
        s.operand = std::stoi(source);
      else
        s.attribute = source;
      if (!operand && take(":")) GANTRY_TRY(otherwise(s));
      p.roles[role] = s;
    }
    return {};
  }

  Status otherwise(Source& s) {
    const bool negative = take("-");
    const std::string digits = word();
    if (digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != std::string::npos)
      return fail("expected a number after ':'");
    s.otherwise = (negative ? -1 : 1) * std::stoi(digits);
    return {};
  }

  /// A name takes all axes that are left only if it stands first wherever it stands.
  static void only_first_is_rest(Variant& v) {
    std::set<std::string> later;
    const auto each = [&](auto f) {
      for (auto* list : {&v.operands, &v.results})
        for (OperandPattern& p : *list)
          for (Alternative& a : p.alternatives)
            for (std::size_t i = 0; i < a.items.size(); ++i) f(a.items[i], i);
    };
    each([&](const Item& item, std::size_t i) {
      if (i > 0 || item.block) later.insert(item.name);
    });
    each([&](Item& item, std::size_t) {
      if (later.contains(item.name)) item.rest = false;
    });
  }

  /// Alternatives of one operand are orders of the same names.
  Status check_names(const Variant& v) {
    for (const auto* list : {&v.operands, &v.results})
      for (const OperandPattern& p : *list) {
        std::set<std::string> first;
        for (const Alternative& a : p.alternatives) {
          std::set<std::string> names;
          for (const Item& i : a.items)
            if (i.name != "1" && !names.insert(i.name).second)
              return fail("'" + i.name + "' stands twice in one operand");
          if (first.empty()) first = names;
          if (names != first) return fail("alternatives must have the same names");
        }
      }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Rule> parse_rule(std::string_view text) { return Parser(text).rule(); }

}  // namespace gantry::layout
