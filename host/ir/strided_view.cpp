#include "host/ir/strided_view.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace gantry::detail {
namespace {

// A collapsed view of n > 0 elements has no dimension below 2, so at most 62 of them.
constexpr std::size_t kMaxRank = 64;

// A box of elements to copy. `width` is what is copied at once: an element, or a run of them.
struct Box {
  const std::byte* base = nullptr;
  std::int64_t width = 1;
  std::size_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims, strides, out_strides;
};

// Walks all index tuples of dimensions [0, rank) of a box, except those in `skip`, and calls
// f(source, destination) for each.
template <class F>
void for_each_outer(const Box& b, std::size_t skip_a, std::size_t skip_b, std::byte* out, F f) {
  std::array<std::size_t, kMaxRank> axes;
  std::array<std::int64_t, kMaxRank> index;
  std::size_t n = 0;
  for (std::size_t i = 0; i < b.rank; ++i) {
    if (i == skip_a || i == skip_b) continue;
    index[n] = 0;
    axes[n++] = i;
  }
  const std::byte* src = b.base;
  while (true) {
    f(src, out);
    std::size_t k = n;
    while (k > 0) {
      const std::size_t axis = axes[k - 1];
      src += b.strides[axis];
      out += b.out_strides[axis];
      if (++index[k - 1] < b.dims[axis]) break;
      src -= b.strides[axis] * b.dims[axis];
      out -= b.out_strides[axis] * b.dims[axis];
      index[--k] = 0;
    }
    if (k == 0) return;
  }
}

template <class Unit>
Unit load(const std::byte* p) {
  Unit u;
  std::memcpy(&u, p, sizeof(Unit));
  return u;
}

template <class Unit>
void store(std::byte* p, Unit u) {
  std::memcpy(p, &u, sizeof(Unit));
}

// Units without an integer type: short runs, complex numbers.
template <std::size_t kSize>
struct Bytes {
  std::array<std::byte, kSize> bytes;
};

// 16 bytes of units, for the compiler to keep in one register.
template <class Unit>
struct Lanes {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(Unit));
  typedef Unit Vector __attribute__((vector_size(16)));
};

// a0 b0 a1 b1 ... of the lower or the upper halves.
template <class Unit, std::size_t... kLane>
void interleave(typename Lanes<Unit>::Vector a, typename Lanes<Unit>::Vector b, typename Lanes<Unit>::Vector& low,
                typename Lanes<Unit>::Vector& high, std::index_sequence<kLane...>) {
  constexpr std::size_t n = sizeof...(kLane);
  low = __builtin_shufflevector(a, b, (kLane / 2 + (kLane % 2 == 0 ? 0 : n))...);
  high = __builtin_shufflevector(a, b, (n / 2 + kLane / 2 + (kLane % 2 == 0 ? 0 : n))...);
}

// out[r][c] = src[c][r] for a square of Lanes::kCount units on a side: log2 rounds, in each of which rows i and
// i + half are interleaved. Rows of src and out are the strides apart and dense.
template <class Unit>
void transpose_square(const std::byte* src, std::int64_t src_stride, std::byte* out, std::int64_t out_stride) {
  constexpr int kCount = Lanes<Unit>::kCount;
  typename Lanes<Unit>::Vector rows[kCount], next[kCount];
  for (int i = 0; i < kCount; ++i) std::memcpy(&rows[i], src + i * src_stride, 16);
  for (int round = 1; round < kCount; round *= 2) {
    for (int i = 0; i < kCount / 2; ++i) {
      interleave<Unit>(rows[i], rows[i + kCount / 2], next[2 * i], next[2 * i + 1], std::make_index_sequence<kCount>{});
    }
    for (int i = 0; i < kCount; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < kCount; ++i) std::memcpy(out + i * out_stride, &rows[i], 16);
}

// A rectangle of out: unit (r, c) comes from src + r * row_stride + c * column_stride.
struct Tile {
  const std::byte* src;
  std::int64_t row_stride, column_stride, rows, columns;
  std::byte* out;
  std::int64_t out_row_stride;
};

template <class Unit>
void copy_tile(const Tile& t) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Unit));
  if constexpr (std::is_integral_v<Unit>) {
    constexpr std::int64_t kSquare = Lanes<Unit>::kCount;
    if (t.row_stride == kSize && t.rows >= kSquare && t.columns >= kSquare) {
      // The last squares overlap those before them, so that nothing remains at the ends.
      for (std::int64_t r = 0; r < t.rows; r += kSquare) {
        const std::int64_t at_r = std::min(r, t.rows - kSquare);
        for (std::int64_t c = 0; c < t.columns; c += kSquare) {
          const std::int64_t at_c = std::min(c, t.columns - kSquare);
          transpose_square<Unit>(t.src + at_r * kSize + at_c * t.column_stride, t.column_stride,
                                 t.out + at_r * t.out_row_stride + at_c * kSize, t.out_row_stride);
        }
      }
      return;
    }
  }
  for (std::int64_t c = 0; c < t.columns; ++c) {
    const std::byte* from = t.src + c * t.column_stride;
    std::byte* to = t.out + c * kSize;
    for (std::int64_t r = 0; r < t.rows; ++r) store(to + r * t.out_row_stride, load<Unit>(from + r * t.row_stride));
  }
}

