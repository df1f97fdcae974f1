// One run of a subcommand: what was typed, the options, the report, and the only ways to print.
// stdout holds results; stderr holds the log, progress and the last line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/cli/command.hpp"
#include "host/cli/log.hpp"
#include "host/cli/progress.hpp"
#include "host/config/config.hpp"
#include "host/pipeline.hpp"
#include "host/plugins/registry.hpp"
#include "host/report/report.hpp"
#include "host/report/text.hpp"

namespace gantry::cli {

class Invocation {
 public:
  Invocation(const Command& command, Arguments arguments, std::filesystem::path executable);

  const Command& command;
  const Arguments args;
  const std::filesystem::path executable;
  Config config;
  Report report;
  std::string summary;          // after "gantry: ok ", for commands that do not convert
  bool findings_shown = false;  // unsupported operators were printed as the result; not again as errors

  /// Merges the options in their order and opens the log.
  Status prepare();
  /// Prints what the report holds and the last line. Returns the exit status.
  int finish(Status status);

  /// A result, to stdout. Errors show at the end: a closed pipe is none.
  void out(std::string_view text);
  void log(Level level, std::string_view text);
  /// For PipelineOptions and PassOptions.
  std::function<void(std::string_view, std::size_t, std::size_t)> on_progress();
  std::function<void(std::string_view, const Graph&)> on_dump();
  /// Shows that work goes on which reports no progress.
  Ticker ticker(std::string what);

  bool quiet() const { return args.has("--quiet"); }

  /// Reads the manifests on the search path and hands the plugins' sections of the configuration over.
  Result<std::unique_ptr<PluginRegistry>> open_plugins();
  /// From --to, --shape, --allow-custom, --dry-run and the configuration.
  Result<PipelineOptions> pipeline_options();
  Result<LayoutSettings> layout_settings();
  /// From --to and the configuration, else by the extension of --output; tflite where nothing says it.
  std::string target() const;

 private:
  Status merge_options();
  Status merge_target(const std::string& to);
  Status protect_inputs() const;
  std::vector<std::string> files_read() const;
  void print_diagnostics();
  void log_details();
  Status write_report();
  Status check_pass_names(const std::string& key, const std::vector<Manifest>& manifests);
  Status close_stdout();

  Log log_;
  Progress progress_;
  std::vector<std::string> external_files_;  // with weights of the input; nothing may be written to them
  bool out_failed_ = false;
  int out_errno_ = 0;
};

/// Control characters of names in files would reach the terminal: they, and what is no UTF-8, become \xNN. Line feeds
/// stay.
std::string printable(std::string_view text);
/// Writes aside, then renames; into a device or pipe directly. Errors: output_not_written.
Status write_text_file(const std::filesystem::path& path, std::string_view text);
/// --shape NAME=DIMS or DIMS; the latter under the name "". Errors: usage.
Result<std::map<std::string, std::vector<std::int64_t>>> parse_shapes(const std::vector<std::string>& texts);
/// "a,b" of --signatures. Errors: usage, for an empty name or one that is there twice.
Result<std::vector<std::string>> parse_signatures(const std::string& text);
/// Whole text as a number, else an error of code usage that names the flag.
Result<double> parse_float(std::string_view flag, std::string_view text);
Result<std::int64_t> parse_int(std::string_view flag, std::string_view text);

}  // namespace gantry::cli
