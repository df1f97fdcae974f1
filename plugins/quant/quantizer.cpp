#include "quantizer.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <gantry/sdk.hpp>

#include "expression.hpp"

namespace gantry::quant {

using sdk::decline;
using sdk::decline_if;

namespace {

// Parameters by position (QKeras 0.9.0; later ones are appended).
const std::map<std::string, std::vector<std::string>, std::less<>> kParameters = {
    {"quantized_linear", {"bits", "integer", "symmetric", "keep_negative", "alpha", "use_stochastic_rounding"}},
    {"quantized_bits", {"bits", "integer", "symmetric", "keep_negative", "alpha", "use_stochastic_rounding"}},
    {"bernoulli", {"alpha", "temperature", "use_real_sigmoid"}},
    {"ternary", {"alpha", "threshold", "use_stochastic_rounding", "number_of_unrolls"}},
    {"stochastic_ternary", {"alpha", "threshold", "temperature", "use_real_sigmoid", "number_of_unrolls"}},
    {"binary", {"use_01", "alpha", "use_stochastic_rounding"}},
    {"stochastic_binary", {"alpha", "temperature", "use_real_sigmoid"}},
    {"quantized_relu",
     {"bits", "integer", "use_sigmoid", "negative_slope", "use_stochastic_rounding", "relu_upper_bound",
      "is_quantized_clip", "qnoise_factor"}},
    {"quantized_ulaw", {"bits", "integer", "symmetric", "u"}},
    {"quantized_tanh", {"bits", "use_stochastic_rounding", "symmetric", "use_real_tanh"}},
    {"quantized_sigmoid", {"bits", "symmetric", "use_real_sigmoid", "use_stochastic_rounding"}},
    {"quantized_po2", {"bits", "max_value", "use_stochastic_rounding", "quadratic_approximation", "log2_rounding"}},
    {"quantized_relu_po2",
     {"bits", "max_value", "negative_slope", "use_stochastic_rounding", "quadratic_approximation", "log2_rounding"}},
    {"quantized_hswish", {"bits", "integer", "symmetric", "alpha", "use_stochastic_rounding"}}};

constexpr std::array<std::string_view, 6> kFunctions = {"hard_sigmoid", "smooth_sigmoid", "binary_sigmoid",
                                                        "hard_tanh",    "smooth_tanh",    "binary_tanh"};

std::string bare(std::string name) {
  const std::size_t prefix = name.rfind('>');
  if (prefix != std::string::npos) name.erase(0, prefix + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos) name.erase(0, dot + 1);
  return name;
}

Quantizer from_expression(std::string_view text) {
  const Expression e = parse_expression(text);
  Quantizer q{bare(e.name), Json::object(), e.called || kParameters.contains(bare(e.name))};
  const auto known = kParameters.find(q.name);
  for (std::size_t i = 0; i < e.positional.size(); ++i) {
    decline_if(known == kParameters.end(), "the quantizer '", q.name, "' is not known");
    decline_if(i >= known->second.size(), "the quantizer '", text, "' has ", e.positional.size(), " arguments");
    q.config[known->second[i]] = e.positional[i];
  }
  for (const auto& [name, value] : e.keywords) q.config[name] = value;
  return q;
}

std::optional<Quantizer> from_json(const Json& j) {
  if (j.is_null()) return std::nullopt;
  if (j.is_string()) return parse_quantizer(j.get<std::string>());
  decline_if(!j.is_object() || !j.contains("class_name") || !j["class_name"].is_string(),
             "a quantizer without a class");
  const Json config = j.contains("config") ? j["config"] : Json::object();
  const std::string name = bare(j["class_name"].get<std::string>());
  if (name == "function" && config.is_string()) return parse_quantizer(config.get<std::string>());
  // Layers may wrap one.
  if (config.is_object() && config.contains("quantizer") && !config["quantizer"].is_null() &&
      !kParameters.contains(name))
    return from_json(config["quantizer"]);
  decline_if(!config.is_object(), "the quantizer ", name, " has no arguments");
  return Quantizer{name, config, true};
}

// Numpy scalars and arrays are written as objects.
Json plain(const Json& j) {
  if (j.is_object() && j.contains("config") && j["config"].is_object() && j["config"].contains("value"))
    return j["config"]["value"];
  return j;
}

void flatten(const Json& j, std::vector<float>& out, std::string_view key) {
  if (j.is_array()) {
    for (const Json& e : j) flatten(plain(e), out, key);
  } else {
    decline_if(!j.is_number() && !j.is_boolean(), "'", key, "' of a quantizer is no number");
    out.push_back(j.is_boolean() ? static_cast<float>(j.get<bool>()) : j.get<float>());
  }
}

}  // namespace

bool Alpha::one() const {
  return std::ranges::all_of(values, [](float v) { return v == 1.0F; });
}

bool Quantizer::has(std::string_view key) const {
  const auto it = config.find(std::string(key));
  return it != config.end() && !it->is_null();
}

double Quantizer::number(std::string_view key, double otherwise) const {
  if (!has(key)) return otherwise;
  const Json j = plain(config[std::string(key)]);
  if (j.is_boolean()) return j.get<bool>() ? 1 : 0;
  if (j.is_array() && j.size() == 1 && j[0].is_number()) return j[0].get<double>();
  decline_if(!j.is_number(), "'", key, "' of ", name, " is no number");
  return j.get<double>();
}

std::vector<float> Quantizer::numbers(std::string_view key, double otherwise) const {
  if (!has(key)) return {static_cast<float>(otherwise)};
  std::vector<float> out;
  flatten(plain(config[std::string(key)]), out, key);
  decline_if(out.empty(), "'", key, "' of ", name, " is empty");
  return out;
}

Alpha Quantizer::alpha() const {
  if (!has("alpha")) return {};
  const Json& j = config["alpha"];
  if (j.is_string()) {
    const std::string s = j.get<std::string>();
    if (s == "auto") return {Alpha::Kind::automatic, {}};
    if (s == "auto_po2") return {Alpha::Kind::automatic_po2, {}};
    decline("alpha '", s, "' of ", name, " is not known");
  }
  return {Alpha::Kind::fixed, numbers("alpha", 1)};
}

std::optional<Quantizer> parse_quantizer(std::string_view text) {
  if (text.empty() || text == "linear" || text == "None") return std::nullopt;
  if (!text.starts_with('{')) return from_expression(text);
  constexpr int kDeepest = 100;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    decline_if(depth > kDeepest, "a quantizer that is nested too deep");
    return true;
  };
  const Json j = Json::parse(text, shallow, false);
  decline_if(j.is_discarded(), "a quantizer that is no JSON");
  return from_json(j);
}

bool is_qkeras(const Quantizer& q) {
  return kParameters.contains(q.name) || std::ranges::find(kFunctions, q.name) != kFunctions.end();
}

}  // namespace gantry::quant