// The last dimension of the box is not the one in which the source is dense: tiles over the two, one cache line of the
// source high, so that no line is fetched twice.
template <class Unit>
void transpose_box(const Box& b, std::size_t dense, std::byte* out) {
  constexpr std::int64_t kSide = std::max<std::int64_t>(8, 64 / static_cast<std::int64_t>(sizeof(Unit)));
  const std::size_t last = b.rank - 1;
  Tile t{};
  t.row_stride = b.strides[dense];
  t.column_stride = b.strides[last];
  t.out_row_stride = b.out_strides[dense];
  for_each_outer(b, dense, last, out, [&](const std::byte* src, std::byte* to) {
    for (std::int64_t r = 0; r < b.dims[dense]; r += kSide) {
      t.rows = std::min(kSide, b.dims[dense] - r);
      for (std::int64_t c = 0; c < b.dims[last]; c += kSide) {
        t.columns = std::min(kSide, b.dims[last] - c);
        t.src = src + r * t.row_stride + c * t.column_stride;
        t.out = to + r * t.out_row_stride + c * b.out_strides[last];
        copy_tile<Unit>(t);
      }
    }
  });
}

template <class Unit>
void copy_units(const Box& b, std::byte* out) {
  const std::size_t last = b.rank - 1;
  std::size_t dense = last;
  for (std::size_t i = 0; i < b.rank; ++i) {
    if (std::abs(b.strides[i]) < std::abs(b.strides[dense])) dense = i;
  }
  if (dense != last) return transpose_box<Unit>(b, dense, out);
  for_each_outer(b, last, last, out, [&](const std::byte* src, std::byte* to) {
    for (std::int64_t i = 0; i < b.dims[last]; ++i) {
      store(to + i * static_cast<std::int64_t>(sizeof(Unit)), load<Unit>(src + i * b.strides[last]));
    }
  });
}

void copy_box(Box& b, std::byte* out) {
  if (b.rank > 0 && b.strides[b.rank - 1] == b.width) b.width *= b.dims[--b.rank];
  std::int64_t stride = b.width;
  for (std::size_t i = b.rank; i-- > 0;) {
    b.out_strides[i] = stride;
    stride *= b.dims[i];
  }
  const auto width = static_cast<std::size_t>(b.width);
  if (b.rank == 0) {
    std::memcpy(out, b.base, width);
    return;
  }
  switch (width) {
    case 1:
      return copy_units<std::uint8_t>(b, out);
    case 2:
      return copy_units<std::uint16_t>(b, out);
    case 4:
      return copy_units<std::uint32_t>(b, out);
    case 8:
      return copy_units<std::uint64_t>(b, out);
    case 3:
      return copy_units<Bytes<3>>(b, out);
    case 6:
      return copy_units<Bytes<6>>(b, out);
    case 12:
      return copy_units<Bytes<12>>(b, out);
    case 16:
      return copy_units<Bytes<16>>(b, out);
    default:
      break;
  }
  for_each_outer(b, kMaxRank, kMaxRank, out, [&](const std::byte* src, std::byte* to) { std::memcpy(to, src, width); });
}

