// The lowest version of an operator that has what a node uses, and the runtime in which that version appeared.
#pragma once

#include <span>
#include <string_view>

#include "host/ir/graph.hpp"

namespace gantry::tflite_format {

struct OperatorVersion {
  int version = 1;
  std::string_view runtime;  // "2.3.0"; empty if no runtime has the operator
};

/// A node of the tflite dialect, domain "".
OperatorVersion lowest_version(const Graph& g, const Node& node);

/// Compares "2.10.0" and "2.9.1" as versions. The empty one is before all.
bool runtime_before(std::string_view a, std::string_view b);

/// One row of the facts: an operator has a version since a runtime, and a node needs it if all terms hold. Rows without
/// terms hold always. In versions_table.cpp.
struct VersionTerm {
  enum class Kind : unsigned char {
    none,
    input,            // input `index` is of one of `types`
    output,           // result `index` is of one of `types`
    rank_above,       // input `index` has more than `number` dimensions
    rank_not,         // input `index` has another number of dimensions than `number`
    broadcast_above,  // two inputs of different shapes, one with more than `number` dimensions
    inputs,           // there are exactly `number` inputs
    option,           // attribute `name` is set to something else than 0
    option_above,     // attribute `name` is above `number`
    option_is,        // attribute `name` is the string `value`
    option_not,       // attribute `name` is set, and not to the string `value`
    grouped,          // the filter (input 1) has fewer channels than input 0
  };
  Kind kind = Kind::none;
  unsigned char index = 0, number = 0;
  unsigned types = 0;  // bit set by DType
  std::string_view name, value;
};

struct VersionRow {
  std::string_view op;
  int version;
  std::string_view runtime;
  VersionTerm terms[3];
};

std::span<const VersionRow> version_rows();  // those of one operator are neighbours

}  // namespace gantry::tflite_format
