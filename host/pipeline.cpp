// The way from file to file. convert_graph below is the list of its stages; everything around it is files and the
// report.
#include "host/pipeline.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "host/formats/format.hpp"
#include "host/formats/onnx/reader.hpp"
#include "host/formats/tflite/reader.hpp"
#include "host/formats/tflite/writer.hpp"
#include "host/passes/pass.hpp"
#include "host/pipeline_source.hpp"
#include "host/recording.hpp"
#include "host/version.hpp"

namespace gantry {
namespace {

namespace fs = std::filesystem;

// ---- the stages ----

Status run(std::string_view pass, PassContext& c) { return run_pass(*find_pass(pass), c); }

// The clean-ups until a round changes nothing. Every rewrite adds or removes a node or a value, so these numbers show
// it; the bound only guards against two passes that undo each other.
Status clean_up(PassContext& c) {
  constexpr int kMostRounds = 16;
  const auto state = [&] { return std::array{c.graph.live_nodes(), c.graph.node_slots(), c.graph.value_slots()}; };
  for (int round = 0; round < kMostRounds; ++round) {
    const auto before = state();
    GANTRY_TRY(run("cancel_casts", c));       // no type is left and come back to that holds all of the other
    GANTRY_TRY(run("cancel_transposes", c));  // no TRANSPOSE or RESHAPE follows one that it could be one with
    GANTRY_TRY(run("fuse_bias", c));          // scales and shifts of a channel are in weights and bias
    GANTRY_TRY(run("fuse_scale", c));         // so are numbers that multiply a part of the channels
    GANTRY_TRY(run("fuse_input", c));         // so are those of FULLY_CONNECTED's operand
    GANTRY_TRY(run("fuse_center", c));        // no mean is taken away that need not be there
    GANTRY_TRY(run("merge_projections", c));  // small projections of an attention are one
    GANTRY_TRY(run("fuse_pad", c));           // padding that SAME can say is said so
    GANTRY_TRY(run("fuse_activation", c));    // no activation follows an operator that can do it itself
    GANTRY_TRY(run("cse", c));                // nothing is computed or stored twice
    GANTRY_TRY(run("dce", c));                // every node and constant is used
    if (state() == before) break;
  }
  return {};
}

// A model that stays ONNX keeps its operators.
Status finish_onnx(PassContext& c) {
  GANTRY_TRY(run("layout", c));  // as below
  GANTRY_TRY(run("cse", c));
  GANTRY_TRY(run("dce", c));
  return run("limits", c);  // no node is of a form that the newest opset has not
}

// Every node to c.target, which converters reach in one step. Plugins are opened when operators that need them may have
// appeared.
Status convert_step(PassContext& c) {
  GANTRY_TRY(c.plugins.open_for(c.graph, c.target));
  GANTRY_TRY(run("normalize", c));  // newest forms, every type that can be known, no foldable node
  GANTRY_TRY(c.plugins.open_for(c.graph, c.target));
  GANTRY_TRY(run("patterns", c));  // subgraphs that a plugin knows are one operator
  GANTRY_TRY(run("dce", c));
  GANTRY_TRY(run("cse", c));  // what is equal is converted once
  GANTRY_TRY(c.plugins.open_for(c.graph, c.target));
  GANTRY_TRY(run("convert", c));  // every node is of the target dialect
  return run("dce", c);
}

// The source's graph into that of the last of `steps`.
Status convert_graph(PassContext& c, const std::vector<std::string>& steps) {
  for (const std::string& step : steps) {
    c.target = step;
    GANTRY_TRY(convert_step(c));
  }
  if (c.target == "onnx") return finish_onnx(c);
  if (c.target != "tflite") return {};
  GANTRY_TRY(run("patterns", c));          // the same for the target's subgraphs
  GANTRY_TRY(clean_up(c));                 // nothing is left for the clean-ups to do
  GANTRY_TRY(run("layout", c));            // transposes and reshapes are left only where operators disagree
  GANTRY_TRY(clean_up(c));                 // what now stands side by side is one
  GANTRY_TRY(run("own_states", c));        // no state outlives a run
  GANTRY_TRY(run("distinct_outputs", c));  // every output is a tensor of its own
  return run("limits", c);                 // the runtime's kernels can run every node
}

// ---- before ----

// The dialects on the way; the target alone where the source is of it, or where no plugin knows a way (then every node
// is listed as unsupported).
std::vector<std::string> steps_to(const std::string& target, const std::string& source,
                                  const PluginRegistry& registry) {
  std::vector<std::string> path = registry.dialect_path(source, target);
  if (path.size() > 1) path.erase(path.begin());
  return path.empty() ? std::vector{target} : path;
}

// The names in --shape, which files of that kind do not take.
Result<std::vector<std::string>> no_shapes(const PipelineOptions& options, const std::string& of) {
  std::vector<std::string> names;
  for (const auto& [name, sizes] : options.shapes) names.push_back(name);
  if (names.empty() || options.allow_unused_shapes) return names;
  return error(Code::usage, "shapes of " + of + " cannot be set");
}

Result<Source> read_source(const fs::path& input, const PipelineOptions& options, PluginRegistry& registry,
                           Report& report) {
  GANTRY_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(input));
  report.input_bytes = file->bytes().size();
  const FileFormat format = detect_format(file->bytes(), input);
  switch (format) {
    case FileFormat::onnx: {
      report.from_dialect = "onnx";
      GANTRY_ASSIGN(
          onnx_format::ReadResult read,
          onnx_format::read(input, {.shapes = options.shapes, .allow_unused_shapes = options.allow_unused_shapes}));
      for (Diagnostic& d : read.notes) report.add(std::move(d));
      std::vector<fs::path> external = std::move(read.external_files);
      if (options.on_external_file) std::ranges::for_each(external, options.on_external_file);
      return Source{std::move(read.graph), std::move(read.semantics), std::move(external),
                    std::move(read.unused_shapes)};
    }
    case FileFormat::tflite: {
      report.from_dialect = "tflite";
      GANTRY_ASSIGN(std::vector<std::string> unused, no_shapes(options, "a TFLite file"));
      GANTRY_ASSIGN(Graph graph, tflite_format::read(input));
      return Source{std::move(graph), nullptr, {}, std::move(unused)};
    }
    default: {
      if (const ManifestFormat* f = registry.format_of(input, file->bytes())) {
        report.from_dialect = f->dialect;
        GANTRY_ASSIGN(std::vector<std::string> unused, no_shapes(options, f->name + " files"));
        GANTRY_ASSIGN(Graph graph, registry.read(*f, input, file, file->bytes(), report));
        // The semantics are of what it may become on the way.
        return Source{std::move(graph), onnx_format::make_semantics(), {}, std::move(unused)};
      }
      const std::string what = format == FileFormat::empty ? "empty" : describe_bytes(file->bytes());
      return error(format == FileFormat::empty ? Code::input_malformed : Code::input_format,
                   "cannot convert '" + input.filename().string() + "': it is " +
                       (what.empty() ? "of no known format" : what))
          .at(input.string())
          .try_this("give an ONNX model");
    }
  }
}

// ---- the whole ----

Result<Source> convert_once(const fs::path& input, const PipelineOptions& options, PluginRegistry& registry,
                            Report& report) {
  GANTRY_ASSIGN(Source source, read_source(input, options, registry, report));
  report.source_nodes = recording::count_ops(source.graph, report.source_ops);
  const std::unique_ptr<Extensions> plugins = registry.extensions(source.semantics.get(), report);
  if (options.strict_types) plugins->forbid_inexact_types();
  const PassOptions pass_options{.disabled = options.disabled_passes,
                                 .dump = options.dump,
                                 .on_dump = options.on_dump,
                                 .on_progress = options.on_progress,
                                 .verify = options.verify_each_pass,
                                 .layout = options.layout};
  PassContext context{.graph = source.graph,
                      .report = report,
                      .plugins = *plugins,
                      .source = source.semantics.get(),
                      .target = options.target,
                      .allow_custom = options.allow_custom,
                      .options = pass_options};
  const std::vector<TensorRecord> inputs = recording::ports(source.graph, true);
  const std::vector<TensorRecord> outputs = recording::ports(source.graph, false);
  GANTRY_TRY(convert_graph(context, steps_to(options.target, report.from_dialect, registry)));
  recording::record_target(source.graph, report);
  report.inputs = recording::with_layout(recording::ports(source.graph, true), inputs, report.layout.reordered, true);
  report.outputs =
      recording::with_layout(recording::ports(source.graph, false), outputs, report.layout.reordered, false);
  report.weight_bytes = recording::constant_bytes(source.graph);
  return source;
}

}  // namespace

