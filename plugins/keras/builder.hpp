// A Keras model and its weights as a graph of the dialect "keras".
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <gantry/sdk.hpp>

#include "json.hpp"
#include "model.hpp"
#include "weights.hpp"

namespace gantry::keras {

/// One node a call of a layer: op = class, domain = package ("" for Keras' own), name = the layer's, attributes =
/// configuration, operands = the call's tensors, then the weights in the order of roles_of (of
/// other packages' layers: all, in the file's order). Besides:
///   keras_version   2 or 3
///   operand_count   how many operands are tensors of the call
///   call            JSON text of arguments that are no tensors; keywords: names of the last operands
/// Nested models are expanded; a shared layer's weights are shared. TimeDistributed(layer) is the layer's node between
/// TimeDistributedBegin(x) and TimeDistributedEnd(y, x), Bidirectional(layer) two nodes and a merge.
class Builder {
 public:
  Builder(const sdk::Reading& reading, const Hdf5File& file, int keras_version);
  void build(const Json& model);

 private:
  using Values = std::vector<sdk::Value>;

  sdk::Value input(const Layer& layer);
  Values run_model(const Model& model, const Values& inputs, const Scope& scope);
  Values run_layer(const Layer& layer, const Call& call, const Values& operands, const Scope& scope,
                   std::size_t results);
  Values leaf(const Layer& layer, const Call& call, Values operands, const Scope& scope, std::size_t results,
              sdk::Attributes more = {});
  Values time_distributed(const Layer& layer, const Call& call, const Values& operands, const Scope& scope);
  Values bidirectional(const Layer& layer, const Call& call, const Values& operands, const Scope& scope);
  /// RNN(LSTMCell) as LSTM.
  Layer without_cell(const Layer& layer);
  Values weights(const Layer& layer, const Scope& scope);
  sdk::Value weight(const std::string& path);
  Values node(const std::string& name, const std::string& package, const std::string& op, std::size_t results,
              const Values& operands, const sdk::Attributes& attributes);
  void check_precision(const Layer& layer);

  const sdk::Reading& reading_;
  const Hdf5File& file_;
  Weights weights_;
  int version_;
  std::int64_t batch_;
  std::map<std::string, sdk::Value> constants_;  // by path: shared layers share them
  std::deque<Json> made_;                        // configurations that are not in the file
  std::size_t nodes_ = 0;
  bool told_precision_ = false;
};

}  // namespace gantry::keras
