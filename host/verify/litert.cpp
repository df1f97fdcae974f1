// LiteRT through its C interface (litert/c/*.h of version 2.3), by name.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "host/verify/litert_api.hpp"
#include "host/verify/litert_variables.hpp"
#include "host/verify/runtime.hpp"

namespace gantry {

namespace {

using namespace litert;

class LiteRtSession final : public Session {
 public:
  LiteRtSession(const Api& api, std::shared_ptr<void> environment, std::string place)
      : api_(api), environment_(std::move(environment)), place_(std::move(place)) {}

  Status open(const std::filesystem::path& path, const RuntimeOptions& options) {
    Handle model = nullptr, settings = nullptr, compiled = nullptr;
    variables_ = ModelWithVariables::open(path);
    GANTRY_TRY(check(read_model(path, &model), "it cannot read the model"));
    model_ = Owned(model, {api_.destroy_model});
    if (variables_) variables_->put_marks_back();
    GANTRY_TRY(check(api_.create_options(&settings)));
    const Owned settings_owner(settings, {api_.destroy_options});
    GANTRY_TRY(check(api_.set_accelerators(settings, kCpu)));
    const int reporter = options.log_errors ? kReportToStderr : kReportToBuffer;
    GANTRY_TRY(add_settings(settings, "runtime_options_string", "error_reporter_mode = " + std::to_string(reporter)));
    GANTRY_TRY(add_settings(settings, "xnnpack", "num_threads = 1"));
    GANTRY_TRY(
        check(api_.create_compiled(environment_.get(), model, settings, &compiled), "it cannot prepare the model"));
    compiled_ = Owned(compiled, {api_.destroy_compiled});
    return read_signature(options.signature);
  }

  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }

