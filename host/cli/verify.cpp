// gantry verify A B: the numbers of two models, per output.
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
  GANTRY_ASSIGN(VerifyRequest request, verify_request(run));
  request.reference = run.args.get("A");
  request.candidate = run.args.get("B");
  const Status status = compare_models(run, std::move(request));
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

Result<VerifyRequest> verify_request(Invocation& run) {
  const Config& config = run.config;
  VerifyRequest request;
  request.inputs = run.args.all("--inputs");
  GANTRY_ASSIGN(request.shapes, parse_shapes(run.args.all("--shape")));
  request.seed = static_cast<std::uint64_t>(config.get_int("verify.seed"));
  request.atol = config.get_float("verify.atol");
  request.rtol = config.get_float("verify.rtol");
  request.onnxruntime = config.get_string("verify.onnxruntime");
  request.litert = config.get_string("verify.litert");
  request.timeout_seconds = config.get_float("verify.timeout");
  return request;
}

Status compare_models(Invocation& run, VerifyRequest request) {
  {
    const Ticker running = run.ticker("verify");
    GANTRY_ASSIGN(run.report.verify, verify(request));
  }
  const VerifyRecord& record = run.report.verify;
  if (record.ok) return {};
  std::size_t bad = 0;
  const OutputComparison* worst = nullptr;
  for (const OutputComparison& o : record.outputs) {
    if (o.ok) continue;
    ++bad;
    if (!worst || o.max_abs > worst->max_abs) worst = &o;
  }
  std::string message =
      std::to_string(bad) + " of " + count_text(record.outputs.size(), "output") + " differ by more than the tolerance";
  if (worst) {
    message += ", most of all " + worst->name;
    message += worst->note.empty() ? " by " + number_text(worst->max_abs) : " (" + worst->note + ")";
  }
  return error(Code::verify_mismatch, std::move(message)).at(request.candidate.string());
}

Command verify_command() {
  const std::vector<Flag> own{shape_flag(), report_flag()};
  return {
      .name = "verify",
      .help = "Run two models on the same inputs and compare the numbers",
      .positionals = {{.name = "A", .help = "What is right: .onnx or .tflite"},
                      {.name = "B", .help = "What is compared with it"}},
      .flags = tolerance_flags() + own + common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
