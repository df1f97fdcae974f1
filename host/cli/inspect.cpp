// gantry inspect FILE: what is in a model.
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "host/cli/invocation.hpp"
#include "host/cli/load.hpp"

namespace gantry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Weights {
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
};

/// Each constant counts once, however many use it; equal handles are one.
Weights count_weights(const Graph& g) {
  Weights w;
  std::set<std::pair<std::size_t, std::uint64_t>> seen;
  for (std::size_t i = 1; i < g.value_slots(); ++i) {
    const Value& v = g.value(ValueId{static_cast<std::uint32_t>(i)});
    if (!v.alive || !v.is_constant() || !seen.emplace(v.constant.hash(), v.constant.byte_size()).second) continue;
    ++w.tensors;
    w.bytes += v.constant.byte_size();
  }
  return w;
}

std::string domain_text(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

std::string op_text(const Op& op) {
  std::string text = op.domain.empty() ? std::string(op.name) : std::string(op.domain) + "::" + std::string(op.name);
  if (op.dialect == "tflite") text += " v" + std::to_string(op.version);
  return text;
}

std::vector<std::pair<std::string, std::size_t>> operators(const Graph& g) {
  std::map<std::string, std::size_t> counts;
  for (const RegionId region : g.regions())
    for (const NodeId node : g.nodes(region)) ++counts[op_text(g.node(node).op)];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

std::string row(std::string_view title, const std::string& text) {
  return std::string(title) + std::string(title.size() < 11 ? 11 - title.size() : 1, ' ') + text + "\n";
}

/// Rows of one heading: it stands at the first only.
std::string rows(std::string_view title, const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all += row(i == 0 ? title : "", texts[i]);
  return all;
}

std::string as_text(const Model& m) {
  const Graph& g = m.graph;
  const Region& main = g.region(g.main());
  std::string text = row("file", m.path.string() + ", " + m.format_name + ", " + size_text(m.file_bytes));
  text += row("graph", '"' + g.name + '"' + (g.producer.empty() ? "" : ", " + g.producer));
  std::vector<std::string> lines;
  for (const auto& [domain, version] : g.opsets) lines.push_back(domain_text(domain) + " " + std::to_string(version));
  text += rows("opsets", lines);

  lines.clear();
  for (std::size_t i = 0; i < main.inputs.size(); ++i)
    lines.push_back(main.input_names[i] + ": " + g.value(main.inputs[i]).type.str());
  text += rows("inputs", lines);
  lines.clear();
  for (const Output& o : main.outputs) lines.push_back(o.name + ": " + g.value(o.value).type.str());
  text += rows("outputs", lines);

  const auto ops = operators(g);
  text += row("operators", count_text(g.live_nodes(), "node") + ", " + count_text(ops.size(), "kind"));
  lines.clear();
  for (const auto& [name, count] : ops) lines.push_back(std::to_string(count) + " x " + name);
  text += rows("", lines);
  const Weights w = count_weights(g);
  text += row("weights", count_text(w.tensors, "tensor") + ", " + size_text(w.bytes));
  lines.clear();
  for (const auto& [key, value] : g.metadata) lines.push_back(key + ": " + one_line(value, 160));
  return text + rows("metadata", lines);
}

Json dims_json(const Type& type) {
  if (!type.ranked) return nullptr;
  Json dims = Json::array();
  for (const Dim& d : type.dims) {
    if (d.known())
      dims.push_back(d.size);
    else if (d.symbol.empty())
      dims.push_back(nullptr);
    else
      dims.push_back(d.symbol);
  }
  return dims;
}

Json tensor_json(const std::string& name, const Type& type) {
  return {{"name", name}, {"dtype", std::string(dtype_name(type.dtype))}, {"shape", dims_json(type)}};
}

std::string as_json(const Model& m) {
  const Graph& g = m.graph;
  const Region& main = g.region(g.main());
  const Weights w = count_weights(g);
  Json j{{"file", m.path.string()},
         {"format", m.format_name},
         {"bytes", m.file_bytes},
         {"graph", g.name},
         {"producer", g.producer}};
  j["opsets"] = Json::object();
  for (const auto& [domain, version] : g.opsets) j["opsets"][domain_text(domain)] = version;
  j["inputs"] = Json::array();
  for (std::size_t i = 0; i < main.inputs.size(); ++i)
    j["inputs"].push_back(tensor_json(main.input_names[i], g.value(main.inputs[i]).type));
  j["outputs"] = Json::array();
  for (const Output& o : main.outputs) j["outputs"].push_back(tensor_json(o.name, g.value(o.value).type));
  j["nodes"] = g.live_nodes();
  j["operators"] = Json::object();
  for (const auto& [name, count] : operators(g)) j["operators"][name] = count;
  j["weights"] = {{"tensors", w.tensors}, {"bytes", w.bytes}};
  j["metadata"] = Json::object();
  for (const auto& [key, value] : g.metadata) j["metadata"][key] = value;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status run(Invocation& run) {
  GANTRY_ASSIGN(const Model model, load_model(run.args.get("FILE")));
  run.out(run.args.has("--json") ? as_json(model) : printable(as_text(model)));
  run.summary = model.format_name + ", " + count_text(model.graph.live_nodes(), "node");
  return {};
}

}  // namespace

Command inspect_command() {
  const std::vector<Flag> own{{.name = "--json", .help = "Print JSON"}};
  return {
      .name = "inspect",
      .help = "Show what is in a model: inputs, outputs, operators, sizes",
      .positionals = {{.name = "FILE", .help = "The model: .onnx, .tflite, or the text form"}},
      .flags = own + common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
