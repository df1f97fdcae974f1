// Names of files that are being written aside. What ends normally removes its own file; what a signal ends (Ctrl-C) can
// have them all removed. The one piece of global state that a signal handler cannot do without.
#pragma once

#include <filesystem>
#include <string>

namespace gantry {

/// Registers a file while it lives. Registers nothing if too many are registered already.
class TemporaryName {
 public:
  explicit TemporaryName(const std::filesystem::path& path);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&&) = delete;
  ~TemporaryName() { forget(); }
  /// The file is gone, or has its final name.
  void forget();

 private:
  int slot_ = -1;
};

/// Removes every registered file. Safe in a signal handler.
void remove_temporary_files();

}  // namespace gantry
