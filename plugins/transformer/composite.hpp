// Composites: operators that delegates know by name, written with their decomposition as a subgraph, which every
// runtime can run. Names, operands and attributes: google-ai-edge/LiteRT, litert/cc/internal/litert_op_options.h
// (odml.rms_norm) and its delegates (odml.scaled_dot_product_attention).
#pragma once

#include <bit>
#include <cstdint>

#include "common.hpp"

namespace transformer {

/// Whether composites are wanted; an option, off by default.
inline bool composites(const Emit& emit) { return emit.call().option<bool>("composite"); }

/// A FlexBuffer map with one float32: what the attributes of a composite are.
inline Dims one_float(std::string_view key, float value) {
  Dims bytes;
  for (const char c : key) bytes.push_back(static_cast<unsigned char>(c));
  bytes.push_back(0);
  // The vector of keys: its length, then how far before its element the key begins.
  bytes.push_back(1);
  bytes.push_back(static_cast<std::int64_t>(key.size()) + 2);
  const auto key_at = static_cast<std::int64_t>(bytes.size()) - 1;
  while (bytes.size() % 4 != 0) bytes.push_back(0);
  const auto word = [&](std::uint32_t w) {
    for (int i = 0; i < 4; ++i) bytes.push_back(w >> (8 * i) & 0xff);
  };
  word(static_cast<std::uint32_t>(static_cast<std::int64_t>(bytes.size()) - key_at));  // back to the keys
  word(1);                                                                             // width of their elements
  word(1);                                                                             // how many values
  word(std::bit_cast<std::uint32_t>(value));
  bytes.push_back(0x0e);  // type of the value: a float of 4 bytes, inline
  bytes.push_back(5);     // back to the values
  bytes.push_back(0x26);  // a map whose elements have 4 bytes
  bytes.push_back(1);     // width of the line before the last
  return bytes;
}

/// The composite `name` of `inputs`, with one attribute; `body` makes its decomposition.
template <class Body>
Value composite(const Emit& emit, std::string_view name, const std::vector<Value>& inputs, const Type& result,
                std::string_view key, float value, Body body) {
  std::vector<Type> types;
  for (const Value& v : inputs) types.push_back(v.type());
  const Region decomposition = emit.region(cat(name, ".impl"), types, body);
  return emit.ops_with({{"decomposition_subgraph_index", decomposition}}, "STABLEHLO_COMPOSITE", inputs,
                       {{"name", name}, {"version", 1}, {"composite_attributes", one_float(key, value)}}, {result})[0];
}

}  // namespace transformer