Status check_output(const fs::path& input, const fs::path& output, const PipelineOptions& options) {
  if (output.extension() != "." + options.target) {
    return error(Code::output_format, "cannot write '" + output.filename().string() + "' in dialect " + options.target)
        .at(output.string())
        .try_this("name an output that ends in .tflite or .onnx");
  }
  std::error_code ec;
  if (fs::equivalent(input, output, ec)) {
    return error(Code::usage, "the output is the input file itself, which Gantry never changes")
        .at(output.string())
        .try_this("name another output");
  }
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ec)) {
    return error(Code::output_not_written, "the folder '" + folder.string() + "' does not exist")
        .at(output.string())
        .try_this("make the folder first");
  }
  return {};
}

Status check_external(const fs::path& output, const Source& source) {
  std::error_code ec;
  for (const fs::path& file : source.external_files) {
    if (!fs::equivalent(file, output, ec) && !fs::equivalent(file, onnx_format::external_data_of(output), ec)) continue;
    return error(Code::usage, "the output is a file that holds weights of the input, which Gantry never changes")
        .at(output.string())
        .try_this("name another output");
  }
  return {};
}

Result<Source> convert_source(const fs::path& input, const PipelineOptions& options, PluginRegistry& registry,
                              Report& report) {
  const Report before = report;
  Result<Source> first = convert_once(input, options, registry, report);
  const bool asks_for_layout = options.layout.io != "preserve" || !options.layout.io_by_name.empty();
  if (first.ok() || first.error().code != Code::internal || asks_for_layout || options.verify_each_pass ||
      options.disabled_passes.contains("layout")) {
    return first;
  }
  PipelineOptions plain = options;
  plain.disabled_passes.insert("layout");
  report = before;
  Result<Source> second = convert_once(input, plain, registry, report);
  if (second.ok()) {
    report.add(note("the layout engine failed (" + first.error().message +
                    "), so transposes stay where the converters put them: please report this model"));
  }
  return second;
}

