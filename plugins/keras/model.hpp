// A Keras model's configuration, brought to one form: layers, and their calls in order of computation.
#pragma once

#include <string>
#include <vector>

#include "json.hpp"

namespace gantry::keras {

/// Result `tensor` of call `call` of layer `layer` (an index into Model::layers).
struct Tensor {
  std::size_t layer = 0, call = 0, tensor = 0;
};

struct Call {
  std::vector<Tensor> operands;       // positional, then by keyword
  std::vector<std::string> keywords;  // of the last operands
  Json arguments = Json::object();    // that are no tensors
};

struct Layer {
  std::string class_name;  // without a package's prefix
  std::string package;     // "" = Keras, "qkeras", or another
  std::string name, key;   // key: among the objects of a newer file, "dense_1"
  const Json* config = nullptr;
  std::vector<Call> calls;
};

struct Model {
  std::string name;
  std::vector<Layer> layers;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // (layer, call), each after its operands
  std::vector<Tensor> inputs, outputs;
};

/// Class and package of {"class_name": ..., "module": ..., "registered_name": ...}.
Layer describe_layer(const Json& serialized);
/// Whether it is itself a model of layers.
bool is_model(const Layer& layer);
/// Of a Functional or Sequential model; `j` must outlive it. Throws std::runtime_error where it is damaged, Declined
/// where it is of a kind that has no graph of layers.
Model describe_model(const Json& j);

}  // namespace gantry::keras
