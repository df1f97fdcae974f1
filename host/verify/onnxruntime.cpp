// ONNX Runtime through its C interface: OrtGetApiBase gives a table of function pointers that only ever grows, so that
// a function is known by its place in it (onnxruntime_c_api.h, struct OrtApi).

#include <cstring>
#include <utility>

#include "host/verify/library.hpp"
#include "host/verify/runtime.hpp"

namespace gantry {

namespace {

struct ApiBase {
  const void* (*get_api)(std::uint32_t version);
  const char* (*version)();
};

/// Version 16 of the table (2023) has all that is used here; a newer library gives it too.
constexpr std::uint32_t kApiVersion = 16;

using Handle = void*;
using OrtStatusPtr = void*;  // null = success

template <class... A>
using Call = OrtStatusPtr (*)(A...);

/// One function of the table.
template <std::size_t Slot, class F>
F entry(const void* table) {
  return reinterpret_cast<F>(static_cast<void* const*>(table)[Slot]);
}

struct Api {
  explicit Api(const void* t) : table(t) {}
  const void* table;

  // Names and arguments as in OrtApi; what each returns through its last argument is the caller's to release.
  template <std::size_t Slot, class... A>
  OrtStatusPtr call(A... arguments) const {
    return entry<Slot, Call<A...>>(table)(arguments...);
  }
  template <std::size_t Slot>
  void release(Handle h) const {
    if (h) entry<Slot, void (*)(Handle)>(table)(h);
  }
};

enum Slot : std::size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetSessionGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kSessionGetInputCount = 30,
  kSessionGetOutputCount = 31,
  kSessionGetInputTypeInfo = 33,
  kSessionGetOutputTypeInfo = 34,
  kSessionGetInputName = 36,
  kSessionGetOutputName = 37,
  kCreateTensorWithDataAsOrtValue = 49,
  kIsTensor = 50,
  kGetTensorMutableData = 51,
  kCastTypeInfoToTensorInfo = 55,
  kGetOnnxTypeFromTypeInfo = 56,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetSymbolicDimensions = 63,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kAllocatorFree = 76,
  kGetAllocatorWithDefaultOptions = 78,
  kReleaseEnv = 92,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTypeInfo = 98,
  kReleaseTensorTypeAndShapeInfo = 99,
  kReleaseSessionOptions = 100,
};

constexpr int kLogFatal = 4;             // ORT_LOGGING_LEVEL_FATAL
constexpr int kLogError = 3;             // ORT_LOGGING_LEVEL_ERROR
constexpr int kDisableOptimization = 0;  // ORT_DISABLE_ALL
constexpr int kTensorType = 1;           // ONNX_TYPE_TENSOR
constexpr int kArenaAllocator = 1;       // OrtArenaAllocator
constexpr int kMemTypeDefault = 0;       // OrtMemTypeDefault

/// Releases a handle at the end of its scope.
template <std::size_t ReleaseSlot>
class Owned {
 public:
  explicit Owned(const Api& api) : api_(api) {}
  ~Owned() { api_.release<ReleaseSlot>(handle_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  Api api_;
  Handle handle_ = nullptr;
};

/// ONNXTensorElementDataType is in this order.
constexpr DType kElementTypes[] = {DType::undefined,  DType::float32, DType::uint8,  DType::int8,   DType::uint16,
                                   DType::int16,      DType::int32,   DType::int64,  DType::string, DType::boolean,
                                   DType::float16,    DType::float64, DType::uint32, DType::uint64, DType::complex64,
                                   DType::complex128, DType::bfloat16};

DType from_element_type(int t) {
  return t >= 0 && t < static_cast<int>(std::size(kElementTypes)) ? kElementTypes[t] : DType::undefined;
}

int to_element_type(DType t) {
  for (int i = 0; i < static_cast<int>(std::size(kElementTypes)); ++i) {
    if (kElementTypes[i] == t) return i;
  }
  return 0;
}

Status check(const Api& api, OrtStatusPtr status, std::string_view place) {
  if (!status) return {};
  const char* text = entry<kGetErrorMessage, const char* (*)(OrtStatusPtr)>(api.table)(status);
  auto failed = error(Code::verify_runtime, std::string("ONNX Runtime: ") + (text ? text : "unknown error")).at(place);
  api.release<kReleaseStatus>(status);
  return failed;
}

/// Element type and dimensions out of an OrtTensorTypeAndShapeInfo that somebody owns.
Result<Type> tensor_type(const Api& api, Handle info, std::string_view place) {
  int element = 0;
  std::size_t rank = 0;
  GANTRY_TRY(check(api, api.call<kGetTensorElementType>(info, &element), place));
  GANTRY_TRY(check(api, api.call<kGetDimensionsCount>(info, &rank), place));
  std::vector<std::int64_t> sizes(rank);
  std::vector<const char*> symbols(rank);
  GANTRY_TRY(check(api, api.call<kGetDimensions>(info, sizes.data(), rank), place));
  GANTRY_TRY(check(api, api.call<kGetSymbolicDimensions>(info, symbols.data(), rank), place));
  Type type = Type::of(from_element_type(element), sizes);
  for (std::size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0 && symbols[i]) type.dims[i] = Dim::named(symbols[i]);
  }
  return type;
}

class OrtSession final : public Session {
 public:
  OrtSession(Api api, std::shared_ptr<Owned<kReleaseEnv>> env, std::string place)
      : api_(api), env_(std::move(env)), place_(std::move(place)), session_(api), memory_(api) {}

