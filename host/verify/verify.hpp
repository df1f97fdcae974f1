// Runs a model and its conversion on the same inputs, each in its runtime, and compares what comes out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/ir/result.hpp"
#include "host/report/report.hpp"

namespace gantry {

struct VerifyRequest {
  std::filesystem::path reference, candidate;  // .onnx runs in ONNX Runtime, .tflite in LiteRT
  std::vector<std::string> inputs;             // "all.npz", "NAME=one.npy" or "one.npy"; random for those not given
  std::map<std::string, std::vector<std::int64_t>> shapes;  // for open dimensions; "" = of the only input
  bool allow_unused_shapes = false;                         // of names that are no input's
  std::string reference_signature, candidate_signature;     // of TFLite files; empty is the first
  std::uint64_t seed = 0;
  double atol = 1e-4, rtol = 0;               // as numpy.allclose
  std::filesystem::path onnxruntime, litert;  // library or folder; empty = find_runtime's places
  double timeout_seconds = 600;               // for each of the two runs; 0 = none
};

/// Each model runs once, in a process of its own. Inputs and outputs are matched by name, and by position where their
/// names are others (then the note of the output says so).
///
/// A record with ok = false where outputs are missing or differ by more than the tolerance.
/// Errors: those of runtime_for, find_runtime, read_given, make_feeds and run_model; verify_mismatch, if the candidate
/// has an input that the reference lacks.
Result<VerifyRecord> verify(const VerifyRequest& request);

}  // namespace gantry
