#include "host/verify/run_model.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "host/verify/isolate.hpp"
#include "host/verify/wire.hpp"

namespace gantry {

namespace {

std::vector<std::byte> encode(const ModelRun& run) {
  WireWriter out;
  out.text(run.runtime);
  out.number(run.inputs.size());
  for (const Port& port : run.inputs) {
    out.text(port.name);
    out.number(static_cast<std::uint64_t>(port.type.dtype));
    out.number(port.type.ranked);
    out.number(port.type.dims.size());
    for (const Dim& d : port.type.dims) {
      out.number(static_cast<std::uint64_t>(d.size));
      out.text(d.symbol);
    }
  }
  out.number(run.outputs.size());
  for (const NamedTensor& output : run.outputs) {
    out.text(output.name);
    out.tensor(output.tensor);
  }
  return out.take();
}

Result<ModelRun> decode(const std::vector<std::byte>& bytes) {
  WireReader in(bytes);
  ModelRun run;
  run.runtime = in.text();
  run.inputs.resize(in.count());
  for (Port& port : run.inputs) {
    port.name = in.text();
    port.type.dtype = static_cast<DType>(in.number());
    port.type.ranked = in.number() != 0;
    port.type.dims.resize(in.count());
    for (Dim& d : port.type.dims) {
      d.size = static_cast<std::int64_t>(in.number());
      d.symbol = in.text();
    }
  }
  run.outputs.resize(in.count());
  for (NamedTensor& output : run.outputs) {
    output.name = in.text();
    output.tensor = in.tensor();
  }
  if (!in.good()) return error(Code::verify_runtime, "the result of the run came back broken");
  return run;
}

Result<ModelRun> run_here(RuntimeKind kind, const std::filesystem::path& library, const std::filesystem::path& model,
                          const MakeFeeds& make_feeds, const std::string& signature) {
  // ONNX Runtime's errors hold what its log says; LiteRT's do not.
  const RuntimeOptions options{.log_errors = kind == RuntimeKind::litert, .signature = signature};
  GANTRY_ASSIGN(const std::unique_ptr<Runtime> runtime, Runtime::open(kind, library, options));
  GANTRY_ASSIGN(const std::unique_ptr<Session> session, runtime->load(model));
  ModelRun run;
  run.runtime = runtime->name();
  if (!runtime->version().empty()) run.runtime += " " + std::string(runtime->version());
  run.inputs = session->inputs();
  GANTRY_ASSIGN(const auto feeds, make_feeds(run.inputs));
  GANTRY_ASSIGN(run.outputs, session->run(feeds));
  return run;
}

}  // namespace

Result<RuntimeKind> runtime_for(const std::filesystem::path& model) {
  std::error_code ec;
  if (std::filesystem::is_directory(model, ec)) {
    return error(Code::input_not_found, "it is a folder, not a file").at(model.string());
  }
  if (std::filesystem::exists(model, ec) && !std::filesystem::is_regular_file(model, ec)) {  // a pipe may never end
    return error(Code::input_not_found, "it is not a regular file").at(model.string());
  }
  errno = 0;
  std::ifstream in(model, std::ios::binary);
  char head[8] = {};
  if (!in) {
    return error(Code::input_not_found, std::string("the file cannot be read: ") + std::strerror(errno))
        .at(model.string());
  }
  in.read(head, sizeof head);
  if (std::memcmp(head + 4, "TFL3", 4) == 0) return RuntimeKind::litert;
  std::string extension = model.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (extension == ".onnx") return RuntimeKind::onnxruntime;
  if (extension == ".tflite") return RuntimeKind::litert;
  return error(Code::input_format, "only .onnx and .tflite files can be run").at(model.string());
}

Result<ModelRun> run_model(RuntimeKind kind, const std::filesystem::path& library, const std::filesystem::path& model,
                           const MakeFeeds& make_feeds, double timeout_seconds, const std::string& signature) {
  const auto work = [&]() -> Result<std::vector<std::byte>> {
    GANTRY_ASSIGN(const ModelRun run, run_here(kind, library, model, make_feeds, signature));
    return encode(run);
  };
  GANTRY_ASSIGN(const std::vector<std::byte> bytes,
                run_isolated(work, {std::string(runtime_title(kind)), model.string(), timeout_seconds}));
  return decode(bytes);
}

}  // namespace gantry
