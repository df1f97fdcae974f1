// Quantizers of QKeras, however they are spelled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace gantry::quant {

using Json = nlohmann::json;

/// A factor behind the quantizer: a number, one a channel, or found from the data.
struct Alpha {
  enum class Kind : std::uint8_t { none, fixed, automatic, automatic_po2 };
  Kind kind = Kind::none;
  std::vector<float> values{1.0F};  // of `fixed`: one, or one for each element of the last axis
  bool from_data() const { return kind == Kind::automatic || kind == Kind::automatic_po2; }
  bool one() const;
};

struct Quantizer {
  std::string name;              // class or function, without a package's prefix
  Json config = Json::object();  // arguments by name
  bool is_class = false;         // a quantizer with arguments; else a plain function such as hard_tanh

  double number(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise) const { return number(key, otherwise) != 0; }
  bool has(std::string_view key) const;
  std::vector<float> numbers(std::string_view key, double otherwise) const;
  Alpha alpha() const;
};

/// `text` is JSON ({"class_name": ..., "config": ...}, with whatever else) or an expression ("quantized_relu(4,1)",
/// "hard_tanh"). nullopt: none, or linear. Throws Declined where it cannot be understood.
std::optional<Quantizer> parse_quantizer(std::string_view text);

/// Whether QKeras has a quantizer or function of this name; else the name is Keras' own.
bool is_qkeras(const Quantizer& q);

}  // namespace gantry::quant
