// Descriptors that are broken, each in one place: the refusal names it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plugins/descriptor.hpp"

namespace gantry::plugins {
namespace {

using ::testing::HasSubstr;

gantry_status nothing(const gantry_host*, gantry_context*, gantry_node, const void*) { return GANTRY_DECLINED; }

gantry_str str(std::string_view s) { return {s.data(), s.size()}; }

gantry_op_key key(std::string_view op, int min = 1, int max = 0) {
  return {str("onnx"), str("org.test"), str(op), min, max};
}

/// A whole descriptor, to be spoilt.
struct Fixture {
  gantry_converter a{}, b{};
  gantry_pattern pattern{};
  gantry_operator definition{};
  gantry_option option{};
  std::vector<gantry_str> also{str("Conv")}, depends{str("org.other")};
  std::vector<const gantry_converter*> converters{&a, &b};
  std::vector<const gantry_pattern*> patterns{&pattern};
  std::vector<const gantry_operator*> operators{&definition};
  std::vector<const gantry_option*> options{&option};
  gantry_plugin plugin{};

  Fixture() {
    a = {sizeof a, 0, key("A"), str("tflite"), nothing, nullptr};
    b = {sizeof b, 0, key("B"), str("tflite"), nothing, nullptr};
    pattern = {sizeof pattern, 0, str("p"), key("A"), {also.data(), 1}, nothing, nullptr};
    definition.struct_size = sizeof definition;
    definition.key = key("A");
    definition.max_rank = 6;
    option = {sizeof option, GANTRY_ATTR_INT, 0, 0, str("level"), str("3"), str("help")};
    plugin.struct_size = sizeof plugin;
    plugin.abi_major = GANTRY_ABI_MAJOR;
    plugin.abi_minor = GANTRY_ABI_MINOR;
    plugin.id = str("org.test");
    plugin.version = str("1.0");
    plugin.depends = {depends.data(), 1};
    plugin.converters = converters.data();
    plugin.converter_count = converters.size();
    plugin.patterns = patterns.data();
    plugin.pattern_count = 1;
    plugin.operators = operators.data();
    plugin.operator_count = 1;
    plugin.options = options.data();
    plugin.option_count = 1;
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
};

template <class F>
std::string refusal(F&& spoil) {
  Fixture f;
  spoil(f);
  const Status s = check_descriptor(&f.plugin, "/lib/x.so");
  EXPECT_FALSE(s.ok());
  if (s.ok()) return {};
  EXPECT_EQ(s.error().code, Code::plugin_abi);
  EXPECT_EQ(s.error().place, "/lib/x.so");
  EXPECT_FALSE(s.error().hint.empty());
  return s.error().message;
}

TEST(PluginsDescriptor, Good) {
  Fixture f;
  ASSERT_TRUE(check_descriptor(&f.plugin, "/lib/x.so").ok());
  const Manifest m = manifest_of(f.plugin, "/lib/x.so");
  EXPECT_EQ(m.library, "x.so");
  EXPECT_EQ(m.rows.size(), 4U);
  EXPECT_EQ(m.options[0].type, "int");
}

TEST(PluginsDescriptor, Version) {
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.struct_size = 4; }), HasSubstr("too small to hold the version"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.struct_size = sizeof f.plugin - 8; }), HasSubstr("at least"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.abi_major = 7; }), HasSubstr("abi_major is 7, this Gantry's is 0"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.abi_minor += 1; }), HasSubstr("abi_minor"));
  // The version is looked at before anything else.
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.abi_major = 7, f.plugin.id = {nullptr, 5}; }), HasSubstr("abi_major"));
  EXPECT_FALSE(check_descriptor(nullptr, "/lib/x.so").ok());
}

TEST(PluginsDescriptor, Texts) {
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.id = str(""); }), HasSubstr("id is empty"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.version = {nullptr, 3}; }), HasSubstr("version is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.license = str("\xff"); }), HasSubstr("license is not UTF-8"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.license.size = UINT64_MAX; }), HasSubstr("license has"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.depends = {nullptr, 1}; }), HasSubstr("depends is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.depends[0] = str(""); }), HasSubstr("depends is empty"));
}

