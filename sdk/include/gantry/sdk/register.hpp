// Registration: macros that add records to the plugin's descriptor when the library is opened.
#pragma once

#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "gantry/sdk/emit.hpp"
#include "gantry/sdk/graph.hpp"
#include "gantry/sdk/infer.hpp"

namespace gantry::sdk {

/// A domain of a dialect: onnx, tflite, or Domain{"onnx", "com.example"}.
struct Domain {
  std::string_view dialect, name;
};
inline constexpr Domain onnx{"onnx", ""};
inline constexpr Domain tflite{"tflite", ""};
constexpr Domain onnx_domain(std::string_view name) { return {"onnx", name}; }

// Modifiers of a registration, in any order.
struct Versions {
  int min = 1, max = 0;
};
constexpr Versions since(int version) { return {version, 0}; }
constexpr Versions versions(int min, int max) { return {min, max}; }
struct Target {
  std::string_view dialect;
};
constexpr Target to(Domain d) { return {d.dialect}; }
struct Priority {
  int value = 0;
};
constexpr Priority priority(int n) { return {n}; }

/// What a converter or folder returns: a value for each result of the node.
class Results {
 public:
  Results(Value v) : values_{v} {}                          // NOLINT: conversion is the point
  Results(std::vector<Value> v) : values_(std::move(v)) {}  // NOLINT
  const std::vector<Value>& values() const { return values_; }

