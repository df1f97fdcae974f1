// The text form: what is written, what is read, and that they agree.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph read(std::string_view text) {
  auto g = parse(text);
  EXPECT_TRUE(g.ok()) << g.error().place << ": " << g.error().message;
  if (!g.ok()) return {};
  const Status s = verify(*g);
  EXPECT_TRUE(s.ok()) << s.error().message;
  return *std::move(g);
}

void expect_canonical(std::string_view text) { EXPECT_EQ(print(read(text)), text); }

void expect_error(std::string_view text, std::string_view place, std::string_view part) {
  const auto g = parse(text, "f.txt");
  ASSERT_FALSE(g.ok()) << text;
  EXPECT_EQ(g.error().code, Code::input_malformed);
  EXPECT_EQ(g.error().place, "f.txt:" + std::string(place)) << text << "\n" << g.error().message;
  EXPECT_THAT(g.error().message, HasSubstr(std::string(part))) << text;
}

// One statement in a graph; errors in it are on line 2.
std::string in_graph(std::string_view statement) { return "graph \"\" {\n" + std::string(statement) + "\n}\n"; }

TEST(IrText, Whole) {
  expect_canonical(R"(graph "resnet" opset "" 17, "com.example" 1 {
  source "resnet.onnx"
  producer "pytorch 2.4"
  meta "author" = "a \"b\"\n"
  input %x: f32[N,3,224,?]
  input %y_1: ?[2] "y"
  input %z
  const %w: f32[2,2] = [1, 2, 3, 4]
  const %b: bool[3] = [true, false, true]
  %a: f32[N,64,112,"N/2"] = onnx.Conv@11(%x, %w, _) {auto_pad = "SAME", strides = [2, 2]} "conv1"
  %p, _, %q: i64[] = onnx.com.example::Pair@1(%a)
  %"onnx::If_7" = onnx.If@16(%q) then_branch: "then" {
    %t = onnx.Neg@13(%a)
    output "t" = %t
  } else_branch: {
    input %i: f32[*]
    %e = keras."odd domain"::"odd name"@1(%i, %x) {"odd key" = 1} "e" body: {
      output "c" = %w
    }
    output "e" = %e
    output "x" = %x
  }
  tflite.PRINT@1()
  output "y" = %a
}
)");
}

TEST(IrText, Attributes) {
  expect_canonical(
      in_graph("  onnx.Op@1() {a = -3, b = 3.0, c = inf, d = -inf, e = nan, f = nan(0xffc00001), g = 1e+20, "
               "h = -0.0, i = \"\\\"\\\\\\n\\r\\t\\x00\\x7f\", j = [1, -2], k = [1.5, nan], l = [\"a\", \"\"], "
               "m = ints[], n = floats[], o = strs[], p = i8[2] = [1, -1], q = f32[] = [0.1], r = str[1] = [\"s\"], "
               "s = f32[5] = #abcdef0123456789, t = 9223372036854775807, u = -9223372036854775808}"));
  const Graph g = read(in_graph("onnx.Op@1() {a = 1, b = 1.0, c = ints[], d = i8[] = [1]}"));
  const Node& n = g.node(g.nodes(g.main())[0]);
  EXPECT_EQ(n.attr_or<std::int64_t>("a", 0), 1);
  EXPECT_EQ(n.attr_or<float>("b", 0), 1.0f);
  EXPECT_TRUE(std::holds_alternative<std::vector<std::int64_t>>(*n.attr("c")));
  EXPECT_EQ(std::get<Constant>(*n.attr("d")).dtype(), DType::int8);
}

