// Carrying out a constant's transforms. The list becomes stages; a stage copies elements through one strided view and
// then changes them where they lie, block by block. A canonical list is nearly always one stage, which needs no memory
// but a block.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "host/ir/constant_chain.hpp"
#include "host/ir/element_ops.hpp"
#include "host/ir/strided_view.hpp"

namespace gantry::detail {
namespace {

// Elements worked on at once when they are changed: some rows of most matrices, and at home in a cache.
constexpr std::int64_t kBlock = 128 * 1024;

struct ElementOp {
  enum class Kind { cast, scale, shift } kind = Kind::cast;
  DType from = DType::undefined, to = DType::undefined;
  AxisOf axis;
  const std::vector<float>* vector = nullptr;
};

struct Stage {
  DType dtype = DType::undefined;  // of what the view sees
  StridedView view;
  std::vector<ElementOp> ops;

  DType result() const { return ops.empty() ? dtype : ops.back().to; }
};

ElementOp element_op(const Shape& before, const Transform& t) {
  ElementOp op;
  op.from = op.to = before.dtype;
  std::int64_t axis = 0;
  if (const auto* cast = std::get_if<Cast>(&t)) {
    op.to = cast->to;
    return op;
  }
  if (const auto* scale = std::get_if<ScaleAxis>(&t)) {
    op.kind = ElementOp::Kind::scale;
    op.vector = &scale->vector;
    axis = scale->axis;
  } else {
    const auto& shift = std::get<ShiftAxis>(t);
    op.kind = ElementOp::Kind::shift;
    op.vector = &shift.vector;
    axis = shift.axis;
  }
  op.axis.size = before.dims[static_cast<std::size_t>(axis)];
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < before.dims.size(); ++i) op.axis.inner *= before.dims[i];
  return op;
}

StridedView whole(DType t, const std::vector<std::int64_t>& dims) {
  return StridedView::contiguous(nullptr, carrier_bytes(t), dims);
}

// Moves the view of the last stage, or of a new one where that cannot be said by strides.
void move(std::vector<Stage>& stages, const Shape& before, const Transform& t) {
  const auto fresh = [&]() -> Stage& {
    return stages.emplace_back(Stage{before.dtype, whole(before.dtype, before.dims), {}});
  };
  if (const auto* r = std::get_if<Reshape>(&t)) {
    if (!stages.back().ops.empty()) return;  // done row-major already: only the dims of later transforms change
    if (auto v = stages.back().view.reshape(r->dims)) {
      stages.back().view = std::move(*v);
    } else {
      fresh().view = whole(before.dtype, r->dims);
    }
    return;
  }
  Stage& stage = stages.back().ops.empty() ? stages.back() : fresh();
  if (const auto* p = std::get_if<Permute>(&t)) {
    stage.view.permute(p->perm);
  } else {
    const auto& s = std::get<Slice>(t);
    stage.view.slice(s.starts, s.steps, s.sizes);
  }
}

// A list of stages over the chain's storage, and the temporaries between them.
class Program {
 public:
  // Of a chain of numbers without a zero dimension.
  explicit Program(const Chain& c) : packed_(dtype_bits(c.storage->dtype) < 8) {
    const Storage& s = *c.storage;
    stages_.push_back({s.dtype, StridedView::contiguous(s.bytes.data(), carrier_bytes(s.dtype), s.dims), {}});
    if (packed_ && !is_row_major(c)) unpack_all(s);
    for (std::size_t i = 0; i < c.transforms.size(); ++i) {
      const Transform& t = c.transforms[i];
      if (std::holds_alternative<Cast>(t) || std::holds_alternative<ScaleAxis>(t) ||
          std::holds_alternative<ShiftAxis>(t)) {
        stages_.back().ops.push_back(element_op(c.before[i], t));
      } else {
        move(stages_, c.before[i], t);
      }
    }
  }

  void cast_to(DType to) {
    const DType from = stages_.back().result();
    ElementOp op;
    op.from = from;
    op.to = to;
    if (from != to || to == DType::boolean) stages_.back().ops.push_back(op);
  }

  // Everything but the last stage, into temporaries.
  void prepare() {
    for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
      const std::int64_t n = stages_[i].view.elements();
      std::vector<std::byte> next(static_cast<std::size_t>(n * carrier_bytes(stages_[i].result())));
      run(stages_[i], 0, n, next.data());
      temporary_ = std::move(next);
      stages_[i + 1].view.base = temporary_.data();
    }
  }

  // Elements [first, first + count) of the result.
  void run(std::int64_t first, std::int64_t count, std::byte* out) { run(stages_.back(), first, count, out); }

 private:
  static bool is_row_major(const Chain& c) {
    return std::ranges::none_of(c.transforms, [](const Transform& t) {
      return std::holds_alternative<Permute>(t) || std::holds_alternative<Slice>(t);
    });
  }