 private:
  std::vector<Value> values_;
};

using ConvertFn = Results (*)(const Node&, const Emit&);
using PatternFn = bool (*)(const Node&, const Emit&);  // false: does not apply
using InferFn = void (*)(const Node&, const Infer&);

// Modifiers of GANTRY_DEFINE.
struct InferBy {
  InferFn fn;
};
constexpr InferBy infer(InferFn fn) { return {fn}; }
struct FoldBy {
  ConvertFn fn;
};
constexpr FoldBy fold(ConvertFn fn) { return {fn}; }
struct RankLimit {
  int min = 0, max = 0;
};
constexpr RankLimit rank(int min, int max) { return {min, max}; }
struct TypeLimit {
  std::uint64_t bits = 0;
};
template <class... T>
constexpr TypeLimit types(T... t) {
  return {(GANTRY_DTYPE_BIT(static_cast<gantry_dtype>(t)) | ...)};
}
struct OperandTypes {
  std::uint64_t bits = 0;
};
template <class... T>
constexpr OperandTypes operand_types(T... t) {
  return {(GANTRY_DTYPE_BIT(static_cast<gantry_dtype>(t)) | ...)};
}
/// What may be done about an element type that the kernel lacks: see GANTRY_OP_MOVES and its like in abi.h.
struct Nature {
  std::uint32_t flags = 0;
};
constexpr Nature moves{GANTRY_OP_MOVES};
constexpr Nature ordered{GANTRY_OP_ORDERED};
constexpr Nature modular{GANTRY_OP_MODULAR};
struct LayoutText {
  std::string_view text;
};
/// Which orders of axes the operator can run in: layout("L S -> L S"); see docs/layout.md.
constexpr LayoutText layout(std::string_view text) { return {text}; }
struct NoteText {
  std::string_view text;
};
constexpr NoteText note(std::string_view text) { return {text}; }
struct Limits {
  RankLimit rank;
  TypeLimit types;
};
constexpr Limits limits(RankLimit r, TypeLimit t = {}) { return {r, t}; }
constexpr Limits limits(TypeLimit t) { return {{}, t}; }
// Modifiers of GANTRY_PLUGIN.
struct License {
  std::string_view text;
};
constexpr License license(std::string_view text) { return {text}; }
struct Description {
  std::string_view text;
};
constexpr Description description(std::string_view text) { return {text}; }
template <std::size_t N>
struct Names {
  std::string_view list[N];
};
template <class... T>
constexpr Names<sizeof...(T)> depends(T... id) {
  return {{std::string_view(id)...}};
}
template <class... T>
constexpr Names<sizeof...(T)> also(T... op) {
  return {{std::string_view(op)...}};
}

namespace detail {

/// Runs a function of the plugin; nothing that it throws gets out.
template <class F>
gantry_status guarded(const gantry_host* host, gantry_context* context, gantry_node id, F&& body) noexcept {
  const auto say = [&](std::string_view text) {
    if (!text.empty()) (void)host->message(context, GANTRY_REASON, view(text));
  };
  try {
    const Call call{host, context, id};
    if constexpr (std::is_invocable_v<F&, const Call&>)
      return body(call);
    else
      return body(call, Node(call, id));
  } catch (const Declined& d) {
    say(d.what());
    return GANTRY_DECLINED;
  } catch (const std::exception& e) {
    say(e.what());
    return GANTRY_ERROR;
  } catch (...) {
    say("an exception of unknown type");
    return GANTRY_ERROR;
  }
}

inline gantry_status set_results(const Call& call, const Results& results) {
  std::vector<gantry_value> ids;
  for (const Value& v : results.values()) ids.push_back(v.id());
  return call.host->set_results(call.context, {ids.data(), ids.size()});
}

struct ConverterData {
  ConvertFn fn;
  std::string_view target;
};
inline gantry_status convert(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  return guarded(h, c, n, [&](const Call& call, const Node& node) {
    const auto& d = *static_cast<const ConverterData*>(data);
    return set_results(call, d.fn(node, Emit(call, d.target)));
  });
}
template <class Row>
struct RowData {
  Results (*fn)(const Node&, const Emit&, const Row&);
  const Row* row;
  std::string_view target;
};
template <class Row>
gantry_status convert_row(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  return guarded(h, c, n, [&](const Call& call, const Node& node) {
    const auto& d = *static_cast<const RowData<Row>*>(data);
    return set_results(call, d.fn(node, Emit(call, d.target), *d.row));
  });
}
struct PatternData {
  PatternFn fn;
  std::string_view dialect;
};
inline gantry_status rewrite(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  return guarded(h, c, n, [&](const Call& call, const Node& node) -> gantry_status {
    const auto& d = *static_cast<const PatternData*>(data);
    return d.fn(node, Emit(call, d.dialect)) ? GANTRY_OK : GANTRY_DECLINED;
  });
}
inline gantry_status infer_types(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  return guarded(h, c, n, [&](const Call& call, const Node& node) -> gantry_status {
    static_cast<const InferBy*>(data)->fn(node, Infer(call));
    return GANTRY_OK;
  });
}
inline gantry_status fold_node(const gantry_host* h, gantry_context* c, gantry_node n, const void* data) {
  return guarded(h, c, n, [&](const Call& call, const Node& node) {
    return set_results(call, static_cast<const FoldBy*>(data)->fn(node, Emit(call, node.dialect())));
  });
}

/// All that this library registers. Records are in deques, so that pointers to them stay.
struct Registry {
  std::deque<gantry_converter> converters;
  std::deque<gantry_pattern> patterns;
  std::deque<gantry_operator> operators;
  std::deque<gantry_option> options;
  std::deque<gantry_format> formats;
  std::deque<ConverterData> converter_data;
  std::deque<PatternData> pattern_data;
  std::deque<InferBy> infer_data;
  std::deque<FoldBy> fold_data;
  std::deque<std::vector<gantry_str>> names;
  std::vector<const gantry_converter*> converter_list;
  std::vector<const gantry_pattern*> pattern_list;
  std::vector<const gantry_operator*> operator_list;
  std::vector<const gantry_option*> option_list;
  std::vector<const gantry_format*> format_list;
  gantry_plugin plugin{};

