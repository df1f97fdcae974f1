#include "host/formats/onnx/schemas.hpp"

#include <limits>

#include <onnx/defs/operator_sets.h>
#include <onnx/defs/schema.h>

namespace gantry::onnx_format {

namespace {

struct Row {
  int since;
  std::string_view name;
  onnx::OpSchema (*make)();
};

#define GANTRY_ONNX_SCHEMA(since, name) \
  Row{since, #name, &onnx::GetOpSchema<onnx::ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(Onnx, since, name)>},
constexpr Row kRows[] = {
#include "onnx_schemas_generated.h"
};
#undef GANTRY_ONNX_SCHEMA

const Row* newest_row(std::string_view name, int version) {
  const Row* best = nullptr;
  for (const Row& row : kRows) {
    if (row.name == name && row.since <= version && (!best || row.since > best->since)) best = &row;
  }
  return best;
}

}  // namespace

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::string_view shown_domain(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

int newest_opset(std::string_view domain) {
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto it = ranges.find(std::string(domain));
  return it == ranges.end() ? 0 : it->second.second;
}

Schemas::Schemas() = default;
Schemas::~Schemas() = default;

std::size_t Schemas::Hash::operator()(const View& v) const {
  const std::hash<std::string_view> hash;
  return hash(v.name) ^ (hash(v.domain) * 31) ^ (static_cast<std::size_t>(v.version) * 0x9E3779B97F4A7C15U);
}

const onnx::OpSchema* Schemas::look_up(const Key& key) const {
  if (!key.domain.empty()) {  // ONNX's smaller domains are rare: its registry will do
    return newest_opset(key.domain) == 0 ? nullptr : onnx::OpSchemaRegistry::Schema(key.name, key.version, key.domain);
  }
  const Row* const row = newest_row(key.name, key.version);
  if (!row) return nullptr;
  auto& made = made_[row];
  if (!made) {
    auto schema = std::make_unique<onnx::OpSchema>(row->make());
    schema->Finalize();
    made = std::move(schema);
  }
  return made.get();
}

const onnx::OpSchema* Schemas::find(std::string_view domain, std::string_view name, int version) const {
  if (const auto it = found_.find(View{domain, name, version}); it != found_.end()) return it->second;
  Key key{std::string(domain), std::string(name), version};
  const onnx::OpSchema* const schema = look_up(key);
  return found_.emplace(std::move(key), schema).first->second;
}

const onnx::OpSchema* Schemas::newest(std::string_view domain, std::string_view name) const {
  return find(domain, name, std::numeric_limits<int>::max());
}

}  // namespace gantry::onnx_format
