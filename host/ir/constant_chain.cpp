#include "host/ir/constant_chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "host/ir/element_ops.hpp"

namespace gantry::detail {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// ---- what a transform does to the shape ----

Shape result(const Shape& s, const Transform& t) {
  Shape r = s;
  if (const auto* p = std::get_if<Permute>(&t)) {
    for (std::size_t i = 0; i < p->perm.size(); ++i) r.dims[i] = s.dims[at(p->perm[i])];
  } else if (const auto* reshape = std::get_if<Reshape>(&t)) {
    r.dims = reshape->dims;
  } else if (const auto* slice = std::get_if<Slice>(&t)) {
    r.dims = slice->sizes;
  } else if (const auto* cast = std::get_if<Cast>(&t)) {
    r.dtype = cast->to;
  }
  return r;
}

// ---- identities ----

bool is_identity(const Shape& s, const Transform& t) {
  if (const auto* p = std::get_if<Permute>(&t)) return std::ranges::is_sorted(p->perm);
  if (const auto* reshape = std::get_if<Reshape>(&t)) return reshape->dims == s.dims;
  if (const auto* cast = std::get_if<Cast>(&t)) return cast->to == s.dtype;
  if (const auto* scale = std::get_if<ScaleAxis>(&t)) {
    return std::ranges::all_of(scale->vector, [](float x) { return x == 1.0f; });
  }
  if (const auto* shift = std::get_if<ShiftAxis>(&t)) {
    return std::ranges::all_of(shift->vector, [](float x) { return x == 0.0f; });
  }
  const auto& slice = std::get<Slice>(t);
  return slice.sizes == s.dims && std::ranges::all_of(slice.steps, [](std::int64_t n) { return n == 1; });
}

// A permute that keeps the axes of size above 1 in order moves nothing; the start and step of an axis of which one
// element or none remains have one spelling.
Transform normal_form(const Shape& s, Transform t) {
  if (const auto* p = std::get_if<Permute>(&t)) {
    const bool empty = std::ranges::find(s.dims, 0) != s.dims.end();
    std::int64_t last = -1;
    for (const std::int64_t axis : p->perm) {
      if (s.dims[at(axis)] == 1) continue;
      if (axis < last && !empty) return t;
      last = axis;
    }
    return Reshape{result(s, t).dims};
  }
  if (auto* slice = std::get_if<Slice>(&t)) {
    for (std::size_t i = 0; i < slice->sizes.size(); ++i) {
      if (slice->sizes[i] <= 1) slice->steps[i] = 1;
      if (slice->sizes[i] == 0) slice->starts[i] = 0;
    }
  }
  return t;
}

// ---- neighbours that compose ----

// Both scales in one, or nothing if a product leaves the normal range of float though the factors are in it.
std::optional<Transform> merge_scales(const ScaleAxis& a, const ScaleAxis& b) {
  if (a.axis != b.axis) return std::nullopt;
  ScaleAxis r = a;
  for (std::size_t i = 0; i < r.vector.size(); ++i) {
    r.vector[i] *= b.vector[i];
    const bool zero = a.vector[i] == 0.0f || b.vector[i] == 0.0f;
    if (!std::isnormal(r.vector[i]) && !(zero && r.vector[i] == 0.0f)) return std::nullopt;
  }
  return r;
}

std::optional<Transform> merge_shifts(const ShiftAxis& a, const ShiftAxis& b) {
  if (a.axis != b.axis) return std::nullopt;
  ShiftAxis r = a;
  for (std::size_t i = 0; i < r.vector.size(); ++i) {
    r.vector[i] += b.vector[i];
    if (!std::isfinite(r.vector[i])) return std::nullopt;
  }
  return r;
}

Slice compose(const Slice& a, const Slice& b) {
  Slice r = b;
  for (std::size_t i = 0; i < b.sizes.size(); ++i) {
    if (b.sizes[i] == 0) continue;
    r.starts[i] = a.starts[i] + b.starts[i] * a.steps[i];
    r.steps[i] = b.sizes[i] == 1 ? 1 : a.steps[i] * b.steps[i];
  }
  return r;
}

// The one transform that is a then b; `before` is what a is applied to.
std::optional<Transform> merge(const Shape& before, const Transform& a, const Transform& b) {
  if (a.index() != b.index()) return std::nullopt;
  if (const auto* p = std::get_if<Permute>(&a)) {
    Permute r = std::get<Permute>(b);
    for (std::int64_t& axis : r.perm) axis = p->perm[at(axis)];
    return r;
  }
  if (std::holds_alternative<Reshape>(a)) return b;
  if (const auto* slice = std::get_if<Slice>(&a)) return compose(*slice, std::get<Slice>(b));
  if (const auto* cast = std::get_if<Cast>(&a)) {
    return converts_exactly(before.dtype, cast->to) ? std::optional<Transform>(b) : std::nullopt;
  }
  if (const auto* scale = std::get_if<ScaleAxis>(&a)) return merge_scales(*scale, std::get<ScaleAxis>(b));
  return merge_shifts(std::get<ShiftAxis>(a), std::get<ShiftAxis>(b));
}

// ---- neighbours that change places ----

// The axis of `to` that is axis `axis` of `from` when the elements are laid out in `to`'s dims: as many elements stand
// before it, and it is as long.
std::optional<std::int64_t> axis_after_reshape(const std::vector<std::int64_t>& from, std::int64_t axis,
                                               const std::vector<std::int64_t>& to) {
  if (std::ranges::find(to, 0) != to.end()) return std::nullopt;
  std::int64_t outer = 1;
  for (std::int64_t i = 0; i < axis; ++i) outer *= from[at(i)];
  std::int64_t product = 1;
  for (std::size_t j = 0; j < to.size() && product <= outer; product *= to[j++]) {
    if (product == outer && to[j] == from[at(axis)]) return static_cast<std::int64_t>(j);
  }
  return std::nullopt;
}

// Scale or shift `e`, as it is after the moving transform `t` of something of shape `before`.
template <class E>
std::optional<E> carried_through(const Shape& before, E e, const Transform& t) {
  if (const auto* p = std::get_if<Permute>(&t)) {
    e.axis = std::ranges::find(p->perm, e.axis) - p->perm.begin();
    return e;
  }
  if (const auto* slice = std::get_if<Slice>(&t)) {
    const std::size_t axis = at(e.axis);
    std::vector<float> v(at(slice->sizes[axis]));
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = e.vector[at(slice->starts[axis] + static_cast<std::int64_t>(i) * slice->steps[axis])];
    }
    e.vector = std::move(v);
    return e;
  }
  const auto axis = axis_after_reshape(before.dims, e.axis, std::get<Reshape>(t).dims);
  if (!axis) return std::nullopt;
  e.axis = *axis;
  return e;
}

