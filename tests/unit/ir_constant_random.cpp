// Random chains of transforms against a slow, obvious checker: every element by index arithmetic.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "host/ir/constant.hpp"
#include "host/ir/float16.hpp"

namespace gantry {
namespace {

using Dims = std::vector<std::int64_t>;
using Random = std::mt19937;

std::int64_t below(Random& random, std::int64_t n) {
  return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
}

// A tensor of doubles of which every operation is written as its definition.
struct Oracle {
  DType dtype;
  Dims dims;
  std::vector<double> values;

  Dims index_of(std::int64_t flat) const {
    Dims index(dims.size());
    for (std::size_t i = dims.size(); i-- > 0;) {
      index[i] = flat % dims[i];
      flat /= dims[i];
    }
    return index;
  }
  std::int64_t flat_of(const Dims& index) const {
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) flat = flat * dims[i] + index[i];
    return flat;
  }

  // new value at index = old value at f(index)
  template <class F>
  void gather(Dims new_dims, F f) {
    Oracle next{dtype, std::move(new_dims), {}};
    const std::int64_t n = *element_count(next.dims);
    for (std::int64_t i = 0; i < n; ++i) next.values.push_back(values[at(flat_of(f(next.index_of(i))))]);
    *this = std::move(next);
  }
  void permute(const Dims& perm) {
    Dims d;
    for (const std::int64_t p : perm) d.push_back(dims[at(p)]);
    gather(d, [&](const Dims& index) {
      Dims from(index.size());
      for (std::size_t i = 0; i < perm.size(); ++i) from[at(perm[i])] = index[i];
      return from;
    });
  }
  void slice(const Slice& s) {
    gather(s.sizes, [&](const Dims& index) {
      Dims from(index.size());
      for (std::size_t i = 0; i < index.size(); ++i) from[i] = s.starts[i] + index[i] * s.steps[i];
      return from;
    });
  }
  template <class F>
  void along(std::int64_t axis, const std::vector<float>& v, F f) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = rounded(f(values[i], v[at(index_of(static_cast<std::int64_t>(i))[at(axis)])]));
    }
  }
  void cast(DType to) {
    dtype = to;
    for (double& v : values) v = rounded(v);
  }
  double rounded(double v) const {
    switch (dtype) {
      case DType::float32:
        return static_cast<float>(v);
      case DType::float16:
        return f16_to_f32(f64_to_f16(v));
      case DType::bfloat16:
        return bf16_to_f32(f64_to_bf16(v));
      case DType::float64:
        return v;
      case DType::boolean:
        return v != 0 ? 1 : 0;
      case DType::uint4:
        return std::clamp(std::trunc(v), 0.0, 15.0);
      case DType::int4:
        return std::clamp(std::trunc(v), -8.0, 7.0);
      case DType::uint8:
        return std::clamp(std::trunc(v), 0.0, 255.0);
      case DType::int8:
        return std::clamp(std::trunc(v), -128.0, 127.0);
      case DType::int16:
        return std::clamp(std::trunc(v), -32768.0, 32767.0);
      default:
        return std::trunc(v);  // the values here are small
    }
  }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

// Dims of product n.
Dims random_dims(Random& random, std::int64_t n) {
  Dims dims;
  while (n > 1 && dims.size() < 5) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 2; d <= n; ++d) {
      if (n % d == 0) divisors.push_back(d);
    }
    dims.push_back(divisors[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(divisors.size())))]);
    n /= dims.back();
  }
  if (n > 1) dims.push_back(n);
  while (below(random, 3) == 0)
    dims.insert(dims.begin() + below(random, static_cast<std::int64_t>(dims.size()) + 1), 1);
  return dims;
}

Slice random_slice(Random& random, const Dims& dims) {
  Slice s;
  for (const std::int64_t d : dims) {
    // Three of four axes whole, so that something remains.
    const bool whole = below(random, 4) != 0;
    const std::int64_t size = whole ? d : 1 + below(random, d);
    const std::int64_t stretch = size > 1 ? (d - 1) / (size - 1) : d;
    const std::int64_t step = 1 + below(random, std::max<std::int64_t>(1, stretch));
    const std::int64_t span = size > 1 ? (size - 1) * step : 0;
    const std::int64_t low = below(random, d - span);
    const bool backward = below(random, 3) == 0;
    s.sizes.push_back(size);
    s.steps.push_back(backward ? -step : step);
    s.starts.push_back(backward ? low + span : low);
  }
  return s;
}

