// What the ways of resizing share. Operator: ONNX operator specification, Resize.
#pragma once

#include "runtime.hpp"

namespace core_ops {

struct Mode {
  std::string mode, coordinates, nearest;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

/// Resize where sizes, scales or the region of interest are known only at run time.
Value resize_at_run_time(const Node& node, const Emit& emit, const Mode& m);

}  // namespace core_ops
