// One call of a plugin's function about one node: what the plugin sees as its gantry_context. Private to host/plugins.
//
// A call is a transaction. The graph grows while it runs (emitted nodes, constants), but nothing that was there before
// is changed; results and replacements are noted. If the plugin declines or fails, all that it made is taken out again;
// else the caller commits. So a converter may give up at any point, and a broken one leaves no trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/plugins/abi_values.hpp"
#include "host/plugins/definitions.hpp"
#include "host/plugins/store.hpp"

struct gantry_context {};

namespace gantry::plugins {

class Call final : public gantry_context {
 public:
  enum class Kind : std::uint8_t { convert, pattern, infer, fold, read };

  /// `dialect`: of the nodes that may be emitted.
  Call(Kind kind, Graph& g, NodeId node, const OpenPlugin& plugin, const Definitions& definitions,
       std::string_view dialect);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  /// Calls the plugin. GANTRY_OK: commit, or leave it; else GANTRY_DECLINED or GANTRY_ERROR, and all is as before.
  gantry_status run(gantry_node_fn function, const void* data);
  /// The same for a reader of files; `owner` keeps `bytes` alive. `node` stands for the end of the graph, and stays.
  gantry_status run(const gantry_format& format, const gantry_file& file, std::shared_ptr<const void> owner);
  /// Why it declined (code declined), why it failed (code plugin_failed); with node, operator and plugin.
  Diagnostic reason() const;
  Diagnostic failure() const;
  Diagnostic about(Diagnostic d) const;

  // What a function may have asked for, after GANTRY_OK.
  /// Converter and folder: the results stand for those of the node, which goes. Errors: plugin_failed.
  Status commit_results();
  /// Pattern: carries out the replacements; false if there were none.
  bool commit_replacements();
  /// Reader: what it made is the graph now.
  void commit_read() { committed_ = true; }
  /// Inference: by result.
  std::span<const std::optional<Type>> types() const { return types_; }
  std::vector<Diagnostic> take_messages() { return std::move(messages_); }
  /// Nodes that the call made and that are still there.
  std::vector<NodeId> made_nodes() const;

  // The functions of gantry_host. Errors are for the plugin; `false` is GANTRY_ABSENT.
  Status node_info(gantry_node n, gantry_node_info* out);
  Status value_info(gantry_value v, gantry_value_info* out);
  Result<bool> node_attr(gantry_node n, gantry_str name, gantry_attr* out);
  Status constant_read(gantry_value v, gantry_dtype t, std::uint64_t first, std::uint64_t count, void* out);
  Status value_users(gantry_value v, const gantry_node** out, std::uint64_t* count);
  Result<bool> option(gantry_str name, gantry_attr* out);
  Status emit(const gantry_op_desc* op, gantry_value* outputs);
  Status constant(const gantry_type* type, gantry_bytes elements, gantry_value* out);
  Status constant_transform(gantry_value v, const gantry_transform* t, gantry_value* out);
  Status set_results(gantry_values results);
  Status replace(gantry_value old_value, gantry_value new_value);
  Status set_type(std::uint64_t index, const gantry_type* type);
  Status message(gantry_severity severity, gantry_str text);
  Result<bool> has_definition(gantry_str dialect, gantry_str domain, gantry_str op);
  Status add_input(gantry_str name, const gantry_type* type, gantry_value* out);
  Status add_output(gantry_str name, gantry_value v);
  Result<bool> node_region(gantry_node n, gantry_str name, gantry_region* out);
  Status region_info(gantry_region r, gantry_region_info* out);
  Status region_begin(gantry_str name, gantry_region* out);
  Status region_argument(const gantry_type* type, gantry_str name, gantry_value* out);
  Status region_end(gantry_values results);
  Status region_copy(gantry_region r, gantry_values old_values, gantry_values new_values, gantry_value* results);
  /// A host function gave an error: kept for what reason() or failure() say.
  void host_error(Diagnostic d) { host_error_ = std::move(d); }

 private:
  struct Replacement {
    ValueId from, to;
    Type type;  // both together
  };

  bool made(NodeId n) const { return n.index >= first_node_; }
  bool made(ValueId v) const { return v.index >= first_value_; }
  Result<NodeId> take_node(gantry_node n) const;
  Result<ValueId> take_value(gantry_value v, std::string_view what) const;
  Result<ValueId> take_constant(gantry_value v) const;
  Result<std::vector<ValueId>> take_operands(gantry_values list) const;
  Result<RegionId> take_region(gantry_region r) const;
  using NamedRegions = std::vector<std::pair<std::string_view, RegionId>>;
  Result<NamedRegions> take_regions(const gantry_op_desc& d) const;
  Status check_makes(std::string_view function) const;
  bool visible(ValueId v) const;
  InsertPoint place() const;
  void drop_regions();
  Result<Attrs> take_attrs(const gantry_op_desc& d) const;
  Result<Op> take_op(const gantry_op_desc& d) const;
  Result<NodeId> add_emitted(const Op& op, const std::vector<ValueId>& operands, const Attrs& attrs,
                             const gantry_op_desc& d, const NamedRegions& regions);
  Status note_inexact(const Op& op, DType from, DType in);
  bool loses_digits(const Op& op, const std::vector<ValueId>& operands, const Attrs& attrs) const;
  Status set_emitted_types(NodeId n, const gantry_op_desc& d);
  Result<std::vector<ValueId>> emit_by_detour(const Op& op, std::vector<ValueId> operands, const Attrs& attrs,
                                              const gantry_op_desc& d, DType lacking, std::vector<Type> types);
  Result<ValueId> converted(ValueId v, DType to, bool bits);
  void drop_last_node();
  Status read_elements(const Constant& c, DType t, std::uint64_t first, std::uint64_t count, void* out) const;
  gantry_value add_constant(Constant c);
  bool within_file(const std::byte* data, std::uint64_t size) const;
  Result<Type> agreed_type(ValueId old_value, ValueId new_value) const;
  Status check_replacement(ValueId from, ValueId to) const;
  void stand_in(const Replacement& r);
  void drop_unused();
  void roll_back();
  gantry_status outcome(gantry_status from_plugin);
  template <class F>
  gantry_status guarded(F&& function);

  Kind kind_;
  Graph& g_;
  NodeId node_;
  const OpenPlugin& plugin_;
  const Definitions& definitions_;
  std::string_view dialect_;
  Arena arena_;
  std::uint32_t first_node_, first_value_;  // whatever has an id from these on was made by this call
  std::vector<NodeId> nodes_;               // not those that are copies inside of another
  NodeId holder_;                           // owns the regions that no node has yet
  std::vector<RegionId> open_;              // regions that are being built, outer before inner
  std::vector<ValueId> constants_;
  std::vector<Replacement> results_;  // from: none where the node has no such result
  bool has_results_ = false;
  std::vector<Replacement> replacements_;
  std::vector<ValueId> renamed_;
  std::vector<std::optional<Type>> types_;
  std::shared_ptr<const void> file_owner_;  // readers
  std::span<const std::byte> file_;
  std::vector<Diagnostic> messages_;
  std::string reason_;
  std::optional<Diagnostic> host_error_;
  bool committed_ = false;
};

/// The host's function table, the same for all calls.
const gantry_host* host_table();

}  // namespace gantry::plugins
