// Several models into one file, a signature each.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "host/formats/tflite/writer.hpp"
#include "host/pipeline_source.hpp"
#include "host/recording.hpp"
#include "host/signature_names.hpp"

namespace gantry {
namespace {

namespace fs = std::filesystem;
using Shapes = SignatureNames::Shapes;

/// Shapes by what --shape named, and whether a model took each.
class ShapesOfAll {
 public:
  ShapesOfAll(const Shapes& shapes, std::set<std::string> signatures) : shapes_(shapes), names_(std::move(signatures)) {
    for (const auto& [name, sizes] : shapes) unused_.insert(name);
  }

  Shapes of(const std::string& signature) const { return names_.shapes_of(signature, shapes_); }

  void used(const std::string& signature, const Shapes& given, const std::vector<std::string>& not_taken) {
    for (const auto& [name, sizes] : given) {
      if (std::ranges::find(not_taken, name) != not_taken.end()) continue;
      if (unused_.erase(signature + ":" + name) == 0) unused_.erase(name);
      if (shapes_.contains(signature + ":" + name)) unused_.erase(name);  // it stood behind the more exact one
    }
  }

  Status all_used() const {
    if (unused_.empty()) return {};
    return error(Code::usage, "--shape: no model has an input \"" + *unused_.begin() + "\"")
        .try_this("NAME=DIMS is for every model that has such an input, SIGNATURE:NAME=DIMS for one");
  }

 private:
  const Shapes& shapes_;
  SignatureNames names_;
  std::set<std::string> unused_;
};

Result<std::set<std::string>> distinct_names(const std::vector<SignatureSource>& sources) {
  std::set<std::string> seen;
  for (const SignatureSource& s : sources) {
    if (s.name.empty()) return error(Code::usage, "a signature needs a name").at(s.input.string());
    if (!seen.insert(s.name).second)
      return error(Code::usage, "two signatures are named \"" + s.name + "\"").try_this("give each a name of its own");
  }
  return seen;
}

std::string joined(const std::vector<SignatureSource>& sources) {
  std::string text;
  for (const SignatureSource& s : sources) text += (text.empty() ? "" : ", ") + s.input.filename().string();
  return text;
}

void add_sums(Report& all, const Report& part) {
  all.from_dialect = all.from_dialect.empty() || all.from_dialect == part.from_dialect ? part.from_dialect : "several";
  all.input_bytes += part.input_bytes;
  all.source_nodes += part.source_nodes;
  all.target_nodes += part.target_nodes;
  all.unconverted_nodes += part.unconverted_nodes;
  for (const auto& [op, n] : part.source_ops) all.source_ops[op] += n;
  for (const auto& [op, n] : part.target_ops) all.target_ops[op] += n;
  all.transposes += part.transposes;
  all.reshapes += part.reshapes;
  all.transpose_bytes += part.transpose_bytes;
  all.reshape_bytes += part.reshape_bytes;
  const auto ports = [&](std::vector<TensorRecord>& into, const std::vector<TensorRecord>& from) {
    for (TensorRecord t : from) {
      t.name = part.signature + "/" + t.name;
      into.push_back(std::move(t));
    }
  };
  ports(all.inputs, part.inputs);
  ports(all.outputs, part.outputs);
  all.passes.insert(all.passes.end(), part.passes.begin(), part.passes.end());
  for (const PluginRecord& p : part.plugins)
    if (std::ranges::find(all.plugins, p.id, &PluginRecord::id) == all.plugins.end()) all.plugins.push_back(p);
  for (Diagnostic d : part.diagnostics) {
    if (d.place.empty()) d.place = part.input;
    all.add(std::move(d));
  }
}

/// The metadata of the first graph are the file's.
void add_metadata(std::vector<Source>& sources, const std::string& names, const std::string& io_layout,
                  const Report& report) {
  std::map<std::string, std::string>& m = sources.front().graph.metadata;
  m["gantry.source"] = names;
  m["gantry.version"] = kVersion;
  m["gantry.io_layout"] = io_layout;
  m["gantry.reordered"].clear();
  for (const Report& part : report.signatures) {
    const std::string text = recording::reordered_text(part, part.signature + "/");
    if (!text.empty()) m["gantry.reordered"] += (m["gantry.reordered"].empty() ? "" : "; ") + text;
  }
}

Status write_all(const std::vector<SignatureSource>& sources, std::vector<Source>& graphs, const fs::path& output,
                 const PipelineOptions& options, Report& report) {
  add_metadata(graphs, joined(sources), options.layout.io, report);
  const tflite_format::WriteOptions write{.description = "converted by Gantry from " + joined(sources)};
  std::vector<tflite_format::SignatureGraph> all;
  for (std::size_t i = 0; i < sources.size(); ++i) all.push_back({&graphs[i].graph, sources[i].name});
  if (options.dry_run) {
    GANTRY_ASSIGN(const tflite_format::WriteStats stats, tflite_format::plan(all, write));
    report.weight_bytes = stats.weight_bytes;
    return {};
  }
  if (options.on_progress) options.on_progress("write", 0, 1);
  GANTRY_ASSIGN(const tflite_format::WriteStats stats, tflite_format::write(all, output, write));
  report.output_bytes = stats.file_bytes;
  report.weight_bytes = stats.weight_bytes;
  return {};
}

Status convert_all(const std::vector<SignatureSource>& sources, const fs::path& output, const PipelineOptions& options,
                   PluginRegistry& plugins, Report& report) {
  GANTRY_ASSIGN(std::set<std::string> names, distinct_names(sources));
  if (options.target != "tflite")
    return error(Code::output_format, "only a TFLite file holds several models").at(output.string());
  if (output.empty() && !options.dry_run) return error(Code::usage, "no output was named");
  for (const SignatureSource& s : sources)
    if (!output.empty()) GANTRY_TRY(check_output(s.input, output, options));

  ShapesOfAll shapes(options.shapes, std::move(names));
  std::vector<Source> graphs;
  std::optional<Diagnostic> failure;
  for (const SignatureSource& s : sources) {
    PipelineOptions own = options;
    own.shapes = shapes.of(s.name);
    own.allow_unused_shapes = true;
    Report& part = report.signatures.emplace_back();
    part.signature = s.name;
    Status done = recorded(s.input.string(), own, part, [&]() -> Status {
      GANTRY_ASSIGN(Source source, convert_source(s.input, own, plugins, part));
      GANTRY_TRY(check_external(output, source));
      shapes.used(s.name, own.shapes, source.unused_shapes);
      graphs.push_back(std::move(source));
      return {};
    });
    add_sums(report, part);
    if (!done.ok() && !failure) {
      failure = done.take_error();
      if (failure->place.empty()) failure->place = part.input;
    }
  }
  if (failure) return *std::move(failure);  // after what the others have to say
  GANTRY_TRY(shapes.all_used());
  return write_all(sources, graphs, output, options, report);
}

}  // namespace

Status convert_files(const std::vector<SignatureSource>& sources, const fs::path& output,
                     const PipelineOptions& options, PluginRegistry& plugins, Report& report) {
  report.output = output.string();
  return recorded(joined(sources), options, report,
                  [&] { return convert_all(sources, output, options, plugins, report); });
}

}  // namespace gantry
