// gantry opt FILE --passes=a,b: runs passes by hand and prints the graph.
#include <algorithm>

#include "host/cli/invocation.hpp"
#include "host/cli/load.hpp"
#include "host/ir/text.hpp"
#include "host/passes/pass.hpp"

namespace gantry::cli {
namespace {

std::string list_text() {
  std::size_t width = 0;
  for (const Pass& pass : all_passes()) width = std::max(width, pass.name.size());
  std::string text;
  for (const Pass& pass : all_passes())
    text += std::string(pass.name) + std::string(width + 2 - pass.name.size(), ' ') + std::string(pass.help) + "\n";
  return text;
}

Result<std::vector<const Pass*>> wanted_passes(std::string_view list) {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes()) names.emplace_back(pass.name);
  std::vector<const Pass*> passes;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string name(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    if (name.empty()) continue;
    const Pass* pass = find_pass(name);
    if (!pass) {
      const std::string nearest = nearest_name(name, names);
      return error(Code::usage, "there is no pass " + name)
          .try_this(nearest.empty() ? "gantry opt --list shows the passes" : "did you mean " + nearest + "?");
    }
    passes.push_back(pass);
  }
  return passes;
}

Status run_passes(Invocation& run, Model& model, const std::vector<const Pass*>& passes) {
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  const auto extensions = plugins->extensions(model.semantics.get(), run.report);
  const std::string target = run.target();
  PassOptions options;
  for (const std::string& name : run.config.get_strings("passes.disable")) options.disabled.insert(name);
  for (const std::string& name : run.config.get_strings("passes.dump")) options.dump.insert(name);
  options.on_dump = run.on_dump();
  options.on_progress = run.on_progress();
  PassContext context{.graph = model.graph,
                      .report = run.report,
                      .plugins = *extensions,
                      .source = model.semantics.get(),
                      .target = target,
                      .allow_custom = run.config.get_bool("convert.allow_custom"),
                      .options = options};
  for (const Pass* pass : passes) {
    const auto opened = extensions->open_for(model.graph, target);
    if (!opened.ok()) return opened.error();
    GANTRY_TRY(run_pass(*pass, context));
  }
  return {};
}

Status run(Invocation& run) {
  if (run.args.has("--list")) {
    run.out(list_text());
    run.summary = count_text(all_passes().size(), "pass", "passes");
    return {};
  }
  if (run.args.get("FILE").empty())
    return error(Code::usage, "gantry opt needs FILE, or --list").try_this("gantry opt model.onnx --passes=normalize");
  GANTRY_ASSIGN(const auto passes, wanted_passes(run.args.get("--passes")));
  auto shapes = parse_shapes(run.args.all("--shape"));
  if (!shapes.ok()) return shapes.take_error();
  GANTRY_ASSIGN(Model model, load_model(run.args.get("FILE"), *shapes));
  if (!passes.empty()) GANTRY_TRY(run_passes(run, model, passes));

  const std::string text = print(model.graph);
  const std::string& output = run.args.get("--output");
  run.summary = count_text(model.graph.live_nodes(), "node") + " after " + count_text(passes.size(), "pass", "passes");
  if (!output.empty()) return write_text_file(output, text);
  run.out(text);
  return {};
}

}  // namespace

Command opt_command() {
  const std::vector<Flag> own{
      {.name = "--passes", .value = "A,B", .help = "The passes to run, in this order; none just prints the graph"},
      {.name = "--list", .help = "List the passes"},
      {.name = "--output",
       .letter = "o",
       .value = "OUT",
       .help = "Write the text here, not to stdout",
       .complete = Complete::file},
      target_flag(),
      shape_flag(),
      {.name = "--allow-custom", .help = "Leave operators that have no converter as custom operators"},
      report_flag(),
  };
  return {
      .name = "opt",
      .help = "Run passes on a graph and print its text form",
      .usage = "FILE --passes=A,B [-o OUT] [options]",
      .positionals = {{.name = "FILE", .help = "The model: .onnx, .tflite, or the text form", .required = false}},
      .flags = own + plugin_flags() + common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
