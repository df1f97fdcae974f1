// Opening plugins: what is opened and why, which is preferred, and what is refused.
#include <array>
#include <cstdio>
#include <random>

#include "host/plugins/elf.hpp"
#include "tests/abi/fixture.hpp"

namespace gantry::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Loading : public PluginTest {
 protected:
  static Graph shared() { return graph("%z: f32[2] = onnx.org.test::Shared@1(%x)"); }

  std::vector<std::string> opened() const {
    std::vector<std::string> ids;
    for (const PluginRecord& p : report_.plugins) ids.push_back(p.id + ": " + p.reason);
    return ids;
  }
  Diagnostic open_error(const Graph& g) {
    const Result<std::size_t> r = plugins().open_for(g, "tflite");
    EXPECT_FALSE(r.ok());
    return r.ok() ? Diagnostic{} : r.error();
  }
};

TEST_F(Loading, OnlyWhatTheModelNeeds) {
  for (const char* name : {"good", "bad", "low"}) install(name);
  discover();
  EXPECT_EQ(registry_->manifests().size(), 3U);
  open(graph("%z: f32[2] = onnx.Relu@6(%x)"));
  EXPECT_THAT(opened(), IsEmpty());
  Graph g = graph(
      "%a: f32[2] = onnx.org.test::Good@1(%x)\n%b: f32[2] = onnx.org.test::Pass@1(%a)\n"
      "%c: f32[2] = onnx.org.test::Deep@1(%b)\n%z: f32[2] = onnx.org.test::Good@1(%c)");
  EXPECT_EQ(*plugins().open_for(g, "tflite"), 1U);
  EXPECT_EQ(*plugins().open_for(g, "tflite"), 0U);
  EXPECT_THAT(opened(), ElementsAre("org.test.good: onnx.org.test::Good, onnx.org.test::Pass and 1 more"));
  EXPECT_EQ(report_.plugins[0].library, "good.so");
  EXPECT_GT(report_.plugins[0].seconds, 0);
  // The next conversion opens its own.
  Report second;
  const auto other = registry_->extensions(nullptr, second);
  EXPECT_EQ(*other->open_for(shared(), "tflite"), 1U);
  EXPECT_EQ(second.plugins.size(), 1U);
  EXPECT_EQ(second.plugins[0].id, "org.test.low");
}

TEST_F(Loading, PatternsOpenWhenAllOfTheirOperatorsOccur) {
  install("good");
  Manifest m = *read_manifest(dir() / "good.gantry.toml");
  discover();
  open(graph("%z: f32[2] = onnx.org.test::Late@1(%x)"));
  EXPECT_THAT(opened(), ElementsAre("org.test.good: pattern late"));
}

TEST_F(Loading, HigherPriorityWins) {
  install("low");
  install("high");
  discover();
  Graph g = shared();
  open(g);
  EXPECT_EQ(convert(g, "Shared")->plugin, "org.test.high");
  EXPECT_EQ(g.node(node(g, "HIGH")).op.domain, "org.test.high");
}

TEST_F(Loading, EqualPriorityIsAnErrorThatNamesBoth) {
  install("low");
  install("same");
  discover();
  Graph g = shared();
  open(g);
  const Result<Outcome> r = convert(g, "Shared");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::plugin_conflict);
  EXPECT_THAT(r.error().message, AllOf(HasSubstr("org.test.low"), HasSubstr("org.test.same"), HasSubstr("priority 0")));
}

TEST_F(Loading, Depends) {
  install("leaning");
  discover();
  const Diagnostic missing = open_error(shared());
  EXPECT_EQ(missing.code, Code::plugin_missing);
  EXPECT_THAT(missing.message, HasSubstr("org.test.good"));
  EXPECT_THAT(missing.hint, HasSubstr(dir().string()));
  install("good");
  discover();
  open(shared());
  EXPECT_THAT(opened(), ::testing::Contains("org.test.good: plugin org.test.leaning"));
  EXPECT_NE(plugins().limits(Op{"tflite", "", "RELU"}), nullptr);
}

TEST_F(Loading, DependsInACycle) {
  install("cycle_a");
  install("cycle_b");
  discover();
  EXPECT_EQ(*plugins().open_for(shared(), "tflite"), 2U);
}

TEST_F(Loading, OtherVersionsOfTheAbi) {
  const auto refused = [&](const std::string& name) {
    const Result<Manifest> r = describe_library(built(name));
    EXPECT_FALSE(r.ok()) << name;
    EXPECT_EQ(r.error().code, Code::plugin_abi);
    EXPECT_THAT(r.error().place, HasSubstr(name + ".so"));
    EXPECT_THAT(r.error().hint, ::testing::Not(IsEmpty()));
    return r.error().message;
  };
  EXPECT_THAT(refused("abi_major"), HasSubstr("its abi_major is 9, this Gantry's is 0"));
  EXPECT_THAT(refused("abi_minor"),
              HasSubstr("built for another version of Gantry: its abi_minor is 99, this Gantry's is 1"));
  EXPECT_THAT(refused("abi_size"), HasSubstr("struct_size of the descriptor is 8"));
  EXPECT_THAT(refused("null_entry"), HasSubstr("returned null"));
}