DType random_type(Random& random) {
  static constexpr DType kTypes[] = {DType::float32, DType::float16, DType::float64, DType::bfloat16,
                                     DType::int8,    DType::int16,   DType::int32,   DType::int64,
                                     DType::uint8,   DType::boolean, DType::int4,    DType::uint4};
  return kTypes[below(random, std::size(kTypes))];
}

std::vector<float> random_vector(Random& random, std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = static_cast<float>(below(random, 9) - 4) / 2;
  return v;
}

// One random transform of both.
void step(Random& random, Constant& c, Oracle& o) {
  const auto rank = static_cast<std::int64_t>(o.dims.size());
  switch (below(random, 7)) {
    case 0:
    case 1: {
      Dims perm(o.dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random);
      c = *c.permute(perm);
      return o.permute(perm);
    }
    case 2: {
      const Dims dims = random_dims(random, static_cast<std::int64_t>(o.values.size()));
      c = *c.reshape(dims);
      o.dims = dims;
      return;
    }
    case 3: {
      const Slice s = random_slice(random, o.dims);
      c = *c.slice(s);
      return o.slice(s);
    }
    case 4: {
      const DType to = random_type(random);
      c = *c.cast(to);
      return o.cast(to);
    }
    default: {
      if (!is_float(o.dtype) || rank == 0) return;
      const std::int64_t axis = below(random, rank);
      const auto v = random_vector(random, o.dims[static_cast<std::size_t>(axis)]);
      if (below(random, 2) == 0) {
        c = *c.scale(axis, v);
        return o.along(axis, v, [](double x, double y) { return x * y; });
      }
      c = *c.shift(axis, v);
      return o.along(axis, v, [](double x, double y) { return x + y; });
    }
  }
}

std::string describe(const Constant& c) {
  static constexpr const char* kNames[] = {"permute", "reshape", "slice", "cast", "scale", "shift"};
  std::string s;
  for (const Transform& t : c.transforms()) s += std::string(kNames[t.index()]) + " ";
  return s;
}

// Rounding in between is what may differ, where two scales or shifts have become one.
void expect_equal(Random& random, const Constant& c, const Oracle& o) {
  ASSERT_EQ(c.dims(), o.dims);
  ASSERT_EQ(c.dtype(), o.dtype);
  const auto n = static_cast<std::int64_t>(o.values.size());
  const auto got = c.read<double>();
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(*got, o.values) << describe(c);
  // Written bytes say the same, and so does every range.
  std::vector<std::byte> bytes(c.byte_size());
  ASSERT_TRUE(c.write(bytes).ok());
  const Constant again = Constant::own(c.dtype(), c.dims(), bytes);
  ASSERT_TRUE(again);
  ASSERT_EQ(*again.read<double>(), o.values) << describe(c);
  if (const auto direct = c.direct()) {
    ASSERT_TRUE(std::ranges::equal(*direct, bytes));
  }
  for (int i = 0; i < 4; ++i) {
    const std::int64_t first = below(random, n + 1);
    const std::int64_t count = below(random, n - first + 1);
    const auto part = c.read<double>(first, count);
    ASSERT_TRUE(part.ok());
    ASSERT_TRUE(std::ranges::equal(*part, std::span(o.values).subspan(Oracle::at(first), Oracle::at(count))))
        << describe(c) << first << " " << count;
  }
}

