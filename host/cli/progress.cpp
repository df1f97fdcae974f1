#include "host/cli/progress.hpp"

#include <cstdio>
#include <string>
#include <unistd.h>

namespace gantry::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(bool wanted) : enabled_(wanted && isatty(STDERR_FILENO) != 0) {}

void Progress::update(std::string_view stage, std::size_t done, std::size_t total) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now - began_ < kPatience || now - last_ < kInterval) return;
  last_ = now;
  drawn_ = true;
  std::string line = "\r\x1b[K" + std::string(stage);
  if (total > 0) line += " " + std::to_string(done) + "/" + std::to_string(total);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void Progress::clear() {
  if (!drawn_) return;
  drawn_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace gantry::cli