  Result<std::vector<NamedTensor>> run(const std::map<std::string, Tensor>& feeds) override {
    GANTRY_TRY(check_feeds(inputs_, feeds));
    GANTRY_TRY(resize(feeds));
    GANTRY_TRY(read_output_layouts());
    std::vector<Owned> owners;
    std::vector<Handle> in, out;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& feed = feeds.at(inputs_[i].name);
      set_dims(input_types_[i].layout, feed.dims);
      in.push_back(nullptr);  // of an empty input the runtime knows all
      if (feed.bytes.empty()) continue;
      GANTRY_TRY(make_buffer(api_.input_requirements, i, input_types_[i], owners));
      in.back() = owners.back().get();
      GANTRY_TRY(fill(in.back(), feed));
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const bool empty = to_type(output_types_[i]).elements() == 0;
      GANTRY_TRY(empty ? make_spare_buffer(output_types_[i], owners)
                       : make_buffer(api_.output_requirements, i, output_types_[i], owners));
      out.push_back(owners.back().get());
    }
    GANTRY_TRY(run_marked(in, out, kMark));
    std::vector<NamedTensor> results;
    bool again = false;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      GANTRY_ASSIGN(Tensor tensor, read(out[i], output_types_[i]));
      again = again || is_marked(tensor, kMark);
      results.push_back({outputs_[i].name, std::move(tensor)});
    }
    if (again) GANTRY_TRY(must_be_written(in, out));
    return results;
  }

 private:
  int read_model(const std::filesystem::path& path, Handle* model) {
    if (!variables_) return api_.create_model(environment_.get(), path.c_str(), model);
    variables_->take_marks_out();
    return api_.create_model_of(environment_.get(), variables_->bytes().data(), variables_->bytes().size(), model);
  }

  static constexpr std::byte kMark{0xA5}, kOtherMark{0x5A};

  static bool is_marked(const Tensor& t, std::byte mark) {
    return !t.bytes.empty() && std::all_of(t.bytes.begin(), t.bytes.end(), [&](std::byte b) { return b == mark; });
  }

  /// Runs with all bytes of the outputs set to `mark`: a result whose shape the runtime finds out while it runs is put
  /// elsewhere, and the output's memory stays as it was, without an error.
  Status run_marked(std::vector<Handle>& in, std::vector<Handle>& out, std::byte mark) {
    for (Handle buffer : out) {
      std::size_t size = 0;
      void* address = nullptr;
      GANTRY_TRY(check(api_.buffer_size(buffer, &size)));
      GANTRY_TRY(check(api_.lock_buffer(buffer, &address, kWrite)));
      std::memset(address, std::to_integer<int>(mark), size);
      GANTRY_TRY(check(api_.unlock_buffer(buffer)));
    }
    return with_hint(check(api_.run(compiled_.get(), signature_, in.size(), in.data(), out.size(), out.data()),
                           "it cannot run the model"));
  }

  /// Marked twice, by two marks: then nothing was written.
  Status must_be_written(std::vector<Handle>& in, std::vector<Handle>& out) {
    GANTRY_TRY(run_marked(in, out, kOtherMark));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      GANTRY_ASSIGN(const Tensor tensor, read(out[i], output_types_[i]));
      if (!is_marked(tensor, kOtherMark)) continue;
      return error(Code::verify_runtime, "LiteRT's C interface does not give the output '" + outputs_[i].name +
                                             "', whose shape is found out while the model runs")
          .at(place_);
    }
    return {};
  }

  /// `doing` says in words what failed.
  Status check(int status, std::string_view doing = {}) const {
    if (status == kOk) return {};
    std::string text = "LiteRT: ";
    if (!doing.empty()) text += std::string(doing) + ": ";
    text += status_text(status);
    if (const std::string said = reported(); !said.empty()) text += ": " + said;
    return error(Code::verify_runtime, text).at(place_);
  }

  /// LiteRT wants memory for the outputs before it runs, and so cannot give what gets its shape only then.
  Status with_hint(Status status) const {
    if (status.ok()) return status;
    Diagnostic failed = status.take_error();
    for (const Port& port : outputs_) {
      if (port.type.is_static()) continue;
      failed.hint = "the output '" + port.name + "' is " + port.type.str() +
                    ": if its shape depends on the data, LiteRT's C interface cannot give it";
    }
    return failed;
  }

  /// What the compiled model reported since it was made, if it collects that.
  std::string reported() const {
    char* text = nullptr;
    if (!compiled_ || api_.error_messages(compiled_.get(), &text) != kOk || !text) return {};
    std::string said = text;
    std::free(text);  // NOLINT: the interface says so
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return said;
  }

  /// Options travel as TOML text under a name.
  Status add_settings(Handle settings, const char* id, const std::string& toml) {
    Handle opaque = nullptr;
    char* payload = strdup((toml + "\n").c_str());
    if (api_.create_opaque(id, payload, std::free, &opaque) != kOk) {
      std::free(payload);  // NOLINT
      return check(1, id);
    }
    return check(api_.add_opaque(settings, opaque), id);
  }

  Status find_signature(const std::string& wanted, std::size_t n) {
    if (wanted.empty()) return {};
    std::string all;
    for (signature_ = 0; signature_ < n; ++signature_) {
      Handle signature = nullptr;
      const char* key = nullptr;
      GANTRY_TRY(check(api_.signature(model_.get(), signature_, &signature)));
      GANTRY_TRY(check(api_.signature_key(signature, &key)));
      if (wanted == key) return {};
      all += (all.empty() ? "" : ", ") + std::string(key);
    }
    return error(Code::usage, "the model has no signature '" + wanted + "'").at(place_).try_this("it has " + all);
  }

  Status read_signature(const std::string& wanted) {
    std::size_t n = 0;
    Handle signature = nullptr;  // of the model
    GANTRY_TRY(check(api_.signature_count(model_.get(), &n)));
    if (n == 0) return error(Code::verify_runtime, "the model has no signature").at(place_);
    GANTRY_TRY(find_signature(wanted, n));
    GANTRY_TRY(check(api_.signature(model_.get(), signature_, &signature)));
    GANTRY_TRY(check(api_.input_count(signature, &n)));
    GANTRY_TRY(ports(signature, n, api_.input_name, api_.input_tensor, inputs_, input_types_));
    GANTRY_TRY(check(api_.output_count(signature, &n)));
    return ports(signature, n, api_.output_name, api_.output_tensor, outputs_, output_types_);
  }

  Status ports(Handle signature, std::size_t n, decltype(Api::input_name) get_name,
               decltype(Api::input_tensor) get_tensor, std::vector<Port>& into, std::vector<RankedType>& types) {
    for (std::size_t i = 0; i < n; ++i) {
      const char* name = nullptr;
      Handle tensor = nullptr;  // of the model
      RankedType type;
      GANTRY_TRY(check(get_name(signature, i, &name)));
      GANTRY_TRY(check(get_tensor(signature, i, &tensor)));
      GANTRY_TRY(check(api_.ranked_type(tensor, &type), "its type"));
      into.push_back({name, to_type(type)});
      types.push_back(type);
      if (into.back().type.dtype == DType::undefined) {
        return error(Code::verify_runtime, "'" + into.back().name + "' has an element type that cannot be compared")
            .at(place_);
      }
    }
    return {};
  }

  /// Tells the runtime the sizes of dimensions that the model leaves open.
  Status resize(const std::map<std::string, Tensor>& feeds) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].type.is_static()) continue;
      const Tensor& feed = feeds.at(inputs_[i].name);
      const std::vector<int> dims(feed.dims.begin(), feed.dims.end());
      GANTRY_TRY(check(api_.resize_input(compiled_.get(), signature_, i, dims.data(), dims.size()),
                       "it cannot make the input '" + inputs_[i].name + "' " + feed.type_text()));
    }
    return {};
  }

  Status read_output_layouts() {
    std::vector<Layout> layouts(outputs_.size());
    GANTRY_TRY(check(api_.output_layouts(compiled_.get(), signature_, layouts.size(), layouts.data(), true),
                     "it cannot allocate the tensors"));
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      if (layouts[i].rank() > kMaxRank) {
        return error(Code::verify_runtime, "the output '" + outputs_[i].name + "' has more than 8 dimensions")
            .at(place_);
      }
      output_types_[i].layout = layouts[i];
    }
    return {};
  }

  Status make_buffer(decltype(Api::input_requirements) get_requirements, std::size_t index, const RankedType& type,
                     std::vector<Owned>& owners) {
    Handle requirements = nullptr, buffer = nullptr;  // the first is of the compiled model
    GANTRY_TRY(check(get_requirements(compiled_.get(), signature_, index, &requirements)));
    GANTRY_TRY(check(api_.create_buffer(environment_.get(), &type, requirements, &buffer),
                     "it cannot make a buffer for a " + to_type(type).str()));
    owners.emplace_back(buffer, Destroy{api_.destroy_buffer});
    return {};
  }

  /// For an empty output: LiteRT wants a buffer, and makes none of 0 bytes.
  Status make_spare_buffer(RankedType type, std::vector<Owned>& owners) {
    Handle buffer = nullptr;
    set_dims(type.layout, {1});
    constexpr std::size_t kBytes = 64;
    GANTRY_TRY(check(api_.create_sized_buffer(environment_.get(), kHostMemory, &type, kBytes, &buffer)));
    owners.emplace_back(buffer, Destroy{api_.destroy_buffer});
    return {};
  }

  Status fill(Handle buffer, const Tensor& feed) {
    std::size_t size = 0;
    void* address = nullptr;
    GANTRY_TRY(check(api_.buffer_size(buffer, &size)));
    if (size != feed.bytes.size()) {
      return error(Code::verify_runtime,
                   "LiteRT made a buffer of " + std::to_string(size) + " bytes for a " + feed.type_text())
          .at(place_);
    }
    GANTRY_TRY(check(api_.lock_buffer(buffer, &address, kWrite)));
    std::memcpy(address, feed.bytes.data(), size);
    return check(api_.unlock_buffer(buffer));
  }

  Result<Tensor> read(Handle buffer, const RankedType& ranked) {
    const Type type = to_type(ranked);
    const auto elements = type.elements();
    if (elements == 0) return Tensor{type.dtype, type.sizes(), {}};
    std::size_t size = 0;
    void* address = nullptr;
    GANTRY_TRY(check(api_.buffer_size(buffer, &size)));
    const auto wanted = elements ? packed_bytes(type.dtype, static_cast<std::uint64_t>(*elements)) : std::nullopt;
    if (wanted != size) {
      return error(Code::verify_runtime, "LiteRT gave " + std::to_string(size) + " bytes for a " + type.str())
          .at(place_);
    }
    Tensor tensor{type.dtype, type.sizes(), std::vector<std::byte>(size)};
    GANTRY_TRY(check(api_.lock_buffer(buffer, &address, kRead)));
    std::memcpy(tensor.bytes.data(), address, size);
    GANTRY_TRY(check(api_.unlock_buffer(buffer)));
    return tensor;
  }

  Api api_;
  std::shared_ptr<void> environment_;
  std::string place_;
  std::size_t signature_ = 0;                      // that is run
  std::unique_ptr<ModelWithVariables> variables_;  // outlives the model
  Owned model_, compiled_;                         // destroyed in the reverse order
  std::vector<Port> inputs_, outputs_;
  std::vector<RankedType> input_types_, output_types_;
};

