// What a conversion of one model and one of several have in common.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/passes/semantics.hpp"
#include "host/pipeline.hpp"
#include "host/version.hpp"

namespace gantry {

/// A graph and who knows its operators. No semantics: the plugins know them all.
struct Source {
  Graph graph;
  std::unique_ptr<Semantics> semantics;
  std::vector<std::filesystem::path> external_files;  // that hold its weights
  std::vector<std::string> unused_shapes;             // names of PipelineOptions::shapes that are no input's
};

/// Whether `output` is of the target's format, not the input, and in a folder that exists.
Status check_output(const std::filesystem::path& input, const std::filesystem::path& output,
                    const PipelineOptions& options);
/// Whether `output` is none of the files with the source's weights.
Status check_external(const std::filesystem::path& output, const Source& source);

/// Reads and converts. What the layout engine cannot write, which is a fault of its own, is as the converters made it.
Result<Source> convert_source(const std::filesystem::path& input, const PipelineOptions& options,
                              PluginRegistry& registry, Report& report);

/// Fills what every report has, and puts the error that ended the run into it unless a pass did so.
template <class Work>
Status recorded(const std::string& input, const PipelineOptions& options, Report& report, Work work) {
  const auto start = std::chrono::steady_clock::now();
  report.gantry_version = kVersion;
  report.input = input;
  report.to_dialect = options.target;
  Status status = work();
  if (!status.ok() && !report.has_errors()) report.add(status.error());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return status;
}

}  // namespace gantry
