#include "host/plugins/index.hpp"

#include <bit>
#include <ranges>

namespace gantry::plugins {

ManifestIndex::ManifestIndex(const std::vector<Manifest>& manifests) {
  std::size_t rows = 0;
  for (const Manifest& m : manifests) rows += m.rows.size();
  heads_.assign(std::bit_ceil(rows + 1), kNone);
  entries_.reserve(rows);
  // From the last to the first, each before its chain: so a chain is in order.
  for (std::size_t m = manifests.size(); m-- > 0;) {
    for (const ManifestRow& row : std::views::reverse(manifests[m].rows)) {
      std::uint32_t& head = heads_[slot({row.dialect, row.domain, row.op})];
      entries_.push_back({&row, static_cast<std::uint32_t>(m), head});
      head = static_cast<std::uint32_t>(entries_.size() - 1);
    }
  }
}

std::vector<ManifestIndex::Hit> ManifestIndex::find(const OpName& op) const {
  std::vector<Hit> hits;
  for (std::uint32_t i = heads_[slot(op)]; i != kNone; i = entries_[i].next) {
    const Entry& e = entries_[i];
    if (e.row->op == op.name && e.row->domain == op.domain && e.row->dialect == op.dialect) {
      hits.push_back({e.manifest, e.row});
    }
  }
  return hits;
}

}  // namespace gantry::plugins
