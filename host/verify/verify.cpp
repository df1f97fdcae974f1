#include "host/verify/verify.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "host/verify/compare.hpp"
#include "host/verify/feeds.hpp"
#include "host/verify/run_model.hpp"

namespace gantry {

namespace {

using Feeds = std::map<std::string, Tensor>;

struct Model {
  RuntimeKind kind;
  std::filesystem::path path, library;
};

Result<Model> locate(const std::filesystem::path& path, const VerifyRequest& request) {
  GANTRY_ASSIGN(const RuntimeKind kind, runtime_for(path));
  GANTRY_ASSIGN(const std::filesystem::path library,
                find_runtime(kind, kind == RuntimeKind::litert ? request.litert : request.onnxruntime));
  return Model{kind, path, library};
}

/// The reference's feeds under the candidate's names.
Result<Feeds> feeds_for_candidate(const std::vector<Port>& inputs, const std::vector<Port>& reference_inputs,
                                  const Feeds& feeds) {
  Feeds result;
  const bool by_name = std::all_of(inputs.begin(), inputs.end(), [&](const Port& p) { return feeds.contains(p.name); });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (by_name) {
      result[inputs[i].name] = feeds.at(inputs[i].name);
    } else if (inputs.size() == reference_inputs.size()) {
      result[inputs[i].name] = feeds.at(reference_inputs[i].name);
    } else {
      return error(Code::verify_mismatch, "the candidate has " + std::to_string(inputs.size()) +
                                              " inputs, the reference " + std::to_string(reference_inputs.size()) +
                                              ", and their names differ");
    }
  }
  // A candidate in another layout (channels last) gets its permutation applied here, once the report knows one a
  // tensor.
  return result;
}

std::vector<OutputComparison> compare_all(const ModelRun& reference, const ModelRun& candidate, double atol,
                                          double rtol) {
  const auto find = [&](const std::string& name) {
    return std::find_if(candidate.outputs.begin(), candidate.outputs.end(),
                        [&](const NamedTensor& t) { return t.name == name; });
  };
  const bool by_name = std::any_of(reference.outputs.begin(), reference.outputs.end(),
                                   [&](const NamedTensor& t) { return find(t.name) != candidate.outputs.end(); });
  std::vector<OutputComparison> results;
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
    const NamedTensor& want = reference.outputs[i];
    const bool by_position = !by_name && reference.outputs.size() == candidate.outputs.size();
    const auto got = by_position ? candidate.outputs.begin() + static_cast<std::ptrdiff_t>(i) : find(want.name);
    OutputComparison c;
    if (got == candidate.outputs.end()) {
      c.name = want.name;
      c.max_abs = c.max_rel = std::numeric_limits<double>::infinity();
      c.note = "the candidate has no such output";
    } else {
      c = compare(want.name, want.tensor, got->tensor, atol, rtol);
      if (by_position) c.note = "compared with '" + got->name + "'" + (c.note.empty() ? "" : "; ") + c.note;
    }
    results.push_back(std::move(c));
  }
  return results;
}

}  // namespace

Result<VerifyRecord> verify(const VerifyRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  GANTRY_ASSIGN(const Model reference, locate(request.reference, request));
  GANTRY_ASSIGN(const Model candidate, locate(request.candidate, request));
  FeedOptions options{
      .given = {}, .shapes = request.shapes, .allow_unused_shapes = request.allow_unused_shapes, .seed = request.seed};
  GANTRY_ASSIGN(options.given, read_given(request.inputs));

  // The feeds are made in the child, which knows the inputs, and once more here: they are the same each time.
  const auto make = [&](const std::vector<Port>& inputs) { return make_feeds(inputs, options); };
  GANTRY_ASSIGN(const ModelRun want, run_model(reference.kind, reference.library, reference.path, make,
                                               request.timeout_seconds, request.reference_signature));
  GANTRY_ASSIGN(const Feeds feeds, make(want.inputs));
  const auto same = [&](const std::vector<Port>& inputs) { return feeds_for_candidate(inputs, want.inputs, feeds); };
  GANTRY_ASSIGN(const ModelRun got, run_model(candidate.kind, candidate.library, candidate.path, same,
                                              request.timeout_seconds, request.candidate_signature));

  VerifyRecord record;
  for (const auto& [name, dims] : request.shapes)
    if (!feeds.contains(name) && !name.empty()) record.unused_shapes.push_back(name);
  record.ran = true;
  record.reference = want.runtime;
  record.candidate = got.runtime;
  record.atol = request.atol;
  record.rtol = request.rtol;
  record.outputs = compare_all(want, got, request.atol, request.rtol);
  record.ok = std::all_of(record.outputs.begin(), record.outputs.end(), [](const auto& o) { return o.ok; });
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return record;
}

}  // namespace gantry
