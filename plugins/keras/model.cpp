#include "model.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <stdexcept>
#include <string_view>

#include <gantry/sdk.hpp>

#include "snake_case.hpp"

namespace gantry::keras {
namespace {

using Names = std::map<std::string, std::size_t, std::less<>>;

[[noreturn]] void damaged(const std::string& what) { throw std::runtime_error("the model's configuration: " + what); }

std::size_t index_of(const Json& j, const std::string& what) {
  if (!j.is_number_unsigned() || j.get<std::uint64_t>() > 1'000'000) damaged(what + " is no index");
  return j.get<std::size_t>();
}

// ["name", call, tensor]
Tensor history(const Json& j, const Names& names) {
  if (!j.is_array() || j.size() < 3 || !j[0].is_string()) damaged("a tensor is not named as [layer, call, tensor]");
  const auto it = names.find(j[0].get<std::string>());
  if (it == names.end()) damaged("there is no layer '" + j[0].get<std::string>() + "'");
  return {it->second, index_of(j[1], "a call"), index_of(j[2], "a tensor")};
}

bool is_history(const Json& j) {
  return j.is_array() && (j.size() == 3 || j.size() == 4) && j[0].is_string() && j[1].is_number() && j[2].is_number();
}

bool is_keras_tensor(const Json& j) {
  const Json& c = member(j, "class_name");
  return c.is_string() && c.get<std::string>() == "__keras_tensor__";
}

// Keras 3: tensors anywhere in the arguments.
void collect(const Json& j, const Names& names, std::vector<Tensor>& out) {
  if (is_keras_tensor(j)) {
    out.push_back(history(member(member(j, "config"), "keras_history"), names));
  } else if (j.is_array()) {
    for (const Json& e : j) collect(e, names, out);
  }
}

void keyword(Call& call, const std::string& name, const Json& value, const Names& names, bool keras3) {
  std::vector<Tensor> tensors;
  if (keras3)
    collect(value, names, tensors);
  else if (is_history(value) && names.contains(value[0].get<std::string>()))
    tensors.push_back(history(value, names));
  else if (value.is_array() && !value.empty() && std::ranges::all_of(value, is_history))
    for (const Json& e : value) tensors.push_back(history(e, names));
  if (tensors.empty()) {
    if (!value.is_null()) call.arguments[name] = value;
    return;
  }
  for (const Tensor& t : tensors) {
    call.operands.push_back(t);
    call.keywords.push_back(name);
  }
}

Call keras3_call(const Json& j, const Names& names) {
  Call call;
  const Json& args = member(j, "args");
  if (!args.is_array()) damaged("a call has no arguments");
  for (const Json& a : args) {
    const std::size_t before = call.operands.size();
    collect(a, names, call.operands);
    if (call.operands.size() == before && !a.is_null()) call.arguments["positional"].push_back(a);
  }
  for (const auto& [name, value] : member(j, "kwargs").items()) keyword(call, name, value, names, true);
  return call;
}

// Keras 2: a list of tensors, each with the keywords of the call; one tensor may stand alone.
Call keras2_call(const Json& j, const Names& names) {
  Call call;
  if (!j.is_array()) damaged("a call has no operands");
  const Json alone = Json::array({j});
  const Json* keywords = nullptr;
  for (const Json& t : is_history(j) ? alone : j) {
    call.operands.push_back(history(t, names));
    if (t.size() == 4 && t[3].is_object() && !t[3].empty())
      keywords = &(is_history(j) ? j : j[call.operands.size() - 1])[3];
  }
  if (keywords)
    for (const auto& [name, value] : keywords->items()) keyword(call, name, value, names, false);
  return call;
}

// Where an input or output is: one triple, a list of them, or a dictionary of them.
std::vector<Tensor> ports(const Json& j, const Names& names) {
  if (is_history(j)) return {history(j, names)};
  std::vector<Tensor> out;
  if (!j.is_array() && !j.is_object()) damaged("its inputs or outputs are not named");
  for (const Json& e : j) {
    const std::vector<Tensor> inner = ports(e, names);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

// Kahn's algorithm: what is ready first comes first, so the order is that of the file where it can be.
void put_in_order(Model& m) {
  std::vector<std::vector<std::size_t>> first(m.layers.size());  // number of each call
  std::vector<std::pair<std::size_t, std::size_t>> calls;
  for (std::size_t l = 0; l < m.layers.size(); ++l)
    for (std::size_t c = 0; c < m.layers[l].calls.size(); ++c) {
      first[l].push_back(calls.size());
      calls.emplace_back(l, c);
    }
  std::vector<std::size_t> missing(calls.size());
  std::vector<std::vector<std::size_t>> readers(calls.size());
  std::deque<std::size_t> ready;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = m.layers[calls[i].first].calls[calls[i].second];
    for (const Tensor& t : call.operands) {
      if (t.call >= first[t.layer].size()) damaged("layer '" + m.layers[t.layer].name + "' is not called so often");
      readers[first[t.layer][t.call]].push_back(i);
      ++missing[i];
    }
    if (missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.front();
    ready.pop_front();
    m.order.push_back(calls[i]);
    for (const std::size_t r : readers[i])
      if (--missing[r] == 0) ready.push_back(r);
  }
  if (m.order.size() != calls.size()) damaged("its layers need one another in a circle");
}

// Keras 2 counts the making of a nested model as its first call. All calls are used, so then none is numbered 0.
void count_calls_from_zero(Model& m) {
  const auto each = [&](const auto& f) {
    for (Layer& l : m.layers)
      for (Call& c : l.calls) std::ranges::for_each(c.operands, f);
    std::ranges::for_each(m.outputs, f);
  };
  std::vector<bool> first(m.layers.size(), false);
  each([&](const Tensor& t) { first[t.layer] = first[t.layer] || t.call == 0; });
  each([&](Tensor& t) {
    if (is_model(m.layers[t.layer]) && !first[t.layer]) --t.call;
  });
}

std::string class_of(const Json& serialized) { return text_member(serialized, "class_name", "a layer"); }

Layer input_layer(const Json& config) {
  Layer l;
  l.class_name = "InputLayer";
  l.name = "input";
  l.key = "input_layer";
  l.config = &config;
  l.calls.emplace_back();
  return l;
}

// Numbers the layers of each class, as the newer files do.
void set_keys(std::vector<Layer>& layers) {
  std::map<std::string, int> used;
  for (Layer& l : layers) {
    const std::string base = snake_case(l.class_name);
    const int n = used[base]++;
    l.key = n == 0 ? base : base + "_" + std::to_string(n);
  }
}

Model functional(const Json& config) {
  Model m;
  Names names;
  const Json& layers = member(config, "layers");
  if (!layers.is_array()) damaged("it has no layers");
  for (const Json& j : layers) {
    Layer l = describe_layer(j);
    if (member(j, "name").is_string()) l.name = j["name"].get<std::string>();
    if (!names.emplace(l.name, m.layers.size()).second) damaged("two layers are called '" + l.name + "'");
    m.layers.push_back(std::move(l));
  }
  set_keys(m.layers);
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const Json& nodes = member(layers[i], "inbound_nodes");
    if (nodes.is_array())
      for (const Json& n : nodes)
        m.layers[i].calls.push_back(n.is_object() ? keras3_call(n, names) : keras2_call(n, names));
    if (m.layers[i].calls.empty() && m.layers[i].class_name == "InputLayer") m.layers[i].calls.emplace_back();
  }
  m.inputs = ports(member(config, "input_layers"), names);
  m.outputs = ports(member(config, "output_layers"), names);
  count_calls_from_zero(m);
  put_in_order(m);
  for (const auto* list : {&m.inputs, &m.outputs})
    for (const Tensor& t : *list)
      if (t.call >= m.layers[t.layer].calls.size())
        damaged("layer '" + m.layers[t.layer].name + "' is not called so often");
  return m;
}

Model sequential(const Json& config) {
  Model m;
  const Json& layers = config.is_array() ? config : member(config, "layers");
  if (!layers.is_array() || layers.empty()) damaged("it has no layers");
  for (const Json& j : layers) m.layers.push_back(describe_layer(j));
  set_keys(m.layers);
  if (m.layers.front().class_name != "InputLayer") {
    const Json& first = *m.layers.front().config;
    const bool tells = !member(first, "batch_input_shape").is_null() || !member(first, "batch_shape").is_null();
    const bool built = !member(config, "build_input_shape").is_null();
    sdk::decline_if(!tells && !built,
                    "the Sequential model was never built: the shape of its input is not in the file");
    m.layers.insert(m.layers.begin(), input_layer(tells ? first : config));
  }
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    Call call;
    if (i > 0) call.operands.push_back({i - 1, 0, 0});
    m.layers[i].calls.assign(1, call);
    m.order.emplace_back(i, 0);
  }
  m.inputs = {{0, 0, 0}};
  m.outputs = {{m.layers.size() - 1, 0, 0}};
  return m;
}

}  // namespace

Layer describe_layer(const Json& serialized) {
  constexpr std::array<std::string_view, 22> kQkeras = {"QActivation",
                                                        "QAdaptiveActivation",
                                                        "QDense",
                                                        "QConv1D",
                                                        "QConv2D",
                                                        "QConv2DTranspose",
                                                        "QSeparableConv1D",
                                                        "QSeparableConv2D",
                                                        "QDepthwiseConv2D",
                                                        "QBatchNormalization",
                                                        "QConv2DBatchnorm",
                                                        "QDepthwiseConv2DBatchnorm",
                                                        "QAveragePooling2D",
                                                        "QGlobalAveragePooling2D",
                                                        "QSimpleRNN",
                                                        "QLSTM",
                                                        "QGRU",
                                                        "QBidirectional",
                                                        "QDenseBatchnorm",
                                                        "QDepthwiseConv2DTranspose",
                                                        "QSeparableConv2DTranspose",
                                                        "QScaleShift"};
  Layer l;
  l.class_name = class_of(serialized);
  const std::size_t prefix = l.class_name.rfind('>');
  if (prefix != std::string::npos) {
    l.package = l.class_name.substr(0, prefix);
    l.class_name.erase(0, prefix + 1);
  } else if (const Json& r = member(serialized, "registered_name"); r.is_string()) {
    const std::string name = r.get<std::string>();
    const std::size_t end = name.rfind('>');
    if (end != std::string::npos) l.package = name.substr(0, end);
  }
  if (std::ranges::find(kQkeras, l.class_name) != kQkeras.end()) l.package = "qkeras";
  const Json& config = member(serialized, "config");
  if (!config.is_object() && !config.is_array()) damaged("layer " + l.class_name + " has no configuration");
  l.config = &config;
  l.name = member(config, "name").is_string() ? config["name"].get<std::string>() : snake_case(l.class_name);
  if (const Json& module = member(serialized, "module"); module.is_string() && l.package.empty()) {
    const std::string name = module.get<std::string>();
    if (name.find(".ops") != std::string::npos) l.package = "keras.ops";
  }
  return l;
}

bool is_model(const Layer& l) {
  return l.package.empty() && (l.class_name == "Functional" || l.class_name == "Model" || l.class_name == "Sequential");
}

Model describe_model(const Json& j) {
  const Layer whole = describe_layer(j);
  sdk::decline_if(!is_model(whole), "the model is of the class '", whole.class_name,
                  "', whose graph is in Python code only; export it as a Functional or Sequential model");
  Model m = whole.class_name == "Sequential" ? sequential(*whole.config) : functional(*whole.config);
  m.name = whole.name;
  return m;
}

}  // namespace gantry::keras
