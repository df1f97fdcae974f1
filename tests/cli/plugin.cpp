// gantry plugin list, show, manifest, check; search path; broken plugins.
#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kTinyModel = R"(<ir_version: 8, opset_import: ["" : 17, "com.example.tiny" : 1]>
  g (float[1,4] x) => (float[1,4] y) { a = Relu(x)  y = com.example.tiny.Tiny(a) })";

class CliPlugin : public Cli {
 protected:
  /// A copy of the tiny plugin in a folder of the test's.
  std::filesystem::path copy(const std::string& folder) const {
    const std::filesystem::path to = dir() / folder;
    std::filesystem::create_directories(to);
    for (const char* name : {"tiny.so", "tiny.gantry.toml"})
      std::filesystem::copy_file(std::filesystem::path(CLI_TEST_PLUGIN_DIR) / name, to / name,
                                 std::filesystem::copy_options::overwrite_existing);
    return to;
  }
};

TEST_F(CliPlugin, ListAndShow) {
  const ProcessResult list = succeeds({"plugin", "list", "--plugin-path", CLI_TEST_PLUGIN_DIR});
  EXPECT_THAT(list.out, HasSubstr("com.example.tiny"));
  for (const char* id : {"org.gantry.core-ops", "org.gantry.keras", "org.gantry.quant"})
    EXPECT_THAT(list.out, HasSubstr(id));
  EXPECT_THAT(list.out, HasSubstr(CLI_TEST_PLUGIN_DIR));
  EXPECT_THAT(list.last_line(), StartsWith("gantry: ok 5 plugins"));
  const ProcessResult none = succeeds({"plugin", "list", "--no-default-plugins"});
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.last_line(), StartsWith("gantry: ok 0 plugins"));

  const ProcessResult show = succeeds({"plugin", "show", "com.example.tiny", "--plugin-path", CLI_TEST_PLUGIN_DIR});
  for (const char* text : {"1.2.3", "MIT", "tiny.so", "org.gantry.core-ops", "onnx.com.example.tiny::Tiny@1-",
                           "-> tflite", "refuse", "Decline every node"})
    EXPECT_THAT(show.out, HasSubstr(text));
  EXPECT_THAT(fails({"plugin", "show", "com.example.tinny", "--plugin-path", CLI_TEST_PLUGIN_DIR}, 6, "E0607").err,
              HasSubstr("com.example.tiny?"));
}

TEST_F(CliPlugin, ManifestIsWhatTheBuildWrote) {
  const std::filesystem::path library = std::filesystem::path(CLI_TEST_PLUGIN_DIR) / "tiny.so";
  const std::string written = read_file(std::filesystem::path(CLI_TEST_PLUGIN_DIR) / "tiny.gantry.toml");
  EXPECT_EQ(succeeds({"plugin", "manifest", library.string()}).out, written);
  succeeds({"plugin", "manifest", library.string(), "-o", path("m.toml")});
  EXPECT_EQ(read_file(path("m.toml")), written);
  fails({"plugin", "manifest", library.string(), "-o", path("none/m.toml")}, 7, "E0701");
}

TEST_F(CliPlugin, CheckFindsWhatIsWrong) {
  const std::filesystem::path folder = copy("p");
  const std::string library = (folder / "tiny.so").string(), manifest = (folder / "tiny.gantry.toml").string();
  const ProcessResult good = succeeds({"plugin", "check", library});
  EXPECT_THAT(good.last_line(), StartsWith("gantry: ok com.example.tiny 1.2.3"));

  const std::string text = read_file(manifest);
  const auto checked = [&] {
    const ProcessResult r = gantry({"plugin", "check", library});
    EXPECT_EQ(r.status, 6) << r.err;
    return r;
  };
  std::string other = text;
  other.replace(other.find("1.2.3"), 5, "9.9.9");
  write_file(manifest, other);
  EXPECT_THAT(checked().last_line(), StartsWith("gantry: failed E0604 "));
  write_file(manifest, "id = [\n");
  EXPECT_THAT(checked().last_line(), StartsWith("gantry: failed E0601 "));
  std::filesystem::remove(manifest);
  EXPECT_THAT(checked().last_line(), StartsWith("gantry: failed E0601 "));

  const ProcessResult loud = gantry({"plugin", "check", std::string(CLI_TEST_PLUGIN_DIR) + "/loud/loud.so"});
  EXPECT_EQ(loud.status, 6);
  EXPECT_THAT(loud.out, HasSubstr("another_symbol"));
}