class LiteRtRuntime final : public Runtime {
 public:
  LiteRtRuntime(const Api& api, std::string version, RuntimeOptions options)
      : api_(api), version_(std::move(version)), options_(options) {}

  Status start(const std::filesystem::path& library) {
    const EnvironmentOption settings[] = {
        {.tag = EnvironmentOption::kMinLoggerSeverity, .value = options_.log_errors ? kLogError : kLogSilent},
        {.tag = EnvironmentOption::kAutoRegisterAccelerators, .value = kCpu}};
    Handle environment = nullptr;
    if (const int status = api_.create_environment(std::size(settings), settings, &environment); status != kOk) {
      return error(Code::verify_runtime, "LiteRT does not start: " + status_text(status)).at(library.string());
    }
    environment_ = std::shared_ptr<void>(environment, api_.destroy_environment);
    return {};
  }

  std::string_view name() const override { return runtime_title(RuntimeKind::litert); }
  std::string_view version() const override { return version_; }

  Result<std::unique_ptr<Session>> load(const std::filesystem::path& model) override {
    auto session = std::make_unique<LiteRtSession>(api_, environment_, model.string());
    GANTRY_TRY(session->open(model, options_));
    return std::unique_ptr<Session>(std::move(session));
  }

 private:
  Api api_;
  std::string version_;
  RuntimeOptions options_;
  std::shared_ptr<void> environment_;
};

/// The library does not tell its version: it is that of the wheel around it, or in a file <library>.version beside it.
std::string find_version(const std::filesystem::path& library) {
  namespace fs = std::filesystem;
  std::string version;
  std::ifstream beside(library.string() + ".version");
  if (beside && std::getline(beside, version) && version.size() < 32) return version;
  std::error_code ec;
  const fs::path real = fs::canonical(library, ec);
  const std::string prefix = "ai_edge_litert-", suffix = ".dist-info";
  for (fs::directory_iterator it(real.parent_path().parent_path(), ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix)) {
      return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::open_litert(const std::filesystem::path& path,
                                                      const RuntimeOptions& options) {
  GANTRY_ASSIGN(const Library library, Library::open(path));
  Api api{};
  GANTRY_TRY(bind(library, api));
  auto runtime = std::make_unique<LiteRtRuntime>(api, find_version(path), options);
  GANTRY_TRY(runtime->start(path));
  return std::unique_ptr<Runtime>(std::move(runtime));
}

}  // namespace gantry
