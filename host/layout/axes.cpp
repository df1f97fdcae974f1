#include "host/layout/axes.hpp"

namespace gantry::layout {
namespace {

/// Whether the boundaries divide each other up to n: then they are the suffix products of one list of factors.
bool nests(const std::set<std::int64_t>& boundaries, std::int64_t n) {
  std::int64_t last = 1;
  for (std::int64_t b : boundaries) {
    if (b % last != 0) return false;
    last = b;
  }
  return n % last == 0;
}

}  // namespace

Axes::Axes(const Graph& g) : graph_(g) {
  std::size_t n = 0;
  for (std::uint32_t v = 0; v < g.value_slots(); ++v) {
    first_.push_back(n);
    if (g.contains(ValueId{v})) n += g.value(ValueId{v}).type.dims.size();
  }
  for (std::size_t i = 0; i < n; ++i) parent_.push_back(i);
  cuts_.resize(n);
}

std::size_t Axes::find(AxisOf a) const {
  std::size_t i = first_[a.value.index] + static_cast<std::size_t>(a.axis);
  while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
  return i;
}

void Axes::tie(AxisOf a, AxisOf b) {
  if (size(a) != size(b) || size(a) == 1) return;
  parent_[find(a)] = find(b);
}

void Axes::tie_partly(std::vector<AxisOf> axes, std::int64_t grain) { partials_.push_back({std::move(axes), grain}); }

void Axes::view(ValueId x, ValueId y) { views_.push_back({x, y}); }

/// Suffix products of all atoms of a value: the places in its row-major index where it is cut.
bool Axes::boundaries(ValueId v, std::set<std::int64_t>& out) const {
  std::int64_t product = 1;
  const auto& dims = graph_.value(v).type.dims;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::int64_t d = dims[i].size;
    if (d > 1) {
      for (std::int64_t c : cuts_[find({v, static_cast<int>(i)})]) out.insert(c * product);
      product *= d;
      out.insert(product);
    }
  }
  out.erase(1);
  return true;
}

/// What boundaries inside v's axes mean as cuts of those axes; false if one does not fall on a divisor.
bool Axes::push(ValueId v, const std::set<std::int64_t>& at,
                std::map<std::pair<std::size_t, std::int64_t>, std::set<std::int64_t>>& add) const {
  std::int64_t product = 1;
  const auto& dims = graph_.value(v).type.dims;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::int64_t d = dims[i].size;
    if (d > 1) {
      const std::size_t root = find({v, static_cast<int>(i)});
      for (auto it = at.upper_bound(product); it != at.end() && *it < product * d; ++it) {
        if (*it % product || product * d % *it) return false;
        add[{root, d}].insert(*it / product);
      }
      product *= d;
    }
  }
  return true;
}

/// Cuts both sides of a view alike; true if something was added. `wall` is set where that cannot be.
bool Axes::refine_view(const View& v, bool& wall) {
  std::set<std::int64_t> x, y;
  boundaries(v.x, x);
  boundaries(v.y, y);
  if (x == y) return false;
  x.merge(y);
  const std::int64_t n = x.empty() ? 1 : *x.rbegin();
  std::map<std::pair<std::size_t, std::int64_t>, std::set<std::int64_t>> add;
  if (!nests(x, n) || !push(v.x, x, add) || !push(v.y, x, add)) return wall = true;
  for (auto& [key, cuts] : add) {
    std::set<std::int64_t> all = cuts;
    all.insert(cuts_[key.first].begin(), cuts_[key.first].end());
    if (!nests(all, key.second)) return wall = true;
  }
  bool changed = false;
  for (auto& [key, cuts] : add)
    for (std::int64_t c : cuts) changed |= cuts_[key.first].insert(c).second;
  return changed;
}

bool Axes::refine_partial(const Partial& p) {
  std::set<std::int64_t> shared;
  for (const AxisOf& a : p.axes)
    for (std::int64_t c : cuts(a))
      if (p.grain % c == 0) shared.insert(c);
  if (shared.empty()) return false;
  bool changed = false;
  for (const AxisOf& a : p.axes) {
    const std::int64_t d = size(a);
    if (d <= 1) continue;
    std::set<std::int64_t>& own = cuts_[find(a)];
    std::set<std::int64_t> all = own;
    for (std::int64_t c : shared)
      if (c < d && d % c == 0) all.insert(c);
    if (all.size() == own.size() || !nests(all, d)) continue;
    own = std::move(all);
    changed = true;
  }
  return changed;
}

void Axes::refine() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const View& v : views_) {
      if (walls_.contains(v.y)) continue;
      bool wall = false;
      changed |= refine_view(v, wall);
      if (wall) walls_.insert(v.y);
    }
    for (const Partial& p : partials_) changed |= refine_partial(p);
  }
}

std::set<std::int64_t> Axes::cuts(AxisOf a) const { return size(a) <= 1 ? std::set<std::int64_t>{} : cuts_[find(a)]; }

std::vector<Atom> Axes::atoms(ValueId v) const {
  std::vector<Atom> out;
  const auto& dims = graph_.value(v).type.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t d = dims[i].size;
    if (d == 1) continue;
    std::vector<std::int64_t> at{1};
    for (std::int64_t c : cuts({v, static_cast<int>(i)})) at.push_back(c);
    at.push_back(d);
    for (std::size_t k = at.size() - 1; k-- > 0;)
      out.push_back({static_cast<int>(i), at[k], d < 0 ? -1 : at[k + 1] / at[k]});
  }
  return out;
}

}  // namespace gantry::layout
