// How an operator in its chosen order can be written: from shapes of its operands to groupings of its labels and back.
#pragma once

#include <optional>
#include <vector>

#include "host/layout/shapes.hpp"

namespace gantry::layout {

/// One operator with its choice of orders.
class Writer {
 public:
  Writer(const Graph& g, const Model& m, const Candidates& c, std::size_t op, std::size_t choice, int max_rank);

  std::size_t operands() const { return op_.operands.size(); }
  CopyKey copy(std::size_t k) const { return copies_[k]; }
  /// Whether there is only one way, given by exact().
  bool is_exact() const { return exact_; }
  Writing exact() const;
  /// All labels of the free part in one dimension, as far as the operator allows.
  std::optional<Grouping> coarsest() const;
  /// The grouping that a shape of operand k asks for, refined to what the operator allows; nullopt if it cannot be.
  std::optional<Grouping> lift(std::size_t k, const Shape& shape) const;
  /// The ways to write the operator with a grouping; the first drops nothing.
  std::vector<Writing> writings(const Grouping& grouping) const;

  // What the rewriting of attributes needs.
  const Operator& op() const { return op_; }
  const ParsedOrder& parsed(std::size_t k) const { return parsed_[k]; }
  /// Size of a label in operand k; 1 if it is not there.
  std::int64_t size(std::size_t label, std::size_t k) const;
  /// Labels of a segment as they are stored.
  Seq segment(std::size_t s) const;
  /// Operands of lower rank are aligned at the last dimension, as numpy does.
  bool broadcasts() const { return broadcasts_; }
  /// Joins all leading dimensions if asked to (FULLY_CONNECTED without keep_num_dims).
  bool flattens() const { return flattens_ && op_.operands.size() == 2; }
  /// May be written as FULLY_CONNECTED (`{linear}` on its result), which takes any number of leading dimensions.
  bool is_linear() const { return linear_; }
  /// Dimensions that the rule writes the free part as; 0: any number.
  int written_dims() const { return op_.dims[free_segment_]; }
  bool is_free(std::size_t s) const { return has_free_ && s == free_segment_; }
  /// A value's shape before anything was moved; -1 where unknown.
  const std::vector<std::int64_t>& logical_dims(ValueId v) const { return m_.placed.at(v).dims; }
  /// The free part's labels as they are stored.
  const Seq& sequence() const { return sequence_; }

 private:
  std::optional<Grouping> legal(const Grouping& g) const;
  Shape project(const Grouping& g, std::size_t k) const;
  bool breaks(Seq::value_type before, Seq::value_type after) const;
  void find_rule_facts();
  void find_sequence();
  std::vector<bool> signature(Seq::value_type label) const;

  const Graph& g_;
  const Model& m_;
  const Candidates& c_;
  const Operator& op_;
  std::vector<CopyKey> copies_;
  std::vector<ParsedOrder> parsed_;
  std::size_t free_segment_ = 0;
  bool has_free_ = false, exact_ = false;
  Seq sequence_;
  int max_rank_ = 6;
  bool alone_ = false;  // a cut axis has a dimension of its own
  bool reduces_ = false, drops_ = false, flattens_ = false, broadcasts_ = false, linear_ = false;
  bool strips_ = false;  // leading ones of an operand may go, for the others give the result its rank
};

/// Atoms of an order as the dimensions of a shape: pairs of first and past-the-last atom; nullopt if they do not match.
std::optional<std::vector<std::pair<std::size_t, std::size_t>>> cut_order(const Root& r, const Seq& order,
                                                                          const Shape& shape);
std::int64_t atom_size(const Root& r, std::size_t atom);

}  // namespace gantry::layout
