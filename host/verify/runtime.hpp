// The runtimes that say what a model computes: ONNX Runtime for .onnx files, LiteRT for .tflite files. Their libraries
// are opened when asked for; Gantry neither links to them nor needs their headers.
//
// A runtime may crash on a model. isolate.hpp runs one in a process of its own; verify.hpp does so always.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"
#include "host/ir/type.hpp"
#include "host/verify/tensor.hpp"

namespace gantry {

enum class RuntimeKind : std::uint8_t { onnxruntime, litert };

/// "ONNX Runtime", "LiteRT".
std::string_view runtime_title(RuntimeKind kind);

/// The runtime's library: `override_path` (a library, or a folder that holds it) if not empty; else in the folder that
/// the environment variable GANTRY_RUNTIMES names; else in <folder of the executable>/../lib/gantry/runtimes.
/// Errors: verify_no_runtime, with the places looked at and what to do.
Result<std::filesystem::path> find_runtime(RuntimeKind kind, const std::filesystem::path& override_path = {});

/// An input or output of a model.
struct Port {
  std::string name;
  Type type;  // unknown dimensions as the model declares them
};

/// A model, loaded. Keeps its runtime open. One thread at a time.
class Session {
 public:
  virtual ~Session() = default;
  virtual const std::vector<Port>& inputs() const = 0;
  virtual const std::vector<Port>& outputs() const = 0;
  /// Runs once. `feeds` holds a tensor for each input; results are in the order of outputs().
  /// Errors: verify_runtime, if a feed is missing or does not fit, or with the runtime's own message.
  virtual Result<std::vector<NamedTensor>> run(const std::map<std::string, Tensor>& feeds) = 0;
};

struct RuntimeOptions {
  /// Let the runtime write its messages of errors to stderr. LiteRT keeps some for there, so that a process of its
  /// own, whose stderr is collected, learns more.
  bool log_errors = false;
  /// Of a TFLite file; empty is its first.
  std::string signature;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view version() const = 0;  // empty if the library does not tell
  /// Errors: verify_runtime, with the runtime's own message.
  virtual Result<std::unique_ptr<Session>> load(const std::filesystem::path& model) = 0;

  /// Errors: verify_runtime, if the library cannot be opened or is no such runtime. It stays open until the process
  /// ends, because runtimes leave threads and exit handlers behind.
  static Result<std::unique_ptr<Runtime>> open(RuntimeKind kind, const std::filesystem::path& library,
                                               const RuntimeOptions& options = {});
  static Result<std::unique_ptr<Runtime>> open_onnxruntime(const std::filesystem::path& library,
                                                           const RuntimeOptions& options = {});
  static Result<std::unique_ptr<Runtime>> open_litert(const std::filesystem::path& library,
                                                      const RuntimeOptions& options = {});
};

}  // namespace gantry
