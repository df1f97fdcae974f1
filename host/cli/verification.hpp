// Comparing models, for `verify` and for `convert --verify`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/cli/invocation.hpp"
#include "host/verify/verify.hpp"

namespace gantry::cli {

/// Two models, and which signature of each if a file has several.
struct Comparison {
  std::filesystem::path reference, candidate;
  std::string reference_signature, candidate_signature;
};

/// Which model is compared with which signature of the candidate: the `named` ones, else all in their order. One model
/// alone stands for every signature named. Errors: usage, where there are not as many; what reading a file says.
Result<std::vector<Comparison>> pair_up(const std::vector<std::string>& references,
                                        const std::filesystem::path& candidate, const std::vector<std::string>& named);

/// From --inputs, --shape and the configuration; without the two models. Errors: usage.
Result<VerifyRequest> verify_request(Invocation& run);
/// Runs both of each and keeps the record in the report. Where there are several comparisons, outputs are named
/// SIGNATURE/NAME, shapes and inputs whose names begin with "SIGNATURE:" are for that one.
/// Errors: those of verify(); verify_mismatch, naming the worst output.
Status compare_models(Invocation& run, const VerifyRequest& request, const std::vector<Comparison>& comparisons);

}  // namespace gantry::cli