// Values and vectors are small multiples of 1/2, so that every sum and product is exact in every type, whatever the
// order in which it is done: equal means equal.
TEST(IrConstantRandom, ChainsAgreeWithTheDefinition) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Oracle o{DType::float32, random_dims(random, 1 + below(random, 240)), {}};
    std::vector<float> values;
    for (std::int64_t i = 0; i < *element_count(o.dims); ++i)
      values.push_back(static_cast<float>(below(random, 17) - 8) / 2);
    o.values.assign(values.begin(), values.end());
    Constant c = Constant::of<float>(o.dims, std::span<const float>(values));
    if (below(random, 3) == 0) {  // start from a stored type other than float32
      o.cast(random_type(random));
      c = *c.cast(o.dtype);
      std::vector<std::byte> bytes(c.byte_size());
      ASSERT_TRUE(c.write(bytes).ok());
      c = Constant::own(o.dtype, o.dims, bytes);
    }
    const std::int64_t steps = below(random, 7);
    for (std::int64_t i = 0; i < steps; ++i) {
      // Magnitudes stay where float16 and bfloat16 are exact.
      const bool large =
          std::ranges::any_of(o.values, [](double x) { return std::abs(x) > 16 || x * 4 != std::trunc(x * 4); });
      if (large) break;
      step(random, c, o);
    }
    expect_equal(random, c, o);
    if (HasFatalFailure()) return;
  }
}

// Large enough for tiles, blocks and ragged ends, in each element width.
TEST(IrConstantRandom, LargePermutes) {
  Random random(7);
  for (const DType t : {DType::int8, DType::int16, DType::float32, DType::int64, DType::complex128, DType::uint4}) {
    for (int round = 0; round < 5; ++round) {
      Dims dims(2 + Oracle::at(below(random, 3)));
      for (std::int64_t& d : dims) d = 1 + below(random, dims.size() == 2 ? 300 : 40);
      const std::int64_t n = *element_count(dims);
      const std::int64_t width = std::max<std::int64_t>(1, dtype_bits(t) / 8);
      std::vector<std::byte> bytes(*packed_bytes(t, Oracle::at(n)));
      for (std::byte& b : bytes) b = static_cast<std::byte>(below(random, 256));
      if (t == DType::uint4 && n % 2 == 1) bytes.back() &= std::byte{15};
      Dims perm(dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random);
      const Constant c = *Constant::own(t, dims, bytes).permute(perm);
      std::vector<std::byte> got(c.byte_size());
      ASSERT_TRUE(c.write(got).ok());
      Oracle numbers{DType::float64, dims, {}};
      for (std::int64_t i = 0; i < n; ++i) numbers.values.push_back(static_cast<double>(i));
      numbers.permute(perm);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto from = static_cast<std::int64_t>(numbers.values[Oracle::at(i)]);
        if (t == DType::uint4) {
          const auto nibble = [](const std::vector<std::byte>& v, std::int64_t k) {
            return (v[Oracle::at(k / 2)] >> (k % 2 * 4)) & std::byte{15};
          };
          ASSERT_EQ(nibble(got, i), nibble(bytes, from));
        } else {
          ASSERT_TRUE(std::equal(got.begin() + i * width, got.begin() + (i + 1) * width, bytes.begin() + from * width));
        }
      }
    }
  }
}

// Several blocks with a vector along every axis.
TEST(IrConstantRandom, LargeScales) {
  const Dims dims{37, 61, 65};  // 146,705 elements
  const std::int64_t n = *element_count(dims);
  std::vector<float> values(Oracle::at(n));
  for (std::int64_t i = 0; i < n; ++i) values[Oracle::at(i)] = static_cast<float>(i % 251);
  for (const DType t : {DType::float32, DType::float64}) {
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      std::vector<float> v(Oracle::at(dims[Oracle::at(axis)]));
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i) + 0.5f;
      const Constant c = *Constant::of<float>(dims, std::span<const float>(values))
                              .cast(t)
                              ->permute(Dims{2, 0, 1})
                              ->scale((axis + 1) % 3, v);
      Oracle o{t, dims, {values.begin(), values.end()}};
      o.permute({2, 0, 1});
      o.along((axis + 1) % 3, v, [](double x, double y) { return x * y; });
      ASSERT_EQ(*c.read<double>(), o.values);
      std::vector<std::byte> bytes(c.byte_size());
      ASSERT_TRUE(c.write(bytes).ok());
      ASSERT_EQ(*Constant::own(t, c.dims(), bytes).read<double>(), o.values);
      ASSERT_EQ(*c.read<double>(n - 5, 5), std::vector<double>(o.values.end() - 5, o.values.end()));
    }
  }
}

}  // namespace
}  // namespace gantry
