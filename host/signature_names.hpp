// Names that users give, of inputs of one signature or of all: "NAME", or "SIGNATURE:NAME".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gantry {

class SignatureNames {
 public:
  explicit SignatureNames(std::set<std::string> signatures) : signatures_(std::move(signatures)) {}

  std::size_t size() const { return signatures_.size(); }
  /// The signature before the first colon, "" if none is named: names of inputs may have colons too.
  std::string owner(const std::string& name) const {
    const std::string first = name.substr(0, name.find(':'));
    return first.size() < name.size() && signatures_.contains(first) ? first : std::string();
  }

  using Shapes = std::map<std::string, std::vector<std::int64_t>>;
  /// Those that are for a signature, under the names of its inputs. The more exact one wins.
  Shapes shapes_of(const std::string& signature, const Shapes& all) const {
    Shapes mine;
    for (const auto& [name, sizes] : all)
      if (owner(name).empty()) mine[name] = sizes;
    for (const auto& [name, sizes] : all)
      if (owner(name) == signature) mine[name.substr(signature.size() + 1)] = sizes;
    return mine;
  }

 private:
  std::set<std::string> signatures_;
};

}  // namespace gantry
