#include "host/formats/onnx/schemas.hpp"

#include <limits>

#include <onnx/defs/schema.h>

namespace gantry::onnx_format {

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::string_view shown_domain(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

int newest_opset(std::string_view domain) {
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto it = ranges.find(std::string(domain));
  return it == ranges.end() ? 0 : it->second.second;
}

std::size_t Schemas::Hash::operator()(const View& v) const {
  const std::hash<std::string_view> hash;
  return hash(v.name) ^ (hash(v.domain) * 31) ^ static_cast<std::size_t>(v.version) * 0x9E3779B97F4A7C15U;
}

const onnx::OpSchema* Schemas::find(std::string_view domain, std::string_view name, int version) const {
  if (const auto it = found_.find(View{domain, name, version}); it != found_.end()) return it->second;
  Key key{std::string(domain), std::string(name), version};
  const onnx::OpSchema* schema =
      newest_opset(domain) == 0 ? nullptr : onnx::OpSchemaRegistry::Schema(key.name, version, key.domain);
  return found_.emplace(std::move(key), schema).first->second;
}

const onnx::OpSchema* Schemas::newest(std::string_view domain, std::string_view name) const {
  return find(domain, name, std::numeric_limits<int>::max());
}

}  // namespace gantry::onnx_format
