// A whole conversion, from file to file. The only way through Gantry for the CLI, the tests and the benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/formats/onnx/writer.hpp"
#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"
#include "host/passes/pass.hpp"
#include "host/plugins/registry.hpp"
#include "host/report/report.hpp"

namespace gantry {

struct PipelineOptions {
  std::string target = "tflite";                            // dialect
  std::map<std::string, std::vector<std::int64_t>> shapes;  // by input name
  bool allow_unused_shapes = false;                         // of names that are no input's
  std::set<std::string, std::less<>> disabled_passes;       // pass or "pattern:NAME"
  bool verify_each_pass = false;                            // always on in debug builds
  std::set<std::string, std::less<>> dump;                  // pass names to dump before and after; "*" = all
  std::function<void(std::string_view title, const Graph&)> on_dump;
  std::function<void(std::string_view stage, std::size_t done, std::size_t total)> on_progress;
  std::function<void(const std::filesystem::path&)> on_external_file;  // of weights, after reading
  bool allow_custom = false;
  bool strict_types = false;  // nothing is computed in fewer digits than the source says
  LayoutSettings layout;
  onnx_format::WriteOptions onnx;
  std::string signature = "serving_default";  // of a TFLite file
  bool dry_run = false;                       // everything but writing
};

/// Reads `input`, converts, writes `output` whole or not at all. Every problem goes to `report` too; on failure *all*
/// unsupported operators are listed there and the first is returned.
Status convert_file(const std::filesystem::path& input, const std::filesystem::path& output,
                    const PipelineOptions& options, PluginRegistry& plugins, Report& report);

/// A model that becomes a signature of a file.
struct SignatureSource {
  std::filesystem::path input;
  std::string name;
};

/// Several models into one TFLite file: a signature each, in this order, weights that are equal stored once. Names of
/// PipelineOptions::shapes may begin with "SIGNATURE:"; those that do not are for every model that has such an input.
/// Each model has a report of its own in report.signatures; `report` holds the sums and all diagnostics.
/// Errors: those of convert_file; usage (a name that is empty or there twice, a shape for no input), output_format
/// (another target than tflite).
Status convert_files(const std::vector<SignatureSource>& sources, const std::filesystem::path& output,
                     const PipelineOptions& options, PluginRegistry& plugins, Report& report);

/// convert_file up to, and without, writing: for `check`. Unsupported operators are errors in the report.
Status check_file(const std::filesystem::path& input, const PipelineOptions& options, PluginRegistry& plugins,
                  Report& report);

}  // namespace gantry
