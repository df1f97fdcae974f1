#include <charconv>

#include "host/ir/text.hpp"
#include "host/ir/text_elements.hpp"
#include "host/ir/text_quote.hpp"

namespace gantry {
namespace {

using detail::is_identifier;
using detail::quoted;

std::string word(std::string_view s) { return is_identifier(s) ? std::string(s) : quoted(s); }

// Words with points between them.
bool is_dotted(std::string_view s) {
  while (true) {
    const std::size_t dot = s.find('.');
    if (!is_identifier(s.substr(0, dot))) return false;
    if (dot == s.npos) return true;
    s.remove_prefix(dot + 1);
  }
}

std::string op_text(const Op& op) {
  std::string s = word(op.dialect) + ".";
  if (!op.domain.empty()) s += (is_dotted(op.domain) ? std::string(op.domain) : quoted(op.domain)) + "::";
  return s + word(op.name) + "@" + std::to_string(op.version);
}

std::string hash_text(const Constant& c) {
  const auto hash = c.content_hash();
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, hash ? *hash : 0, 16).ptr;
  return "#" + std::string(buffer, end);
}

template <class T, class F>
std::string list(std::string_view kind, const std::vector<T>& v, F text) {
  if (v.empty()) return std::string(kind) + "[]";  // says of what it is empty
  std::string s = "[";
  for (std::size_t i = 0; i < v.size(); ++i) s += (i > 0 ? ", " : "") + text(v[i]);
  return s + "]";
}

class Printer {
 public:
  Printer(const Graph& g, const PrintOptions& options) : g_(g), options_(options) {}

  std::string run() {
    out_ = "graph " + quoted(g_.name);
    const char* separator = " opset ";
    for (const auto& [domain, version] : g_.opsets) {
      out_ += separator + quoted(domain) + " " + std::to_string(version);
      separator = ", ";
    }
    out_ += " {\n";
    if (options_.model_info) model_info();
    region(g_.main(), "  ");
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void model_info() {
    if (!g_.source.empty()) out_ += "  source " + quoted(g_.source) + "\n";
    if (!g_.producer.empty()) out_ += "  producer " + quoted(g_.producer) + "\n";
    for (const auto& [key, value] : g_.metadata) out_ += "  meta " + quoted(key) + " = " + quoted(value) + "\n";
  }

  void region(RegionId id, const std::string& indent) {
    const Region& r = g_.region(id);
    for (std::size_t i = 0; i < r.inputs.size(); ++i) {
      out_ += indent + "input " + typed(r.inputs[i]);
      if (r.input_names[i] != g_.value(r.inputs[i]).name) out_ += " " + quoted(r.input_names[i]);
      out_ += "\n";
    }
    if (id == g_.main()) constants(indent);  // they belong to no region
    for (NodeId n = r.first; n; n = g_.node(n).next) node(g_.node(n), indent);
    for (const Output& o : r.outputs) out_ += indent + "output " + quoted(o.name) + " = " + reference(o.value) + "\n";
  }

  void constants(const std::string& indent) {
    for (std::uint32_t i = 1; i < g_.value_slots(); ++i) {
      const Value& v = g_.value(ValueId{i});
      if (!v.alive || !v.is_constant()) continue;
      out_ += indent + "const " + reference(ValueId{i}) + ": " + tensor(v.constant) + "\n";
    }
  }

  void node(const Node& n, const std::string& indent) {
    out_ += indent;
    for (std::size_t i = 0; i < n.outputs.size(); ++i) out_ += (i > 0 ? ", " : "") + typed(n.outputs[i]);
    out_ += n.outputs.empty() ? "" : " = ";
    out_ += op_text(n.op) + "(";
    for (std::size_t i = 0; i < n.inputs.size(); ++i) out_ += (i > 0 ? ", " : "") + reference(n.inputs[i]);
    out_ += ")";
    const char* separator = " {";
    for (const auto& [name, value] : n.attrs) {
      out_ += separator + word(name) + " = " + attribute(value);
      separator = ", ";
    }
    if (!n.attrs.empty()) out_ += "}";
    if (options_.node_names && !n.name.empty()) out_ += " " + quoted(n.name);
    for (const auto& [name, inner] : n.regions) {
      out_ += " " + word(name) + ": ";
      if (!g_.region(inner).name.empty()) out_ += quoted(g_.region(inner).name) + " ";
      out_ += "{\n";
      region(inner, indent + "  ");
      out_ += indent + "}";
    }
    out_ += "\n";
  }

  // A broken graph prints too (dumps are made to find what broke): a dead value by its number.
  std::string reference(ValueId v) const {
    if (!v) return "_";
    if (!g_.contains(v)) return "%!" + std::to_string(v.index);
    const std::string_view name = g_.value(v).name;
    return "%" + (detail::is_plain_name(name) ? std::string(name) : quoted(name));
  }

  std::string typed(ValueId v) const {
    if (!g_.contains(v) || g_.value(v).type == Type{}) return reference(v);
    return reference(v) + ": " + g_.value(v).type.str();
  }

  std::string tensor(const Constant& c) const {
    if (!c) return "none";
    std::string s = c.type().str() + " = ";
    if (c.dtype() == DType::string) return s + "[" + strings(c) + "]";
    if (c.is_placeholder() || c.elements() > options_.max_constant_elements) return s + hash_text(c);
    const auto elements = detail::elements_text(c);
    return s + "[" + (elements ? *elements : "") + "]";
  }

  static std::string strings(const Constant& c) {
    std::string s;
    for (const std::string& v : c.string_values()) s += (s.empty() ? "" : ", ") + quoted(v);
    return s;
  }

  std::string attribute(const Attr& a) const {
    const auto integer = [](std::int64_t x) { return std::to_string(x); };
    if (const auto* i = std::get_if<std::int64_t>(&a)) return integer(*i);
    if (const auto* f = std::get_if<float>(&a)) return detail::float_text(*f);
    if (const auto* s = std::get_if<std::string>(&a)) return quoted(*s);
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a)) return list("ints", *v, integer);
    if (const auto* v = std::get_if<std::vector<float>>(&a)) return list("floats", *v, detail::float_text);
    if (const auto* v = std::get_if<std::vector<std::string>>(&a)) return list("strs", *v, quoted);
    return tensor(std::get<Constant>(a));
  }

  const Graph& g_;
  const PrintOptions& options_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& g, const PrintOptions& options) { return Printer(g, options).run(); }

}  // namespace gantry
