#include "json.hpp"

#include <stdexcept>

namespace gantry::keras {

Json parse_json(std::string_view text, std::string_view what) {
  constexpr int kDeepest = 100;
  constexpr std::size_t kMostValues = 5'000'000, kMostText = std::size_t{64} << 20;
  const std::string name(what);
  if (text.size() > kMostText) throw std::runtime_error(name + " is larger than any model's");
  std::size_t values = 0;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw std::runtime_error(name + " is nested more than " + std::to_string(kDeepest) + " deep");
    if (++values > kMostValues) throw std::runtime_error(name + " has more values than any model's");
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::exception& e) {
    throw std::runtime_error(name + " is no JSON: " + e.what());
  }
}

const Json& member(const Json& j, std::string_view key) {
  static const Json null;
  if (!j.is_object()) return null;
  const auto it = j.find(std::string(key));
  return it == j.end() ? null : *it;
}

std::string text_member(const Json& j, std::string_view key, std::string_view what) {
  const Json& m = member(j, key);
  if (!m.is_string()) throw std::runtime_error(std::string(what) + " has no '" + std::string(key) + "'");
  return m.get<std::string>();
}

}  // namespace gantry::keras
