// What converters, patterns and folders do to the graph, and what becomes of it when they decline, fail or misbehave.
#include "tests/abi/fixture.hpp"

namespace gantry::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string op(const std::string& name) { return "%z: f32[2] = onnx.org.test::" + name + "@1(%x) \"the_node\""; }
std::string bad_op(const std::string& name) { return "%z: f32[2] = onnx.org.bad::" + name + "@1(%x) \"the_node\""; }

class Convert : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    install("good");
    install("bad");
    discover();
  }

  /// The node declines with this reason, and leaves no trace.
  void declines(const std::string& line, std::string_view name, const std::string& reason,
                const std::string& type = "f32[2]") {
    Graph g = graph(line, type);
    const std::string before = print(g);
    open(g);
    const Result<Outcome> r = convert(g, name);
    ASSERT_TRUE(r.ok()) << r.error().message;
    EXPECT_EQ(r->kind, Outcome::Kind::declined);
    ASSERT_EQ(r->reasons.size(), 1U);
    EXPECT_EQ(r->reasons[0].code, Code::declined);
    EXPECT_EQ(r->reasons[0].message, reason);
    EXPECT_EQ(r->reasons[0].node, "the_node");
    EXPECT_EQ(print(g), before);
    EXPECT_THAT(plugins().take_messages(), IsEmpty());
  }
  /// The conversion ends with an error, and the graph is as before.
  void fails(const std::string& name, const std::string& text) {
    Graph g = graph(bad_op(name));
    const std::string before = print(g);
    open(g);
    const Result<Outcome> r = convert(g, name);
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.error().code, Code::plugin_failed);
    EXPECT_THAT(r.error().message, HasSubstr(text));
    EXPECT_EQ(r.error().node, "the_node");
    EXPECT_EQ(r.error().op, "org.bad::" + name);
    EXPECT_EQ(r.error().plugin, "org.test.bad");
    EXPECT_EQ(print(g), before);
  }
};

TEST_F(Convert, NodesComeBeforeAndNamesFollowTheSource) {
  Graph g = graph(op("Good"));
  open(g);
  const Result<Outcome> r = convert(g, "Good");
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->kind, Outcome::Kind::done);
  EXPECT_EQ(r->plugin, "org.test.good");
  EXPECT_THAT(lines(g), ElementsAre("%the_node: f32[2] = tflite.NEG@1(%x) \"the_node\"",
                                    "%z: f32[2] = tflite.RELU@1(%the_node) \"the_node\""));
  const std::vector<Diagnostic> messages = plugins().take_messages();
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].message, "Good was converted");
  EXPECT_EQ(messages[0].severity, Severity::note);
  EXPECT_THAT(plugins().take_messages(), IsEmpty());
}

std::string wrapping(const std::string& name) {
  return "%z: f32[2] = onnx.org.test::" + name +
         "@1(%x) \"the_node\" body: \"b\" {\n    input %i: f32[2]\n    %j: f32[2] = tflite.RELU@1(%i)\n"
         "    %k: f32[2] = tflite.RELU@1(%y)\n    output \"k\" = %k\n  }";
}

TEST_F(Convert, RegionsAreBuiltAndCopied) {
  Graph g = graph(wrapping("Wrap"));
  open(g);
  const Result<Outcome> r = convert(g, "Wrap");
  ASSERT_TRUE(r.ok()) << r.error().message;
  ASSERT_EQ(r->kind, Outcome::Kind::done);
  const Node& made = g.node(node(g, "WRAP"));
  ASSERT_EQ(made.regions.size(), 1U);
  EXPECT_EQ(made.regions[0].first, "inside");
  const Region& inside = g.region(made.regions[0].second);
  EXPECT_EQ(inside.name, "made");
  EXPECT_EQ(inside.inputs.size(), 2U);
  EXPECT_THAT(g.captures(made.regions[0].second), IsEmpty());
  EXPECT_EQ(g.regions().size(), 2U);  // the source's own went with its node
  EXPECT_EQ(g.node(inside.last).op.name, "NEG");
}

