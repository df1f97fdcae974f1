// Where the weights of a layer lie in a Keras file, in its three arrangements.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5_file.hpp"

namespace gantry::keras {

/// A layer, or a part of one, in the file.
struct Scope {
  std::string group;  // of the HDF5 file
  std::vector<std::string>
      parts{};  // by names: what a weight's path must contain, in order; "forward*" is a prefix, a|b either
};

/// What a layer calls a weight, and where it is among the variables of its part.
struct Role {
  std::vector<std::string> names;  // over the versions of Keras
  int index = 0;                   // among those that the layer has
  std::string part{};              // of the layer, as an object: "cell", "batchnorm", "query_dense"
};

class Weights {
 public:
  /// Whole models of .h5 (by names, in the group model_weights), files of weights of Keras 2 (by names, at the root),
  /// and the newer files (by objects and positions: groups layers or _layer_checkpoint_dependencies).
  explicit Weights(const Hdf5File& file);

  bool by_name() const { return by_name_; }
  Scope root() const { return {root_, {}}; }
  /// A layer of the model at `model`: its name, and its key among the objects ("dense_1").
  Scope layer(const Scope& model, const std::string& name, const std::string& key) const;
  /// An object within a layer; `own` is a name that it may have of its own.
  Scope part(const Scope& layer, const std::string& name, const std::string& own = "") const;
  /// Path of the weight's dataset; nullopt if the file does not have it.
  std::optional<std::string> find(const Scope& layer, const Role& role) const;
  /// Paths of all weights of a layer, in the order of the file.
  std::vector<std::string> all(const Scope& layer) const;

 private:
  const std::vector<std::string>& names_of(const std::string& group) const;

  const Hdf5File& file_;
  std::string root_;
  bool by_name_ = false;
  mutable std::map<std::string, std::vector<std::string>> names_;  // weight_names of each group
};

}  // namespace gantry::keras