TEST(IrText, ConstantsOfEveryType) {
  expect_canonical(R"(graph "" {
  const %a: f32[4] = [0.1, -0, inf, nan(0x7f800001)]
  const %b: f16[5] = [65504, 6e-08, -inf, nan, 0.1]
  const %c: f64[4] = [0.1, 5e-324, 1e+300, nan(0xfff8000000000000)]
  const %d: bf16[2] = [1, nan(0x7fc1)]
  const %e: i8[2] = [-128, 127]
  const %f: i16[1] = [-32768]
  const %g: i32[1,1] = [-2147483648]
  const %h: i64[2] = [-9223372036854775808, 9223372036854775807]
  const %i: u8[1] = [255]
  const %j: u16[1] = [65535]
  const %k: u32[1] = [4294967295]
  const %l: u64[1] = [18446744073709551615]
  const %m: bool[2] = [true, false]
  const %n: str[2] = ["a", "b\"c"]
  const %o: c64[2] = [(1, -2), (nan, 0.5)]
  const %p: c128[1] = [(1e-300, inf)]
  const %q: i4[3] = [-8, 7, 0]
  const %r: u4[3] = [15, 0, 1]
  const %s: f32[0,3] = []
  const %t: f32[] = [3]
  const %u: f16[1000000,1000] = #1
  const %v: str[0] = []
}
)");
}

TEST(IrText, LargeConstantsAreHashes) {
  Graph g;
  std::vector<float> values(17, 1.5f);
  g.add_constant(Constant::of<float>({17}, std::span<const float>(values)), "a");
  g.add_constant(*Constant::of<float>({2, 2}, {1, 2, 3, 4}).permute(std::array<std::int64_t, 2>{1, 0}), "b");
  const std::string text = print(g);
  EXPECT_THAT(text, HasSubstr("const %a: f32[17] = #"));
  EXPECT_THAT(text, HasSubstr("const %b: f32[2,2] = [1, 3, 2, 4]"));
  EXPECT_EQ(print(read(text)), text);
  PrintOptions none;
  none.max_constant_elements = 0;
  const std::string hashes = print(g, none);
  EXPECT_THAT(hashes, HasSubstr("const %b: f32[2,2] = #"));
  EXPECT_EQ(print(read(hashes), none), hashes);
  // A hash stands for contents: of another transposition it is another.
  Graph h = read(hashes);
  const Constant b = h.value(h.find_value("b")).constant;
  EXPECT_NE(*b.permute(std::array<std::int64_t, 2>{1, 0})->content_hash(), *b.content_hash());
  PrintOptions all;
  all.max_constant_elements = 100;
  EXPECT_THAT(print(g, all), HasSubstr("[1.5, 1.5, "));
}

TEST(IrText, Options) {
  Graph g;
  g.source = "file.onnx";
  g.add_node(g.end(g.main()), Op{"onnx", "", "Op", 1}, {}, 1, {}, "name");
  PrintOptions o;
  o.node_names = false;
  o.model_info = false;
  EXPECT_EQ(print(g, o), "graph \"\" {\n  %name = onnx.Op@1()\n}\n");
}

TEST(IrText, Comments) {
  EXPECT_EQ(print(read("// RUN: x\ngraph \"a//b\" { // c\n%a//b = onnx.A@1() // d\n}// e")),
            "graph \"a//b\" {\n  %a//b = onnx.A@1()\n}\n");
}

TEST(IrText, SpellingIsFree) {
  const char* text = "graph\"g\"{input%x:\nf32 [ 1 , N ]\r\n\"onnx\" .\t\"A\"@1(%x){\"a\"=1}output\"y\"=%\"x\"}";
  EXPECT_EQ(print(read(text)), R"(graph "g" {
  input %x: f32[1,N]
  onnx.A@1(%x) {a = 1}
  output "y" = %x
}
)");
}