TEST_F(Convert, ARegionHalfMadeLeavesNoTrace) { declines(wrapping("HalfWrap"), "HalfWrap", "half made"); }

TEST_F(Convert, NothingRegistered) {
  Graph g = graph(op("Unheard"));
  open(g);
  const Result<Outcome> r = convert(g, "Unheard");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->kind, Outcome::Kind::none);
  EXPECT_FALSE(plugins().offers_converter(g.node(node(g, "Unheard")).op, "tflite"));
}

TEST_F(Convert, TheResultMayBeAnOperandOrAConstant) {
  Graph g = graph("%a: f32[2] = onnx.org.test::Pass@1(%x)\n%z: f32[2] = onnx.org.test::Good@1(%a)");
  open(g);
  ASSERT_TRUE(convert(g, "Pass").ok());
  EXPECT_EQ(g.node(node(g, "Good")).inputs[0], g.region(g.main()).inputs[0]);

  Graph h = graph(op("Constant"), "f32[2,2]");
  h.set_type(h.node(node(h, "Constant")).outputs[0], Type::unranked(DType::float32));
  ASSERT_TRUE(convert(h, "Constant").ok());
  const Value& z = h.value(h.region(h.main()).outputs[0].value);
  ASSERT_TRUE(z.is_constant());
  EXPECT_EQ(z.name, "z");
  EXPECT_THAT(*z.constant.read<float>(), ElementsAre(2, 6, 20, 40));
}

TEST_F(Convert, TypesAreRefined) {
  Graph g = graph("%z: ?[*] = onnx.org.test::Good@1(%x)");
  open(g);
  ASSERT_TRUE(convert(g, "Good").ok());
  EXPECT_EQ(g.value(g.region(g.main()).outputs[0].value).type.str(), "f32[2]");
}

TEST_F(Convert, Declining) { declines(op("Declines"), "Declines", "it does not feel like it"); }

TEST_F(Convert, LimitsDeclineUnlessThereIsAFallback) {
  const std::string type = "f32[1,1,1,1,1,1,2]";
  const auto deep = [&](const std::string& attribute) {
    return "%z: " + type + " = onnx.org.test::Deep@1(%x)" + attribute + " \"the_node\"";
  };
  declines(deep(" {strict = 1}"), "Deep", "RELU takes rank <= 6, this is 7", type);
  declines("%z: i64[2] = onnx.org.test::Deep@1(%x) {strict = 1} \"the_node\"", "Deep",
           "RELU takes f32, i8, this is i64", "i64[2]");
  Graph g = graph(deep(""), type);
  open(g);
  ASSERT_TRUE(convert(g, "Deep").ok());
  EXPECT_THAT(lines(g), ElementsAre(HasSubstr("tflite.NEG@1(%x)")));
}

TEST_F(Convert, Failing) {
  fails("Fails", "out of luck");
  fails("WrongType", "'z' is f32[2], but what is to stand for it is i32[2]");
  fails("NoResults", "gave no results");
  fails("Status", "unknown status 77");
  fails("Undefined", "no open plugin defines tflite.NOBODY@1");
  fails("Dialect", "onnx.Abs is emitted where nodes of the dialect tflite are expected");
}

TEST_F(Convert, Garbage) {
  declines("%z: f32[2] = onnx.org.bad::Garbage@1(%x) \"the_node\"", "Garbage", "all was refused");
}