Slice slice_before_permute(const Permute& p, const Slice& s) {
  Slice r = s;
  for (std::size_t i = 0; i < p.perm.size(); ++i) {
    const std::size_t axis = at(p.perm[i]);
    r.starts[axis] = s.starts[i];
    r.steps[axis] = s.steps[i];
    r.sizes[axis] = s.sizes[i];
  }
  return r;
}

bool moves(const Transform& t) {
  return std::holds_alternative<Permute>(t) || std::holds_alternative<Reshape>(t) || std::holds_alternative<Slice>(t);
}

// {b', a'} such that b' then a' is a then b, if that order is the canonical one.
std::optional<std::pair<Transform, Transform>> exchange(const Shape& before, const Transform& a, const Transform& b) {
  using Pair = std::pair<Transform, Transform>;
  if (const auto* p = std::get_if<Permute>(&a)) {
    if (const auto* s = std::get_if<Slice>(&b)) return Pair{slice_before_permute(*p, *s), *p};
    return std::nullopt;
  }
  if (moves(a) || !moves(b)) return std::nullopt;
  if (std::holds_alternative<Cast>(a)) return Pair{b, a};
  if (const auto* scale = std::get_if<ScaleAxis>(&a)) {
    if (auto e = carried_through(before, *scale, b)) return Pair{b, std::move(*e)};
  } else if (auto e = carried_through(before, std::get<ShiftAxis>(a), b)) {
    return Pair{b, std::move(*e)};
  }
  return std::nullopt;
}

