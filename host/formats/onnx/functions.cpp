#include "host/formats/onnx/functions.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <onnx/common/proto_util.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/schemas.hpp"

namespace gantry::onnx_format {

namespace {

// Limits of a model with all of its functions expanded, against files that grow without end.
constexpr std::uint64_t kMostExpanded = 500'000;  // nodes; one counts once more for every kNodeBytes that it has
constexpr std::uint64_t kNodeBytes = 64;
constexpr unsigned kMostNested = 100;  // calls within calls, as in the ONNX library
constexpr unsigned kMostRegions = 64;  // subgraphs within subgraphs

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::string key_of(std::string_view domain, std::string_view name) { return cat(plain_domain(domain), "::", name); }

std::string key_of(const onnx::FunctionProto& f) {
  return f.overload().empty() ? key_of(f.domain(), f.name()) : key_of(f.domain(), cat(f.name(), ":", f.overload()));
}

// Calls f(node, number of subgraphs around it).
template <class F>
void for_each_node(const NodeProtos& nodes, F&& f, unsigned regions = 0) {
  for (const auto& node : nodes) {
    f(node, regions);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_node(attribute.g().node(), f, regions + 1);
    }
  }
}

// What a function comes to when everything in it is expanded.
struct Extent {
  std::uint64_t nodes = 0;
  unsigned nested = 0;
  unsigned regions = 0;
};

using Extents = std::unordered_map<std::string, Extent>;

// What the calls in a graph or body come to; all callees are in `known`.
Extent calls_of(const NodeProtos& nodes, const Extents& known) {
  Extent sum;
  for_each_node(nodes, [&](const onnx::NodeProto& node, unsigned regions) {
    const auto it = known.find(key_of(node.domain(), operator_name(node)));
    if (it == known.end()) return;
    sum.nodes = std::min(sum.nodes + it->second.nodes, kMostExpanded + 1);
    sum.nested = std::max(sum.nested, it->second.nested + 1);
    sum.regions = std::max(sum.regions, regions + it->second.regions);
  });
  return sum;
}

// A function body's nodes, and what its calls come to; all callees are in `known`.
Extent extent_of(const NodeProtos& nodes, const Extents& known) {
  Extent sum = calls_of(nodes, known);
  for_each_node(nodes, [&](const onnx::NodeProto& node, unsigned regions) {
    sum.nodes = std::min(sum.nodes + 1 + node.ByteSizeLong() / kNodeBytes, kMostExpanded + 1);
    sum.regions = std::max(sum.regions, regions);
  });
  return sum;
}

using ByName = std::map<std::string, const onnx::FunctionProto*, std::less<>>;

// From the functions that call none upwards; what is left over calls itself, directly or not.
Result<Extents> extents(const ByName& functions) {
  std::unordered_map<std::string_view, std::vector<std::string_view>> callers;
  std::unordered_map<std::string_view, std::size_t> waits;
  std::vector<std::string_view> ready;
  for (const auto& [name, function] : functions) {
    std::size_t calls = 0;
    for_each_node(function->node(), [&](const onnx::NodeProto& node, unsigned) {
      const auto callee = functions.find(key_of(node.domain(), operator_name(node)));
      if (callee == functions.end()) return;
      callers[callee->first].push_back(name);
      ++calls;
    });
    waits[name] = calls;
    if (calls == 0) ready.push_back(name);
  }
  Extents known;
  while (!ready.empty()) {
    const std::string_view name = ready.back();
    ready.pop_back();
    known.emplace(name, extent_of(functions.find(name)->second->node(), known));
    for (const std::string_view caller : callers[name]) {
      if (--waits[caller] == 0) ready.push_back(caller);
    }
  }
  for (const auto& [name, function] : functions) {
    if (!known.contains(name)) return error(Code::input_graph, cat("function ", quote(name), " calls itself"));
  }
  return known;
}

Status check_extent(const Extent& extent, std::string_view what) {
  if (extent.nodes > kMostExpanded) {
    return error(Code::input_too_large,
                 cat(what, " comes to more than ", kMostExpanded, " nodes when its functions are expanded"));
  }
  if (extent.nested > kMostNested || extent.regions > kMostRegions) {
    return error(Code::input_too_large, cat(what, " nests functions or subgraphs too deeply"));
  }
  return {};
}

}  // namespace

struct FunctionTable::Storage {
  google::protobuf::RepeatedPtrField<onnx::FunctionProto> functions;
};

FunctionTable::FunctionTable() = default;
FunctionTable::~FunctionTable() = default;
FunctionTable::FunctionTable(FunctionTable&&) noexcept = default;
FunctionTable& FunctionTable::operator=(FunctionTable&&) noexcept = default;

std::string operator_name(const onnx::NodeProto& node) {
  return node.overload().empty() ? node.op_type() : cat(node.op_type(), ":", node.overload());
}

Result<FunctionTable> FunctionTable::take(onnx::ModelProto& model) {
  FunctionTable table;
  if (model.functions().empty()) return table;
  table.storage_ = std::make_unique<Storage>();
  table.storage_->functions.Swap(model.mutable_functions());
  for (const auto& function : table.storage_->functions) {
    if (function.name().empty()) return error(Code::input_malformed, "a function of the model has no name");
    if (!table.by_name_.emplace(key_of(function), &function).second) {
      return error(Code::input_graph, cat("function ", quote(key_of(function)), " is defined twice"));
    }
  }
  GANTRY_ASSIGN(const Extents known, extents(table.by_name_));
  for (const auto& [name, extent] : known) GANTRY_TRY(check_extent(extent, cat("function ", quote(name))));
  GANTRY_TRY(check_extent(calls_of(model.graph().node(), known), "the model"));
  return table;
}

const onnx::FunctionProto* FunctionTable::find(std::string_view domain, std::string_view name) const {
  if (by_name_.empty()) return nullptr;
  const auto it = by_name_.find(key_of(domain, name));
  return it == by_name_.end() ? nullptr : it->second;
}

FunctionTable::ByKey FunctionTable::called_by(const onnx::FunctionProto& function) const {
  ByKey found;
  std::vector<const onnx::FunctionProto*> work{&function};
  while (!work.empty()) {
    const onnx::FunctionProto* const next = work.back();
    work.pop_back();
    for_each_node(next->node(), [&](const onnx::NodeProto& node, unsigned) {
      const onnx::FunctionProto* const callee = find(node.domain(), operator_name(node));
      if (callee && found.emplace(onnx::GetFunctionImplId(*callee), callee).second) work.push_back(callee);
    });
  }
  return found;
}

}  // namespace gantry::onnx_format
