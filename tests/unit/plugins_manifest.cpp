// Manifests: form, errors with their place, and the scanner against toml++.
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plugins/index.hpp"
#include "host/plugins/manifest.hpp"
#include "host/plugins/toml_tape.hpp"

namespace gantry::plugins {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHead =
    "manifest_version = 1\n"
    "id = \"org.example.a\"\n"
    "version = \"1.0\"\n"
    "abi = \"0.1\"\n"
    "library = \"a.so\"\n";

Manifest example() {
  Manifest m;
  m.id = "org.example.a";
  m.version = "1.0";
  m.license = "MIT";
  m.description = "says \"hello\" \\ \xc3\xa9 \x01";
  m.library = "a.so";
  m.abi_minor = 1;
  m.depends = {"org.example.b", "org.example.c"};
  using Kind = ManifestRow::Kind;
  m.rows = {
      {Kind::converter, "onnx", "", "Conv", 1, 0, "tflite", 0, "", {}},
      {Kind::converter, "onnx", "", "Conv", 1, 10, "onnx", 0, "", {}},
      {Kind::converter, "onnx", "", "Relu", 6, 6, "tflite", -3, "", {}},
      {Kind::converter, "onnx", "com.example", "Odd name\n", 1, 0, "tflite", 5, "", {}},
      {Kind::pattern, "onnx", "", "Add", 7, 0, "", 0, "plain", {}},
      {Kind::pattern, "onnx", "", "BatchNormalization", 1, 0, "", 2, "conv_batch_norm", {"Conv", "d::E"}},
      {Kind::op_definition, "tflite", "", "ADD", 1, 0, "", 0, "", {}},
  };
  std::sort(m.rows.begin(), m.rows.end());
  m.options = {{"fast", "bool", "false", "Be fast"}, {"name", "string", "\"x\"", ""}};
  return m;
}

std::string error_of(const std::string& text) {
  const Result<Manifest> r = manifest_from_text(text, "m.toml");
  EXPECT_FALSE(r.ok()) << text;
  if (r.ok()) return {};
  EXPECT_EQ(r.error().code, Code::plugin_manifest);
  return r.error().place + ": " + r.error().message + (r.error().hint.empty() ? "" : "; " + r.error().hint);
}

TEST(PluginsManifest, RoundTrip) {
  const Manifest m = example();
  const std::string text = write_manifest(m);
  const Result<Manifest> back = manifest_from_text(text, "m.toml");
  ASSERT_TRUE(back.ok()) << back.error().place << back.error().message << text;
  EXPECT_EQ(write_manifest(*back), text);
  EXPECT_EQ(back->rows, m.rows);
  EXPECT_EQ(back->options, m.options);
  EXPECT_EQ(back->description, m.description);
  EXPECT_THAT(differences(m, *back), IsEmpty());
  EXPECT_THAT(text, HasSubstr("  [\"Conv\", \"1-\"],\n"));
  EXPECT_THAT(text, HasSubstr("  [\"Relu\", \"6\", -3],\n"));
  EXPECT_THAT(text, HasSubstr("  [\"conv_batch_norm\", \"BatchNormalization\", \"1-\", [\"Conv\", \"d::E\"], 2],\n"));
}

TEST(PluginsManifest, WrittenByHand) {
  const Result<Manifest> m =
      manifest_from_text("# a comment\n" + kHead +
                             "depends = [\n  'org.example.b', # why\n]\n"
                             "[[converters]]\ndialect = \"onnx\"\ntarget = 'tflite'\nrows = [[\"Relu\", \"6-12\"]]\n"
                             "[operators]\ndialect = \"tflite\"\nrows = [[\"RELU\", \"1-\"]]\n",
                         "m.toml");
  ASSERT_TRUE(m.ok()) << m.error().message;
  EXPECT_THAT(m->depends, ElementsAre("org.example.b"));
  ASSERT_EQ(m->rows.size(), 2U);
  EXPECT_EQ(m->rows[0].max_version, 12);
  EXPECT_EQ(m->rows[1].op, "RELU");
}

TEST(PluginsManifest, ErrorsNameTheirPlace) {
  EXPECT_THAT(error_of("manifest_version = \n"), HasSubstr("m.toml:1:"));
  EXPECT_THAT(error_of("id = \"x\"\n"), HasSubstr("manifest_version is missing"));
  EXPECT_EQ(error_of("id = 3\nmanifest_version = 2\n"), "m.toml:2:20: manifest_version is 2, this Gantry reads 1");
  EXPECT_THAT(error_of(kHead + "\nlicence = \"MIT\"\n"),
              HasSubstr("m.toml:7:11: 'licence' is no key of a manifest; did you mean 'license'?"));
  EXPECT_THAT(error_of(kHead + "license = 3\n"), HasSubstr("m.toml:6:11: license must be a text"));
  EXPECT_THAT(error_of(kHead + "id = \"twice\"\n"), HasSubstr("m.toml:6:"));
  EXPECT_THAT(error_of("manifest_version = 1\nid = \"x\"\n"), HasSubstr("version is missing"));
  EXPECT_THAT(error_of("manifest_version = 1\nid = \"x\"\nversion=\"1\"\nabi=\"0.1\"\nlibrary=\"../x.so\"\n"),
              HasSubstr("name of a file beside the manifest"));
  EXPECT_THAT(error_of("manifest_version = 1\nabi = \"1\"\n"), HasSubstr("m.toml:2:7: abi must be"));
  const std::string group = kHead + "[[converters]]\ndialect = \"onnx\"\ntarget = \"tflite\"\nrows = [\n  ";
  EXPECT_THAT(error_of(group + "[\"Relu\", \"6-5\"],\n]\n"), HasSubstr("m.toml:10:12: versions are written"));
  EXPECT_THAT(error_of(group + "[\"Relu\", \"0-\"],\n]\n"), HasSubstr("m.toml:10:12: versions are written"));
  EXPECT_THAT(error_of(group + "[\"Relu\"],\n]\n"), HasSubstr("m.toml:10:3: a row is written"));
  EXPECT_THAT(error_of(group + "[\"\", \"6-\"],\n]\n"), HasSubstr("m.toml:10:4: a name is expected"));
  EXPECT_THAT(error_of(group + "[\"Relu\", \"6-\", 99999999999],\n]\n"), HasSubstr("priority"));
  EXPECT_THAT(error_of(group + "[\"Relu\", \"6-\""), HasSubstr("m.toml:10:"));
  EXPECT_THAT(error_of(kHead + "[[operators]]\ndialect = \"onnx\"\n"), HasSubstr("no rows"));
  EXPECT_THAT(error_of(kHead + "[[operators]]\nrows = []\n"), HasSubstr("no dialect"));
  EXPECT_THAT(error_of(kHead + "[[operators]]\ntarget = \"a\"\n"), HasSubstr("'target' is no key"));
  EXPECT_THAT(error_of(kHead + "operators = 3\n"), HasSubstr("[[operators]]"));
  EXPECT_THAT(error_of(kHead + "options = [[\"a\", \"boolean\", \"true\", \"\"]]\n"),
              HasSubstr("bool, int, float or string"));
}

TEST(PluginsManifest, UnreadableFiles) {
  EXPECT_THAT(read_manifest("/nowhere/a.gantry.toml").error().message, HasSubstr("cannot be read"));
  EXPECT_THAT(read_manifest("/").error().message, HasSubstr("cannot be read"));
}

// ---- the scanner against toml++ ----

std::string dump(const TomlTape& t) {
  std::string s;
  for (const TomlValue& v : t.values) {
    s += std::to_string(static_cast<int>(v.kind)) + " " + std::string(v.key) + " " + std::string(v.text) + " " +
         std::to_string(v.number) + " " + std::to_string(v.end) + "\n";
  }
  return s;
}

// toml++ sorts the keys of a table, so documents of one key a table are compared.
void expect_same(const std::string& text) {
  TomlTape scanned;
  if (!scan_toml(text, scanned)) return;
  const Result<TomlTape> parsed = parse_toml(text);
  ASSERT_TRUE(parsed.ok()) << "the scanner took what is no TOML: " << text << "\n" << parsed.error().message;
  EXPECT_EQ(dump(scanned), dump(*parsed)) << text;
}

TEST(PluginsManifest, TheScannerTakesOnlyWhatItKnows) {
  for (const char* text : {"a = 1",
                           "a = -1",
                           "a = 0",
                           "a = 01",
                           "a = +1",
                           "a = 1_000",
                           "a = 1.5",
                           "a = 1e3",
                           "a = 0x10",
                           "a = 1979-05-27",
                           "a = 07:32:00",
                           "a = inf",
                           "a = true",
                           "a = truely",
                           "a = \"\"",
                           "a = \"\"\"\"\"\"",
                           "a = \"x\\n\"",
                           "a = 'x'",
                           "a = \"\xff\"",
                           "a = \"\xc3\xa9\"",
                           "a = []",
                           "a = [1,]",
                           "a = [,]",
                           "a = [1 2]",
                           "a = [1,,2]",
                           "a = [[1], [2]]",
                           "a = [\n1,# c\n2\n]",
                           "a = 1 # c",
                           "a = 1 b = 2",
                           "a = 1\na = 2",
                           "a.b = 1",
                           "\"a\" = 1",
                           "a",
                           "= 1",
                           "a = ",
                           "a = {}",
                           "[a]\nb = 1",
                           "[[a]]\nb = 1\n[[a]]\nb = 2",
                           "[[a]]",
                           "[[a]",
                           "[[ a ]]",
                           "[[a]] # c",
                           "[[a]]x",
                           "a = 1\r\n",
                           "a = 1\x01",
                           "# \x01\na = 1",
                           "a = \"\x7f\"",
                           "a = 9223372036854775807",
                           "a = 99999999999999999999",
                           "a = 1\n[[a]]\nb = 1",
                           "\xef\xbb\xbf"
                           "a = 1",
                           "a = \"x",
                           "a = [\"x\"",
                           "a = tru",
                           "a = --1",
                           "a = -",
                           "a\t=\t1",
                           ""}) {
    expect_same(text);
  }
  EXPECT_TRUE([] {
    TomlTape t;
    return scan_toml("a = [[\"x\", 1], [true]] # c\n[[b]]\nc = -5\n", t);
  }());
}

TEST(PluginsManifest, TheScannerAgreesOnRandomText) {
  const std::vector<std::string> parts = {
      "a",    "b", " ", "\n", "=",     "\"",   "[",    "]",    "[[", "]]", ",", "1",  "-",  "0",
      "true", "#", ".", "_",  "\"x\"", "a = ", " = [", "],\n", "{",  "}",  "'", "\\", "\t", "\r"};
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned n = random() % 10; n-- > 0;) text += parts[random() % parts.size()];
    TomlTape scanned;
    if (!scan_toml(text, scanned)) continue;
    const Result<TomlTape> parsed = parse_toml(text);
    ASSERT_TRUE(parsed.ok()) << "the scanner took what is no TOML: " << text << "\n" << parsed.error().message;
    EXPECT_EQ(scanned.values.size(), parsed->values.size()) << text;
  }
}

