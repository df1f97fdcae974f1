// Type inference of operator definitions: a function that sets the type of each result, and the usual ones ready-made.
#pragma once

#include "gantry/sdk/emit.hpp"
#include "gantry/sdk/graph.hpp"

namespace gantry::sdk {

class Infer {
 public:
  explicit Infer(const Call& call) : call_(call) {}
  void set(std::size_t result, DType dtype, const std::optional<Dims>& dims) const {
    const Type type{dtype, dims};
    const gantry_type t = Emit::raw(type);
    call_.check(call_.host->set_type(call_.context, result, &t));
  }
  void set(std::size_t result, const Type& t) const { set(result, t.dtype, t.dims); }
  const Call& call() const { return call_; }

 private:
  const Call& call_;
};

/// numpy's broadcast of two shapes; declines if they do not fit. Unknown with 1 or unknown is unknown; unknown with
/// n > 1 is n.
inline Dims broadcast(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const std::int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x == y || y == 1)
      out[i] = x;
    else if (x == 1)
      out[i] = y;
    else if (x < 0 || y < 0)
      out[i] = std::max(x, y);
    else
      decline("shapes ", text(a), " and ", text(b), " do not broadcast");
  }
  return out;
}

/// Every result has the type of operand 0.
inline void infer_like_first(const Node& node, const Infer& infer) {
  for (std::size_t i = 0; i < node.out_count(); ++i) infer.set(i, node.in(0).type());
}

/// Result 0: element type of operand 0, all operands broadcast.
inline void infer_broadcast(const Node& node, const Infer& infer) {
  std::optional<Dims> dims = node.in(0).type().dims;
  for (std::size_t i = 1; dims && i < node.in_count(); ++i) {
    const auto other = node.in(i).type().dims;
    if (other)
      dims = broadcast(*dims, *other);
    else
      dims.reset();
  }
  infer.set(0, node.in(0).dtype(), dims);
}

}  // namespace gantry::sdk
