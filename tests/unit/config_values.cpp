// Options: merge order, types, places, and that configs/default.toml lists exactly what there is.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/config/config.hpp"

namespace gantry {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;

class ConfigFile : public testing::Test {
 protected:
  std::filesystem::path write(std::string_view name, std::string_view text) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  /// The error of merging a file with this text.
  Diagnostic refused(std::string_view text) {
    Config config;
    Status status = config.merge_file(write("c.toml", text));
    EXPECT_FALSE(status.ok()) << text;
    return status.ok() ? Diagnostic{} : status.take_error();
  }
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gantry-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(ConfigFile, LaterWins) {
  Config config;
  EXPECT_EQ(config.get_float("verify.atol"), 1e-4);
  EXPECT_EQ(config.origin("verify.atol"), "default");
  const auto first = write("a.toml", "[verify]\natol = 0.5\nrtol = 1\n");
  ASSERT_TRUE(config.merge_file(first).ok());
  ASSERT_TRUE(config.merge_file(write("b.toml", "verify.atol = 0.25\n")).ok());
  EXPECT_EQ(config.get_float("verify.atol"), 0.25);
  EXPECT_EQ(config.get_float("verify.rtol"), 1.0) << "an integer is a number too";
  EXPECT_EQ(config.origin("verify.rtol"), first.string() + ":3:1");
  ASSERT_TRUE(config.merge_setting("verify.atol=2e-3").ok());
  EXPECT_EQ(config.get_float("verify.atol"), 2e-3);
  ASSERT_TRUE(config.set("verify.atol", 7.0, "--atol").ok());
  EXPECT_THAT(config.changed(),
              ElementsAre(Pair("verify.atol=7.0", "--atol"), Pair("verify.rtol=1.0", EndsWith("a.toml:3:1"))));
}

TEST_F(ConfigFile, DefaultFileListsEveryOption) {
  const std::filesystem::path file = std::filesystem::path(GANTRY_TEST_SOURCE_DIR) / "configs/default.toml";
  Config untouched;
  ASSERT_TRUE(untouched.merge_file(file).ok());
  EXPECT_TRUE(untouched.changed().empty()) << "the file shows the defaults, it sets none";

  // "#key = value" is an option, "# text" is prose; the line above an option is its help, or its choices.
  std::ifstream in(file);
  std::string text, line;
  std::size_t options = 0;
  while (std::getline(in, line)) {
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') {
      line.erase(0, 1);
      ++options;
    }
    text += line + "\n";
  }
  EXPECT_EQ(options, host_options().size());
  Config config;
  const Status merged = config.merge_file(write("all.toml", text));
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  Config defaults;
  for (const OptionSpec& spec : host_options()) {
    EXPECT_THAT(config.origin(spec.key), HasSubstr("all.toml:")) << spec.key << " is missing";
    EXPECT_THAT(text, HasSubstr("# " + spec.help + "\n"));
    for (const std::string& choice : spec.choices) EXPECT_THAT(text, HasSubstr('"' + choice + '"')) << spec.key;
    const auto same = [&](const Config& c) {
      for (const auto& [key, where] : c.changed())
        if (key.starts_with(spec.key + "=")) return key;
      return std::string{};
    };
    ASSERT_TRUE(defaults.set(spec.key, spec.default_value, "here").ok());
    EXPECT_EQ(same(config), same(defaults));
  }
}

TEST_F(ConfigFile, UnknownKeysNameThePlaceAndTheNearest) {
  Diagnostic d = refused("\n[verify]\natol = 1.0\n  rtoll = 2.0\n");
  EXPECT_EQ(d.code, Code::config_unknown_key);
  EXPECT_THAT(d.place, EndsWith("c.toml:4:3"));
  EXPECT_THAT(d.message, HasSubstr("verify.rtoll"));
  EXPECT_THAT(d.hint, HasSubstr("verify.rtol?"));

  d = refused("[verfy]\n");
  EXPECT_EQ(d.code, Code::config_unknown_key);
  EXPECT_THAT(d.place, EndsWith("c.toml:1:2"));
  EXPECT_THAT(d.hint, HasSubstr("verify"));

  d = refused("atol = 1.0\n");
  EXPECT_THAT(d.hint, HasSubstr("verify.atol")) << "the right word without its section";
  EXPECT_EQ(refused("\"a\\nb\" = 1").code, Code::config_unknown_key);
}

TEST_F(ConfigFile, WrongValues) {
  for (const char* text :
       {"[verify]\natol = \"much\"", "[verify]\natol = -1.0", "[verify]\natol = nan", "[verify]\nseed = 1.5",
        "[convert]\nverify = 1", "[log]\nlevel = \"loud\"", "[log]\nlevel = [\"info\"]", "[passes]\ndisable = \"a\"",
        "[passes]\ndisable = [1]", "verify = 3", "[verify.atol]", "[log]\nfile = 2020-01-01",
        "[plugins.org.example.a]\nb = 1", "[[verify]]\natol = 1.0", "[plugins.path]\n"}) {
    const Diagnostic d = refused(text);
    EXPECT_TRUE(d.code == Code::config_bad_value || d.code == Code::config_unknown_key) << text << ": " << d.message;
    EXPECT_THAT(d.place, HasSubstr("c.toml:")) << text;
  }
  EXPECT_THAT(refused("[log]\nlevel = \"warnin\"").hint, HasSubstr("warning"));
}

TEST_F(ConfigFile, BrokenFiles) {
  const Diagnostic d = refused("[verify]\natol = = 3\n");
  EXPECT_EQ(d.code, Code::config_syntax);
  EXPECT_THAT(d.place, HasSubstr("c.toml:2:"));
  EXPECT_EQ(refused(std::string_view("\0\0\0", 3)).code, Code::config_syntax);
  EXPECT_EQ(refused("a = \"\xff\xfe\"").code, Code::config_syntax);
  EXPECT_EQ(refused("a = 1\na = 2").code, Code::config_syntax);
  EXPECT_EQ(refused("a = " + std::string(100000, '[')).code, Code::config_syntax);
  EXPECT_EQ(refused(std::string(2 << 20, '#')).code, Code::config_syntax) << "too large";

  Config config;
  EXPECT_EQ(config.merge_file(folder_ / "none.toml").error().code, Code::config_not_found);
  EXPECT_EQ(config.merge_file(folder_).error().code, Code::config_not_found);
  EXPECT_EQ(config.merge_file("/dev/zero").error().code, Code::config_syntax) << "never ends";
}

TEST_F(ConfigFile, SectionsWithinSections) {
  Config config;
  ASSERT_TRUE(config.merge_file(write("c.toml", "[layout.cost]\nnode = 7\nreshape = 0.5\n")).ok());
  EXPECT_EQ(config.get_int("layout.cost.node"), 7);
  EXPECT_EQ(config.get_float("layout.cost.reshape"), 0.5);
  EXPECT_TRUE(config.configured_plugins().empty());
  EXPECT_THAT(refused("[layout.cots]\nnode = 7\n").hint, HasSubstr("layout.cost"));
}

TEST_F(ConfigFile, PathsAreRelativeToTheFile) {
  Config config;
  ASSERT_TRUE(
      config.merge_file(write("c.toml", "[log]\nfile = \"out.log\"\n[plugins]\npath = [\"../p\", \"/q\"]")).ok());
  EXPECT_EQ(config.get_string("log.file"), (folder_ / "out.log").string());
  EXPECT_THAT(config.get_strings("plugins.path"), ElementsAre((folder_.parent_path() / "p").string(), "/q"));
  ASSERT_TRUE(config.merge_setting("log.file=out.log").ok());
  EXPECT_EQ(config.get_string("log.file"), "out.log");
}

TEST(ConfigSetting, Values) {
  Config config;
  ASSERT_TRUE(config.merge_setting("convert.verify=true").ok());
  EXPECT_TRUE(config.get_bool("convert.verify"));
  ASSERT_TRUE(config.merge_setting("verify.seed = 12").ok());
  EXPECT_EQ(config.get_int("verify.seed"), 12);
  ASSERT_TRUE(config.merge_setting("log.level=info").ok());
  EXPECT_EQ(config.get_string("log.level"), "info") << "a bare word";
  ASSERT_TRUE(config.merge_setting("log.file=1e5").ok());
  EXPECT_EQ(config.get_string("log.file"), "1e5") << "a word, as the option is a string";
  ASSERT_TRUE(config.merge_setting("log.file='a = b'").ok());
  EXPECT_EQ(config.get_string("log.file"), "a = b");
  ASSERT_TRUE(config.merge_setting("passes.disable=a,b").ok());
  EXPECT_THAT(config.get_strings("passes.disable"), ElementsAre("a", "b"));
  ASSERT_TRUE(config.merge_setting("passes.disable=[\"c\"]").ok());
  EXPECT_THAT(config.get_strings("passes.disable"), ElementsAre("c"));
  ASSERT_TRUE(config.merge_setting("passes.disable=").ok());
  EXPECT_TRUE(config.get_strings("passes.disable").empty());
}

TEST(ConfigSetting, Refusals) {
  Config config;
  EXPECT_EQ(config.merge_setting("verify.atol").error().code, Code::config_syntax);
  EXPECT_EQ(config.merge_setting("=3").error().code, Code::config_syntax);
  EXPECT_EQ(config.merge_setting("verify.atol=[1").error().code, Code::config_syntax);
  EXPECT_EQ(config.merge_setting("verify.atol=much").error().code, Code::config_bad_value);
  EXPECT_EQ(config.merge_setting("verify.atol={a = 1}").error().code, Code::config_bad_value);
  EXPECT_EQ(config.merge_setting("verify.atol=1\nlog.file=x").error().code, Code::config_bad_value) << "one value only";
  const Status unknown = config.merge_setting("verify.atoll=1");
  EXPECT_EQ(unknown.error().code, Code::config_unknown_key);
  EXPECT_THAT(unknown.error(), AllOf(testing::Field(&Diagnostic::place, "--set"),
                                     testing::Field(&Diagnostic::hint, HasSubstr("verify.atol"))));
  EXPECT_TRUE(config.changed().empty()) << "what is refused changes nothing";
}

TEST_F(ConfigFile, SettingsOfPlugins) {
  Config config;
  ASSERT_TRUE(config.merge_file(write("c.toml", "[plugins.\"org.example.a\"]\nfast = true\nlimit = 3\n")).ok());
  ASSERT_TRUE(config.merge_setting("plugins.org.example.a.limit=4").ok());
  ASSERT_TRUE(config.merge_setting("plugins.\"org.example.b\".name=x").ok());
  EXPECT_THAT(config.configured_plugins(), ElementsAre("org.example.a", "org.example.b"));
  const auto& a = config.plugin_settings("org.example.a");
  EXPECT_EQ(std::get<bool>(a.at("fast").value), true);
  EXPECT_THAT(a.at("fast").origin, EndsWith("c.toml:2:1"));
  EXPECT_EQ(std::get<std::int64_t>(a.at("limit").value), 4);
  EXPECT_EQ(a.at("limit").origin, "--set");
  EXPECT_EQ(std::get<std::string>(config.plugin_settings("org.example.b").at("name").value), "x");
  EXPECT_TRUE(config.plugin_settings("org.example.c").empty());
  EXPECT_THAT(config.changed(), ElementsAre(Pair("plugins.\"org.example.a\".fast=true", EndsWith("c.toml:2:1")),
                                            Pair("plugins.\"org.example.a\".limit=4", "--set"),
                                            Pair("plugins.\"org.example.b\".name=\"x\"", "--set")));
}

}  // namespace
}  // namespace gantry
