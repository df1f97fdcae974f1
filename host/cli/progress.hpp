// One line of progress on stderr: only on a terminal, and only when the work takes more than a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace gantry::cli {

/// Counts seconds on the line while it lives, for work that does not report any progress. It has a thread that holds
/// no lock of any other, so that the work may fork.
class Ticker {
 public:
  Ticker(bool enabled, std::string what);
  ~Ticker();  // takes the line away
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Progress {
 public:
  explicit Progress(bool wanted);
  void update(std::string_view stage, std::size_t done, std::size_t total);
  /// Takes the line away, before anything else is printed.
  void clear();
  Ticker ticker(std::string what) const { return Ticker(enabled_, std::move(what)); }

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace gantry::cli
