// Element types that a kernel lacks. What it cannot compute in the source's type is computed in another one and brought
// back, if that gives the same: the operator's definition says which types the kernel takes and what kind of operator
// it is. The one inexact detour is float64 in float32, of which the report warns and which --strict-types forbids.
// Private to host/plugins.
#pragma once

#include <cstdint>
#include <optional>

#include "host/ir/type.hpp"

namespace gantry::plugins {

struct Detour {
  DType via = DType::undefined;
  bool bits = false;  // the same bits under another name (BITCAST), not the same number (CAST)
  bool exact = true;
};

/// The way round `lacking` into `allowed` (bits of element types) for an operator with these GANTRY_OP_* flags.
std::optional<Detour> find_detour(DType lacking, std::uint64_t allowed, std::uint32_t flags);

}  // namespace gantry::plugins
