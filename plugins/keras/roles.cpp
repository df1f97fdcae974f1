#include "roles.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gantry::keras {
namespace {

bool flag(const Json& config, std::string_view key, bool otherwise) {
  const Json& m = member(config, key);
  return m.is_boolean() ? m.get<bool>() : m.is_number() ? m.get<double>() != 0 : otherwise;
}

template <std::size_t N>
bool one_of(std::string_view name, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, name) != list.end();
}

constexpr std::array<std::string_view, 14> kKernelBias = {
    "Dense",  "Conv1D",  "Conv2D",  "Conv3D",           "Conv1DTranspose", "Conv2DTranspose",  "Conv3DTranspose",
    "QDense", "QConv1D", "QConv2D", "QConv2DTranspose", "QDenseBatchnorm", "QConv2DBatchnorm", "EinsumDense"};
constexpr std::array<std::string_view, 5> kDepthwise = {"DepthwiseConv1D", "DepthwiseConv2D", "QDepthwiseConv2D",
                                                        "QDepthwiseConv2DBatchnorm", "QDepthwiseConv2DTranspose"};
constexpr std::array<std::string_view, 5> kSeparable = {"SeparableConv1D", "SeparableConv2D", "QSeparableConv1D",
                                                        "QSeparableConv2D", "QSeparableConv2DTranspose"};
constexpr std::array<std::string_view, 6> kRecurrent = {"LSTM", "GRU", "SimpleRNN", "QLSTM", "QGRU", "QSimpleRNN"};

class List {
 public:
  void add(std::vector<std::string> names, bool present = true) {
    if (present) roles.push_back({std::move(names), next++, part});
  }
  void in(std::string new_part) { part = std::move(new_part), next = 0; }

  std::vector<Role> roles;

 private:
  std::string part;
  int next = 0;
};

void normalization(List& list, const Json& config) {
  list.add({"gamma"}, flag(config, "scale", true));
  list.add({"beta"}, flag(config, "center", true) && !flag(config, "rms_scaling", false));
}

void moments(List& list) {
  list.add({"moving_mean"});
  list.add({"moving_variance"});
}

}  // namespace

std::vector<Role> roles_of(const std::string& c, const Json& config) {
  List list;
  const bool bias = flag(config, "use_bias", true);
  if (one_of(c, kKernelBias)) {
    list.add({"kernel"});
    list.add({"bias"}, bias);
  } else if (one_of(c, kDepthwise)) {
    list.add({"depthwise_kernel", "kernel"});
    list.add({"bias"}, bias);
  } else if (one_of(c, kSeparable)) {
    list.add({"depthwise_kernel"});
    list.add({"pointwise_kernel"});
    list.add({"bias"}, bias);
  } else if (one_of(c, kRecurrent)) {
    list.in("cell");
    list.add({"kernel"});
    list.add({"recurrent_kernel"});
    list.add({"bias"}, bias);
  } else if (c == "BatchNormalization" || c == "QBatchNormalization") {
    normalization(list, config);
    moments(list);
  } else if (c == "LayerNormalization" || c == "GroupNormalization") {
    normalization(list, config);
  } else if (c == "RMSNormalization") {
    list.add({"scale"});
  } else if (c == "Embedding") {
    list.add({"embeddings"});
  } else if (c == "PReLU") {
    list.add({"alpha"});
  } else if (c == "Normalization") {
    list.add({"mean"}, member(config, "mean").is_null());
    list.add({"variance"}, member(config, "variance").is_null());
  } else if (c == "QAdaptiveActivation") {
    list.add({"ema_min"});
    list.add({"ema_max"});
  } else if (c == "MultiHeadAttention") {
    for (const char* part : {"query_dense", "key_dense", "value_dense", "output_dense"}) {
      list.in(part);
      list.add({"kernel"});
      list.add({"bias"}, bias);
    }
  }
  if (c == "QConv2DBatchnorm" || c == "QDepthwiseConv2DBatchnorm" || c == "QDenseBatchnorm") {
    list.in("batchnorm");
    normalization(list, config);
    moments(list);
  }
  return list.roles;
}

}  // namespace gantry::keras
