// One run of one model in a process of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/ir/result.hpp"
#include "host/verify/runtime.hpp"

namespace gantry {

struct ModelRun {
  std::string runtime;  // name and version
  std::vector<Port> inputs;
  std::vector<NamedTensor> outputs;
};

/// Chooses what a model with these inputs gets. Called in the child: what it changes elsewhere is lost.
using MakeFeeds = std::function<Result<std::map<std::string, Tensor>>(const std::vector<Port>& inputs)>;

/// The runtime for a file, by its first bytes, else by its extension.
/// Errors: input_not_found, input_format.
Result<RuntimeKind> runtime_for(const std::filesystem::path& model);

/// Opens the runtime, loads the model and runs it once; of a TFLite file the signature of that name, or the first.
/// Errors: verify_runtime (run_isolated, Runtime, Session) and those of `make_feeds`.
Result<ModelRun> run_model(RuntimeKind kind, const std::filesystem::path& library, const std::filesystem::path& model,
                           const MakeFeeds& make_feeds, double timeout_seconds, const std::string& signature = {});

}  // namespace gantry
