// Files that plugins read.
#include <cstring>

#include "tests/abi/fixture.hpp"

namespace gantry::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Formats : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    install("reader");
    install("low");
    discover();
  }

  Result<Graph> read(std::string text) {
    auto owned = std::make_shared<std::string>(std::move(text));
    const std::span bytes = std::as_bytes(std::span(owned->data(), owned->size()));
    const ManifestFormat* format = registry_->format_of("some/file.bin", bytes);
    if (!format) return error(Code::input_format, "nobody reads it");
    return registry_->read(*format, "some/file.bin", owned, bytes, report_);
  }
  void refuses(const std::string& text, Code code, const std::string& reason) {
    const Result<Graph> g = read(text);
    ASSERT_FALSE(g.ok());
    EXPECT_EQ(g.error().code, code);
    EXPECT_EQ(g.error().message, reason);
    EXPECT_EQ(g.error().plugin, "org.test.reader");
    EXPECT_EQ(g.error().place, "some/file.bin");
  }
};

TEST_F(Formats, AreFoundByTheirFirstBytesThenByExtension) {
  const auto format_of = [&](const std::string& path, const std::string& text) {
    return registry_->format_of(path, std::as_bytes(std::span(text.data(), text.size())));
  };
  EXPECT_NE(format_of("a.bin", "letters:i"), nullptr);
  EXPECT_EQ(format_of("a.bin", "letter"), nullptr);
  EXPECT_EQ(format_of("a.letters", "another"), nullptr);  // its magic is missing
  EXPECT_EQ(format_of("a.bin", ""), nullptr);
}

TEST_F(Formats, BecomeAGraph) {
  Result<Graph> g = read("letters:inno");
  ASSERT_TRUE(g.ok()) << g.error().message;
  EXPECT_TRUE(verify(*g).ok()) << verify(*g).error().message;
  const Region& main = g->region(g->main());
  EXPECT_THAT(main.input_names, ElementsAre("x"));
  ASSERT_EQ(main.outputs.size(), 1U);
  EXPECT_EQ(main.outputs[0].name, "y");
  EXPECT_EQ(g->live_nodes(), 2U);
  EXPECT_TRUE(g->node(main.first).op.is("letters", "Letter"));
  ASSERT_EQ(report_.plugins.size(), 1U);
  EXPECT_EQ(report_.plugins[0].reason, "files of Letters");
}

TEST_F(Formats, ConstantsWithinTheFileAreViewsThatKeepItAlive) {
  const float weight[] = {1.5F, -2.0F};
  std::string text = "letters:iw";
  text.append(reinterpret_cast<const char*>(weight), sizeof weight);
  Result<Graph> g = read(text + "o");
  ASSERT_TRUE(g.ok()) << g.error().message;
  const Node& node = g->node(g->region(g->main()).first);
  const Value& v = g->value(node.inputs[1]);
  ASSERT_TRUE(v.is_constant());
  const auto elements = v.constant.read<float>(0, 2);
  ASSERT_TRUE(elements.ok());
  EXPECT_THAT(*elements, ElementsAre(1.5F, -2.0F));
}

TEST_F(Formats, ThatAreDamagedOrNotSupportedLeaveNothing) {
  refuses("letters:ind", Code::declined, "a letter d cannot be read");
  refuses("letters:ine", Code::input_malformed, "no such letter");
  refuses("letters:ii", Code::input_malformed, "two inputs are named 'x'");
  refuses("letters:o", Code::input_malformed, "output 0 is not of this graph");
}

TEST_F(Formats, OfAManifestEqualThoseOfTheLibrary) {
  Result<Manifest> listed = read_manifest(dir() / "reader.gantry.toml");
  ASSERT_TRUE(listed.ok());
  Manifest m = *std::move(listed);
  ASSERT_EQ(m.formats.size(), 1U);
  EXPECT_EQ(m.formats[0].magic, "6c6574746572733a");
  EXPECT_THAT(write_manifest(m), HasSubstr(R"(["Letters", "letters", [".letters"], "6c6574746572733a"])"));
  m.formats[0].dialect = "others";
  write("reader.gantry.toml", write_manifest(m));
  discover();
  const Result<Graph> g = read("letters:ino");
  ASSERT_FALSE(g.ok());
  EXPECT_EQ(g.error().code, Code::plugin_mismatch);
}

TEST_F(Formats, DialectsAreJoinedByTheShortestWay) {
  EXPECT_THAT(registry_->dialect_path("onnx", "tflite"), ElementsAre("onnx", "tflite"));
  EXPECT_THAT(registry_->dialect_path("onnx", "onnx"), ElementsAre("onnx"));
  EXPECT_TRUE(registry_->dialect_path("letters", "tflite").empty());
}

}  // namespace
}  // namespace gantry::test
