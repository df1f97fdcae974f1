// One line of progress on stderr: only on a terminal, and only when the work takes more than a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace gantry::cli {

class Progress {
 public:
  explicit Progress(bool wanted);
  void update(std::string_view stage, std::size_t done, std::size_t total);
  /// Takes the line away, before anything else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace gantry::cli
