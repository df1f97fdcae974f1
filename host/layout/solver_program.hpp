// The integer program, by the HiGHS library, if there is one. Private to host/layout/solver*.cpp and its tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/layout/solver_model.hpp"

namespace gantry::layout::solver {

class Highs {
 public:
  /// Opens the library, which stays open until the process ends. Null if it is not there or not usable.
  static std::unique_ptr<Highs> open(const std::string& path);
  ~Highs();
  Highs(const Highs&) = delete;
  Highs& operator=(const Highs&) = delete;

  /// Exact up to the tolerances of HiGHS if it ends within the time (seconds); else the best labelling, if any, and the
  /// bound so far. Nothing if the model is too large or HiGHS fails.
  std::optional<Answer> solve(const Model& m, double seconds) const;

 private:
  struct Api;
  explicit Highs(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
};

}  // namespace gantry::layout::solver
