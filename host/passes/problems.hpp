// Errors of many nodes, equal ones as one diagnostic with the nodes' names. Private to host/passes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"
#include "host/report/report.hpp"

namespace gantry::passes {

class Problems {
 public:
  /// `what` has the node's name and the operator. Problems with one operator and message are one.
  void add(Diagnostic what);
  /// Puts them into the report in order of appearance. Returns the first, or success if there is none.
  Status report(Report& r) const;

 private:
  struct Problem {
    Diagnostic what;
    std::vector<std::string> nodes;  // the first few
    std::size_t count = 0;
  };
  std::vector<Problem> problems_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace gantry::passes
