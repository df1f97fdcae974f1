// Which rows of which manifests are about an operator. Private to host/plugins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "host/plugins/registry.hpp"

namespace gantry::plugins {

/// An operator whatever its version.
struct OpName {
  std::string_view dialect, domain, name;
  OpName(std::string_view dialect_, std::string_view domain_, std::string_view name_)
      : dialect(dialect_), domain(domain_), name(name_) {}
  explicit OpName(const Op& op) : OpName(op.dialect, op.domain, op.name) {}
  bool operator==(const OpName&) const = default;
};
struct OpNameHash {
  std::size_t operator()(const OpName& n) const noexcept {
    const std::hash<std::string_view> hash;
    return (hash(n.name) * 31 + hash(n.domain)) * 31 + hash(n.dialect);
  }
};

/// A hash table with chains, of indices: a hundred manifests of hundreds of rows go in within a millisecond.
class ManifestIndex {
 public:
  /// The manifests must stay where they are.
  explicit ManifestIndex(const std::vector<Manifest>& manifests);

  struct Hit {
    std::size_t manifest;
    const ManifestRow* row;
  };
  /// Rows of the operator, patterns by their root; in the order of the manifests, then of the rows.
  std::vector<Hit> find(const OpName& op) const;

 private:
  struct Entry {
    const ManifestRow* row;
    std::uint32_t manifest, next;  // next entry of the chain; kNone = last
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::size_t slot(const OpName& op) const { return OpNameHash{}(op) & (heads_.size() - 1); }

  std::vector<std::uint32_t> heads_;  // a power of two
  std::vector<Entry> entries_;
};

/// Whether a since-version is among those of the row.
inline bool covers(const ManifestRow& row, int version) {
  return version >= row.min_version && (row.max_version == 0 || version <= row.max_version);
}

}  // namespace gantry::plugins