TEST(PluginsManifest, WhatIsWrittenIsScanned) {
  Manifest m = example();
  m.description = "plain";
  m.rows[3].op = "Plain";
  for (ManifestRow& r : m.rows) r.op = r.op == "Odd name\n" ? "Plain" : r.op;
  m.options[1].default_text = "x";
  TomlTape tape;
  EXPECT_TRUE(scan_toml(write_manifest(m), tape));
}

// ---- the index ----

TEST(PluginsManifest, Index) {
  std::vector<Manifest> manifests(3, example());
  manifests[1].rows.clear();
  const ManifestIndex index(manifests);
  const auto hits = index.find(OpName("onnx", "", "Conv"));
  ASSERT_EQ(hits.size(), 4U);
  EXPECT_EQ(hits[0].manifest, 0U);
  EXPECT_EQ(hits[3].manifest, 2U);
  EXPECT_EQ(hits[0].row, &manifests[0].rows[0]);
  EXPECT_THAT(index.find(OpName("onnx", "x", "Conv")), IsEmpty());
  EXPECT_TRUE(covers(*hits[1].row, 10) || covers(*hits[0].row, 10));
  EXPECT_THAT(ManifestIndex({}).find(OpName("onnx", "", "Conv")), IsEmpty());
}

}  // namespace
}  // namespace gantry::plugins
