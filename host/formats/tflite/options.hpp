// Attributes and regions of a node <-> the options table of its operator, field by field through the schema.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/formats/tflite/schema.hpp"
#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace flatbuffers {
class FlatBufferBuilder;
class Table;
}  // namespace flatbuffers

namespace gantry::tflite_format {

/// Writes the options table of a node into the builder and returns its place there, as flatbuffers counts places.
/// `subgraph_of[region.index]` is the subgraph that a region became. The operator has options.
/// Errors: internal, for an attribute that the table has no field for or whose value does not fit, and for a region
/// that is missing or has no field.
Result<std::uint32_t> write_options(flatbuffers::FlatBufferBuilder& builder, const Node& node, const OptionsInfo& table,
                                    std::span<const std::int32_t> subgraph_of);

struct ReadOptions {
  Attrs attrs;                                                       // fields that are not at their default
  std::vector<std::pair<std::string_view, std::int32_t>> subgraphs;  // field and index, in order
};
/// The inverse. `table` passed the verifier. Errors: input_malformed for a value that an enumeration does not have.
/// Allocates no more than a small multiple of options_bytes().
Result<ReadOptions> read_options(const flatbuffers::Table& table, const OptionsInfo& info);
/// Bytes of the lists and strings of a table. (In a hostile file a list can belong to many tables.)
std::uint64_t options_bytes(const flatbuffers::Table& table, const OptionsInfo& info);

/// Attributes of a custom operator <-> a FlexBuffer map. Bytes that are no such map are one string attribute
/// "custom_options", which is written as it stands.
Result<std::string> write_custom_options(const Node& node);
Attrs read_custom_options(std::span<const std::uint8_t> bytes);

}  // namespace gantry::tflite_format
