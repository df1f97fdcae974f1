// A model's configuration: layers, their calls and attributes, and their quantizers.
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "plugins/keras/attributes.hpp"
#include "plugins/keras/model.hpp"
#include "plugins/keras/roles.hpp"

using namespace gantry;

namespace {

void work_on(const keras::Json& json) {
  const keras::Model model = keras::describe_model(json);
  for (const keras::Layer& layer : model.layers) {
    (void)keras::attributes_of_config(*layer.config);
    (void)keras::roles_of(layer.class_name, *layer.config);
    const keras::Json& inner = keras::member(*layer.config, "layer");
    if (inner.is_object()) (void)keras::describe_layer(inner);
    if (keras::is_model(layer)) {
      const keras::Json whole{{"class_name", layer.class_name}, {"config", *layer.config}};
      (void)keras::describe_model(whole);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    work_on(keras::parse_json({reinterpret_cast<const char*>(data), size}, "the file"));
  } catch (const std::runtime_error&) {  // what a reader may throw
  }
  return 0;
}
