// Recursive descent over the text form; only regions recurse, to a limit.
#include <set>
#include <utility>

#include "host/ir/text.hpp"
#include "host/ir/text_reader.hpp"

namespace gantry {
namespace {

using detail::TextReader;
using Kind = detail::Token::Kind;

constexpr int kMaxDepth = 64;

class Parser : TextReader {
 public:
  using TextReader::TextReader;

  Result<Graph> run() {
    GANTRY_TRY(expect("graph"));
    GANTRY_ASSIGN(g_.name, string("the graph's name"));
    if (accept("opset")) GANTRY_TRY(opsets());
    GANTRY_TRY(expect("{"));
    GANTRY_TRY(body(g_.main(), 0));
    if (token().kind != Kind::end) return unexpected("the end");
    return std::move(g_);
  }

 private:
  struct NewValue {
    std::string name;  // empty: omitted
    Type type;
  };

  // ---- the graph and its regions ----

  Status opsets() {
    do {
      const std::size_t offset = token().offset;
      GANTRY_ASSIGN(std::string domain, string("a domain"));
      GANTRY_ASSIGN(const auto version, integer<std::int64_t>("an opset version"));
      if (!g_.opsets.emplace(std::move(domain), version).second) return fail(offset, "a domain has two versions");
    } while (accept(","));
    return {};
  }

  Status body(RegionId region, int depth) {
    std::vector<ValueId> made;
    while (!accept("}")) {
      const bool is_keyword = token().kind == Kind::word && !peek().is(".");
      if (is_keyword && accept("input")) {
        GANTRY_TRY(input(region, made));
      } else if (is_keyword && accept("const")) {
        GANTRY_TRY(constant());
      } else if (is_keyword && accept("output")) {
        GANTRY_TRY(output(region));
      } else if (is_keyword && depth == 0 && accept("source")) {
        GANTRY_ASSIGN(g_.source, string("the source"));
      } else if (is_keyword && depth == 0 && accept("producer")) {
        GANTRY_ASSIGN(g_.producer, string("the producer"));
      } else if (is_keyword && depth == 0 && accept("meta")) {
        GANTRY_TRY(metadata());
      } else if (token().kind == Kind::name || token().kind == Kind::word || token().kind == Kind::string) {
        GANTRY_TRY(node(region, made, depth));
      } else {
        return unexpected("input, const, output, a node or \"}\"");
      }
    }
    for (const ValueId v : made) set_visible(v, false);  // nothing outside sees into a region
    return {};
  }

  Status metadata() {
    GANTRY_ASSIGN(std::string key, string("a key"));
    GANTRY_TRY(expect("="));
    GANTRY_ASSIGN(g_.metadata[key], string("a value"));
    return {};
  }

  Status input(RegionId region, std::vector<ValueId>& made) {
    if (token().kind != Kind::name) return unexpected("a value");
    GANTRY_ASSIGN(NewValue v, new_value());
    std::string source_name = v.name;
    if (token().kind == Kind::string && !peek().is(".")) {
      if (token().value.empty()) return fail("the source's name is empty");
      GANTRY_ASSIGN(source_name, string("the source's name"));
    }
    const ValueId id = g_.add_input(region, source_name, std::move(v.type));
    g_.set_name(id, v.name);
    made.push_back(id);
    set_visible(id, true);
    return {};
  }

  Status output(RegionId region) {
    GANTRY_ASSIGN(const std::string name, string("the output's name"));
    GANTRY_TRY(expect("="));
    if (token().is("_")) return unexpected("a value");
    GANTRY_ASSIGN(const ValueId v, operand());
    g_.add_output(region, name, v);
    return {};
  }

  Status constant() {
    if (token().kind != Kind::name) return unexpected("a value");
    if (g_.find_value(token().value)) return fail("the name is used already");
    const std::string name = token().value;
    advance();
    GANTRY_TRY(expect(":"));
    GANTRY_ASSIGN(Constant c, tensor());
    set_visible(g_.add_constant(std::move(c), name), true);
    return {};
  }

  // ---- nodes ----

