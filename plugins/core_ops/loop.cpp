#include "loop.hpp"

#include <algorithm>

namespace core_ops {
namespace {

Value concatenation(const Emit& emit, const std::vector<Value>& parts) {
  return emit.op("CONCATENATION", parts, {{"axis", 0}, no_activation()});
}

Value shape_of(const Emit& emit, const Value& v) { return emit.op("SHAPE", {v}, {{"out_type", "INT32"}}); }

/// RESHAPE to a shape that is an operand.
Value reshape_like(const Emit& emit, const Value& v, const Value& shape, const Type& type) {
  return emit.ops("RESHAPE", 1, {v, shape}, {}, {type})[0];
}

/// The type in which the rows are stored: exact, and one that both kernels know.
DType stored_as(DType t) {
  switch (t) {
    case DType::float32:
    case DType::float16:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::boolean:
      return t;
    case DType::uint8:
    case DType::uint16:
      return DType::int32;
    case DType::uint32:
      return DType::int64;
    default:
      decline("scan outputs of type ", name_of(t), ": DYNAMIC_UPDATE_SLICE does not know it");
  }
}

}  // namespace

Value shape_operand(const Emit& emit, const Dims& dims, const std::vector<Value>& runtime) {
  if (runtime.empty()) return emit.i32(dims);
  Extents sizes;
  std::size_t next = 0;
  for (std::int64_t d : dims) sizes.push_back(d < 0 ? Extent(runtime.at(next++)) : Extent(d));
  return vector_of(emit, sizes);
}

Value marked_dynamic(const Emit& emit, const Value& v, const Value& counter) {
  const Value zero = emit.op("MINIMUM", {counter, emit.constant<std::int32_t>({}, {0})});
  const Value all = emit.add(shape_of(emit, v), zero);
  return emit.ops("SLICE", 1, {v, emit.i32(Dims(static_cast<std::size_t>(v.rank()), 0)), all}, {}, {v.type()})[0];
}

Value own_copy(const Emit& emit, const Value& v) {
  if (v.dtype() == DType::boolean && v.rank() <= 4) return emit.op("LOGICAL_AND", {v, v});
  if (v.rank() > 0) return concatenation(emit, {v});
  const Value one = emit.ops("RESHAPE", 1, {v, emit.i32({1})}, {{"new_shape", Dims{1}}}, {{v.dtype(), Dims{1}}})[0];
  return emit.op("SQUEEZE", {concatenation(emit, {one})}, {{"squeeze_dims", Dims{0}}});
}

std::size_t While::carry(const Value& initial, const Type& type) {
  initial_.push_back(initial);
  types_.push_back(type);
  passed_.push_back(false);
  return initial_.size() - 1;
}

std::size_t While::pass(const Value& v) {
  const std::size_t at = carry(v);
  passed_[at] = true;
  return at;
}

std::vector<Value> While::run(const Condition& condition, const Body& body) const {
  const Region cond_region =
      emit_.region("cond", types_, [&](const std::vector<Value>& args) { return std::vector{condition(args)}; });
  const Region body_region = emit_.region("body", types_, [&](const std::vector<Value>& args) {
    std::vector<Value> results = body(args);
    results.resize(args.size());
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (passed_[i]) {
        results[i] = args[i];
        continue;
      }
      Value& r = results[i];
      decline_if(r.dtype() != types_[i].dtype, "a value that the loop carries changes from ", name_of(types_[i].dtype),
                 " to ", name_of(r.dtype()));
      if (std::find(args.begin(), args.end(), r) != args.end()) r = own_copy(emit_, r);
    }
    return results;
  });
  return emit_.ops_with({{"cond_subgraph_index", cond_region}, {"body_subgraph_index", body_region}}, "WHILE", initial_,
                        {}, types_);
}