// Dimensions [axis, rank) of the view from `base` on; a range of rows is whole boxes between two ragged ends.
void gather_range(const StridedView& v, std::size_t axis, const std::byte* base, std::int64_t first, std::int64_t count,
                  std::byte* out) {
  if (count == 0) return;
  if (axis == v.dims.size()) {
    std::memcpy(out, base, static_cast<std::size_t>(v.element_bytes));
    return;
  }
  std::int64_t row = 1;
  for (std::size_t i = axis + 1; i < v.dims.size(); ++i) row *= v.dims[i];
  const auto ragged = [&](std::int64_t n) {
    gather_range(v, axis + 1, base + first / row * v.strides[axis], first % row, n, out);
    first += n;
    count -= n;
    out += n * v.element_bytes;
  };
  if (first % row != 0) ragged(std::min(row - first % row, count));
  if (const std::int64_t rows = count / row; rows > 0) {
    Box b;
    b.base = base + first / row * v.strides[axis];
    b.width = v.element_bytes;
    for (std::size_t i = axis; i < v.dims.size(); ++i) {
      if (i == axis && rows == 1) continue;
      b.dims[b.rank] = i == axis ? rows : v.dims[i];
      b.strides[b.rank++] = v.strides[i];
    }
    copy_box(b, out);
    first += rows * row;
    count -= rows * row;
    out += rows * row * v.element_bytes;
  }
  if (count > 0) ragged(count);
}

}  // namespace

StridedView StridedView::contiguous(const std::byte* base, std::int64_t element_bytes, std::vector<std::int64_t> dims) {
  StridedView v{base, 0, element_bytes, std::move(dims), {}};
  v.strides.resize(v.dims.size());
  std::int64_t stride = element_bytes;
  const bool empty = std::ranges::find(v.dims, 0) != v.dims.end();
  for (std::size_t i = v.dims.size(); i-- > 0;) {
    v.strides[i] = empty ? 0 : stride;
    if (!empty) stride *= v.dims[i];
  }
  return v;
}

std::int64_t StridedView::elements() const {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}

bool StridedView::is_contiguous() const {
  if (elements() == 0) return true;
  const StridedView c = collapsed();
  return c.dims.empty() || (c.dims.size() == 1 && c.strides[0] == element_bytes);
}

void StridedView::permute(std::span<const std::int64_t> perm) {
  const StridedView old = *this;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    dims[i] = old.dims[static_cast<std::size_t>(perm[i])];
    strides[i] = old.strides[static_cast<std::size_t>(perm[i])];
  }
}

void StridedView::slice(std::span<const std::int64_t> starts, std::span<const std::int64_t> steps,
                        std::span<const std::int64_t> sizes) {
  dims.assign(sizes.begin(), sizes.end());
  const bool empty = elements() == 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!empty) offset += starts[i] * strides[i];
    strides[i] = dims[i] > 1 ? strides[i] * steps[i] : 0;
  }
}

std::optional<StridedView> StridedView::reshape(const std::vector<std::int64_t>& new_dims) const {
  StridedView r{base, offset, element_bytes, new_dims, std::vector<std::int64_t>(new_dims.size(), 0)};
  if (elements() == 0) return r;
  const StridedView old = collapsed();
  // Groups of old and new dimensions of equal product, from the front. After collapsing, neighbours of the old are
  // never one run, so a group may hold one old dimension only.
  std::size_t j = 0;
  for (std::size_t i = 0; i < old.dims.size(); ++i) {
    const std::size_t group = j;
    std::int64_t product = 1;
    while (product < old.dims[i]) product *= new_dims[j++];
    if (product != old.dims[i]) return std::nullopt;
    std::int64_t stride = old.strides[i];
    for (std::size_t k = j; k-- > group;) {
      r.strides[k] = stride;
      stride *= new_dims[k];
    }
  }
  return r;
}

StridedView StridedView::collapsed() const {
  StridedView c{base, offset, element_bytes, {}, {}};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!c.dims.empty() && c.strides.back() == strides[i] * dims[i]) {
      c.dims.back() *= dims[i];
      c.strides.back() = strides[i];
    } else {
      c.dims.push_back(dims[i]);
      c.strides.push_back(strides[i]);
    }
  }
  return c;
}

void gather(const StridedView& v, std::int64_t first, std::int64_t count, std::byte* out) {
  if (count == 0) return;
  if (v.base == nullptr) {
    std::memset(out, 0, static_cast<std::size_t>(count * v.element_bytes));
    return;
  }
  gather_range(v, 0, v.base + v.offset, first, count, out);
}

}  // namespace gantry::detail
