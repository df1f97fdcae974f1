// The ONNX model whose inputs and outputs are in the order that a report says: what a reordered conversion must equal.
#pragma once

#include <filesystem>

#include "host/report/report.hpp"

namespace gantry::test {

/// `model` with a Transpose behind every input and before every output that the report has in another order.
void write_reordered(const std::filesystem::path& model, const std::filesystem::path& out, const Report& report);

}  // namespace gantry::test
