// How Keras names objects after their classes.
#pragma once

#include <string>
#include <string_view>

namespace gantry::keras {

/// Keras' snake_case of a class: QConv2DBatchnorm -> q_conv2d_batchnorm, QLSTM -> qlstm.
std::string snake_case(std::string_view class_name);

}  // namespace gantry::keras
