// ai.onnx.ml: arithmetic on features.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

/// One tree of two levels over four features, with one weight a leaf.
std::string tree(const std::string& kind, const std::string& ids) {
  return "nodes_treeids = [0,0,0,0,0], nodes_nodeids = [0,1,2,3,4], nodes_featureids = [1,3,0,0,0], "
         "nodes_truenodeids = [1,3,0,0,0], nodes_falsenodeids = [2,4,0,0,0], "
         "nodes_values = [0.1,-0.2,0.0,0.0,0.0], "
         "nodes_modes = [\"BRANCH_LEQ\", \"BRANCH_LEQ\", \"LEAF\", \"LEAF\", \"LEAF\"], " +
         kind + "_treeids = [0,0,0], " + kind + "_nodeids = [2,3,4], " + kind + "_ids = " + ids + ", " + kind +
         "_weights = [1.5,-2.0,0.25]";
}

TEST(Ml, Features) {
  expect_equal({
      {18, "float[5,4] x", "", "y = ai.onnx.ml.Scaler<offset = [0.1, 0.2, 0.3, 0.4], scale = [2.0, 1.0, 0.5, 3.0]>(x)"},
      {18, "int64[5,4] x", "", "y = ai.onnx.ml.Scaler<offset = [0.1], scale = [2.0]>(x)"},
      {18, "float[5,4] x", "", "y = ai.onnx.ml.Normalizer<norm = \"L1\">(x)"},
      {18, "float[5,4] x", "", "y = ai.onnx.ml.Normalizer<norm = \"L2\">(x)"},
      {18, "float[5,4] x", "", "y = ai.onnx.ml.Binarizer<threshold = 0.2>(x)"},
      {18, "float[5,4] x", "", "y = ai.onnx.ml.Imputer<imputed_value_floats = [1.5], replaced_value_float = 0.0>(x)"},
      {18, "float[5,4] x, float[5,2] z", "", "y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [4, 2]>(x, z)"},
      {18, "float[3,4] x", "", "i = Constant<value_ints = [3, 0]>() y = ai.onnx.ml.ArrayFeatureExtractor(x, i)"},
      {18, "int64[2,3] x", "",
       "y = ai.onnx.ml.LabelEncoder<keys_int64s = [0, 1, 2], values_floats = [1.5, 2.5, 3.5], default_float = "
       "-7.0>(x)"},
  });
}

TEST(Ml, ClassifiersAndRegressors) {
  const std::string matrix = "coefficients = [0.5, -1.0, 2.0, 0.25, 1.0, 1.0, -0.5, 0.75], intercepts = [0.1, -0.2]";
  expect_equal({
      {18, "float[5,4] x", "", "y = ai.onnx.ml.LinearRegressor<targets = 2, " + matrix + ">(x)"},
      {18, "float[5,4] x", "",
       "l, y = ai.onnx.ml.LinearClassifier<classlabels_ints = [7, 3], post_transform = \"SOFTMAX\", " + matrix + ">(x)",
       "int64[] l, float[] y"},
      {18, "float[5,4] x", "",
       "l, y = ai.onnx.ml.LinearClassifier<classlabels_ints = [7, 3], coefficients = [0.5, -1.0, 2.0, 0.25], "
       "intercepts = [0.1], post_transform = \"LOGISTIC\">(x)",
       "int64[] l, float[] y"},
      {18, "float[5,4] x", "",
       "y = ai.onnx.ml.TreeEnsembleRegressor<n_targets = 1, " + tree("target", "[0,0,0]") + ">(x)"},
      {18, "float[N,4] x", "",
       "y = ai.onnx.ml.TreeEnsembleRegressor<n_targets = 2, " + tree("target", "[0,1,0]") + ">(x)"},
      {18, "float[5,4] x", "",
       "l, y = ai.onnx.ml.TreeEnsembleClassifier<classlabels_int64s = [4, 5, 6], " + tree("class", "[0,1,2]") + ">(x)",
       "int64[] l, float[] y"},
      {18, "float[5,4] x", "",
       "l, y = ai.onnx.ml.TreeEnsembleClassifier<classlabels_int64s = [4, 5], post_transform = \"LOGISTIC\", " +
           tree("class", "[0,0,0]") + ">(x)",
       "int64[] l, float[] y"},
  });
}

}  // namespace
}  // namespace gantry::test