  void unpack_all(const Storage& s) {
    if (s.bytes.data() == nullptr) return;
    const std::int64_t n = stages_[0].view.elements();
    temporary_.resize(static_cast<std::size_t>(n));
    unpack4(s.dtype, s.bytes.data(), 0, n, temporary_.data());
    stages_[0].view.base = temporary_.data();
    packed_ = false;
  }

  void fetch(const Stage& stage, const StridedView& view, std::int64_t first, std::int64_t count, std::byte* out) {
    if (packed_ && &stage == &stages_[0] && view.base != nullptr) {
      unpack4(stage.dtype, view.base, first, count, out);
    } else {
      gather(view, first, count, out);
    }
  }

  void run(const Stage& stage, std::int64_t first, std::int64_t count, std::byte* out);

  bool packed_;  // the first stage reads packed elements, in order
  std::vector<Stage> stages_;
  std::vector<std::byte> temporary_;
};

// Elements in one block: whole rows of the innermost dimensions as far as they fit.
std::int64_t block_size(const StridedView& view) {
  std::int64_t row = 1;
  for (std::size_t i = view.dims.size(); i-- > 0 && view.dims[i] <= kBlock / row;) row *= view.dims[i];
  return kBlock / row * row;
}

void Program::run(const Stage& stage, std::int64_t first, std::int64_t count, std::byte* out) {
  const StridedView view = stage.view.collapsed();
  if (stage.ops.empty()) return fetch(stage, view, first, count, out);
  std::size_t last_cast = stage.ops.size();  // the elements are in their place in `out` from this cast on
  std::int64_t widest = carrier_bytes(stage.dtype);
  for (std::size_t i = 0; i < stage.ops.size(); ++i) {
    if (stage.ops[i].kind == ElementOp::Kind::cast) last_cast = i;
    widest = std::max(widest, carrier_bytes(stage.ops[i].to));
  }
  const std::int64_t block = std::min(count, block_size(view));
  std::vector<std::byte> spare[2];
  if (last_cast < stage.ops.size()) {
    for (auto& s : spare) s.resize(static_cast<std::size_t>(block * widest));
  }
  const std::int64_t bytes = carrier_bytes(stage.result());
  for (std::int64_t done = 0; done < count; done += block, out += block * bytes) {
    const std::int64_t n = std::min(block, count - done);
    std::byte* now = last_cast < stage.ops.size() ? spare[0].data() : out;
    fetch(stage, view, first + done, n, now);
    for (std::size_t i = 0; i < stage.ops.size(); ++i) {
      const ElementOp& op = stage.ops[i];
      if (op.kind == ElementOp::Kind::cast) {
        std::byte* next = i == last_cast ? out : now == spare[0].data() ? spare[1].data() : spare[0].data();
        convert(op.from, now, op.to, next, n);
        now = next;
      } else if (op.kind == ElementOp::Kind::scale) {
        scale(op.from, now, first + done, n, op.axis, *op.vector);
      } else {
        shift(op.from, now, first + done, n, op.axis, *op.vector);
      }
    }
  }
}

Diagnostic out_of_memory(const Chain& c) {
  return error(Code::input_too_large, "not enough memory to carry out the transforms of a constant of " +
                                          std::to_string(c.elements) + " elements");
}

}  // namespace

Status write_chain(const Chain& c, std::span<std::byte> out) {
  if (c.elements == 0) return {};
  const bool only_reshaped =
      std::ranges::all_of(c.transforms, [](const Transform& t) { return std::holds_alternative<Reshape>(t); });
  if (only_reshaped) {
    const Storage& s = *c.storage;
    s.placeholder ? std::memset(out.data(), 0, out.size()) : std::memcpy(out.data(), s.bytes.data(), out.size());
    return {};
  }
  try {
    Program program(c);
    program.prepare();
    if (dtype_bits(c.shape.dtype) >= 8) {
      program.run(0, c.elements, out.data());
      return {};
    }
    // Packed as it comes, an even number of elements at a time.
    std::vector<std::byte> unpacked(static_cast<std::size_t>(std::min(c.elements, kBlock)));
    for (std::int64_t done = 0; done < c.elements; done += kBlock) {
      const std::int64_t n = std::min(kBlock, c.elements - done);
      program.run(done, n, unpacked.data());
      pack4(unpacked.data(), n, out.data() + done / 2);
    }
  } catch (const std::bad_alloc&) {
    return out_of_memory(c);
  }
  return {};
}

Status read_chain(const Chain& c, std::int64_t first, std::int64_t count, DType to, std::byte* out) {
  if (count == 0) return {};
  try {
    Program program(c);
    program.cast_to(to);
    program.prepare();
    program.run(first, count, out);
  } catch (const std::bad_alloc&) {
    return out_of_memory(c);
  }
  return {};
}

}  // namespace gantry::detail
