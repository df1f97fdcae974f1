// WHILE and what goes with it: values that it carries, values of outside that it reads, rows that it collects.
#pragma once

#include <functional>

#include "common.hpp"
#include "extent.hpp"

namespace core_ops {

/// The dims as an operand: constant where all are known. Each unknown one must be in `runtime`, in order.
Value shape_operand(const Emit& emit, const Dims& dims, const std::vector<Value>& runtime);

/// For a value that the body gives and whose first dimension is not known: LiteRT's WHILE takes one that goes from 0 to
/// 1 (or back) for one that stays; a shape that is computed from `counter` makes it look each round.
Value marked_dynamic(const Emit& emit, const Value& v, const Value& counter);

/// The same elements in a tensor of its own. LiteRT's WHILE and IF write a subgraph's outputs one after another into
/// memory that its inputs may share, so no output may be an input.
Value own_copy(const Emit& emit, const Value& v);

/// A WHILE being put together. Everything that the loop touches is an operand, an argument of both regions, and a
/// result: TFLite has no captures.
class While {
 public:
  explicit While(const Emit& emit) : emit_(emit) {}
  /// A value that the body gives anew; in the regions it is of that type. Returns its place.
  std::size_t carry(const Value& initial, const Type& type);
  std::size_t carry(const Value& initial) { return carry(initial, initial.type()); }
  /// A value that the loop only reads. Constants may be used in the regions as they are.
  std::size_t pass(const Value& v);

  using Condition = std::function<Value(const std::vector<Value>&)>;          // of all arguments, by place: a bool
  using Body = std::function<std::vector<Value>(const std::vector<Value>&)>;  // new values, by place
  /// Values after the loop, by place. The body may leave passed places out: they come last, in any case.
  std::vector<Value> run(const Condition& condition, const Body& body) const;

 private:
  const Emit& emit_;
  std::vector<Value> initial_;
  std::vector<Type> types_;
  std::vector<bool> passed_;
};

/// Rows that a loop makes, one each round, stacked along a new axis 0.
/// Where the number of rounds is known before the loop starts, they are written into place; else the stack grows, as
/// one flat list with the shape of the last row beside it (quadratic, but there is no other way).
class Rows {
 public:
  /// `row`: type of one. `rounds`: how many there will be; none if that is known only afterwards. `at_most`: there may
  /// be fewer. `reversed`: the row of the last round comes first.
  /// `runtime`: int32 scalars for the dims of a row that are not known, if they can be told before the loop.
  Rows(const Emit& emit, While& loop, const Type& row, const std::optional<Extent>& rounds, bool at_most = false,
       bool reversed = false, const std::vector<Value>& runtime = {});
  /// In the body: the new values of its places, for the row of round `i`, a scalar or a vector of one.
  void add(const std::vector<Value>& arguments, std::vector<Value>& results, const Value& i, const Value& row) const;
  /// After the loop; `count`: the rounds that there were, an int32 scalar.
  Value stacked(const std::vector<Value>& after, const Value& count) const;

 private:
  bool grows() const { return !rounds_; }

  const Emit& emit_;
  Type row_;
  std::optional<Extent> rounds_;
  bool at_most_, reversed_;
  DType stored_;  // DYNAMIC_UPDATE_SLICE and CONCATENATION know few types
  std::size_t buffer_ = 0, shape_ = 0;
  bool static_rows_;
  bool side_by_side_ = false;  // the buffer has no axis of its own for the rows: [rounds * d0, d1, ...]
  std::size_t rounds_place_ = 0;
  bool rounds_passed_ = false;
};

}  // namespace core_ops
