#include "builder.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "attributes.hpp"
#include "roles.hpp"

namespace gantry::keras {

using sdk::decline;
using sdk::decline_if;
using sdk::Dims;
using sdk::Value;

namespace {

constexpr std::size_t kMostNodes = 1'000'000;  // a nested model may hold itself many times over

Dims shape_of(const Layer& layer, std::int64_t batch) {
  const Json* shape = nullptr;
  for (const char* key : {"batch_input_shape", "batch_shape", "build_input_shape"})
    if (!shape && !member(*layer.config, key).is_null()) shape = &member(*layer.config, key);
  if (!shape || !shape->is_array() || shape->empty() || shape->size() > 16)
    throw std::runtime_error("input '" + layer.name + "' has no shape");
  Dims dims;
  for (const Json& d : *shape) {
    if (!d.is_null() && (!d.is_number_unsigned() || d.get<std::uint64_t>() > INT32_MAX))
      throw std::runtime_error("input '" + layer.name + "' has a dimension that is no size");
    dims.push_back(d.is_null() ? -1 : d.get<std::int64_t>());
  }
  if (dims[0] < 0) dims[0] = batch;
  return dims;
}

// Of a dtype or a policy.
std::string dtype_name(const Json& config) {
  const Json& d = member(config, "dtype");
  if (d.is_string()) return d.get<std::string>();
  const Json& name = member(member(d, "config"), "name");
  return name.is_string() ? name.get<std::string>() : "float32";
}

sdk::DType element_type(const Layer& layer) {
  const std::string name = dtype_name(*layer.config);
  for (gantry_dtype t = 1; t <= GANTRY_UINT64; ++t)
    if (name == sdk::name_of(static_cast<sdk::DType>(t))) {
      // Keras computes in float32 whatever a float input is.
      return sdk::is_float(static_cast<sdk::DType>(t)) ? sdk::DType::float32 : static_cast<sdk::DType>(t);
    }
  if (name.starts_with("mixed_")) return sdk::DType::float32;
  if (name == "bool") return sdk::DType::boolean;
  decline("input '", layer.name, "' is of type ", name);
}

bool truth(const Json& config, std::string_view key) {
  const Json& m = member(config, key);
  return m.is_boolean() ? m.get<bool>() : m.is_number() && m.get<double>() != 0;
}

std::size_t states_of(const Layer& layer) {
  if (!truth(*layer.config, "return_state")) return 0;
  return layer.class_name.ends_with("LSTM") ? 2 : 1;
}

std::string dump(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Builder::Builder(const sdk::Reading& reading, const Hdf5File& file, int keras_version)
    : reading_(reading),
      file_(file),
      weights_(file),
      version_(keras_version),
      batch_(reading.call().option<std::int64_t>("batch")) {
  if (batch_ == 0 || batch_ < -1) decline("the option batch must be positive, or -1");
}

Value Builder::input(const Layer& layer) {
  decline_if(truth(*layer.config, "ragged") || truth(*layer.config, "sparse"), "input '", layer.name,
             "' is ragged or sparse");
  return reading_.input(layer.name, {element_type(layer), shape_of(layer, batch_)});
}

void Builder::build(const Json& j) {
  const Model model = describe_model(j);
  Values inputs;
  for (const Tensor& t : model.inputs) {
    if (model.layers[t.layer].class_name != "InputLayer")
      throw std::runtime_error("the model's input '" + model.layers[t.layer].name + "' is no InputLayer");
    inputs.push_back(input(model.layers[t.layer]));
  }
  const Values outputs = run_model(model, inputs, weights_.root());
  std::set<std::string> taken;
  for (const Tensor& t : model.inputs) taken.insert(model.layers[t.layer].name);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string base = model.layers[model.outputs[i].layer].name;
    std::string name = base;
    for (int n = 1; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    reading_.output(name, outputs[i]);
  }
}

Builder::Values Builder::run_model(const Model& model, const Values& inputs, const Scope& scope) {
  if (inputs.size() != model.inputs.size())
    throw std::runtime_error("the model '" + model.name + "' is called with " + std::to_string(inputs.size()) +
                             " inputs, and has " + std::to_string(model.inputs.size()));
  std::vector<std::vector<Values>> results(model.layers.size());
  std::vector<std::size_t> wanted(model.layers.size(), 1);
  const auto want = [&](const Tensor& t) {
    wanted[t.layer] = std::max(wanted[t.layer], std::min<std::size_t>(t.tensor, 64) + 1);
  };
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    results[l].resize(model.layers[l].calls.size());
    for (const Call& c : model.layers[l].calls) std::ranges::for_each(c.operands, want);
  }
  std::ranges::for_each(model.outputs, want);
  const auto value = [&](const Tensor& t) {
    const Values& of = results[t.layer].at(t.call);
    if (t.tensor >= of.size())
      throw std::runtime_error("layer '" + model.layers[t.layer].name + "' has no result " + std::to_string(t.tensor));
    return of[t.tensor];
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) results[model.inputs[i].layer].at(model.inputs[i].call) = {inputs[i]};
  for (const auto& [l, c] : model.order) {
    const Layer& layer = model.layers[l];
    if (!results[l][c].empty()) continue;  // an input
    if (layer.class_name == "InputLayer")
      throw std::runtime_error("the model '" + model.name + "' does not list its input '" + layer.name + "'");
    Values operands;
    for (const Tensor& t : layer.calls[c].operands) operands.push_back(value(t));
    const Scope inner = weights_.layer(scope, layer.name, layer.key);
    results[l][c] = run_layer(layer, layer.calls[c], operands, inner, wanted[l]);
  }
  Values outputs;
  for (const Tensor& t : model.outputs) outputs.push_back(value(t));
  return outputs;
}

Layer Builder::without_cell(const Layer& layer) {
  if (layer.class_name != "RNN") return layer;
  const Layer cell = describe_layer(member(*layer.config, "cell"));
  static const std::set<std::string, std::less<>> kCells = {"LSTMCell",  "GRUCell",  "SimpleRNNCell",
                                                            "QLSTMCell", "QGRUCell", "QSimpleRNNCell"};
  decline_if(!kCells.contains(cell.class_name), "layer '", layer.name, "': RNN of ", cell.class_name,
             ", which is no cell that is known");
  Layer whole = layer;
  whole.class_name = cell.class_name.substr(0, cell.class_name.size() - 4);
  whole.package = whole.class_name.starts_with('Q') ? "qkeras" : cell.package;
  Json& config = made_.emplace_back(*cell.config);
  for (const char* key : {"return_sequences", "return_state", "go_backwards", "stateful", "time_major"})
    config[key] = truth(*layer.config, key);
  whole.config = &config;
  return whole;
}

Builder::Values Builder::run_layer(const Layer& layer, const Call& call, const Values& operands, const Scope& scope,
                                   std::size_t results) {
  if (is_model(layer)) {
    const Json whole = {{"class_name", layer.class_name}, {"config", *layer.config}};
    return run_model(describe_model(made_.emplace_back(whole)), operands, scope);
  }
  check_precision(layer);
  if (layer.class_name == "TimeDistributed") return time_distributed(layer, call, operands, scope);
  if (layer.class_name == "Bidirectional" || layer.class_name == "QBidirectional")
    return bidirectional(layer, call, operands, scope);
  const Layer whole = without_cell(layer);
  return leaf(whole, call, operands, scope, std::max(results, 1 + states_of(whole)));
}

Builder::Values Builder::leaf(const Layer& layer, const Call& call, Values operands, const Scope& scope,
                              std::size_t results, sdk::Attributes more) {
  if (operands.empty()) throw std::runtime_error("layer '" + layer.name + "' is called without operands");
  sdk::Attributes attributes = attributes_of_config(*layer.config);
  sdk::set_attribute(attributes, "keras_version", version_);
  sdk::set_attribute(attributes, "operand_count", operands.size());
  if (!call.arguments.empty()) sdk::set_attribute(attributes, "call", dump(call.arguments));
  if (!call.keywords.empty()) sdk::set_attribute(attributes, "keywords", call.keywords);
  for (sdk::Attribute& a : more) attributes.push_back(std::move(a));
  const Values parameters = weights(layer, scope);
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return node(layer.name, layer.package, layer.class_name, results, operands, attributes);
}

Builder::Values Builder::time_distributed(const Layer& layer, const Call& call, const Values& operands,
                                          const Scope& scope) {
  decline_if(operands.size() != 1, "layer '", layer.name, "': TimeDistributed of several tensors");
  const Json& wrapped = member(*layer.config, "layer");
  Layer inner = describe_layer(wrapped);
  const Scope inner_scope = is_model(inner) && weights_.by_name() ? scope : weights_.part(scope, "layer");
  if (!is_model(inner)) inner.name = layer.name;
  const Value x = node(layer.name, "", "TimeDistributedBegin", 1, operands, {})[0];
  const Values y = run_layer(inner, call, {x}, inner_scope, 1);
  decline_if(y.size() != 1, "layer '", layer.name, "': TimeDistributed of a layer with several results");
  return node(layer.name, "", "TimeDistributedEnd", 1, {y[0], operands[0]}, {});
}

Builder::Values Builder::bidirectional(const Layer& layer, const Call& call, const Values& operands,
                                       const Scope& scope) {
  Layer forward = without_cell(describe_layer(member(*layer.config, "layer")));
  Layer backward = forward;
  std::string own;
  if (member(*layer.config, "backward_layer").is_object()) {
    backward = without_cell(describe_layer(member(*layer.config, "backward_layer")));
    own = backward.name;
  } else {
    Json& config = made_.emplace_back(*forward.config);
    config["go_backwards"] = !truth(config, "go_backwards");
    backward.config = &config;
  }
  forward.name = layer.name + "/forward";
  backward.name = layer.name + "/backward";
  const std::size_t states = states_of(forward);
  // Initial states: those of the forward layer first.
  decline_if(operands.size() % 2 == 0, "layer '", layer.name, "' is called with ", operands.size(), " tensors");
  const auto half = static_cast<std::ptrdiff_t>(operands.size() / 2);
  Call each = call;
  decline_if(!each.keywords.empty() && each.keywords.size() != operands.size() - 1, "layer '", layer.name,
             "' is called with tensors as keyword arguments");
  each.keywords.resize(each.keywords.size() / 2);
  Values ahead{operands[0]}, behind{operands[0]};
  ahead.insert(ahead.end(), operands.begin() + 1, operands.begin() + 1 + half);
  behind.insert(behind.end(), operands.begin() + 1 + half, operands.end());
  const Values f = leaf(forward, each, ahead, weights_.part(scope, "forward_layer"), 1 + states);
  // Keras turns the sequence of the backward layer round, whichever way that went.
  const Values b =
      leaf(backward, each, behind, weights_.part(scope, "backward_layer", own), 1 + states, {{"turn_round", 1}});
  const Json& mode = member(*layer.config, "merge_mode");
  Values results;
  if (mode.is_null()) {
    results = {f[0], b[0]};
  } else {
    static const std::map<std::string, std::string, std::less<>> kMerges = {
        {"concat", "Concatenate"}, {"sum", "Add"}, {"mul", "Multiply"}, {"ave", "Average"}};
    const auto merge = kMerges.find(mode.is_string() ? mode.get<std::string>() : "");
    if (merge == kMerges.end()) throw std::runtime_error("layer '" + layer.name + "' has an unknown merge_mode");
    results = node(layer.name, "", merge->second, 1, {f[0], b[0]}, {{"axis", -1}, {"operand_count", 2}});
  }
  results.insert(results.end(), f.begin() + 1, f.end());
  results.insert(results.end(), b.begin() + 1, b.end());
  return results;
}

Builder::Values Builder::weights(const Layer& layer, const Scope& scope) {
  Values out;
  if (!layer.package.empty() && layer.package != "qkeras") {  // of a plugin that knows what they are
    for (const std::string& path : weights_.all(scope)) out.push_back(weight(path));
    return out;
  }
  for (const Role& role : roles_of(layer.class_name, *layer.config)) {
    const auto path = weights_.find(scope, role);
    if (!path)
      throw std::runtime_error("the weight '" + role.names[0] + "' of layer '" + layer.name + "' is not in the file");
    out.push_back(weight(*path));
  }
  return out;
}

Value Builder::weight(const std::string& path) {
  const auto it = constants_.find(path);
  if (it != constants_.end()) return it->second;
  const Dataset data = file_.read(path);
  return constants_[path] = reading_.constant({sdk::DType::float32, data.dims}, data.bytes);
}

Builder::Values Builder::node(const std::string& name, const std::string& package, const std::string& op,
                              std::size_t results, const Values& operands, const sdk::Attributes& attributes) {
  if (++nodes_ > kMostNodes) throw std::runtime_error("the model has more than a million layers");
  return reading_.emit().named(name).make(package, op, results, operands, attributes, {}, 1);
}

void Builder::check_precision(const Layer& layer) {
  const std::string type = dtype_name(*layer.config);
  if (told_precision_ || type == "float32" || type.starts_with("int") || type == "bool") return;
  told_precision_ = true;
  reading_.call().warn("layers compute in " + type + " in Keras, and in float32 here");
}

}  // namespace gantry::keras