TEST_F(Convert, AttributesAndOptions) {
  discover({{"org.test.good",
             {{"flag", {true, "here"}}, {"level", {std::int64_t{7}, "here"}}, {"ratio", {std::int64_t{2}, "here"}}}}});
  Graph g = graph(
      "%z: f32[2] = onnx.org.test::Attrs@1(%x) {a = 1, b = 0.5, c = \"t\", d = [1, 2], e = [0.5], f = [\"u\", \"v\"], "
      "g = f32[2] = [1, 2]}");
  open(g);
  const Result<Outcome> r = convert(g, "Attrs");
  ASSERT_TRUE(r.ok()) << r.error().message;
  ASSERT_EQ(r->kind, Outcome::Kind::done);
  const Node& n = g.node(node(g, "NEG"));
  EXPECT_EQ(n.name, "renamed");
  EXPECT_EQ(n.attr_or<std::int64_t>("a", 0), 1);
  EXPECT_EQ(n.attr_or<float>("b", 0), 0.5F);
  EXPECT_EQ(n.attr_or<std::string>("c", ""), "t");
  EXPECT_EQ(n.attr_or<std::vector<std::int64_t>>("d", {}), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(n.attr_or<std::vector<float>>("e", {}), std::vector<float>{0.5F});
  EXPECT_EQ(n.attr_or<std::vector<std::string>>("f", {}), (std::vector<std::string>{"u", "v"}));
  EXPECT_THAT(*n.attr_or<Constant>("g", {}).read<float>(), ElementsAre(1, 2));
  EXPECT_EQ(n.attr_or<std::int64_t>("flag", 0), 1);
  EXPECT_EQ(n.attr_or<std::int64_t>("level", 0), 7);
  EXPECT_EQ(n.attr_or<float>("ratio", 0), 2.0F);
  EXPECT_EQ(n.attr_or<std::string>("word", ""), "hello");
  // The constant that the attribute was read through is gone again.
  for (std::uint32_t i = 1; i < g.value_slots(); ++i) EXPECT_FALSE(g.value(ValueId{i}).is_constant());
}

TEST_F(Convert, Upgrades) {
  Graph g = graph(op("New"));
  open(g);
  const Result<Outcome> r = plugins().upgrade(g, node(g, "New"));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->kind, Outcome::Kind::done);
  expect_sound(g);
  EXPECT_THAT(lines(g), ElementsAre("%z: f32[2] = onnx.org.test::New@2(%x) \"the_node\""));
  EXPECT_EQ(plugins().upgrade(g, node(g, "New"))->kind, Outcome::Kind::none);
}

TEST_F(Convert, UpgradesWithoutEnd) {
  Graph g = graph(op("Again"));
  open(g);
  int steps = 0;
  for (;; ++steps) {
    ASSERT_LT(steps, 1000);
    const Result<Outcome> r = plugins().upgrade(g, node(g, "Again"));
    if (r.ok()) continue;
    EXPECT_EQ(r.error().code, Code::plugin_failed);
    EXPECT_THAT(r.error().message, HasSubstr("without end"));
    break;
  }
  expect_sound(g);
}

TEST_F(Convert, Folding) {
  Graph g = graph("const %c: f32[2] = [1, 2]\n%z: f32[2] = onnx.org.test::Twice@1(%c)");
  open(g);
  const Result<bool> done = plugins().fold(g, node(g, "Twice"));
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(*done);
  expect_sound(g);
  EXPECT_THAT(*g.value(g.region(g.main()).outputs[0].value).constant.read<float>(), ElementsAre(2, 4));

  Graph h = graph(op("Twice"));  // no constant: the folder gives up
  const Result<bool> no = plugins().fold(h, node(h, "Twice"));
  ASSERT_TRUE(no.ok()) << no.error().message;
  EXPECT_FALSE(*no);

  Graph wrong = graph("const %c: f32[2] = [1, 2]\n%z: f32[3] = onnx.org.test::Twice@1(%c)");
  const Result<bool> mismatch = plugins().fold(wrong, node(wrong, "Twice"));
  ASSERT_FALSE(mismatch.ok());
  EXPECT_EQ(mismatch.error().code, Code::plugin_failed);
}

