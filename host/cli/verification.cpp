#include "host/cli/verification.hpp"

#include <algorithm>
#include <set>

#include "host/formats/tflite/reader.hpp"
#include "host/signature_names.hpp"
#include "host/verify/run_model.hpp"

namespace gantry::cli {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// None for what is no TFLite file: then the runtime says what is wrong with it.
Result<std::vector<std::string>> signatures_of(const std::filesystem::path& model) {
  const Result<RuntimeKind> kind = runtime_for(model);
  if (!kind.ok() || *kind != RuntimeKind::litert) return std::vector<std::string>{};
  return tflite_format::signatures(model);
}

Result<Comparison> compare_signature(const std::string& reference, const std::filesystem::path& candidate,
                                     const std::string& name) {
  GANTRY_ASSIGN(const std::vector<std::string> of_reference, signatures_of(reference));
  const bool has_it = std::ranges::find(of_reference, name) != of_reference.end();
  return Comparison{reference, candidate, has_it ? name : std::string(), name};
}

/// What of the request is for that signature; `several` are compared.
Result<VerifyRequest> request_for(const VerifyRequest& all, const Comparison& c, const SignatureNames& signatures) {
  VerifyRequest mine = all;
  mine.reference = c.reference;
  mine.candidate = c.candidate;
  mine.reference_signature = c.reference_signature;
  mine.candidate_signature = c.candidate_signature;
  if (signatures.size() < 2) return mine;
  mine.allow_unused_shapes = true;
  mine.shapes = signatures.shapes_of(c.candidate_signature, all.shapes);
  mine.inputs.clear();
  for (const std::string& input : all.inputs) {
    const std::string whose = signatures.owner(input);
    if (whose.empty())
      return error(Code::usage, "--inputs " + input + ": several signatures are compared")
          .try_this("name the one: --inputs " + c.candidate_signature + ":" + input);
    if (whose == c.candidate_signature) mine.inputs.push_back(input.substr(whose.size() + 1));
  }
  return mine;
}

void add_to(VerifyRecord& all, VerifyRecord part, const std::string& signature) {
  const bool first = !all.ran;
  const std::vector<OutputComparison> before = std::move(all.outputs);
  const bool ok = first || all.ok;
  const double seconds = all.seconds;
  for (OutputComparison& o : part.outputs)
    if (!signature.empty()) o.name = signature + "/" + o.name;
  all = std::move(part);
  all.ok = all.ok && ok;
  all.seconds += seconds;
  all.outputs.insert(all.outputs.begin(), before.begin(), before.end());
}

/// A shape whose name is an input of none of them.
Status check_used(const VerifyRequest& all, const std::map<std::string, std::size_t>& unused, std::size_t comparisons) {
  for (const auto& [name, times] : unused) {
    if (times < comparisons || !all.shapes.contains(name)) continue;
    return error(Code::usage, "a shape is given for '" + name + "', but no model has such an input");
  }
  return {};
}

Status verdict(const VerifyRecord& record, const std::filesystem::path& candidate) {
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
  return error(Code::verify_mismatch, std::move(message)).at(candidate.string());
}

}  // namespace

Result<std::vector<Comparison>> pair_up(const std::vector<std::string>& references,
                                        const std::filesystem::path& candidate, const std::vector<std::string>& named) {
  GANTRY_ASSIGN(const std::vector<std::string> there, signatures_of(candidate));
  for (const std::string& name : named) {
    if (std::ranges::find(there, name) != there.end()) continue;
    return error(Code::usage, "the model has no signature '" + name + "'")
        .at(candidate.string())
        .try_this(there.empty() ? "it has none" : "it has " + listed(there));
  }
  const bool one = references.size() == 1;
  if (one && named.empty() && there.size() < 2) return std::vector{Comparison{references[0], candidate, "", ""}};
  if (one && named.empty()) {
    GANTRY_ASSIGN(const std::vector<std::string> same, signatures_of(references[0]));
    if (std::ranges::any_of(there, [&](const std::string& s) { return std::ranges::find(same, s) == same.end(); }))
      return error(Code::usage, "the model has " + std::to_string(there.size()) + " signatures")
          .at(candidate.string())
          .try_this("name the one to compare: --signatures " + there.front() + " (of " + listed(there) + ")");
  }
  const std::vector<std::string>& names = named.empty() ? there : named;
  if (!one && names.size() != references.size())
    return error(Code::usage, count_text(references.size(), "model") + " for " + count_text(names.size(), "signature"))
        .at(candidate.string())
        .try_this("name one for each: --signatures " + listed(there));
  std::vector<Comparison> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    GANTRY_ASSIGN(all.emplace_back(), compare_signature(references[one ? 0 : i], candidate, names[i]));
  }
  return all;
}

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

Status compare_models(Invocation& run, const VerifyRequest& request, const std::vector<Comparison>& comparisons) {
  std::set<std::string> names;
  for (const Comparison& c : comparisons) names.insert(c.candidate_signature);
  const SignatureNames signatures(std::move(names));
  std::map<std::string, std::size_t> unused;
  for (const Comparison& c : comparisons) {
    const Ticker running = run.ticker("verify");
    GANTRY_ASSIGN(const VerifyRequest mine, request_for(request, c, signatures));
    GANTRY_ASSIGN(VerifyRecord record, verify(mine));
    for (const std::string& name : record.unused_shapes) ++unused[name];
    add_to(run.report.verify, std::move(record), comparisons.size() > 1 ? c.candidate_signature : "");
  }
  GANTRY_TRY(check_used(request, unused, comparisons.size()));
  return verdict(run.report.verify, comparisons.front().candidate);
}

}  // namespace gantry::cli