  Status node(RegionId region, std::vector<ValueId>& made, int depth) {
    GANTRY_ASSIGN(std::vector<NewValue> results, result_list());
    std::string dialect, domain;
    std::string name;
    Op op;
    GANTRY_TRY(op_name(dialect, domain, name));
    GANTRY_TRY(expect("@"));
    GANTRY_ASSIGN(op.version, integer<int>("a version"));
    op.dialect = dialect;
    op.domain = domain;
    op.name = name;
    GANTRY_TRY(expect("("));
    std::vector<ValueId> operands;
    GANTRY_TRY(list(")", [&]() -> Status {
      GANTRY_ASSIGN(const ValueId v, operand());
      operands.push_back(v);
      return {};
    }));
    Attrs attrs;
    if (accept("{")) GANTRY_TRY(attributes(attrs));
    std::string node_name;
    if (token().kind == Kind::string && !peek().is(".") && !peek().is(":")) node_name = *string("");
    std::vector<std::string_view> names;
    for (const NewValue& r : results) names.emplace_back(r.name);
    const NodeId id = g_.add_node_named(g_.end(region), op, operands, names, std::move(attrs), node_name);
    while ((token().kind == Kind::word || token().kind == Kind::string) && peek().is(":")) {
      GANTRY_TRY(inner_region(id, depth));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ValueId v = g_.node(id).outputs[i];
      if (!v) continue;
      g_.set_type(v, std::move(results[i].type));
      made.push_back(v);
      set_visible(v, true);
    }
    return {};
  }

  Result<std::vector<NewValue>> result_list() {
    std::vector<NewValue> results;
    if (token().kind != Kind::name && !token().is("_")) return results;
    std::set<std::string> names;
    do {
      if (accept("_")) {
        results.emplace_back();
        continue;
      }
      const std::size_t offset = token().offset;
      if (token().kind != Kind::name) return unexpected("a result");
      GANTRY_ASSIGN(NewValue v, new_value());
      if (!names.insert(v.name).second) return fail(offset, "the name is used already");
      results.push_back(std::move(v));
    } while (accept(","));
    GANTRY_TRY(expect("="));
    return results;
  }

  // dialect.Name, dialect.some.domain::Name
  Status op_name(std::string& dialect, std::string& domain, std::string& name) {
    GANTRY_ASSIGN(dialect, word("an operator"));
    GANTRY_TRY(expect("."));
    GANTRY_ASSIGN(name, word("an operator's name or domain"));
    bool dotted = false;
    while (accept(".")) {
      GANTRY_ASSIGN(const std::string more, word("a domain"));
      name += "." + more;
      dotted = true;
    }
    if (accept("::")) {
      domain = std::exchange(name, {});
      GANTRY_ASSIGN(name, word("an operator's name"));
    } else if (dotted) {
      return unexpected("\"::\" after a domain");
    }
    return {};
  }

  Status inner_region(NodeId owner, int depth) {
    if (depth + 1 >= kMaxDepth) return fail("regions are nested too deep");
    GANTRY_ASSIGN(const std::string attribute, word("a region"));
    GANTRY_TRY(expect(":"));
    std::string name;
    if (token().kind == Kind::string) name = *string("");
    GANTRY_TRY(expect("{"));
    return body(g_.add_region(owner, attribute, name), depth + 1);
  }

  Status attributes(Attrs& attrs) {
    return list("}", [&]() -> Status {
      const std::size_t offset = token().offset;
      GANTRY_ASSIGN(std::string name, word("an attribute's name"));
      GANTRY_TRY(expect("="));
      GANTRY_ASSIGN(Attr value, attribute());
      if (!attrs.emplace(std::move(name), std::move(value)).second) return fail(offset, "the attribute occurs twice");
      return {};
    });
  }

  // ---- values ----

  void set_visible(ValueId v, bool is) {
    if (v.index >= visible_.size()) visible_.resize(v.index + std::size_t{1});
    visible_[v.index] = is;
  }

  Result<ValueId> operand() {
    if (accept("_")) return ValueId{};
    if (token().kind != Kind::name) return unexpected("a value");
    const ValueId v = g_.find_value(token().value);
    if (!v || v.index >= visible_.size() || !visible_[v.index]) {
      return fail("%" + token().value + " is not defined before this or not seen from here");
    }
    advance();
    return v;
  }

  // %name, perhaps with ": type".
  Result<NewValue> new_value() {
    if (g_.find_value(token().value)) return fail("the name is used already");
    NewValue v;
    v.name = token().value;
    advance();
    if (accept(":")) {
      GANTRY_ASSIGN(v.type, type());
    }
    return v;
  }

  Graph g_;
  std::vector<bool> visible_;  // by value: defined, and not in a region that has ended
};

}  // namespace

Result<Graph> parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace gantry