  static Registry& get() {
    static Registry r;
    return r;
  }
  template <std::size_t N>
  gantry_strs keep(const Names<N>& n) {
    std::vector<gantry_str>& v = names.emplace_back();
    for (std::string_view s : n.list) v.push_back(view(s));
    return {v.data(), v.size()};
  }
};

inline void apply(gantry_op_key& k, Versions v) { k.min_version = v.min, k.max_version = v.max; }
inline void apply(gantry_converter& r, Versions v) { apply(r.key, v); }
inline void apply(gantry_converter& r, Target t) { r.target = view(t.dialect); }
inline void apply(gantry_converter& r, Priority p) { r.priority = p.value; }
inline void apply(gantry_pattern& r, Priority p) { r.priority = p.value; }
inline void apply(gantry_pattern& r, Versions v) { apply(r.root, v); }
template <std::size_t N>
void apply(gantry_pattern& r, const Names<N>& n) {
  r.also = Registry::get().keep(n);
}
inline void apply(gantry_operator& r, Versions v) { apply(r.key, v); }
inline void apply(gantry_operator& r, InferBy i) {
  r.infer = infer_types, r.infer_data = &Registry::get().infer_data.emplace_back(i);
}
inline void apply(gantry_operator& r, FoldBy f) {
  r.fold = fold_node, r.fold_data = &Registry::get().fold_data.emplace_back(f);
}
inline void apply(gantry_operator& r, RankLimit l) { r.min_rank = l.min, r.max_rank = l.max; }
inline void apply(gantry_operator& r, TypeLimit l) { r.dtypes = l.bits; }
inline void apply(gantry_operator& r, Limits l) { apply(r, l.rank), apply(r, l.types); }
inline void apply(gantry_operator& r, OperandTypes l) { r.operand_dtypes = l.bits; }
inline void apply(gantry_operator& r, Nature n) { r.flags |= n.flags; }
inline void apply(gantry_operator& r, LayoutText l) { r.layout = view(l.text); }
inline void apply(gantry_operator& r, NoteText n) { r.note = view(n.text); }
inline void apply(gantry_plugin& p, License l) { p.license = view(l.text); }
inline void apply(gantry_plugin& p, Description d) { p.description = view(d.text); }
template <std::size_t N>
void apply(gantry_plugin& p, const Names<N>& n) {
  p.depends = Registry::get().keep(n);
}

inline gantry_op_key key(Domain d, std::string_view op) { return {view(d.dialect), view(d.name), view(op), 1, 0}; }
inline bool same_key(const gantry_op_key& a, const gantry_op_key& b) {
  return view(a.dialect) == view(b.dialect) && view(a.domain) == view(b.domain) && view(a.op) == view(b.op) &&
         a.min_version == b.min_version && a.max_version == b.max_version;
}

}  // namespace detail

/// What the macros make; the value itself means nothing.
struct Registered {};

template <class... M>
Registered register_converter(Domain d, std::string_view op, ConvertFn fn, M... modifiers) {
  auto& r = detail::Registry::get();
  auto& c = r.converters.emplace_back();
  c.struct_size = sizeof c;
  c.key = detail::key(d, op);
  (detail::apply(c, modifiers), ...);
  c.convert = detail::convert;
  c.data = &r.converter_data.emplace_back(detail::ConverterData{fn, view(c.target)});
  r.converter_list.push_back(&c);
  return {};
}

/// One converter for each row of a table; the handler gets the row. A Row has `op` (the source's operator); the
/// modifiers hold for all rows, and a row's own member `versions`, if it has one, for that row. The table must be
/// static.
template <class Row, std::size_t N, class... M>
Registered register_table(Domain d, const Row (&rows)[N], Results (*fn)(const Node&, const Emit&, const Row&),
                          M... modifiers) {
  auto& r = detail::Registry::get();
  static std::deque<detail::RowData<Row>> data;
  for (const Row& row : rows) {
    auto& c = r.converters.emplace_back();
    c.struct_size = sizeof c;
    c.key = detail::key(d, row.op);
    (detail::apply(c, modifiers), ...);
    if constexpr (requires { row.versions.min; }) detail::apply(c, row.versions);
    c.convert = detail::convert_row<Row>;
    c.data = &data.emplace_back(detail::RowData<Row>{fn, &row, view(c.target)});
    r.converter_list.push_back(&c);
  }
  return {};
}

template <class... M>
Registered register_pattern(std::string_view name, Domain d, std::string_view op, PatternFn fn, M... modifiers) {
  auto& r = detail::Registry::get();
  auto& p = r.patterns.emplace_back();
  p.struct_size = sizeof p;
  p.name = view(name);
  p.root = detail::key(d, op);
  (detail::apply(p, modifiers), ...);
  p.rewrite = detail::rewrite;
  p.data = &r.pattern_data.emplace_back(detail::PatternData{fn, d.dialect});
  r.pattern_list.push_back(&p);
  return {};
}

/// A plugin may say what it defines of an operator in several places (its layout rule beside those of its dialect, its
/// folder beside other folders): they become one definition.
template <class... M>
Registered register_operator(Domain d, std::string_view op, M... modifiers) {
  auto& r = detail::Registry::get();
  gantry_operator o{};
  o.struct_size = sizeof o;
  o.key = detail::key(d, op);
  (detail::apply(o, modifiers), ...);
  for (gantry_operator& known : r.operators) {
    if (!detail::same_key(known.key, o.key)) continue;
    (detail::apply(known, modifiers), ...);
    return {};
  }
  r.operator_list.push_back(&r.operators.emplace_back(o));
  return {};
}

/// Layout rules of many operators: rows of an operator and its rule, with modifiers that hold for all.
struct LayoutRow {
  std::string_view op, layout;
};
template <std::size_t N, class... M>
Registered register_layouts(Domain d, const LayoutRow (&rows)[N], M... modifiers) {
  for (const LayoutRow& row : rows) register_operator(d, row.op, layout(row.layout), modifiers...);
  return {};
}

/// Declares [plugins."ID"] name = ...; the default's type is the option's.
template <class T>
Registered register_option(std::string_view name, T default_value, std::string_view help) {
  auto& r = detail::Registry::get();
  static std::deque<std::string> texts;
  auto& o = r.options.emplace_back();
  o.struct_size = sizeof o;
  o.name = view(name);
  o.help = view(help);
  o.boolean = std::is_same_v<T, bool>;
  o.kind = std::is_integral_v<T>         ? GANTRY_ATTR_INT
           : std::is_floating_point_v<T> ? GANTRY_ATTR_FLOAT
                                         : GANTRY_ATTR_STRING;
  if constexpr (std::is_same_v<T, bool>)
    texts.push_back(default_value ? "true" : "false");
  else
    texts.push_back(cat(default_value));
  o.default_text = view(texts.back());
  r.option_list.push_back(&o);
  return {};
}

template <class... M>
const gantry_plugin* describe_plugin(std::string_view id, std::string_view version, M... modifiers) {
  auto& r = detail::Registry::get();
  gantry_plugin& p = r.plugin;
  if (p.struct_size) return &p;
  p.abi_major = GANTRY_ABI_MAJOR;
  p.abi_minor = GANTRY_ABI_MINOR;
  p.id = view(id);
  p.version = view(version);
  (detail::apply(p, modifiers), ...);
  p.converters = r.converter_list.data(), p.converter_count = r.converter_list.size();
  p.patterns = r.pattern_list.data(), p.pattern_count = r.pattern_list.size();
  p.operators = r.operator_list.data(), p.operator_count = r.operator_list.size();
  p.options = r.option_list.data(), p.option_count = r.option_list.size();
  p.formats = r.format_list.data(), p.format_count = r.format_list.size();
  p.struct_size = sizeof p;
  return &p;
}

/// A row of a table of operators of which no form can be converted:
/// GANTRY_TABLE(onnx, kRefused, refuse, since(1), to(tflite)).
struct Refused {
  std::string_view op, reason;
};
inline Results refuse(const Node&, const Emit&, const Refused& row) { decline(row.reason); }

}  // namespace gantry::sdk

