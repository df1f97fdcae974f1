// gantry verify A... B: the numbers of two models, per output.
#include <algorithm>
#include <cstdio>

#include "host/cli/verification.hpp"

namespace gantry::cli {
namespace {

std::string as_text(const VerifyRecord& record) {
  std::size_t width = 6;
  for (const OutputComparison& o : record.outputs) width = std::max(width, o.name.size());
  const auto line = [&](const std::string& name, const std::string& abs, const std::string& rel,
                        const std::string& rest) {
    std::string text = name + std::string(width + 2 - name.size(), ' ');
    for (const std::string& cell : {abs, rel}) text += cell + std::string(cell.size() < 11 ? 11 - cell.size() : 1, ' ');
    return text + rest + "\n";
  };
  std::string text = record.reference + " against " + record.candidate + ", atol " + number_text(record.atol) +
                     ", rtol " + number_text(record.rtol) + "\n";
  text += line("output", "max abs", "max rel", "");
  for (const OutputComparison& o : record.outputs)
    text += line(o.name, number_text(o.max_abs), number_text(o.max_rel),
                 (o.ok ? "ok" : "differs") + (o.note.empty() ? "" : " (" + o.note + ")"));
  return text;
}

Status run(Invocation& run) {
  std::vector<std::string> models = run.args.all("MODEL");
  if (models.size() < 2)
    return error(Code::usage, "gantry verify needs a model and what is compared with it")
        .try_this("gantry verify A.onnx B.tflite");
  const std::filesystem::path candidate = models.back();
  models.pop_back();
  GANTRY_ASSIGN(const VerifyRequest request, verify_request(run));
  GANTRY_ASSIGN(const std::vector<std::string> named, parse_signatures(run.args.get("--signatures")));
  GANTRY_ASSIGN(const std::vector<Comparison> comparisons, pair_up(models, candidate, named));
  const Status status = compare_models(run, request, comparisons);
  const VerifyRecord& record = run.report.verify;
  if (record.ran) run.out(printable(as_text(record)));
  if (!status.ok()) return status.error();
  double worst = 0;
  for (const OutputComparison& o : record.outputs) worst = std::max(worst, o.max_abs);
  run.summary =
      count_text(record.outputs.size(), "output") + " within tolerance, largest difference " + number_text(worst);
  return {};
}

}  // namespace

Command verify_command() {
  const std::vector<Flag> own{shape_flag(), signatures_flag(), report_flag()};
  return {
      .name = "verify",
      .help = "Run two models on the same inputs and compare the numbers",
      .usage = "A... B [options]",
      .positionals = {{.name = "MODEL",
                       .help = "What is right, .onnx or .tflite, then what is compared with it; several before it are "
                               "one for each of its signatures",
                       .repeat = true}},
      .flags = tolerance_flags() + own + common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