Rows::Rows(const Emit& emit, While& loop, const Type& row, const std::optional<Extent>& rounds, bool at_most,
           bool reversed, const std::vector<Value>& runtime)
    : emit_(emit), row_(row), rounds_(rounds), at_most_(at_most), reversed_(reversed), stored_(stored_as(row.dtype)) {
  decline_if(!row.dims, "a scan output whose rank is not known");
  static_rows_ = Value::known(*row.dims);
  if (!static_rows_ && runtime.empty()) rounds_.reset();
  const Value zero = emit.numbers(stored_ == DType::float16 ? DType::float32 : stored_, {}, {0});
  if (grows()) {
    // One element stands before the rows, so that the list is never empty.
    buffer_ = loop.carry(emit.numbers(stored_, {1}, {0}), {stored_, Dims{-1}});
    const Dims none(row.dims->size(), 0);
    Dims last = none;
    for (std::size_t i = 0; i < last.size(); ++i) last[i] = std::max<std::int64_t>((*row.dims)[i], 0);
    shape_ = loop.carry(emit.i32(last));
    return;
  }
  // At least one row, since DYNAMIC_UPDATE_SLICE is prepared though the loop may not run.
  Dims dims = *row.dims;
  side_by_side_ = static_rows_ && !dims.empty() && std::find(dims.begin(), dims.end(), 0) == dims.end();
  if (!side_by_side_) dims.insert(dims.begin(), 1);
  dims[0] = rounds_->is_known() ? dims[0] * rounds_->known : -1;
  std::vector<Value> sizes = runtime;
  if (!rounds_->is_known()) {
    const Value most = emit.op("MAXIMUM", {rounds_->value, emit.constant<std::int32_t>({}, {1})});
    sizes.insert(sizes.begin(), side_by_side_ ? emit.mul(most, (*row.dims)[0]) : most);
    rounds_place_ = loop.pass(rounds_->value);
    rounds_passed_ = true;
  }
  const Value filled = emit.op("FILL", {shape_operand(emit, dims, sizes), zero});
  buffer_ = loop.carry(emit.cast(filled, stored_), {stored_, dims});
}

void Rows::add(const std::vector<Value>& arguments, std::vector<Value>& results, const Value& i,
               const Value& row) const {
  const Value r = emit_.cast(row, stored_);
  const Value buffer = arguments[buffer_];
  if (grows()) {
    const Value flat =
        emit_.ops("RESHAPE", 1, {r, emit_.i32({-1})}, {{"new_shape", Dims{-1}}}, {{stored_, Dims{-1}}})[0];
    results[buffer_] = concatenation(emit_, reversed_ ? std::vector{flat, buffer} : std::vector{buffer, flat});
    results[shape_] = r.rank() ? shape_of(emit_, r) : own_copy(emit_, arguments[shape_]);
    return;
  }
  Value at = i;
  if (reversed_) {
    const Value last = rounds_passed_
                           ? emit_.sub(arguments[rounds_place_], 1)
                           : emit_.constant<std::int32_t>({}, {static_cast<std::int32_t>(rounds_->known - 1)});
    at = emit_.sub(last, i);
  }
  if (side_by_side_ && r.dim(0) > 1) at = emit_.mul(at, r.dim(0));
  const Value update = side_by_side_ ? r : insert_axis(emit_, r, 0);
  const auto rank = static_cast<std::size_t>(update.rank());
  Value begin;
  if (at.rank() == 0) {
    std::vector<Value> start(rank, emit_.constant<std::int32_t>({}, {0}));
    start[0] = at;
    begin = emit_.op("PACK", start, {{"values_count", rank}, {"axis", 0}});
  } else {
    begin = rank == 1 ? at : concatenation(emit_, {at, emit_.i32(Dims(rank - 1, 0))});
  }
  results[buffer_] = emit_.op("DYNAMIC_UPDATE_SLICE", {buffer, update, begin});
}

Value Rows::stacked(const std::vector<Value>& after, const Value& count) const {
  Value buffer = after[buffer_];
  Dims dims = *row_.dims;
  const std::size_t rank = dims.size() + 1;
  dims.insert(dims.begin(), -1);
  if (side_by_side_) buffer = emit_.reshape(buffer, dims);
  if (!grows()) {
    if (rounds_->is_known() && !at_most_) return emit_.cast(buffer, row_.dtype);
    Value sizes = shape_operand(emit_, {-1}, {count});
    if (rank > 1) sizes = concatenation(emit_, {sizes, emit_.i32(*row_.dims)});  // -1: all there is
    const Value begin = emit_.i32(Dims(rank, 0));
    return emit_.cast(emit_.ops("SLICE", 1, {buffer, begin, sizes}, {}, {{stored_, dims}})[0], row_.dtype);
  }
  const Value begin = emit_.i32({reversed_ ? 0 : 1}), size = emit_.sub(shape_of(emit_, buffer), 1);
  const Value flat = emit_.ops("SLICE", 1, {buffer, begin, size}, {}, {{stored_, Dims{-1}}})[0];
  Value shape = shape_operand(emit_, {-1}, {count});
  if (rank > 1) shape = concatenation(emit_, {shape, after[shape_]});
  return emit_.cast(reshape_like(emit_, flat, shape, {stored_, dims}), row_.dtype);
}

}  // namespace core_ops