#define GANTRY_SDK_CAT_(a, b) a##b
#define GANTRY_SDK_CAT(a, b) GANTRY_SDK_CAT_(a, b)
#define GANTRY_SDK_NAME(prefix) GANTRY_SDK_CAT(gantry_sdk_##prefix##_, __LINE__)

/// GANTRY_CONVERT(onnx, "Celu", since(12), to(tflite)) { ... return value or values; }   `node` and `emit` are in
/// scope.
#define GANTRY_CONVERT(domain, op, ...)                                                                           \
  static ::gantry::sdk::Results GANTRY_SDK_NAME(convert)(const ::gantry::sdk::Node&, const ::gantry::sdk::Emit&); \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) =                                                \
      ::gantry::sdk::register_converter(domain, op, GANTRY_SDK_NAME(convert), __VA_ARGS__);                       \
  static ::gantry::sdk::Results GANTRY_SDK_NAME(convert)([[maybe_unused]] const ::gantry::sdk::Node& node,        \
                                                         [[maybe_unused]] const ::gantry::sdk::Emit& emit)

/// GANTRY_TABLE(onnx, rows, handler, to(tflite)): rows is a static array, handler(node, emit, row).
#define GANTRY_TABLE(domain, rows, handler, ...)                   \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) = \
      ::gantry::sdk::register_table(domain, rows, handler, __VA_ARGS__);