TEST(IrText, ErrorsSayWhere) {
  expect_error("", "1:1", "expected \"graph\", found the end");
  expect_error("graph x", "1:7", "the graph's name in quotes, found x");
  expect_error("graph \"x\n", "1:7", "not closed");
  expect_error("graph \"\\y\"", "1:7", "escape");
  expect_error("graph \"\" opset \"\" 1, \"\" 2 {}", "1:22", "two versions");
  expect_error("graph \"\" {", "1:11", "found the end");
  expect_error("graph \"\" {} x", "1:13", "the end");
  expect_error("graph \"\" {\n  $\n}", "2:3", "unexpected character");
  expect_error(in_graph("input %x: f33[1]"), "2:11", "element type");
  expect_error(in_graph("input %x: f32[-1]"), "2:15", "negative");
  expect_error(in_graph("input %x: f32[1 2]"), "2:17", "\",\" or \"]\"");
  expect_error(in_graph("input %x: f32[99999999999999999999]"), "2:15", "in range");
  expect_error(in_graph("input %x\ninput %x"), "3:7", "used already");
  expect_error(in_graph("input %\"\""), "2:7", "empty");
  expect_error(in_graph("input % x"), "2:7", "missing");
  expect_error(in_graph("output \"y\" = %x"), "2:14", "%x is not defined");
  expect_error(in_graph("output \"y\" = _"), "2:14", "a value");
  expect_error(in_graph("%a, %a = onnx.A@1()"), "2:5", "used already");
  expect_error(in_graph("%a = onnx.A@1(%a)"), "2:15", "not defined");
  expect_error(in_graph("%a = onnx@1()"), "2:10", "\".\"");
  expect_error(in_graph("%a = onnx.com.x@1()"), "2:16", "\"::\"");
  expect_error(in_graph("%a = onnx.A@x()"), "2:13", "a version");
  expect_error(in_graph("%a = onnx.A@9999999999()"), "2:13", "in range");
  expect_error(in_graph("onnx.A@1(1)"), "2:10", "a value, found 1");
  expect_error(in_graph("onnx.A@1() {a = 1, a = 2}"), "2:20", "occurs twice");
  expect_error(in_graph("onnx.A@1() {a = []}"), "2:18", "ints[]");
  expect_error(in_graph("onnx.A@1() {a = [1, 2.0]}"), "2:21", "an integer");
  expect_error(in_graph("onnx.A@1() {a = [1.0, 2]}"), "2:23", "a float");
  expect_error(in_graph("onnx.A@1() {a = 1e999}"), "2:17", "a float");
  expect_error(in_graph("onnx.A@1() {a = 1e}"), "2:17", "after its e");
  expect_error(in_graph("onnx.A@1() {a = -}"), "2:17", "no digits");
  expect_error(in_graph("onnx.A@1() {a = nope}"), "2:17", "element type");
  expect_error(in_graph("const %c: f32[N] = [1]"), "2:11", "fully known");
  expect_error(in_graph("const %c: f32[2] = [1]"), "2:11", "has 1 elements");
  expect_error(in_graph("const %c: f32[1000000000000] = [1]"), "2:11", "has 1 elements");
  expect_error(in_graph("const %c: f32[1000000000000,1000000000] = #1"), "2:11", "fully known");
  expect_error(in_graph("const %c: f32[1000000000000,1000000] = #1"), "2:11", "too large");
  expect_error(in_graph("const %c: i8[1] = [128]"), "2:20", "type i8");
  expect_error(in_graph("const %c: u4[1] = [16]"), "2:20", "type u4");
  expect_error(in_graph("const %c: i8[1] = [1.5]"), "2:20", "type i8");
  expect_error(in_graph("const %c: f16[1] = [70000]"), "2:21", "type f16");
  expect_error(in_graph("const %c: f32[1] = [nan(0x1)]"), "2:21", "type f32");
  expect_error(in_graph("const %c: bool[1] = [1]"), "2:22", "type bool");
  expect_error(in_graph("const %c: str[1] = [1]"), "2:21", "a string");
  expect_error(in_graph("const %c: str[1] = #1"), "2:20", "\"[\"");
  expect_error(in_graph("const %c: c64[1] = [1]"), "2:21", "\"(\"");
  expect_error(in_graph("const %c: f32[1] = #g"), "2:20", "hexadecimal");
  expect_error(in_graph("const %c: f32[1] = #12345678123456781"), "2:20", "hexadecimal");
}

