// The transaction: running, rolling back, committing.
#include "host/plugins/call.hpp"

#include <algorithm>
#include <iterator>

namespace gantry::plugins {
namespace {

// Errors of a host function that say that the node cannot be converted so, not that the plugin is broken. If the plugin
// gives up because of one, that is declining.
bool means_declined(Code c) {
  return c == Code::declined || c == Code::target_limit || c == Code::input_type || c == Code::unsupported_type;
}

bool unused(const Graph& g, const Node& n) {
  return std::ranges::all_of(n.outputs, [&](ValueId v) { return !v || g.value(v).unused(); });
}

}  // namespace

Call::Call(Kind kind, Graph& g, NodeId node, const OpenPlugin& plugin, const Definitions& definitions,
           std::string_view dialect)
    : kind_(kind),
      g_(g),
      node_(node),
      plugin_(plugin),
      definitions_(definitions),
      dialect_(dialect),
      first_node_(static_cast<std::uint32_t>(g.node_slots())),
      first_value_(static_cast<std::uint32_t>(g.value_slots())) {
  if (kind == Kind::infer) types_.resize(g.node(node).outputs.size());
}

Call::~Call() {
  if (!committed_) roll_back();
}

template <class F>
gantry_status Call::guarded(F&& function) {
  gantry_status status = GANTRY_ERROR;
  try {
    status = function();
  } catch (...) {  // of a plugin that breaks the contract, but was built so that it can be caught
    reason_ = "an exception left the plugin";
    host_error_.reset();
  }
  status = outcome(status);
  if (status != GANTRY_OK || kind_ == Kind::infer) roll_back();
  return status;
}

gantry_status Call::run(gantry_node_fn function, const void* data) {
  return guarded([&] { return function(host_table(), this, node_.index, data); });
}

gantry_status Call::run(const gantry_format& format, const gantry_file& file, std::shared_ptr<const void> owner) {
  file_owner_ = std::move(owner);
  file_ = {static_cast<const std::byte*>(file.bytes.data), static_cast<std::size_t>(file.bytes.size)};
  return guarded([&] { return format.read(host_table(), this, &file, format.data); });
}

gantry_status Call::outcome(gantry_status s) {
  if (s == GANTRY_OK || s == GANTRY_DECLINED) return s;
  if (s == GANTRY_ERROR && host_error_ && means_declined(host_error_->code)) return GANTRY_DECLINED;
  if (s != GANTRY_ERROR && reason_.empty()) reason_ = "it returned the unknown status " + std::to_string(s);
  return GANTRY_ERROR;
}

Diagnostic Call::about(Diagnostic d) const {
  d.plugin = plugin_.id();
  if (kind_ == Kind::read) return d;
  const Node& n = g_.node(node_);
  d.node = n.name;
  d.op = n.op.domain.empty() ? std::string(n.op.name) : std::string(n.op.domain) + "::" + std::string(n.op.name);
  return d;
}

Diagnostic Call::reason() const {
  std::string text = reason_;
  if (text.empty() && host_error_) text = host_error_->message;
  if (text.empty()) text = "this form of the operator is not handled";
  return about(error(Code::declined, std::move(text)));
}

Diagnostic Call::failure() const {
  std::string text = reason_;
  if (host_error_) text += (text.empty() ? "" : ": ") + host_error_->message;
  if (text.empty()) text = "no reason was given";
  return about(error(Code::plugin_failed, "the plugin failed: " + text));
}

std::vector<NodeId> Call::made_nodes() const {
  std::vector<NodeId> there;
  std::ranges::copy_if(nodes_, std::back_inserter(there), [&](NodeId n) { return g_.contains(n); });
  return there;
}

// Regions that no node was given, with all in them.
void Call::drop_regions() {
  if (holder_) g_.erase_node(holder_);
  holder_ = {};
  open_.clear();
}

void Call::roll_back() {
  drop_regions();
  // Later ones use earlier ones, so backwards; what is in a region goes with the region's node, which is later.
  for (auto n = nodes_.rbegin(); n != nodes_.rend(); ++n) {
    if (g_.contains(*n)) g_.erase_node(*n);
  }
  for (const ValueId v : constants_) g_.erase_value(v);
  nodes_.clear();
  constants_.clear();
}

void Call::drop_unused() {
  drop_regions();
  for (auto n = nodes_.rbegin(); n != nodes_.rend(); ++n) {
    if (g_.contains(*n) && !g_.node(*n).outputs.empty() && unused(g_, g_.node(*n))) g_.erase_node(*n);
  }
  for (const ValueId v : constants_) {
    if (g_.value(v).unused()) g_.erase_value(v);
  }
}

// The new value takes over uses, name and type of the old one. Nodes that this call made keep their operands: they said
// which they want.
void Call::stand_in(const Replacement& r) {
  std::vector<Use> kept;
  std::ranges::copy_if(g_.value(r.from).uses, std::back_inserter(kept), [&](const Use& u) { return made(u.node); });
  g_.replace_uses(r.from, r.to);
  for (const Use& u : kept) g_.set_operand(u.node, u.operand, r.from);
  // An input keeps the type that the model declares.
  const Value& to = g_.value(r.to);
  if (!to.is_constant() && !to.input_of) g_.set_type(r.to, merge(to.type, r.type).value_or(r.type));
  if (made(r.to)) {
    // Named after the source, unless it stands for another result already.
    if (std::ranges::find(renamed_, r.to) == renamed_.end()) {
      g_.swap_names(r.from, r.to);
      renamed_.push_back(r.to);
    }
  }
}

Status Call::commit_results() {
  if (!has_results_) {
    roll_back();
    reason_ = "it returned GANTRY_OK, but gave no results";
    return failure();
  }
  for (const Replacement& r : results_) {
    if (r.from) stand_in(r);
  }
  g_.erase_node(node_);
  drop_unused();
  committed_ = true;
  return {};
}

bool Call::commit_replacements() {
  if (replacements_.empty()) return false;
  for (const Replacement& r : replacements_) stand_in(r);
  if (!g_.node(node_).outputs.empty() && unused(g_, g_.node(node_))) g_.erase_node(node_);
  drop_unused();
  committed_ = true;
  return true;
}

}  // namespace gantry::plugins
