// The log: stderr for people, a file with times if asked for. spdlog does the work and stays inside.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "host/ir/result.hpp"

namespace gantry::cli {

enum class Level { debug, info, warning, error };

/// "debug", "info", "warning", "error" (the choices of log.level).
Level level_from_name(std::string_view name);

class Log {
 public:
  Log();
  ~Log();
  /// Level of stderr; the file holds what is at least info, and all that stderr holds.
  void set_level(Level level);
  /// Errors: output_not_written.
  Status open_file(const std::filesystem::path& path);
  void write(Level level, std::string_view text);
  /// To both, whatever the level: the last line.
  void write_always(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry::cli
