// Our schema against the runtime's: tflite_schema.py compares what is listed here with the module that comes with it.
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <tflite_bfbs.h>

#include <flatbuffers/reflection_generated.h>
#include <gtest/gtest.h>

#include "host/formats/tflite/schema.hpp"
#include "tests/unit/tflite_support.hpp"

namespace gantry::tflite_format {
namespace {

std::string short_name(const flatbuffers::String* s) {
  const std::string name = s->str();
  return name.substr(name.rfind('.') + 1);
}

// "enum NAME VALUE NUMBER" and "field TABLE NAME SLOT TYPE ELEMENT DEFAULT", a line each.
void list_schema(std::ostream& out) {
  const reflection::Schema& schema = *reflection::GetSchema(kTfliteBfbs);
  for (const reflection::Enum* e : *schema.enums()) {
    for (const reflection::EnumVal* v : *e->values()) {
      out << "enum " << short_name(e->name()) << ' ' << v->name()->str() << ' ' << v->value() << '\n';
    }
  }
  for (const reflection::Object* table : *schema.objects()) {
    out << "table " << short_name(table->name()) << '\n';
    for (const reflection::Field* f : *table->fields()) {
      if (f->deprecated()) continue;
      out << "field " << short_name(table->name()) << ' ' << f->name()->str() << ' ' << f->id() << ' '
          << reflection::EnumNameBaseType(f->type()->base_type()) << ' '
          << reflection::EnumNameBaseType(f->type()->element()) << ' ' << f->default_integer() << ' '
          << f->default_real() << '\n';
    }
  }
}

TEST(TfliteSchema, IsTheRuntimes) {
  const std::string python = GANTRY_TEST_PYTHON;
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no Python environment";
  const TemporaryFolder folder;
  const std::filesystem::path list = folder / "schema.txt";
  std::ofstream out(list);
  list_schema(out);
  out.close();
  const std::string command =
      python + " " GANTRY_TEST_SOURCE_DIR "/tests/unit/tflite_schema.py " + list.string() + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_TRUE(pipe);
  std::string said;
  for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << said;
}

TEST(TfliteSchema, OperatorsFindTheirOptions) {
  const Schema& schema = Schema::get();
  EXPECT_EQ(schema.operators().size(), 210u);
  const auto table = [&](std::string_view op) {
    const OptionsInfo* o = schema.find(op)->options;
    return o ? o->name : std::string_view("none");
  };
  EXPECT_EQ(table("CONV_2D"), "Conv2DOptions");
  EXPECT_EQ(table("L2_POOL_2D"), "Pool2DOptions");
  EXPECT_EQ(table("TOPK_V2"), "TopKV2Options");
  EXPECT_EQ(table("REDUCE_ALL"), "ReducerOptions");
  EXPECT_EQ(table("STABLEHLO_COMPOSITE"), "StableHLOCompositeOptions");
  EXPECT_EQ(table("ATAN2"), "ATan2Options");
  EXPECT_EQ(table("LOGISTIC"), "none");
  EXPECT_EQ(table("STABLEHLO_ADD"), "none");
  EXPECT_EQ(schema.find("no such operator"), nullptr);
  EXPECT_EQ(schema.find(210), nullptr);

  std::set<std::string_view> used;
  for (const OperatorInfo& o : schema.operators()) {
    if (o.options) used.insert(o.options->name);
  }
  EXPECT_EQ(used.size(), schema.options().size()) << "a table of options belongs to no operator";
}

}  // namespace
}  // namespace gantry::tflite_format
