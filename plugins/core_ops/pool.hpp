// A pool as read from its node; shared by pool.cpp and pool_indices.cpp.
#pragma once

#include "window.hpp"

namespace core_ops {

struct Pool {
  Window window;
  Value x;  // channels-first, of a type that the kernels compute
  Dims spatial;
  int rank = 0;
};

/// What padding holds that no window may choose: the least number of a type.
double lowest_of(DType t);

/// MaxPool with Indices: the largest of each window, and where it stands in the flat [n, c, spatial...].
std::vector<Value> max_pool_with_indices(const Emit& emit, const Pool& p, bool by_columns);

}  // namespace core_ops
