#include "host/formats/onnx/opset.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {
namespace {

/// Forms whose meaning changed while nothing in the node shows it: a node from before such a version is brought to the
/// newer one by an upgrade, or not at all. (ONNX's changelog, operator by operator.)
struct Change {
  std::string_view op;
  int version;
};
constexpr std::array kChanges = {
    Change{"Softmax", 13},  // the axes from `axis` on were one
    Change{"LogSoftmax", 13},
    Change{"Hardmax", 13},
    Change{"RoiAlign", 16},            // half a pixel was not taken off
    Change{"GridSample", 20},          // other names of the modes
    Change{"GroupNormalization", 21},  // scale and bias were one a group
    Change{"Scan", 9},                 // had a batch axis
    Change{"Split", 18},               // equal parts are said by num_outputs
    Change{"Resize", 11},
    Change{"Dropout", 12},
    Change{"BatchNormalization", 14},
};

bool changed_between(std::string_view op, int from, int to) {
  return std::ranges::any_of(kChanges,
                             [&](const Change& c) { return c.op == op && from < c.version && c.version <= to; });
}

Diagnostic no_common_opset(const Node& n, int opset, std::string_view why) {
  return error(Code::output_format, cat("the model needs opset ", opset, ", in which this form of ", n.op.name,
                                        " (of version ", n.op.version, ") ", why))
      .on_node(std::string(n.name))
      .on_op(n.op.str())
      .try_this("export the model with a newer opset");
}

/// Whether the node as it is means the same in `opset`.
Status check_form(const Node& n, int opset, const Schemas& schemas) {
  const onnx::OpSchema* const then = schemas.find("", n.op.name, opset);
  if (!then) return no_common_opset(n, opset, "does not exist");
  if (then->since_version() == n.op.version) return {};
  if (then->deprecated()) return no_common_opset(n, opset, "is no longer there");
  if (changed_between(n.op.name, n.op.version, then->since_version()))
    return no_common_opset(n, opset, "means something else");
  for (const auto& [name, value] : n.attrs)
    if (!then->attributes().contains(name)) return no_common_opset(n, opset, cat("has no attribute '", name, "'"));
  if (static_cast<int>(n.inputs.size()) < then->min_input()) return no_common_opset(n, opset, "takes more operands");
  return {};
}

std::vector<NodeId> all_nodes(const Graph& g) {
  std::vector<NodeId> all;
  for (const RegionId r : g.regions())
    for (NodeId n = g.region(r).first; n; n = g.node(n).next) all.push_back(n);
  return all;
}

}  // namespace

Result<std::map<std::string, std::int64_t>> opsets_to_write(const Graph& g, const Schemas& schemas) {
  constexpr std::int64_t kLeast = 8;  // initializers that are no inputs came with IR version 4; 8 is all that is gained
  std::map<std::string, std::int64_t> opsets{{"", kLeast}};
  if (const auto it = g.opsets.find(""); it != g.opsets.end()) opsets[""] = std::max(kLeast, it->second);
  const std::vector<NodeId> nodes = all_nodes(g);
  for (const NodeId id : nodes) {
    const Op& op = g.node(id).op;
    std::int64_t& version = opsets[std::string(op.domain)];
    version = std::max<std::int64_t>(version, op.version);
    if (op.domain.empty()) continue;
    if (const auto it = g.opsets.find(std::string(op.domain)); it != g.opsets.end())
      version = std::max(version, it->second);
  }
  const auto opset = static_cast<int>(opsets[""]);
  for (const NodeId id : nodes)
    if (g.node(id).op.domain.empty()) GANTRY_TRY(check_form(g.node(id), opset, schemas));
  return opsets;
}

int ir_version_of(std::int64_t opset) {
  // Which ONNX release brought which opset of ai.onnx and which IR version.
  struct Release {
    int opset, ir;
  };
  constexpr std::array kReleases = {Release{9, 4},  Release{10, 5},  Release{11, 6},  Release{14, 7},  Release{18, 8},
                                    Release{20, 9}, Release{22, 10}, Release{23, 11}, Release{24, 12}, Release{27, 13}};
  for (const Release& r : kReleases)
    if (opset <= r.opset) return r.ir;
  return onnx::Version::IR_VERSION;
}

}  // namespace gantry::onnx_format