  Status open(const std::filesystem::path& model) {
    Owned<kReleaseSessionOptions> options(api_);
    GANTRY_TRY(check(api_.call<kCreateSessionOptions>(options.out())));
    // The model as it is written, and the same sums in the same order every time.
    GANTRY_TRY(check(api_.call<kSetSessionGraphOptimizationLevel>(options.get(), kDisableOptimization)));
    GANTRY_TRY(check(api_.call<kSetIntraOpNumThreads>(options.get(), 1)));
    GANTRY_TRY(check(api_.call<kSetInterOpNumThreads>(options.get(), 1)));
    GANTRY_TRY(check(api_.call<kCreateSession>(env_->get(), model.c_str(), options.get(), session_.out())));
    GANTRY_TRY(check(api_.call<kCreateCpuMemoryInfo>(kArenaAllocator, kMemTypeDefault, memory_.out())));
    GANTRY_TRY((ports<kSessionGetInputCount, kSessionGetInputName, kSessionGetInputTypeInfo>("input", inputs_)));
    return ports<kSessionGetOutputCount, kSessionGetOutputName, kSessionGetOutputTypeInfo>("output", outputs_);
  }

  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }

  Result<std::vector<NamedTensor>> run(const std::map<std::string, Tensor>& feeds) override {
    GANTRY_TRY(check_feeds(inputs_, feeds));
    std::vector<std::unique_ptr<Value>> values;
    std::vector<const char*> input_names, output_names;
    std::vector<Handle> input_values, output_values(outputs_.size());
    for (const Port& port : inputs_) {
      const Tensor& feed = feeds.at(port.name);
      values.push_back(std::make_unique<Value>(api_));
      GANTRY_TRY(check(api_.call<kCreateTensorWithDataAsOrtValue>(
          memory_.get(), const_cast<void*>(static_cast<const void*>(data(feed))), feed.bytes.size(), feed.dims.data(),
          feed.dims.size(), to_element_type(feed.dtype), values.back()->out())));
      input_names.push_back(port.name.c_str());
      input_values.push_back(values.back()->get());
    }
    for (const Port& port : outputs_) output_names.push_back(port.name.c_str());
    Status status =
        check(api_.call<kRun>(session_.get(), Handle{nullptr}, input_names.data(), input_values.data(),
                              input_values.size(), output_names.data(), output_names.size(), output_values.data()));
    for (Handle h : output_values) {
      values.push_back(std::make_unique<Value>(api_));
      *values.back()->out() = h;
    }
    if (!status) return status.take_error();
    std::vector<NamedTensor> results;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      GANTRY_ASSIGN(Tensor tensor, read(output_values[i], outputs_[i].name));
      results.push_back({outputs_[i].name, std::move(tensor)});
    }
    return results;
  }

 private:
  using Value = Owned<kReleaseValue>;

  Status check(OrtStatusPtr status) const { return gantry::check(api_, status, place_); }

  /// Never null: an empty tensor has an address too.
  static const std::byte* data(const Tensor& t) {
    static const std::byte kEmpty{};
    return t.bytes.empty() ? &kEmpty : t.bytes.data();
  }