TEST_F(Loading, NoPlugins) {
  const auto refused = [&](const std::filesystem::path& file) {
    const Result<Manifest> r = describe_library(file);
    EXPECT_FALSE(r.ok()) << file;
    EXPECT_EQ(r.error().code, Code::plugin_load);
    return r.error().message;
  };
  EXPECT_THAT(refused(built("no_entry")), HasSubstr("does not export gantry_plugin_entry"));
  EXPECT_THAT(refused(dir() / "none.so"), HasSubstr("does not exist"));
  EXPECT_THAT(refused(dir()), HasSubstr("no file"));
  write("text.so", "this is no library, but a text that is longer than the header of an ELF file would be, by far\n");
  EXPECT_THAT(refused(dir() / "text.so"), HasSubstr("no ELF file"));
  write("empty.so", "");
  EXPECT_THAT(refused(dir() / "empty.so"), HasSubstr("empty"));
}

TEST_F(Loading, CutShort) {
  std::ifstream in(built("good"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_GT(whole.size(), 1000U);
  for (std::size_t size = 1; size < whole.size(); size += whole.size() / 97) {
    write("cut.so", whole.substr(0, size));
    const Result<Manifest> r = describe_library(dir() / "cut.so");
    ASSERT_FALSE(r.ok()) << size;
    EXPECT_EQ(r.error().code, Code::plugin_load);
  }
}

// Damage that leaves the size as it is. What passes is not opened here: the code itself may be damaged.
TEST_F(Loading, Damaged) {
  std::ifstream in(built("good"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole;
    // Half of the time in the headers, where it matters most.
    const std::size_t at = random() % (i % 2 ? 0x1000 : whole.size());
    for (std::size_t k = at; k < std::min(at + 1 + random() % 64, whole.size()); ++k)
      bytes[k] = static_cast<char>(random());
    write("damaged.so", bytes);
    const Status s = plugins::check_shared_library(dir() / "damaged.so", "gantry_plugin_entry");
    if (s.ok()) continue;
    EXPECT_EQ(s.error().code, Code::plugin_load);
    ++refused;
  }
  EXPECT_GT(refused, 100);
  for (std::size_t at = 0; at < 0x1000; at += 64) {
    write("damaged.so", whole.substr(0, at) + std::string(whole.size() - at, '\0'));
    EXPECT_FALSE(plugins::check_shared_library(dir() / "damaged.so", "gantry_plugin_entry").ok()) << at;
  }
}

TEST_F(Loading, Mismatch) {
  Manifest m = copy("good");
  m.rows.erase(m.rows.begin());
  m.rows[0].priority = 7;
  m.options.pop_back();
  m.version = "2.0";
  write("good.gantry.toml", write_manifest(m));
  discover();
  const Diagnostic d = open_error(graph("%z: f32[2] = onnx.org.test::Good@1(%x)"));
  EXPECT_EQ(d.code, Code::plugin_mismatch);
  EXPECT_THAT(d.message, AllOf(HasSubstr("version is '2.0' in the manifest, '1.0' in the library"),
                               HasSubstr("is in the manifest only"), HasSubstr("is in the library only"),
                               HasSubstr("priority 7"), HasSubstr("option word")));
  EXPECT_THAT(d.hint, HasSubstr("gantry plugin manifest"));
}

TEST_F(Loading, ConfigurationOfPlugins) {
  install("good");
  const auto refused = [&](const PluginSettings& settings) {
    const auto r = try_discover(settings);
    EXPECT_FALSE(r.ok());
    return r.ok() ? Diagnostic{} : r.error();
  };
  Diagnostic d = refused({{"org.test.god", {{"flag", {true, "c.toml:3:1"}}}}});
  EXPECT_EQ(d.code, Code::config_unknown_key);
  EXPECT_THAT(d.hint, HasSubstr("org.test.good"));
  EXPECT_EQ(d.place, "c.toml:3:1");
  d = refused({{"org.test.good", {{"flog", {true, "c.toml:3:1"}}}}});
  EXPECT_EQ(d.code, Code::config_unknown_key);
  EXPECT_THAT(d.hint, HasSubstr("flag"));
  d = refused({{"org.test.good", {{"flag", {std::int64_t{1}, "c.toml:3:1"}}}}});
  EXPECT_EQ(d.code, Code::config_bad_value);
  EXPECT_THAT(d.message, HasSubstr("bool"));
}

// The exported symbols of a library by `nm`, which reads what the dynamic loader reads.
std::vector<std::string> exported(const std::filesystem::path& library) {
  std::vector<std::string> symbols;
  const std::string command = "nm -D --defined-only --format=posix '" + library.string() + "'";
  FILE* out = popen(command.c_str(), "r");
  if (!out) return symbols;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), out)) {
    const std::string_view text(line.data());
    symbols.emplace_back(text.substr(0, text.find(' ')));
  }
  pclose(out);
  return symbols;
}

TEST(Exports, EveryPluginHasOne) {
  int plugins = 0;
  for (const char* folder : {GANTRY_TEST_PLUGIN_DIR, ABI_TEST_PLUGIN_DIR}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".so" || entry.path().stem() == "no_entry") continue;
      EXPECT_THAT(exported(entry.path()), ElementsAre("gantry_plugin_entry")) << entry.path();
      ++plugins;
    }
  }
  EXPECT_GT(plugins, 10);
}

}  // namespace
}  // namespace gantry::test
