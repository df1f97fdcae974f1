// The search path, and what is done with what lies there.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plugins/search.hpp"

namespace gantry::plugins {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PluginsSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"GANTRY_PLUGIN_PATH", "XDG_DATA_HOME", "HOME"}) {
      const char* value = std::getenv(name);
      if (value) before_[name] = value;
      unsetenv(name);
    }
    dir_ = fs::path(GANTRY_TEST_BUILD_DIR) / "tests/unit/run" /
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  void TearDown() override {
    for (const char* name : {"GANTRY_PLUGIN_PATH", "XDG_DATA_HOME", "HOME"}) {
      const auto it = before_.find(name);
      it == before_.end() ? unsetenv(name) : setenv(name, it->second.c_str(), 1);
    }
  }
  void manifest(const std::string& file, const std::string& id, const std::string& more = "") {
    fs::create_directories((dir_ / file).parent_path());
    std::ofstream(dir_ / file) << "manifest_version = 1\nid = \"" << id
                               << "\"\nversion = \"1\"\nabi = \"0.1\"\nlibrary = \"x.so\"\n"
                               << more;
  }
  static std::vector<std::string> paths(const std::vector<SearchFolder>& folders) {
    std::vector<std::string> list;
    for (const SearchFolder& f : folders) list.push_back(f.path.string() + (f.named ? " named" : ""));
    return list;
  }
  std::string at(const std::string& name) const { return (dir_ / name).string(); }

  fs::path dir_;
  std::map<std::string, std::string> before_;
};

TEST_F(PluginsSearch, Order) {
  PluginSearch s;
  s.extra = {at("b/"), at("a")};
  s.executable = at("bin/gantry");
  setenv("GANTRY_PLUGIN_PATH", (at("c") + "::" + at("a") + ":" + at("d")).c_str(), 1);
  setenv("HOME", at("home").c_str(), 1);
  EXPECT_THAT(paths(search_folders(s)),
              ElementsAre(at("b") + " named", at("a") + " named", at("c") + " named", at("d") + " named",
                          at("home/.local/share/gantry/plugins"), at("lib/gantry/plugins")));
  setenv("XDG_DATA_HOME", at("xdg").c_str(), 1);
  EXPECT_THAT(paths(search_folders(s)), ::testing::Contains(at("xdg/gantry/plugins")));
  setenv("XDG_DATA_HOME", "relative", 1);
  EXPECT_THAT(paths(search_folders(s)), ::testing::Contains(at("home/.local/share/gantry/plugins")));
  s.defaults = false;
  EXPECT_THAT(paths(search_folders(s)), ElementsAre(at("b") + " named", at("a") + " named"));
}

TEST_F(PluginsSearch, FilesAreSorted) {
  for (const char* name : {"b.gantry.toml", "a.gantry.toml", "a.toml", "c.so"}) std::ofstream(dir_ / name) << "x";
  EXPECT_THAT(manifest_files(dir_), ElementsAre(dir_ / "a.gantry.toml", dir_ / "b.gantry.toml"));
  EXPECT_THAT(manifest_files(dir_ / "none"), IsEmpty());
}

TEST_F(PluginsSearch, TheFirstOfAnIdentifierWins) {
  manifest("a/x.gantry.toml", "org.x", "description = \"first\"\n");
  manifest("b/x.gantry.toml", "org.x");
  manifest("b/y.gantry.toml", "org.y");
  PluginSearch s;
  s.extra = {at("a"), at("b")};
  s.defaults = false;
  Report report;
  const auto r = PluginRegistry::discover(s, {}, report);
  ASSERT_TRUE(r.ok()) << r.error().message;
  ASSERT_EQ((*r)->manifests().size(), 2U);
  EXPECT_EQ((*r)->manifests()[0].description, "first");
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].severity, Severity::note);
  EXPECT_THAT(report.diagnostics[0].message, HasSubstr("twice"));
  EXPECT_EQ((*r)->folders().size(), 2U);
}

TEST_F(PluginsSearch, ABrokenManifestIsAnErrorOnlyWhereTheFolderWasNamed) {
  std::ofstream(dir_ / "x.gantry.toml") << "manifest_version = \n";
  PluginSearch s;
  s.extra = {dir_};
  Report report;
  EXPECT_EQ(PluginRegistry::discover(s, {}, report).error().code, Code::plugin_manifest);
  s.extra.clear();
  setenv("GANTRY_PLUGIN_PATH", dir_.c_str(), 1);
  EXPECT_EQ(PluginRegistry::discover(s, {}, report).error().code, Code::plugin_manifest);
  unsetenv("GANTRY_PLUGIN_PATH");
  setenv("XDG_DATA_HOME", dir_.c_str(), 1);
  fs::create_directories(dir_ / "gantry/plugins");
  fs::rename(dir_ / "x.gantry.toml", dir_ / "gantry/plugins/x.gantry.toml");
  const auto r = PluginRegistry::discover(s, {}, report);
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].code, Code::warn_plugin);
  EXPECT_THAT(report.diagnostics[0].place, HasSubstr("x.gantry.toml:1:"));
}

TEST_F(PluginsSearch, ANamedFolderMustExist) {
  PluginSearch s;
  s.extra = {at("none")};
  Report report;
  EXPECT_EQ(PluginRegistry::discover(s, {}, report).error().code, Code::usage);
}

}  // namespace
}  // namespace gantry::plugins