TEST_F(CliPlugin, BrokenLibraries) {
  const std::string whole = read_file(std::filesystem::path(CLI_TEST_PLUGIN_DIR) / "tiny.so");
  std::vector<std::pair<std::string, std::string>> broken{{"empty", ""},
                                                          {"text", "not a library\n"},
                                                          {"head", whole.substr(0, 100)},
                                                          {"half", whole.substr(0, whole.size() / 2)},
                                                          {"zeros", std::string(4096, '\0')}};
  std::string damaged = whole;
  for (std::size_t i = 64; i < damaged.size() && i < 4096; i += 3) damaged[i] = '\xff';
  broken.emplace_back("damaged", damaged);
  for (const auto& [name, bytes] : broken) {
    SCOPED_TRACE(name);
    const std::string library = file(name + ".so", bytes);
    for (const char* command : {"check", "manifest"}) {
      const ProcessResult r = gantry({"plugin", command, library});
      EXPECT_EQ(r.status, 6) << r.err;
      EXPECT_THAT(r.last_line(), StartsWith("gantry: failed E06"));
    }
  }
  EXPECT_EQ(gantry({"plugin", "manifest", path("none.so")}).status, 6);
}

TEST_F(CliPlugin, OpensOnlyWhatIsNeeded) {
  const std::string relu = onnx("relu.onnx", kReluModel), tiny = onnx("tiny.onnx", kTinyModel), out = path("o.tflite");
  const ProcessResult one = succeeds({"convert", relu, "-o", out, "-v", "--plugin-path", CLI_TEST_PLUGIN_DIR});
  EXPECT_THAT(one.err, Not(HasSubstr("opened plugin com.example.tiny")));
  const ProcessResult two = succeeds({"convert", tiny, "-o", out, "-v", "--plugin-path", CLI_TEST_PLUGIN_DIR});
  EXPECT_THAT(two.err, HasSubstr("opened plugin com.example.tiny"));
  options_.environment["GANTRY_PLUGIN_PATH"] = CLI_TEST_PLUGIN_DIR;
  succeeds({"convert", tiny, "-o", out});
}

TEST_F(CliPlugin, AbsentPlugin) {
  const std::string tiny = onnx("tiny.onnx", kTinyModel);
  const ProcessResult r = gantry({"convert", tiny, "-o", path("o.tflite")});
  EXPECT_EQ(r.status, 4);
  for (const char* text : {"com.example.tiny", "Tiny", "no manifest on the search path"})
    EXPECT_THAT(r.err, HasSubstr(text));
}

TEST_F(CliPlugin, BrokenPluginsOnThePath) {
  const std::string tiny = onnx("tiny.onnx", kTinyModel), out = path("o.tflite");
  const std::filesystem::path folder = copy("p");
  const std::vector<std::string> convert{"convert", tiny, "-o", out, "--plugin-path", folder.string()};
  write_file(folder / "tiny.so", read_file(folder / "tiny.so").substr(0, 5000));
  fails(convert, 6, "E0602");
  std::filesystem::remove(folder / "tiny.so");
  fails(convert, 6, "E0602");

  copy("p");
  write_file(folder / "tiny.gantry.toml", "manifest_version = \n");
  EXPECT_THAT(fails(convert, 6, "E0601").err, HasSubstr("tiny.gantry.toml:1:"));
  fails({"convert", tiny, "-o", out, "--plugin-path", path("none")}, 2, "E0201");

  // What the user did not name is skipped with a warning.
  std::filesystem::create_directories(dir() / ".local/share/gantry/plugins");
  file(".local/share/gantry/plugins/bad.gantry.toml", "manifest_version = \n");
  const ProcessResult r = succeeds({"convert", onnx("relu.onnx", kReluModel), "-o", out});
  EXPECT_THAT(r.err, HasSubstr("W1004"));
}

}  // namespace
}  // namespace gantry::test
