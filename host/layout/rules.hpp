// Layout rules as data: which orders of its operands' axes an operator can run in, in a small pattern notation.
//
//   rules       = variant { ";" variant }            the first variant that fits a node is used; none: fixed
//   variant     = operands "->" operands | "fixed" { any text: the reason }
//   operands    = operand { "," operand } [ "..." ]   "...": the last one repeats
//   operand     = "_" | alternative { "|" alternative }
//   alternative = item { item } [ "{" flag "}" ]
//   item        = NAME [ "!" | ":" dims ] | "1" | "*" [ "[" role "=" source { " " role "=" source } "]" ]
//   source      = attribute [ ":" default ] | "#" operand
//
// A NAME stands for one logical axis, counted from the last; the first NAME of an alternative, if it is in upper case,
// for all that are left. The same NAME is the same set of axes in every operand. Its atoms may stand in any order, the
// same everywhere, at the place that the pattern gives them; with "!" the axis is one block in logical order, and each
// operand has its own; ":3" asks that it is written as three dimensions. "1" is an axis of size 1; other sizes do not
// fit the variant. A flag is an attribute that is 1 with this alternative and 0 with the others; "{swap}" on a result
// says that operands 0 and 1 change places, and with them what their flags mean (BATCH_MATMUL); "{linear}" there that
// the operator may become FULLY_CONNECTED, with any number of leading dimensions. "*" is all axes, aligned at the last,
// in any order. "_" is an operand that has no layout: it must be a constant, which stays as it is unless a role reads
// it, or a scalar. A role says how axes are used and where the operator keeps them, so that the numbers can follow:
//   axis    joined, cut or summed along this one axis: its outer part is a block (CONCATENATION, SPLIT, CUMSUM)
//   axes    reduced axes; keep_dims says whether they stay with size 1 (SUM, MEAN)
//   pick    picked from by constant indices of rank 0 or 1 (GATHER)
//   drop    one axis that is used as a whole and vanishes (ARG_MAX)
//   begin, size, end, strides, pads, mirror, repeats, shape   numbers for each axis (SLICE, STRIDED_SLICE, PAD,
//           MIRROR_PAD, TILE, BROADCAST_TO)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry::layout {

struct Source {
  std::string attribute;  // or
  int operand = -1;
  std::int64_t otherwise = 0;  // where the node does not have the attribute
};

struct Item {
  std::string name;    // "*" for all axes
  bool block = false;  // "!"
  bool rest = false;   // takes all axes that are left
  int dims = 0;        // of rest: written as so many dimensions; 0 = any
};

struct Alternative {
  std::vector<Item> items;
  std::string flag;  // attribute that tells this alternative, or "swap"; empty: none
};

struct OperandPattern {
  bool none = false;                      // "_"
  std::vector<Alternative> alternatives;  // the same names in each
  std::map<std::string, Source> roles;
};

struct Variant {
  bool fixed = false;
  std::string reason;  // of fixed
  std::vector<OperandPattern> operands, results;
  bool operands_repeat = false, results_repeat = false;

  const OperandPattern* operand(std::size_t i) const { return at(operands, operands_repeat, i); }
  const OperandPattern* result(std::size_t i) const { return at(results, results_repeat, i); }

 private:
  static const OperandPattern* at(const std::vector<OperandPattern>& list, bool repeat, std::size_t i) {
    if (i < list.size()) return &list[i];
    return repeat && !list.empty() ? &list.back() : nullptr;
  }
};

struct Rule {
  std::vector<Variant> variants;
};

/// Errors: plugin_manifest, with the column in the pattern.
Result<Rule> parse_rule(std::string_view text);

}  // namespace gantry::layout