TEST(PluginsDescriptor, Records) {
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.converters = nullptr; }), HasSubstr("converters is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.plugin.converter_count = 1u << 31; }),
              HasSubstr("converters has 2147483648 entries"));
  EXPECT_THAT(refusal([](Fixture& f) { f.converters[1] = nullptr; }), HasSubstr("converters[1] is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.b.struct_size = 16; }),
              HasSubstr("built for another version of Gantry: struct_size of converters[1] is 16"));
  EXPECT_THAT(refusal([](Fixture& f) { f.b.convert = nullptr; }), HasSubstr("converters[1].convert is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.b.target = str(""); }), HasSubstr("converters[1].target is empty"));
  EXPECT_THAT(refusal([](Fixture& f) { f.b.key.op = str(""); }), HasSubstr("converters[1].key.op is empty"));
  EXPECT_THAT(refusal([](Fixture& f) { f.b.key.min_version = 0; }), HasSubstr("converters[1].key.min_version is 0"));
  EXPECT_THAT(refusal([](Fixture& f) { f.b.key = key("B", 6, 5); }), HasSubstr("converters[1].key.max_version is 5"));
  EXPECT_THAT(refusal([](Fixture& f) { f.pattern.rewrite = nullptr; }), HasSubstr("patterns[0].rewrite"));
  EXPECT_THAT(refusal([](Fixture& f) { f.pattern.name = str(""); }), HasSubstr("patterns[0].name"));
  EXPECT_THAT(refusal([](Fixture& f) { f.also[0] = {nullptr, 1}; }), HasSubstr("patterns[0].also is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.definition.max_rank = -1; }), HasSubstr("operators[0]"));
  EXPECT_THAT(refusal([](Fixture& f) { f.definition.layout = {nullptr, 2}; }),
              HasSubstr("operators[0].layout is null"));
  EXPECT_THAT(refusal([](Fixture& f) { f.option.kind = GANTRY_ATTR_TENSOR; }), HasSubstr("options[0].kind is 7"));
  EXPECT_THAT(refusal([](Fixture& f) { f.option.default_text = str("3x"); }), HasSubstr("'3x' is no int"));
}

TEST(PluginsDescriptor, Twice) {
  EXPECT_THAT(refusal([](Fixture& f) { f.b.key = key("A", 5); }), HasSubstr("onnx.org.test::A version 5"));
  Fixture f;  // one form each
  f.a.key = key("A", 1, 4);
  f.b.key = key("A", 5);
  EXPECT_TRUE(check_descriptor(&f.plugin, "/lib/x.so").ok());
  f.a.key = key("A");
  f.b.priority = 1;
  EXPECT_TRUE(check_descriptor(&f.plugin, "/lib/x.so").ok());
}

TEST(PluginsDescriptor, Defaults) {
  EXPECT_EQ(parse_default(GANTRY_ATTR_INT, true, "true"), OptionValue(std::int64_t{1}));
  EXPECT_EQ(parse_default(GANTRY_ATTR_INT, true, "1"), std::nullopt);
  EXPECT_EQ(parse_default(GANTRY_ATTR_INT, false, "-12"), OptionValue(std::int64_t{-12}));
  EXPECT_EQ(parse_default(GANTRY_ATTR_FLOAT, false, "0.5"), OptionValue(0.5));
  EXPECT_EQ(parse_default(GANTRY_ATTR_FLOAT, false, ""), std::nullopt);
  EXPECT_EQ(parse_default(GANTRY_ATTR_STRING, false, "\"a b\""), OptionValue(std::string("a b")));
  EXPECT_EQ(parse_default(GANTRY_ATTR_STRING, false, "a b"), OptionValue(std::string("a b")));
}

}  // namespace
}  // namespace gantry::plugins
