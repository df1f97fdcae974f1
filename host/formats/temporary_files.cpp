#include "host/formats/temporary_files.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace gantry {
namespace {

constexpr std::size_t kMost = 16, kLongest = 4096;

struct Slot {
  std::atomic<bool> taken{false}, ready{false};
  std::array<char, kLongest> path{};
};

// A handler reads it at any time: `ready` is set when the path is whole.
std::array<Slot, kMost>& slots() {
  static constinit std::array<Slot, kMost> all;
  return all;
}

}  // namespace

TemporaryName::TemporaryName(const std::filesystem::path& path) {
  std::error_code ec;
  const std::string full = std::filesystem::absolute(path, ec).string();
  if (ec || full.size() >= kLongest) return;
  for (std::size_t i = 0; i < kMost; ++i) {
    Slot& s = slots()[i];
    if (s.taken.exchange(true)) continue;
    std::memcpy(s.path.data(), full.c_str(), full.size() + 1);
    s.ready = true;
    slot_ = static_cast<int>(i);
    return;
  }
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

void TemporaryName::forget() {
  if (slot_ < 0) return;
  Slot& s = slots()[static_cast<std::size_t>(slot_)];
  s.ready = false;
  s.taken = false;
  slot_ = -1;
}

void remove_temporary_files() {
  for (Slot& s : slots())
    if (s.ready) ::unlink(s.path.data());
}

}  // namespace gantry
