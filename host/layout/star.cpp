#include "host/layout/star.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace gantry::layout {
namespace {

constexpr std::size_t kMaxLabels = 256;

std::vector<std::size_t> distinct(const std::vector<std::size_t>& forms) {
  const std::set<std::size_t> s(forms.begin(), forms.end());
  return {s.begin(), s.end()};
}

/// Subsets of `forms` of at most `most` elements, the empty one first.
std::vector<std::vector<std::size_t>> subsets(const std::vector<std::size_t>& forms, std::size_t most) {
  std::vector<std::vector<std::size_t>> out{{}};
  for (std::size_t begin = 0, size = 1; size <= most && size <= forms.size(); ++size) {
    const std::size_t end = out.size();
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t f : forms)
        if (out[i].empty() || f > out[i].back()) {
          out.push_back(out[i]);
          out.back().push_back(f);
        }
    begin = end;
  }
  return out;
}

/// How many subsets of at most `most` of n elements there are, as far as it matters here.
std::size_t subset_count(std::size_t n, std::size_t most) {
  std::size_t sum = 1, term = 1;
  for (std::size_t k = 1; k <= most && k <= n && sum <= kMaxLabels; ++k) {
    term = term * (n - k + 1) / k;
    sum += term;
  }
  return sum;
}

/// price() of each pair of a made form and any form, asked once; nothing is paid for the form that was made.
class Prices {
 public:
  Prices(const std::vector<std::size_t>& made, const std::vector<Port>& readers,
         const std::function<Cost(std::size_t, std::size_t)>& price) {
    for (const Port& r : readers)
      for (std::size_t f : r.form) columns_ = std::max(columns_, f + 1);
    row_.resize(made.empty() ? 0 : made.back() + 1);
    std::vector<char> read(columns_, 0);
    for (const Port& r : readers)
      for (std::size_t f : r.form) read[f] = 1;
    for (std::size_t a : made) {
      row_[a] = table_.size();
      for (std::size_t b = 0; b < columns_; ++b) table_.push_back(a == b || !read[b] ? 0 : price(a, b));
    }
  }
  Cost operator()(std::size_t made, std::size_t read) const { return table_[row_[made] + read]; }

 private:
  std::size_t columns_ = 0;
  std::vector<std::size_t> row_;
  std::vector<Cost> table_;
};

struct HubLabel {
  std::size_t made;
  std::vector<std::size_t> copies;
};

}  // namespace

bool add_star(Problem& p, const Port& maker, const std::vector<Port>& readers,
              const std::function<Cost(std::size_t, std::size_t)>& price_of, Beyond beyond) {
  if (readers.empty()) return true;
  const std::vector<std::size_t> made = distinct(maker.form);
  const Prices price(made, readers, price_of);
  if (readers.size() == 1) {
    std::vector<Cost> table;
    for (std::size_t a : maker.form)
      for (std::size_t b : readers[0].form) table.push_back(price(a, b));
    p.add_pair(maker.variable, readers[0].variable, std::move(table));
    return true;
  }
  // A copy is worth sharing only if two readers can take it.
  std::vector<std::size_t> once, shared;
  for (const Port& r : readers)
    for (std::size_t f : distinct(r.form)) once.push_back(f);
  std::sort(once.begin(), once.end());
  for (std::size_t i = 1; i < once.size(); ++i)
    if (once[i] == once[i - 1] && (shared.empty() || shared.back() != once[i])) shared.push_back(once[i]);
  std::size_t most = shared.size();
  while (most > 1 && made.size() * subset_count(shared.size(), most) > kMaxLabels) --most;

  std::vector<HubLabel> labels;
  std::vector<Cost> costs;
  for (std::size_t m : made) {
    std::vector<std::size_t> others;
    for (std::size_t f : shared)
      if (f != m && price(m, f) < kForbidden) others.push_back(f);
    for (std::vector<std::size_t>& copies : subsets(others, most)) {
      Cost sum = 0;
      for (std::size_t f : copies) sum += price(m, f);
      costs.push_back(sum);
      labels.push_back({m, std::move(copies)});
    }
    if (beyond == Beyond::too_cheap && others.size() > most) {
      std::vector<Cost> prices;
      for (std::size_t f : others) prices.push_back(price(m, f));
      std::ranges::sort(prices);
      costs.push_back(std::accumulate(prices.begin(), prices.begin() + static_cast<std::ptrdiff_t>(most) + 1, Cost{0}));
      labels.push_back({m, std::move(others)});
    }
  }
  const std::size_t hub = p.add_variable(costs);
  std::vector<Cost> made_table;
  for (const HubLabel& l : labels)
    for (std::size_t f : maker.form) made_table.push_back(f == l.made ? 0 : kForbidden);
  p.add_pair(hub, maker.variable, std::move(made_table));
  for (const Port& r : readers) {
    std::vector<Cost> table;
    for (const HubLabel& l : labels)
      for (std::size_t f : r.form) {
        const bool there = f == l.made || std::binary_search(l.copies.begin(), l.copies.end(), f);
        table.push_back(there ? 0 : price(l.made, f));
      }
    p.add_pair(hub, r.variable, std::move(table));
  }
  return most == shared.size();
}

}  // namespace gantry::layout
