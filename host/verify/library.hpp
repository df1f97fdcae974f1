// A shared library that is opened by hand. For the runtimes only; plugins have their own loader.
#pragma once

#include <filesystem>
#include <string>

#include "host/ir/result.hpp"
#include "host/verify/runtime.hpp"

namespace gantry {

class Library {
 public:
  /// Opens with RTLD_NOW | RTLD_LOCAL, and never closes. Errors: verify_runtime with the loader's reason.
  static Result<Library> open(const std::filesystem::path& path);

  /// Fills `function` with the address of `symbol`. Errors: verify_runtime, if there is none.
  template <class F>
  Status bind(const char* symbol, F*& function) const {
    void* address = find(symbol);
    if (!address) return missing(symbol);
    function = reinterpret_cast<F*>(address);
    return {};
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  void* find(const char* symbol) const;
  Diagnostic missing(const char* symbol) const;

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

/// Checks that `feeds` holds a tensor for each port, of its type and of dimensions that fit, and of as many bytes as
/// its dimensions say. Errors: verify_runtime, naming the input.
Status check_feeds(const std::vector<Port>& inputs, const std::map<std::string, Tensor>& feeds);

}  // namespace gantry