bool same_floats(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

bool same_transform(const Transform& a, const Transform& b) {
  if (a.index() != b.index()) return false;
  if (const auto* scale = std::get_if<ScaleAxis>(&a)) {
    const auto& other = std::get<ScaleAxis>(b);
    return scale->axis == other.axis && same_floats(scale->vector, other.vector);
  }
  if (const auto* shift = std::get_if<ShiftAxis>(&a)) {
    const auto& other = std::get<ShiftAxis>(b);
    return shift->axis == other.axis && same_floats(shift->vector, other.vector);
  }
  return a == b;
}

template <class T>
std::uint64_t hash_vector(std::uint64_t seed, const std::vector<T>& v) {
  return hash_bytes(seed, std::as_bytes(std::span<const T>(v)));
}

std::uint64_t hash_transform(std::uint64_t seed, const Transform& t) {
  seed = mix(seed, t.index());
  if (const auto* p = std::get_if<Permute>(&t)) return hash_vector(seed, p->perm);
  if (const auto* r = std::get_if<Reshape>(&t)) return hash_vector(seed, r->dims);
  if (const auto* s = std::get_if<Slice>(&t)) {
    return hash_vector(hash_vector(hash_vector(seed, s->starts), s->steps), s->sizes);
  }
  if (const auto* c = std::get_if<Cast>(&t)) return mix(seed, static_cast<std::uint64_t>(c->to));
  if (const auto* s = std::get_if<ScaleAxis>(&t)) {
    return hash_vector(mix(seed, static_cast<std::uint64_t>(s->axis)), s->vector);
  }
  const auto& shift = std::get<ShiftAxis>(t);
  return hash_vector(mix(seed, static_cast<std::uint64_t>(shift.axis)), shift.vector);
}

void pop(Chain& c) {
  c.shape = std::move(c.before.back());
  c.before.pop_back();
  c.transforms.pop_back();
  c.elements = element_count(c.shape.dims).value_or(0);
}

}  // namespace

void push(Chain& c, Transform t) {
  t = normal_form(c.shape, std::move(t));
  if (is_identity(c.shape, t)) return;
  if (!c.transforms.empty()) {
    const Transform last = c.transforms.back();
    if (auto merged = merge(c.before.back(), last, t)) {
      pop(c);
      return push(c, std::move(*merged));
    }
    if (auto exchanged = exchange(c.before.back(), last, t)) {
      pop(c);
      push(c, std::move(exchanged->first));
      return push(c, std::move(exchanged->second));
    }
  }
  Shape shape = result(c.shape, t);
  c.before.push_back(std::exchange(c.shape, std::move(shape)));
  c.transforms.push_back(std::move(t));
  c.elements = element_count(c.shape.dims).value_or(0);
}

bool same_chain(const Chain& a, const Chain& b) {
  const Storage& x = *a.storage;
  const Storage& y = *b.storage;
  if (a.shape.dtype != b.shape.dtype || a.shape.dims != b.shape.dims || x.dtype != y.dtype || x.dims != y.dims) {
    return false;
  }
  if (x.dtype == DType::string) return a.storage == b.storage;
  if (x.placeholder != y.placeholder) return false;
  return x.bytes.data() == y.bytes.data() && std::ranges::equal(a.transforms, b.transforms, same_transform);
}

std::size_t hash_chain(const Chain& c) {
  const Storage& s = *c.storage;
  std::uint64_t h = mix(static_cast<std::uint64_t>(s.dtype), std::bit_cast<std::uintptr_t>(s.bytes.data()));
  h = hash_vector(mix(h, s.placeholder.value_or(0)), s.dims);
  h = hash_vector(mix(h, static_cast<std::uint64_t>(c.shape.dtype)), c.shape.dims);
  for (const Transform& t : c.transforms) h = hash_transform(h, t);
  return static_cast<std::size_t>(h);
}

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  // One round of a multiply-and-fold hash over odd constants (the golden ratio and sqrt(2), as 64-bit fractions).
  std::uint64_t x = (seed ^ value) * 0x9e3779b97f4a7c15u;
  x ^= x >> 32;
  x = (x + seed) * 0x6a09e667f3bcc909u;
  return x ^ (x >> 29);
}

std::uint64_t hash_bytes(std::uint64_t seed, std::span<const std::byte> bytes) {
  std::uint64_t h = mix(seed, bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min<std::size_t>(8, bytes.size());
    std::memcpy(&word, bytes.data(), n);
    h = mix(h, word);
    bytes = bytes.subspan(n);
  }
  return h;
}

}  // namespace gantry::detail
