// Are two tensors the same, up to a tolerance? As numpy.allclose with equal_nan.
#pragma once

#include <string>

#include "host/report/report.hpp"
#include "host/verify/tensor.hpp"

namespace gantry {

/// Compares `candidate` with `reference` element by element: |c - r| <= atol + rtol * |r|. NaN equals NaN, an infinity
/// only itself. Integers of 64 bits are subtracted exactly; all else is compared as float64, complex numbers by the
/// magnitude of the difference, booleans as 0 and 1.
///
/// max_abs is the largest |c - r| (infinity, if one of the two is not finite and they differ). max_rel is the largest
/// |c - r| / |r| where |r| > atol: nearer to zero a relative error says nothing. The note tells of other dtypes (which
/// may still be equal), other shapes (which are not), and how many elements differ and where most.
OutputComparison compare(std::string name, const Tensor& reference, const Tensor& candidate, double atol, double rtol);

}  // namespace gantry