TEST_F(Convert, Inference) {
  Graph g = graph("%a: ?[*] = onnx.org.test::Neg@1(%x)\n%z: f32[2] = onnx.org.bad::Infers@1(%a)");
  open(g);
  const Semantics& s = plugins().semantics();
  EXPECT_TRUE(s.knows(g.node(node(g, "Neg")).op));
  EXPECT_FALSE(s.knows(Op{"onnx", "org.test", "Good"}));
  EXPECT_EQ(s.newest_version(Op{"onnx", "org.test", "New"}), 2);
  ASSERT_TRUE(s.infer(g, node(g, "Neg")).ok());
  EXPECT_EQ(g.value(g.node(node(g, "Neg")).outputs[0]).type.str(), "f32[2]");
  const Status wrong = s.infer(g, node(g, "Infers"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, Code::input_type);
  EXPECT_THAT(wrong.error().message, AllOf(HasSubstr("f32[2]"), HasSubstr("i64[*]")));
}

TEST_F(Convert, Limits) {
  Graph g = graph(op("Good"));
  open(g);
  const gantry::Limits* relu = plugins().limits(Op{"tflite", "", "RELU"});
  ASSERT_NE(relu, nullptr);
  EXPECT_EQ(relu->max_rank, 6);
  EXPECT_EQ(plugins().limits(Op{"tflite", "", "ABS"}), nullptr);  // of a plugin that is not open
}

// ---- patterns ----

TEST_F(Convert, Pattern) {
  Graph g = graph(
      "%a: f32[2] = onnx.org.test::Neg@1(%x)\n%b: f32[2] = onnx.org.test::Neg@1(%a)\n"
      "%z: f32[2] = onnx.org.test::Good@1(%b)");
  open(g);
  const std::vector<PatternInfo> patterns = plugins().patterns(g, "onnx");
  ASSERT_EQ(patterns.size(), 1U);
  EXPECT_EQ(patterns[0].name, "neg_neg");
  EXPECT_THAT(plugins().patterns(g, "tflite"), IsEmpty());
  const std::vector<NodeId> nodes = g.nodes(g.main());
  EXPECT_FALSE(*plugins().apply(patterns[0], g, nodes[0]));
  EXPECT_FALSE(*plugins().apply(patterns[0], g, nodes[2]));  // not its root
  const Result<bool> done = plugins().apply(patterns[0], g, nodes[1]);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(*done);
  expect_sound(g);
  EXPECT_FALSE(g.contains(nodes[1])) << "the root is unused";
  EXPECT_EQ(g.node(nodes[2]).inputs[0], g.region(g.main()).inputs[0]);
}

TEST_F(Convert, PatternReplacesByWhatIsNotKnownYet) {
  Graph g = graph("%a: f32[2] = onnx.org.test::Good@1(%x)\n%z: f32[2] = onnx.org.test::Late@1(%x)");
  open(g);
  const std::vector<PatternInfo> patterns = plugins().patterns(g, "onnx");
  ASSERT_EQ(patterns.size(), 1U);
  const std::string before = print(g);
  const Result<bool> r = plugins().apply(patterns[0], g, node(g, "Late"));
  ASSERT_FALSE(r.ok());
  EXPECT_THAT(r.error().message, HasSubstr("is not known yet where 'x' is used"));
  EXPECT_EQ(print(g), before);

  // Without the earlier user it is right; the new node keeps the operand that it asked for.
  Graph h = graph("%z: f32[2] = onnx.org.test::Late@1(%x)");
  const Result<bool> done = plugins().apply(patterns[0], h, node(h, "Late"));
  ASSERT_TRUE(done.ok()) << done.error().message;
  expect_sound(h);
  EXPECT_EQ(h.node(node(h, "New")).inputs[0], h.region(h.main()).inputs[0]);
  EXPECT_EQ(h.node(node(h, "Late")).inputs[0], h.node(node(h, "New")).outputs[0]);
}

}  // namespace
}  // namespace gantry::test