namespace {

// What the file says of itself.
void add_metadata(Graph& g, const fs::path& input, const std::string& io_layout, const Report& report) {
  g.metadata["gantry.source"] = input.filename().string();
  g.metadata["gantry.version"] = kVersion;
  g.metadata["gantry.io_layout"] = io_layout;
  g.metadata["gantry.reordered"] = recording::reordered_text(report, "");
}

tflite_format::WriteOptions write_options(const fs::path& input, const PipelineOptions& options) {
  return {.signature = options.signature, .description = "converted by Gantry from " + input.filename().string()};
}

Status write_target(const Graph& g, const fs::path& input, const fs::path& output, const PipelineOptions& options,
                    Report& report) {
  if (options.target == "onnx") {
    GANTRY_ASSIGN(const onnx_format::WriteStats stats, onnx_format::write(g, output, options.onnx));
    report.output_bytes = stats.file_bytes + stats.external_bytes;
    report.weight_bytes = stats.weight_bytes;
    return {};
  }
  GANTRY_ASSIGN(const tflite_format::WriteStats stats, tflite_format::write(g, output, write_options(input, options)));
  report.output_bytes = stats.file_bytes;
  report.weight_bytes = stats.weight_bytes;
  return {};
}

// Whether the writer would take the graph.
Status check_writable(Graph& g, const fs::path& input, const PipelineOptions& options, const Report& report) {
  if (options.target != "tflite") return {};
  add_metadata(g, input, options.layout.io, report);
  GANTRY_TRY(tflite_format::plan(g, write_options(input, options)));
  return {};
}

Status convert_and_write(const fs::path& input, const fs::path& output, const PipelineOptions& options,
                         PluginRegistry& plugins, Report& report) {
  if (!output.empty()) GANTRY_TRY(check_output(input, output, options));
  GANTRY_ASSIGN(Source source, convert_source(input, options, plugins, report));
  GANTRY_TRY(check_external(output, source));
  if (options.dry_run) return check_writable(source.graph, input, options, report);
  if (output.empty()) return error(Code::usage, "no output was named");
  add_metadata(source.graph, input, options.layout.io, report);
  if (options.on_progress) options.on_progress("write", 0, 1);
  return write_target(source.graph, input, output, options, report);
}

}  // namespace

Status convert_file(const fs::path& input, const fs::path& output, const PipelineOptions& options,
                    PluginRegistry& plugins, Report& report) {
  report.output = output.string();
  return recorded(input.string(), options, report,
                  [&] { return convert_and_write(input, output, options, plugins, report); });
}

Status check_file(const fs::path& input, const PipelineOptions& options, PluginRegistry& plugins, Report& report) {
  return recorded(input.string(), options, report, [&]() -> Status {
    GANTRY_ASSIGN(Source source, convert_source(input, options, plugins, report));
    return check_writable(source.graph, input, options, report);
  });
}

}  // namespace gantry
