#include "host/ir/constant.hpp"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "host/ir/constant_chain.hpp"
#include "host/ir/element_ops.hpp"

namespace gantry {
namespace {

using detail::Chain;
using detail::Storage;

std::string list(std::span<const std::int64_t> v) {
  std::string s = "[";
  for (std::size_t i = 0; i < v.size(); ++i) s += (i > 0 ? "," : "") + std::to_string(v[i]);
  return s + "]";
}

Diagnostic misfit(const Constant& c, const std::string& what) {
  return error(Code::input_type, what + " does not fit a constant of type " + c.type().str());
}

// What the elements of T are called here; undefined if T is none of them.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::float32;
  if constexpr (std::is_same_v<T, double>) return DType::float64;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::int8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::int16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::int64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::uint8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::uint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::uint64;
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  return DType::undefined;
}

bool is_permutation(std::span<const std::int64_t> perm, std::size_t rank) {
  if (perm.size() != rank) return false;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : perm) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank || seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

// All `size` elements from `start` on stand inside [0, dim).
bool slice_fits(std::int64_t dim, std::int64_t start, std::int64_t step, std::int64_t size) {
  if (size < 0 || step == 0) return false;
  if (size == 0) return true;
  std::int64_t last = 0;
  if (__builtin_mul_overflow(size - 1, step, &last) || __builtin_add_overflow(start, last, &last)) return false;
  return start >= 0 && start < dim && last >= 0 && last < dim;
}

// Far above any real size, and small enough that no cast of it overflows.
constexpr std::uint64_t kMaxPlaceholder = std::uint64_t{1} << 50;

const std::vector<std::int64_t> kNoDims;
const std::vector<Transform> kNoTransforms;
const std::vector<std::string> kNoStrings;

// Strings in the order that a moving transform gives them. They are few: every element by its index.
std::vector<std::string> moved_strings(const std::vector<std::string>& from, const std::vector<std::int64_t>& dims,
                                       const Transform& t, std::int64_t count) {
  // The same transform of the elements' numbers says which goes where.
  std::vector<std::int64_t> numbers(from.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  const Constant index = Constant::of<std::int64_t>(dims, numbers);
  const auto* p = std::get_if<Permute>(&t);
  const auto moved = p != nullptr ? index.permute(p->perm) : index.slice(std::get<Slice>(t));
  std::vector<std::string> to;
  if (!moved) return to;
  const auto order = moved->read<std::int64_t>(0, count);
  if (!order) return to;
  to.reserve(order->size());
  for (const std::int64_t i : *order) to.push_back(from[static_cast<std::size_t>(i)]);
  return to;
}

}  // namespace

// ---- making ----

Constant Constant::make(DType dtype, std::vector<std::int64_t> dims, detail::Storage s) {
  const auto count = element_count(dims);
  if (!count) return {};
  auto state = std::make_shared<State>();
  s.dtype = dtype;
  s.dims = dims;
  state->chain.storage = std::make_shared<const Storage>(std::move(s));
  state->chain.shape = {dtype, std::move(dims)};
  state->chain.elements = *count;
  Constant c;
  c.state_ = std::move(state);
  return c;
}

Constant Constant::own(DType dtype, std::vector<std::int64_t> dims, std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> all(*owner);
  return view(dtype, std::move(dims), std::move(owner), all);
}

Constant Constant::view(DType dtype, std::vector<std::int64_t> dims, std::shared_ptr<const void> owner,
                        std::span<const std::byte> bytes) {
  const auto count = element_count(dims);
  const auto size = count ? packed_bytes(dtype, static_cast<std::uint64_t>(*count)) : std::nullopt;
  if (size != bytes.size()) return {};
  Storage s;
  s.bytes = bytes;
  s.owner = std::move(owner);
  return make(dtype, std::move(dims), std::move(s));
}

Constant Constant::strings(std::vector<std::int64_t> dims, std::vector<std::string> values) {
  if (element_count(dims) != static_cast<std::int64_t>(values.size())) return {};
  Storage s;
  s.strings = std::move(values);
  return make(DType::string, std::move(dims), std::move(s));
}

Constant Constant::placeholder(DType dtype, std::vector<std::int64_t> dims, std::uint64_t label) {
  const auto count = element_count(dims);
  const auto size = count ? packed_bytes(dtype, static_cast<std::uint64_t>(*count)) : std::nullopt;
  if (!size || *size > kMaxPlaceholder) return {};
  Storage s;
  s.placeholder = label;
  return make(dtype, std::move(dims), std::move(s));
}

template <class T>
Constant Constant::of(std::vector<std::int64_t> dims, std::span<const T> values) {
  static_assert(dtype_of<T>() != DType::undefined);
  const auto bytes = std::as_bytes(values);
  return own(dtype_of<T>(), std::move(dims), std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// ---- what it is ----

DType Constant::dtype() const { return state_ ? state_->chain.shape.dtype : DType::undefined; }
const std::vector<std::int64_t>& Constant::dims() const { return state_ ? state_->chain.shape.dims : kNoDims; }
Type Constant::type() const { return state_ ? Type::of(dtype(), dims()) : Type{}; }
std::int64_t Constant::elements() const { return state_ ? state_->chain.elements : 0; }

std::uint64_t Constant::byte_size() const {
  return packed_bytes(dtype(), static_cast<std::uint64_t>(elements())).value_or(0);
}

const std::vector<Transform>& Constant::transforms() const { return state_ ? state_->chain.transforms : kNoTransforms; }

const std::vector<std::string>& Constant::string_values() const {
  return state_ ? state_->chain.storage->strings : kNoStrings;
}

bool Constant::same(const Constant& other) const {
  if (state_ == other.state_) return true;
  return state_ && other.state_ && detail::same_chain(state_->chain, other.state_->chain);
}

std::size_t Constant::hash() const { return state_ ? detail::hash_chain(state_->chain) : 0; }

// ---- transforms ----

Result<Constant> Constant::with(Transform t) const {
  const Chain& old = state_->chain;
  auto next = std::make_shared<State>();
  next->chain = old;
  if (dtype() != DType::string) {
    detail::push(next->chain, std::move(t));
  } else {
    // Strings are few and small: what moves them is done at once.
    auto s = std::make_shared<Storage>();
    s->dtype = DType::string;
    const auto* p = std::get_if<Permute>(&t);
    if (const auto* r = std::get_if<Reshape>(&t)) {
      s->dims = r->dims;
      s->strings = old.storage->strings;
    } else {
      s->dims = p != nullptr ? old.shape.dims : std::get<Slice>(t).sizes;
      for (std::size_t i = 0; p != nullptr && i < p->perm.size(); ++i) {
        s->dims[i] = old.shape.dims[static_cast<std::size_t>(p->perm[i])];
      }
      next->chain.elements = element_count(s->dims).value_or(0);
      s->strings = moved_strings(old.storage->strings, old.shape.dims, t, next->chain.elements);
    }
    next->chain.shape.dims = s->dims;
    next->chain.storage = std::move(s);
  }
  Constant c;
  c.state_ = std::move(next);
  return c;
}

Result<Constant> Constant::permute(std::span<const std::int64_t> perm) const {
  if (!state_ || !is_permutation(perm, dims().size())) return misfit(*this, "permutation " + list(perm));
  return with(Permute{{perm.begin(), perm.end()}});
}

Result<Constant> Constant::reshape(std::vector<std::int64_t> dims) const {
  if (!state_ || element_count(dims) != elements()) return misfit(*this, "reshape to " + list(dims));
  return with(Reshape{std::move(dims)});
}

Result<Constant> Constant::slice(Slice s) const {
  const std::size_t rank = dims().size();
  bool fits = state_ && s.starts.size() == rank && s.steps.size() == rank && s.sizes.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) fits = slice_fits(dims()[i], s.starts[i], s.steps[i], s.sizes[i]);
  if (!fits) {
    return misfit(*this, "slice from " + list(s.starts) + " by " + list(s.steps) + " of size " + list(s.sizes));
  }
  return with(std::move(s));
}

Result<Constant> Constant::cast(DType to) const {
  const bool known = dtype_bits(to) != 0 || to == dtype();
  if (!state_ || !known || !detail::can_convert(dtype(), to)) {
    return misfit(*this, "cast to " + std::string(dtype_name(to)));
  }
  if (to == dtype()) return *this;
  return with(Cast{to});
}

Status Constant::check_axis(const char* what, std::int64_t axis, std::size_t size) const {
  const auto rank = static_cast<std::int64_t>(dims().size());
  if (is_float(dtype()) && axis >= 0 && axis < rank &&
      static_cast<std::uint64_t>(dims()[static_cast<std::size_t>(axis)]) == size) {
    return {};
  }
  return misfit(*this,
                std::string(what) + " by " + std::to_string(size) + " numbers along axis " + std::to_string(axis));
}

Result<Constant> Constant::scale(std::int64_t axis, std::vector<float> vector) const {
  GANTRY_TRY(check_axis("scale", axis, vector.size()));
  return with(ScaleAxis{axis, std::move(vector)});
}

Result<Constant> Constant::shift(std::int64_t axis, std::vector<float> vector) const {
  GANTRY_TRY(check_axis("shift", axis, vector.size()));
  return with(ShiftAxis{axis, std::move(vector)});
}

// ---- contents ----

std::optional<std::span<const std::byte>> Constant::direct() const {
  if (!state_ || dtype() == DType::string || state_->chain.storage->placeholder) return std::nullopt;
  const bool only_reshaped =
      std::ranges::all_of(transforms(), [](const Transform& t) { return std::holds_alternative<Reshape>(t); });
  if (!only_reshaped) return std::nullopt;
  return state_->chain.storage->bytes;
}

Status Constant::write(std::span<std::byte> out) const {
  if (!state_ || dtype() == DType::string) return error(Code::internal, "a constant without bytes cannot be written");
  if (out.size() != byte_size()) {
    return error(Code::internal, "a constant of " + std::to_string(byte_size()) + " bytes cannot be written into " +
                                     std::to_string(out.size()));
  }
  return detail::write_chain(state_->chain, out);
}

template <class T>
Result<std::vector<T>> Constant::read(std::int64_t first, std::int64_t count) const {
  constexpr DType kTo = dtype_of<T>();
  static_assert(kTo != DType::undefined);
  if (!state_ || dtype_bits(dtype()) == 0 || !detail::can_convert(dtype(), kTo)) {
    return misfit(*this, "reading as " + std::string(dtype_name(kTo)));
  }
  if (first < 0 || count < 0 || first > elements() || count > elements() - first) {
    return misfit(*this, "range [" + std::to_string(first) + ", +" + std::to_string(count) + ")");
  }
  try {
    // std::vector<bool> has no elements to write to.
    std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>> values(static_cast<std::size_t>(count));
    GANTRY_TRY(detail::read_chain(state_->chain, first, count, kTo, reinterpret_cast<std::byte*>(values.data())));
    if constexpr (std::is_same_v<T, bool>) {
      return std::vector<bool>(values.begin(), values.end());
    } else {
      return values;
    }
  } catch (const std::bad_alloc&) {
    return error(Code::input_too_large, "not enough memory to read " + std::to_string(count) + " elements");
  }
}

bool Constant::is_placeholder() const { return state_ && state_->chain.storage->placeholder.has_value(); }

Result<std::uint64_t> Constant::content_hash() const {
  if (!state_) return std::uint64_t{0};
  const Chain& c = state_->chain;
  if (c.storage->placeholder) {  // nothing to read: the label stands for the stored elements
    return c.transforms.empty() ? *c.storage->placeholder : static_cast<std::uint64_t>(detail::hash_chain(c));
  }
  std::uint64_t h = 0;
  if (dtype() == DType::string) {
    for (const std::string& s : string_values()) h = detail::hash_bytes(h, std::as_bytes(std::span(s)));
    return h;
  }
  if (const auto bytes = direct()) return detail::hash_bytes(h, *bytes);
  std::vector<std::byte> bytes(byte_size());
  GANTRY_TRY(write(bytes));
  return detail::hash_bytes(h, bytes);
}

#define GANTRY_CONSTANT_OF(T)                                                       \
  template Constant Constant::of<T>(std::vector<std::int64_t>, std::span<const T>); \
  template Result<std::vector<T>> Constant::read<T>(std::int64_t, std::int64_t) const;
GANTRY_CONSTANT_OF(float)
GANTRY_CONSTANT_OF(double)
GANTRY_CONSTANT_OF(std::int8_t)
GANTRY_CONSTANT_OF(std::int16_t)
GANTRY_CONSTANT_OF(std::int32_t)
GANTRY_CONSTANT_OF(std::int64_t)
GANTRY_CONSTANT_OF(std::uint8_t)
GANTRY_CONSTANT_OF(std::uint16_t)
GANTRY_CONSTANT_OF(std::uint32_t)
GANTRY_CONSTANT_OF(std::uint64_t)
GANTRY_CONSTANT_OF(bool)
#undef GANTRY_CONSTANT_OF

}  // namespace gantry