/// GANTRY_ELEMENTWISE(onnx, "Floor", to(tflite), "FLOOR"): operands and results pass as they are.
#define GANTRY_ELEMENTWISE(domain, source_op, target, target_op) \
  GANTRY_CONVERT(domain, source_op, target) { return emit.op(target_op, node.ins()); }

/// GANTRY_UPGRADE(onnx, "Squeeze", versions(1, 12)) { ... }: an old form in terms of the newest, in the same dialect.
#define GANTRY_UPGRADE(domain, op, ...) GANTRY_CONVERT(domain, op, ::gantry::sdk::to(domain), __VA_ARGS__)

/// GANTRY_PATTERN("conv_batch_norm", onnx, "BatchNormalization", also("Conv")) { ... emit.replace(old, new); return
/// true; }
#define GANTRY_PATTERN(name, domain, ...)                                                       \
  static bool GANTRY_SDK_NAME(pattern)(const ::gantry::sdk::Node&, const ::gantry::sdk::Emit&); \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) =                              \
      ::gantry::sdk::detail::pattern_with(name, domain, GANTRY_SDK_NAME(pattern), __VA_ARGS__); \
  static bool GANTRY_SDK_NAME(pattern)([[maybe_unused]] const ::gantry::sdk::Node& node,        \
                                       [[maybe_unused]] const ::gantry::sdk::Emit& emit)

/// GANTRY_DEFINE(tflite, "SOFTMAX", infer(infer_like_first), limits(rank(1, 6)))
#define GANTRY_DEFINE(domain, op, ...)                             \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) = \
      ::gantry::sdk::register_operator(domain, op, __VA_ARGS__);

/// GANTRY_LAYOUTS(onnx, rows, since(13)): rows is a static array of LayoutRow.
#define GANTRY_LAYOUTS(domain, ...) \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) = ::gantry::sdk::register_layouts(domain, __VA_ARGS__);

/// GANTRY_OPTION("fast_erf", false, "help in one line")
#define GANTRY_OPTION(name, default_value, help)                   \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) = \
      ::gantry::sdk::register_option(name, default_value, help);

/// GANTRY_PLUGIN("org.example.id", "1.0", license("MIT"), depends("org.gantry.core-ops")): once in a library.
#define GANTRY_PLUGIN(id, version, ...)                                            \
  extern "C" GANTRY_EXPORT const gantry_plugin* gantry_plugin_entry(void) {        \
    return ::gantry::sdk::describe_plugin(id, version __VA_OPT__(, ) __VA_ARGS__); \
  }

namespace gantry::sdk::detail {
template <class... M>
Registered pattern_with(std::string_view name, Domain d, PatternFn fn, std::string_view op, M... modifiers) {
  return register_pattern(name, d, op, fn, modifiers...);
}
}  // namespace gantry::sdk::detail
