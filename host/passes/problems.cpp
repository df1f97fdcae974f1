#include "host/passes/problems.hpp"

#include <optional>
#include <utility>

namespace gantry::passes {
namespace {

constexpr std::size_t kNamesListed = 5;

}  // namespace

void Problems::add(Diagnostic what) {
  std::string name = what.node.empty() ? "(no name)" : what.node;
  const auto [it, added] = index_.emplace(what.op + '\n' + what.message, problems_.size());
  if (added) problems_.push_back({std::move(what), {}, 0});
  Problem& p = problems_[it->second];
  ++p.count;
  if (p.nodes.size() < kNamesListed) p.nodes.push_back(std::move(name));
}

Status Problems::report(Report& r) const {
  std::optional<Diagnostic> first;
  for (const Problem& p : problems_) {
    r.unconverted_nodes += p.count;
    Diagnostic d = p.what;
    if (p.count > 1) {
      std::string names;
      for (const std::string& name : p.nodes) names.append(names.empty() ? "" : ", ").append(name);
      if (p.count > p.nodes.size()) names += " and " + std::to_string(p.count - p.nodes.size()) + " more";
      d.message += "; " + std::to_string(p.count) + " nodes: " + names;
    }
    if (!first) first = d;
    r.add(std::move(d));
  }
  return first ? Status(*std::move(first)) : Status{};
}

}  // namespace gantry::passes
