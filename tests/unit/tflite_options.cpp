// Every field of every table of options, and what a graph can hold of it.
#include <limits>

#include "host/formats/tflite/schema.hpp"
#include "tests/unit/tflite_support.hpp"

namespace gantry::tflite_format {
namespace {

Attr sample(const FieldInfo& f, bool large) {
  const std::int64_t widest = f.width == 8 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{2147483647};
  switch (f.kind) {
    case FieldKind::text:
      return std::string(large ? "a longer text, with \"quotes\"" : "t");
    case FieldKind::bytes:
      return std::string("b\0\xff", 3);
    case FieldKind::real:
      if (f.is_vector) return large ? std::vector<float>{1.5f, -2.5f} : std::vector<float>{};
      return large ? -1e20f : f.default_real + 0.25f;
    case FieldKind::enumeration: {
      // The last value, or one that is not the default.
      const auto& values = f.values->values;
      const std::string name(large || f.default_integer != 0 ? values.back() : values[1]);
      if (f.is_vector) return std::vector<std::string>{name, std::string(values[0])};
      return name;
    }
    case FieldKind::boolean:
      if (f.is_vector) return std::vector<std::int64_t>{1, 0, 1};
      return std::int64_t{1 - f.default_integer};
    case FieldKind::integer:
      if (f.is_vector) return large ? std::vector<std::int64_t>{widest, -widest - 1, 0} : std::vector<std::int64_t>{};
      return large ? -widest - 1 : f.default_integer + 3;
  }
  return std::int64_t{0};
}

Graph graph_with(const OperatorInfo& op, bool filled, bool large) {
  Graph g;
  g.name = "g";
  const ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {2}));
  Attrs attrs;
  for (const FieldInfo& f : op.options->fields) {
    const bool one_value = f.values && f.values->values.size() == 1;  // then it is always the default
    if (filled && !f.is_subgraph && !one_value) attrs[std::string(f.name)] = sample(f, large);
  }
  const NodeId n =
      g.add_node(g.end(g.main()), {.dialect = "tflite", .domain = "", .name = op.name}, std::vector{x}, 1, attrs);
  for (const FieldInfo& f : op.options->fields) {
    if (!f.is_subgraph) continue;
    for (int i = 0; i < (f.is_vector ? 3 : 1); ++i) {
      const RegionId r = g.add_region(n, f.name, "region");
      const std::string name = std::string(f.name) + std::to_string(i);
      g.add_output(r, name, g.add_input(r, name, Type::of(DType::float32, {2})));
    }
  }
  const ValueId y = g.node(n).outputs[0];
  g.set_type(y, Type::of(DType::float32, {2}));
  g.set_name(y, "y");
  g.add_output(g.main(), "y", y);
  return g;
}

TEST(TfliteOptions, EveryTableRoundTrips) {
  for (const OperatorInfo& op : Schema::get().operators()) {
    if (!op.options) continue;
    SCOPED_TRACE(op.name);
    expect_round_trip(graph_with(op, false, false));
    expect_round_trip(graph_with(op, true, false));
    expect_round_trip(graph_with(op, true, true));
  }
}

TEST(TfliteOptions, DefaultsAreNotReadBack) {
  Graph g = graph_of(R"(graph "g" {
    input %x: f32[2]
    %y: f32[2] = tflite.ADD@1(%x, %x) {fused_activation_function = "NONE", pot_scale_int16 = 1}
    output "y" = %y
  })");
  const TemporaryFolder folder;
  ASSERT_TRUE(write(g, folder / "m.tflite").ok());
  const auto back = read(folder / "m.tflite");
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(back->node(back->nodes(back->main()).front()).attrs.empty());
}

TEST(TfliteOptions, NumbersOfEnumerationsAreTaken) {
  Graph g = graph_of(R"(graph "g" {
    input %x: f32[2]
    %y: f32[2] = tflite.ADD@1(%x, %x) {fused_activation_function = 3}
    output "y" = %y
  })");
  const TemporaryFolder folder;
  ASSERT_TRUE(write(g, folder / "m.tflite").ok());
  const auto back = read(folder / "m.tflite");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->node(back->nodes(back->main()).front()).attr_or<std::string>("fused_activation_function", ""),
            "RELU6");
}

TEST(TfliteOptions, RawBytesOfACustomOperator) {
  Graph g = graph_of(R"(graph "g" {
    input %x: f32[2]
    %y: f32[2] = tflite.custom::Raw@1(%x) {custom_options = "\x00\x01 not a map"}
    %z: f32[2] = tflite.custom::Plain@1(%y)
    output "z" = %z
  })");
  expect_round_trip(g);
}

}  // namespace
}  // namespace gantry::tflite_format
