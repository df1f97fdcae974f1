// Comparing two models, for `verify` and for `convert --verify`.
#pragma once

#include <filesystem>

#include "host/cli/invocation.hpp"
#include "host/verify/verify.hpp"

namespace gantry::cli {

/// From --inputs, --shape and the configuration; without the two models. Errors: usage.
Result<VerifyRequest> verify_request(Invocation& run);
/// Runs both and keeps the record in the report. Errors: those of verify(); verify_mismatch, naming the worst output.
Status compare_models(Invocation& run, VerifyRequest request);

}  // namespace gantry::cli
