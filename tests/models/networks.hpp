// Small networks with the structure of real ones, as ONNX text: converted as a user would, run in both runtimes, and
// held to the number of transposes that is known to be right.
#pragma once

#include <string>

#include "tests/ops/table.hpp"

namespace gantry::test {

/// Text of a network, block by block. Every step takes the name of its operand and gives that of its result.
class NetworkText {
 public:
  std::string conv(const std::string& x, int in, int out, int kernel = 3, int stride = 1, int group = 1);
  std::string deconv(const std::string& x, int in, int out);  // twice the size
  std::string clip6(const std::string& x);
  /// Any node with one result: op is with attributes, operands with commas.
  std::string node(const std::string& op, const std::string& operands);
  std::string weight(const std::string& dims);
  std::string ints(const std::string& values);
  /// `last` becomes the output y.
  Row done(const std::string& inputs, const std::string& last);

 private:
  std::string name();
  std::string nodes_, weights_;
  int count_ = 0;
};

Row mobilenet_like();
Row residual_cnn();
Row unet();
Row attention_block();
Row feature_map_and_tokens();
Row channel_shuffle();
Row pixel_shuffle();

}  // namespace gantry::test
