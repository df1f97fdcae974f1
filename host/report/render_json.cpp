// The report as JSON. Keys are stable: new ones may come, none changes its meaning (then report_version grows).
#include <cmath>

#include <nlohmann/json.hpp>

#include "host/report/render.hpp"

namespace gantry {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kReportVersion = 1;

/// JSON has no infinity and no NaN: null.
Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

/// Empty text is null, so that a reader needs no other test.
Json text_or_null(const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); }

Json model(const std::string& path, const std::string& dialect, std::uint64_t bytes, std::size_t nodes,
           const std::map<std::string, std::size_t>& ops) {
  Json operators = Json::object();
  for (const auto& [name, n] : ops) operators[name] = n;
  return {{"path", text_or_null(path)},
          {"dialect", text_or_null(dialect)},
          {"bytes", bytes},
          {"nodes", nodes},
          {"operators", std::move(operators)}};
}

Json tensors(const std::vector<TensorRecord>& all) {
  Json list = Json::array();
  for (const TensorRecord& t : all)
    list.push_back({{"name", t.name},
                    {"type", t.type},
                    {"layout", text_or_null(t.layout)},
                    {"perm", t.perm.empty() ? Json(nullptr) : Json(t.perm)}});
  return list;
}

Json side(const MoveSide& s) {
  return {{"operator", s.op}, {"node", text_or_null(s.node)}, {"order", text_or_null(s.order)}};
}

Json moves(const LayoutRecord& l) {
  Json list = Json::array();
  for (const MoveRecord& m : l.moves) {
    Json consumers = Json::array();
    for (const MoveSide& s : m.consumers) consumers.push_back(side(s));
    list.push_back({{"operator", m.op},
                    {"node", text_or_null(m.node)},
                    {"bytes", m.bytes},
                    {"producer", side(m.producer)},
                    {"consumers", std::move(consumers)},
                    {"needs", m.needs}});
  }
  return list;
}

Json passes(const Report& r) {
  Json list = Json::array();
  for (const PassRecord& p : r.passes) {
    list.push_back({{"name", p.name},
                    {"enabled", p.enabled},
                    {"seconds", number(p.seconds)},
                    {"nodes_before", p.nodes_before},
                    {"nodes_after", p.nodes_after}});
  }
  return list;
}

Json plugins(const Report& r) {
  Json list = Json::array();
  for (const PluginRecord& p : r.plugins) {
    list.push_back({{"id", p.id},
                    {"version", p.version},
                    {"library", p.library},
                    {"reason", p.reason},
                    {"seconds", number(p.seconds)}});
  }
  return list;
}

Json options(const Report& r) {
  Json list = Json::array();
  for (const auto& [setting, origin] : r.options) {
    const std::size_t equals = setting.find('=');
    const bool has_value = equals != std::string::npos;
    list.push_back({{"key", setting.substr(0, equals)},
                    {"value", has_value ? Json(setting.substr(equals + 1)) : Json(nullptr)},
                    {"from", origin}});
  }
  return list;
}

std::string_view severity_name(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

Json diagnostics(const Report& r) {
  Json list = Json::array();
  for (const Diagnostic& d : r.diagnostics) {
    list.push_back({{"severity", severity_name(d.severity)},
                    {"code", text_or_null(code_text(d))},
                    {"message", d.message},
                    {"place", text_or_null(d.place)},
                    {"node", text_or_null(d.node)},
                    {"operator", text_or_null(d.op)},
                    {"plugin", text_or_null(d.plugin)},
                    {"hint", text_or_null(d.hint)}});
  }
  return list;
}

Json layout(const LayoutRecord& l) {
  if (!l.ran) return nullptr;
  return {{"io", l.io},
          {"optimal", l.optimal},
          {"optimal_among_candidates", l.proved},
          {"cost_before", l.cost_before},
          {"cost_after", l.cost_after},
          {"transpose_cost", l.transpose_cost},
          {"lower_bound", l.lower_bound},
          {"best_effort_won", l.won ? Json(*l.won) : Json(nullptr)},
          {"candidates", l.candidates},
          {"candidates_dropped", l.candidates_dropped},
          {"regions_skipped", l.regions_skipped},
          {"seconds", number(l.seconds)},
          {"moves", moves(l)},
          {"solved_by",
           {{"min_cut", l.by_min_cut},
            {"elimination", l.by_elimination},
            {"integer_program", l.by_integer_program},
            {"search", l.by_search}}}};
}

Json verification(const VerifyRecord& v) {
  if (!v.ran) return nullptr;
  Json outputs = Json::array();
  for (const OutputComparison& o : v.outputs) {
    outputs.push_back({{"name", o.name},
                       {"ok", o.ok},
                       {"max_abs", number(o.max_abs)},
                       {"max_rel", number(o.max_rel)},
                       {"note", text_or_null(o.note)}});
  }
  return {{"ok", v.ok},
          {"reference", v.reference},
          {"candidate", v.candidate},
          {"atol", number(v.atol)},
          {"rtol", number(v.rtol)},
          {"seconds", number(v.seconds)},
          {"outputs", std::move(outputs)}};
}

/// What one conversion is; several that became one file are in it.
Json of_model(const Report& r) {
  Json json;
  json["source"] = model(r.input, r.from_dialect, r.input_bytes, r.source_nodes, r.source_ops);
  json["target"] = model(r.output, r.to_dialect, r.output_bytes, r.target_nodes, r.target_ops);
  json["unconverted_nodes"] = r.unconverted_nodes;
  json["weight_bytes"] = r.weight_bytes;
  json["transposes"] = Json{{"count", r.transposes}, {"bytes", r.transpose_bytes}};
  json["reshapes"] = Json{{"count", r.reshapes}, {"bytes", r.reshape_bytes}};
  json["layout"] = layout(r.layout);
  json["inputs"] = tensors(r.inputs);
  json["outputs"] = tensors(r.outputs);
  json["plugins"] = plugins(r);
  json["passes"] = passes(r);
  return json;
}

Json signatures(const Report& r) {
  if (r.signatures.empty()) return nullptr;
  Json list = Json::array();
  for (const Report& part : r.signatures) {
    Json json{{"name", part.signature}};
    json.update(of_model(part));
    json["diagnostics"] = diagnostics(part);
    json["seconds"] = number(part.seconds);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string render_json(const Report& r) {
  const Diagnostic* failure = r.first_error();
  Json json;
  json["report_version"] = kReportVersion;
  json["gantry_version"] = r.gantry_version;
  json["ok"] = failure == nullptr;
  json["exit_status"] = failure ? exit_status(failure->code) : 0;
  json["code"] = failure ? Json(code_text(*failure)) : Json(nullptr);
  json.update(of_model(r));
  json["signatures"] = signatures(r);
  json["options"] = options(r);
  json["diagnostics"] = diagnostics(r);
  json["verify"] = verification(r.verify);
  json["seconds"] = number(r.seconds);
  // Names in hostile files need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gantry
