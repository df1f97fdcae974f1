#include "host/cli/progress.hpp"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

namespace gantry::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr const char* kClearLine = "\r\x1b[K";

/// Not by stdio, whose lock a fork might copy.
void write_raw(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nothing is lost
}

}  // namespace

struct Ticker::State {
  std::string what;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, drawn = false;
  std::thread thread;

  void run() {
    char line[160];
    std::unique_lock lock(mutex);
    for (int seconds = 1; !changed.wait_for(lock, kPatience, [&] { return done; }); ++seconds) {
      const int n = std::snprintf(line, sizeof line, "%s%.120s, %d s", kClearLine, what.c_str(), seconds);
      write_raw({line, static_cast<std::size_t>(n)});
      drawn = true;
    }
  }
};

Ticker::Ticker(bool enabled, std::string what) {
  if (!enabled) return;
  state_ = std::make_unique<State>();
  state_->what = std::move(what);
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

Ticker::~Ticker() {
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->done = true;
  }
  state_->changed.notify_one();
  state_->thread.join();
  if (state_->drawn) write_raw(kClearLine);
}

Progress::Progress(bool wanted) : enabled_(wanted && isatty(STDERR_FILENO) != 0) {}

void Progress::update(std::string_view stage, std::size_t done, std::size_t total) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now - began_ < kPatience || now - last_ < kInterval) return;
  last_ = now;
  drawn_ = true;
  std::string line = kClearLine + std::string(stage);
  if (total > 0) line += " " + std::to_string(done) + "/" + std::to_string(total);
  write_raw(line);
}

void Progress::clear() {
  if (!drawn_) return;
  drawn_ = false;
  write_raw(kClearLine);
}

}  // namespace gantry::cli