  template <std::size_t Count, std::size_t Name, std::size_t TypeInfo>
  Status ports(std::string_view what, std::vector<Port>& into) {
    std::size_t n = 0;
    Handle allocator = nullptr;  // the default one, owned by the runtime
    GANTRY_TRY(check(api_.call<kGetAllocatorWithDefaultOptions>(&allocator)));
    GANTRY_TRY(check(api_.call<Count>(session_.get(), &n)));
    for (std::size_t i = 0; i < n; ++i) {
      Port port;
      char* name = nullptr;
      GANTRY_TRY(check(api_.call<Name>(session_.get(), i, allocator, &name)));
      port.name = name;
      GANTRY_TRY(check(api_.call<kAllocatorFree>(allocator, static_cast<void*>(name))));
      Owned<kReleaseTypeInfo> type(api_);
      GANTRY_TRY(check(api_.call<TypeInfo>(session_.get(), i, type.out())));
      int kind = 0;
      GANTRY_TRY(check(api_.call<kGetOnnxTypeFromTypeInfo>(type.get(), &kind)));
      const std::string whose = std::string("the ") + std::string(what) + " '" + port.name + "'";
      if (kind != kTensorType) {
        return error(Code::verify_runtime, whose + " is not a tensor, which cannot be compared").at(place_);
      }
      Handle info = nullptr;  // owned by `type`
      GANTRY_TRY(check(api_.call<kCastTypeInfoToTensorInfo>(type.get(), &info)));
      GANTRY_ASSIGN(port.type, tensor_type(api_, info, place_));
      if (dtype_bits(port.type.dtype) < 8) {
        return error(Code::verify_runtime, whose + " has an element type that cannot be compared").at(place_);
      }
      into.push_back(std::move(port));
    }
    return {};
  }

  Result<Tensor> read(Handle value, const std::string& name) {
    int is_tensor = 0;
    if (value) GANTRY_TRY(check(api_.call<kIsTensor>(value, &is_tensor)));
    if (!is_tensor) return error(Code::verify_runtime, "the output '" + name + "' is not there").at(place_);
    Owned<kReleaseTensorTypeAndShapeInfo> info(api_);
    GANTRY_TRY(check(api_.call<kGetTensorTypeAndShape>(value, info.out())));
    GANTRY_ASSIGN(const Type type, tensor_type(api_, info.get(), place_));
    const auto elements = type.elements();
    const auto size = elements ? packed_bytes(type.dtype, static_cast<std::uint64_t>(*elements)) : std::nullopt;
    if (!size) {
      return error(Code::verify_runtime, "the output '" + name + "' came as " + type.str()).at(place_);
    }
    Tensor tensor{type.dtype, type.sizes(), std::vector<std::byte>(*size)};
    void* bytes = nullptr;
    GANTRY_TRY(check(api_.call<kGetTensorMutableData>(value, &bytes)));
    if (*size != 0) std::memcpy(tensor.bytes.data(), bytes, *size);
    return tensor;
  }

  Api api_;
  std::shared_ptr<Owned<kReleaseEnv>> env_;
  std::string place_;
  Owned<kReleaseSession> session_;
  Owned<kReleaseMemoryInfo> memory_;
  std::vector<Port> inputs_, outputs_;
};

class OrtRuntime final : public Runtime {
 public:
  OrtRuntime(Api api, std::string version) : api_(api), version_(std::move(version)) {}

  Status start(const RuntimeOptions& options, const std::filesystem::path& library) {
    env_ = std::make_shared<Owned<kReleaseEnv>>(api_);
    const int severity = options.log_errors ? kLogError : kLogFatal;
    return check(api_, api_.call<kCreateEnv>(severity, "gantry", env_->out()), library.string());
  }

  std::string_view name() const override { return runtime_title(RuntimeKind::onnxruntime); }
  std::string_view version() const override { return version_; }

  Result<std::unique_ptr<Session>> load(const std::filesystem::path& model) override {
    auto session = std::make_unique<OrtSession>(api_, env_, model.string());
    GANTRY_TRY(session->open(model));
    return std::unique_ptr<Session>(std::move(session));
  }

 private:
  Api api_;
  std::string version_;
  std::shared_ptr<Owned<kReleaseEnv>> env_;
};

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::open_onnxruntime(const std::filesystem::path& path,
                                                           const RuntimeOptions& options) {
  GANTRY_ASSIGN(const Library library, Library::open(path));
  const ApiBase* (*get_base)() = nullptr;
  GANTRY_TRY(library.bind("OrtGetApiBase", get_base));
  const ApiBase* base = get_base();
  const void* table = base ? base->get_api(kApiVersion) : nullptr;
  if (!table) {
    return error(Code::verify_runtime, "this ONNX Runtime is older than 1.16, which Gantry needs").at(path.string());
  }
  auto runtime = std::make_unique<OrtRuntime>(Api(table), base->version());
  GANTRY_TRY(runtime->start(options, path));
  return std::unique_ptr<Runtime>(std::move(runtime));
}

}  // namespace gantry
