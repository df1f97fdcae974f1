#include "attributes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::keras {
namespace {

bool of_training(std::string_view key) {
  constexpr std::array<std::string_view, 4> kSuffixes = {"_initializer", "_regularizer", "_constraint", "_range"};
  constexpr std::array<std::string_view, 9> kNames = {"name",
                                                      "trainable",
                                                      "dtype",
                                                      "batch_input_shape",
                                                      "batch_shape",
                                                      "build_config",
                                                      "activity_regularizer",
                                                      "shared_object_id",
                                                      "dtype_policy"};
  return std::ranges::any_of(kSuffixes, [&](std::string_view s) { return key.ends_with(s); }) ||
         std::ranges::find(kNames, key) != kNames.end();
}

bool is_integer(const Json& j) {
  return j.is_boolean() || (j.is_number_integer() && !(j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX));
}
std::int64_t integer(const Json& j) {
  return j.is_boolean() ? static_cast<std::int64_t>(j.get<bool>()) : j.get<std::int64_t>();
}

// All leaves; false where one is no number.
bool flatten(const Json& j, std::vector<const Json*>& out) {
  if (!j.is_array()) {
    out.push_back(&j);
    return j.is_number() || j.is_boolean();
  }
  return std::ranges::all_of(j, [&](const Json& e) { return flatten(e, out); });
}

void add_list(sdk::Attributes& out, const std::string& key, const Json& j) {
  std::vector<const Json*> leaves;
  if (flatten(j, leaves)) {
    if (std::ranges::all_of(leaves, [](const Json* e) { return is_integer(*e); })) {
      sdk::Dims ints;
      for (const Json* e : leaves) ints.push_back(integer(*e));
      out.emplace_back(key, std::move(ints));
    } else {
      std::vector<float> floats;
      for (const Json* e : leaves)
        floats.push_back(e->is_boolean() ? static_cast<float>(e->get<bool>()) : e->get<float>());
      out.emplace_back(key, std::move(floats));
    }
  } else if (std::ranges::all_of(j, [](const Json& e) { return e.is_string(); })) {
    std::vector<std::string> texts;
    for (const Json& e : j) texts.push_back(e.get<std::string>());
    out.emplace_back(key, std::move(texts));
  } else {
    out.emplace_back(key, j.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

}  // namespace

sdk::Attributes attributes_of_config(const Json& config) {
  sdk::Attributes out;
  if (!config.is_object()) return out;
  for (const auto& [key, j] : config.items()) {
    if (of_training(key) || j.is_null()) continue;
    if (is_integer(j))
      out.emplace_back(key, integer(j));
    else if (j.is_number())
      out.emplace_back(key, j.get<double>());
    else if (j.is_string())
      out.emplace_back(key, j.get<std::string>());
    else if (j.is_array())
      add_list(out, key, j);
    else
      out.emplace_back(key, j.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return out;
}

}  // namespace gantry::keras