TEST(IrText, RegionsAreScopes) {
  expect_error(in_graph("onnx.If@1() a: { %x = onnx.A@1() }\nonnx.B@1(%x)"), "3:10", "not seen from here");
  expect_error(in_graph("%y = onnx.If@1() a: { onnx.A@1(%y) }"), "2:32", "not seen from here");
  expect_error(in_graph("onnx.If@1() a: { %x = onnx.A@1() } b: { %x = onnx.A@1() }"), "2:41", "used already");
  expect_error(in_graph("onnx.If@1() a: { source \"x\" }"), "2:25", "");
}

TEST(IrText, DepthIsLimited) {
  std::string text = "graph \"\" {";
  for (int i = 0; i < 100'000; ++i) text += "o.If@1() b: {";
  const auto g = parse(text);
  ASSERT_FALSE(g.ok());
  EXPECT_THAT(g.error().message, HasSubstr("too deep"));
}

// Any damage to a text is an error or another graph that is sound; it never hangs or reads outside.
TEST(IrText, DamagedTexts) {
  const std::string good = R"(graph "g" opset "" 17 {
  input %x: f32[N,3,?] "xx"
  const %w: f32[2,2] = [1, 2, nan(0x7fc00001), 4]
  %a: f32[N] = onnx.com.example::Conv@11(%x, %w, _) {a = "S\x41", b = [2, 2], c = i4[1] = [1], d = i8[9] = #1} "c"
  %i = onnx.If@16(%a) then: "t" { %t = onnx.Neg@13(%a) output "t" = %t } else: { output "x" = %x }
  output "y" = %i
}
)";
  static constexpr char kBytes[] = "{}()[]=,:.@?*\"%#\\/-+eE0189azN_ \n\xff\0";
  std::mt19937 random(1);
  for (int i = 0; i < 6'000; ++i) {
    std::string text = good;
    for (unsigned k = 0; k < 1 + random() % 3; ++k) {
      const std::size_t at = random() % (text.size() + 1);
      if (at == text.size()) continue;
      const char c = kBytes[random() % sizeof kBytes];
      switch (random() % 4) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.resize(at);
          text += c;
          break;
      }
    }
    auto g = parse(text);
    if (!g.ok()) {
      EXPECT_FALSE(g.error().place.empty());
      continue;
    }
    const Status s = verify(*g);
    ASSERT_TRUE(s.ok()) << text << s.error().message;
    const std::string printed = print(*g);
    const auto again = parse(printed);
    ASSERT_TRUE(again.ok()) << printed << again.error().place << again.error().message;
    ASSERT_EQ(print(*again), printed);
  }
}

TEST(IrText, FloatsReadBackExactly) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Graph g;
    std::vector<float> f32;
    std::vector<double> f64;
    for (int i = 0; i < 16; ++i) {
      f32.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
      f64.push_back(std::bit_cast<double>(std::uint64_t{random()} << 32 | random()));
    }
    const ValueId a = g.add_constant(Constant::of<float>({16}, std::span<const float>(f32)), "a");
    const ValueId b = g.add_constant(Constant::of<double>({16}, std::span<const double>(f64)), "b");
    g.add_node(g.end(g.main()), Op{"onnx", "", "A", 1}, {}, 0, {{"f", f32[0]}, {"v", f32}});
    const Graph h = read(print(g));
    for (const ValueId v : {a, b}) {
      const auto bytes = h.value(h.find_value(g.value(v).name)).constant.direct();
      ASSERT_TRUE(bytes);
      ASSERT_TRUE(std::ranges::equal(*bytes, *g.value(v).constant.direct()));
    }
    const Node& n = h.node(h.nodes(h.main())[0]);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(std::get<float>(*n.attr("f"))), std::bit_cast<std::uint32_t>(f32[0]));
  }
}

}  // namespace
}  // namespace gantry
