// What may be an operand where, across regions.
#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "host/plugins/order.hpp"

namespace gantry::plugins {
namespace {

TEST(PluginsOrder, Available) {
  Result<Graph> parsed = parse(R"(graph "t" {
  input %x: f32[2]
  input %c: bool[]
  const %k: f32[1] = [1]
  %a: f32[2] = onnx.Relu@6(%x)
  %b: f32[2] = onnx.If@1(%c) then_branch: {
    %d: f32[2] = onnx.Abs@6(%a)
    %e: f32[2] = onnx.Neg@6(%d)
    output "e" = %e
  } else_branch: {
    %f: f32[2] = onnx.Exp@6(%x)
    output "f" = %f
  }
  %g: f32[2] = onnx.Sqrt@6(%b)
  output "g" = %g
}
)");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const Graph& g = *parsed;
  const auto v = [&](const char* name) { return g.find_value(name); };
  const auto n = [&](const char* name) { return g.value(v(name)).producer; };
  for (const char* at : {"a", "b", "d", "e", "f", "g"}) {
    EXPECT_TRUE(available_before(g, v("x"), n(at)));
    EXPECT_TRUE(available_before(g, v("k"), n(at)));
    EXPECT_EQ(available_before(g, v("a"), n(at)), at != std::string("a")) << at;
    EXPECT_EQ(available_before(g, v("b"), n(at)), at == std::string("g")) << at;
    EXPECT_EQ(available_before(g, v("d"), n(at)), at == std::string("e")) << at;
    EXPECT_FALSE(available_before(g, v("f"), n(at))) << at;
    EXPECT_FALSE(available_before(g, v("g"), n(at))) << at;
  }
  const RegionId inner = g.node(n("e")).region;
  EXPECT_TRUE(available_at_end(g, v("e"), inner));
  EXPECT_TRUE(available_at_end(g, v("a"), inner));
  EXPECT_FALSE(available_at_end(g, v("b"), inner));
  EXPECT_FALSE(available_at_end(g, v("f"), inner));
  EXPECT_TRUE(available_at_end(g, v("g"), g.main()));
  EXPECT_FALSE(available_at_end(g, v("e"), g.main()));
}

}  // namespace
}  // namespace gantry::plugins
