// Where options come from, as the program sees it; wrong configuration files.
#include <nlohmann/json.hpp>

#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using testing::HasSubstr;

class CliConfig : public Cli {
 protected:
  nlohmann::json options(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"check", onnx("relu.onnx", kReluModel), "--json"});
    return nlohmann::json::parse(succeeds(arguments).out)["options"];
  }
  static nlohmann::json entry(const std::string& key, const std::string& value, const std::string& from) {
    return {{"key", key}, {"value", value}, {"from", from}};
  }
};

TEST_F(CliConfig, MergeOrder) {
  std::filesystem::create_directories(dir() / ".config/gantry");
  const std::string user =
      file(".config/gantry/config.toml", "[verify]\nseed = 1\natol = 0.1\nrtol = 0.1\ntimeout = 1\n");
  const std::string own = file("own.toml", "[verify]\natol = 0.2\nrtol = 0.2\n");
  const nlohmann::json all = options({"--config", own, "--set", "verify.rtol=0.3", "-q"});
  EXPECT_THAT(all, testing::UnorderedElementsAre(
                       entry("log.level", "\"error\"", "-q"), entry("verify.seed", "1", user + ":2:1"),
                       entry("verify.timeout", "1.0", user + ":5:1"), entry("verify.atol", "0.2", own + ":2:1"),
                       entry("verify.rtol", "0.3", "--set")));
  options_.environment["XDG_CONFIG_HOME"] = path("xdg");
  EXPECT_TRUE(options({}).empty());
}

TEST_F(CliConfig, Errors) {
  const std::string in = onnx("relu.onnx", kReluModel);
  const std::string unknown = file("c.toml", "[verify]\n\n  rtoll = 1\n");
  const ProcessResult r = fails({"check", in, "--config", unknown}, 2, "E0203");
  EXPECT_THAT(r.err, HasSubstr(unknown + ":3:3"));
  EXPECT_THAT(r.err, HasSubstr("did you mean verify.rtol?"));
  EXPECT_THAT(fails({"check", in, "--config", file("c.toml", "[verify\n")}, 2, "E0202").err, HasSubstr("c.toml:1:"));
  EXPECT_THAT(fails({"check", in, "--config", file("c.toml", "verify.atol = \"x\"\n")}, 2, "E0204").err,
              HasSubstr("c.toml:1:"));
  fails({"check", in, "--config", file("c.toml", std::string("\0\x01\xff", 3))}, 2, "E0202");
  fails({"check", in, "--config", path("none.toml")}, 2, "E0205");
  fails({"check", in, "--set", "verify.rtoll=1"}, 2, "E0203");
  fails({"check", in, "--set", "verify.rtol"}, 2, "E0202");
  fails({"check", in, "--log-file", path("none/log")}, 7, "E0701");
}

TEST_F(CliConfig, PresetsWork) {
  const std::string in = onnx("relu.onnx", kReluModel);
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GANTRY_TEST_SOURCE_DIR) + "/configs")) {
    if (entry.path().extension() == ".toml")
      succeeds({"convert", in, "-o", path("out.tflite"), "--config", entry.path().string()});
  }
}

TEST_F(CliConfig, NamesOfPasses) {
  const std::string in = onnx("relu.onnx", kReluModel);
  EXPECT_THAT(fails({"check", in, "--set", "passes.disable=normalise"}, 2, "E0204").err,
              HasSubstr("did you mean normalize?"));
  fails({"opt", in, "--passes=normalize", "--set", "passes.dump=x"}, 2, "E0204");
  EXPECT_THAT(succeeds({"check", in, "--set", "passes.disable=pattern:none"}).err, HasSubstr("pattern:none"));
  EXPECT_THAT(succeeds({"check", in, "-v", "--set", "passes.disable=cse"}).err, HasSubstr("pass cse: off"));
}

TEST_F(CliConfig, OptionsOfPlugins) {
  const std::string in = onnx("m.onnx", R"(<ir_version: 8, opset_import: ["" : 17, "com.example.tiny" : 1]>
    g (float[1,4] x) => (float[1,4] y) { y = com.example.tiny.Tiny(x) })");
  const std::vector<std::string> check{"check", in, "--plugin-path", CLI_TEST_PLUGIN_DIR};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), check.begin(), check.end());
    return more;
  };
  succeeds(check);
  const std::string refuse = file("c.toml", "[plugins.\"com.example.tiny\"]\nrefuse = true\n");
  const ProcessResult refused = gantry(with({"--config", refuse}));
  EXPECT_EQ(refused.status, 4) << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("the option refuse is set"));
  const std::string typo = file("c.toml", "[plugins.\"com.example.tiny\"]\nrefuze = true\n");
  const ProcessResult r = fails(with({"--config", typo}), 2, "E0203");
  EXPECT_THAT(r.err, HasSubstr(typo + ":2:1"));
  EXPECT_THAT(r.err, HasSubstr("refuse"));
  fails(with({"--set", "plugins.com.example.tiny.refuse=3"}), 2, "E0204");
  EXPECT_THAT(fails(with({"--set", "plugins.com.example.tini.refuse=true"}), 2, "E0203").err,
              HasSubstr("com.example.tiny"));
}

}  // namespace
}  // namespace gantry::test
