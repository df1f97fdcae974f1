// Keras models for tests, written as Keras writes them, and converted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/pipeline.hpp"
#include "host/verify/tensor.hpp"

namespace gantry::test {

using Json = nlohmann::json;

struct Weight {
  std::string name;  // "kernel"
  std::vector<std::int64_t> dims;
  std::vector<float> elements;
};

/// A Functional model.
class KerasModel {
 public:
  void input(const std::string& name, const Json& shape);  // without the batch
  /// A layer of Keras or QKeras that reads the layers `from`.
  void layer(const std::string& class_name, const std::string& name, const std::vector<std::string>& from,
             Json config = Json::object(), std::vector<Weight> weights = {});
  void output(const std::string& name) { outputs_.push_back(name); }

  Json config() const;
  /// Whole, as Keras 2 does: configuration and weights by name.
  std::string hdf5() const;
  /// As Keras 2.14 and 3 do: by objects, in `group` ("layers" or "_layer_checkpoint_dependencies").
  std::string hdf5_of_objects(const std::string& group, const std::map<std::string, std::string>& keys) const;

 private:
  struct Layer {
    Json json;
    std::string name;
    std::vector<Weight> weights;
  };
  std::vector<Layer> layers_;
  std::vector<std::string> inputs_, outputs_;
};

/// A zip archive of stored members.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members);

/// A folder of its own that goes away.
class KerasTest : public testing::Test {
 protected:
  KerasTest();
  ~KerasTest() override;

  std::filesystem::path write(const std::string& name, const std::string& bytes) const;
  /// How quantizers are written: qonnx, qcdq, onnx.
  Status convert(const std::filesystem::path& input, const std::filesystem::path& output, const std::string& quantizers,
                 const std::string& io = "preserve");
  /// Converts with quantizers in float, and runs it: outputs in order.
  std::vector<std::vector<float>> run(const std::string& hdf5, const std::vector<std::vector<float>>& inputs);

  std::string rounding_ = "ROUND";  // the option rounding_mode
  std::filesystem::path folder_;
  Report report_;
};

}  // namespace gantry::test
