#include "host/cli/log.hpp"

#include <algorithm>
#include <system_error>

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace gantry::cli {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

struct Log::Impl {
  std::shared_ptr<spdlog::sinks::stderr_sink_st> terminal = std::make_shared<spdlog::sinks::stderr_sink_st>();
  spdlog::logger logger{"gantry", terminal};
};

Level level_from_name(std::string_view name) {
  if (name == "debug") return Level::debug;
  if (name == "info") return Level::info;
  if (name == "warning") return Level::warning;
  return Level::error;
}

Log::Log() : impl_(std::make_unique<Impl>()) {
  impl_->logger.set_pattern("%v");
  impl_->logger.set_level(spdlog::level::trace);               // the sinks choose
  impl_->logger.set_error_handler([](const std::string&) {});  // a full disk is no reason to stop, nor to complain
  set_level(Level::warning);
}

Log::~Log() = default;

void Log::set_level(Level level) {
  impl_->terminal->set_level(spdlog_level(level));
  for (const auto& sink : impl_->logger.sinks())
    if (sink != impl_->terminal) sink->set_level(std::min(spdlog_level(level), spdlog::level::info));
}

Status Log::open_file(const std::filesystem::path& path) {
  const Diagnostic failed =
      error(Code::output_not_written, "cannot write the log file " + path.string()).at(path.string());
  std::error_code ec;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ec))  // spdlog would make it
    return Diagnostic(failed).try_this("make the folder " + folder.string() + " first");
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_st>(path.string(), true);
    file->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
    file->set_level(std::min(impl_->terminal->level(), spdlog::level::info));
    impl_->logger.sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex& e) {
    return Diagnostic(failed).try_this(e.what());
  }
  return {};
}

void Log::write(Level level, std::string_view text) {
  impl_->logger.log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
  impl_->logger.flush();
}

void Log::write_always(std::string_view text) {
  impl_->logger.log(spdlog::level::critical, spdlog::string_view_t(text.data(), text.size()));
  impl_->logger.flush();
}

}  // namespace gantry::cli
