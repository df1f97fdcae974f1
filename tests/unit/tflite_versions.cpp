#include <set>

#include "host/formats/tflite/schema.hpp"
#include "host/formats/tflite/versions.hpp"
#include "tests/unit/tflite_support.hpp"

namespace gantry::tflite_format {
namespace {

OperatorVersion version_of(const std::string& inputs, const std::string& node) {
  const Graph g = graph_of("graph \"g\" {\n" + inputs + "\n %y: " + node + "\n}");
  return lowest_version(g, g.node(g.nodes(g.main()).front()));
}

int v(const std::string& inputs, const std::string& node) { return version_of(inputs, node).version; }

const std::string kFloat =
    "input %x: f32[1,4,4,8]\n input %w: f32[8,1,1,8]\n input %g: f32[8,1,1,4]\n input %b: f32[8]";

TEST(TfliteVersions, RowsAreSound) {
  std::set<std::string_view> done;
  std::string_view last;
  int version = 0;
  for (const VersionRow& row : version_rows()) {
    ASSERT_TRUE(Schema::get().find(row.op)) << row.op;
    if (row.op != last) {
      EXPECT_TRUE(done.insert(row.op).second) << row.op << " is in two places";
      EXPECT_EQ(row.terms[0].kind, VersionTerm::Kind::none) << row.op << " must begin with what holds always";
      last = row.op;
      version = 0;
    }
    EXPECT_GE(row.version, version) << row.op;
    version = row.version;
    EXPECT_FALSE(row.runtime.empty());
    const OptionsInfo* options = Schema::get().find(row.op)->options;
    for (const VersionTerm& t : row.terms) {
      if (!t.name.empty()) {
        ASSERT_TRUE(options && options->find(t.name)) << row.op << " " << t.name;
      }
      if (!t.value.empty()) {
        EXPECT_GE(options->find(t.name)->values->find(t.value), 0) << row.op << " " << t.value;
      }
    }
  }
}

TEST(TfliteVersions, LowestThatFits) {
  EXPECT_EQ(v(kFloat, "f32[1,4,4,8] = tflite.CONV_2D@1(%x, %w, %b)"), 1);
  EXPECT_EQ(v(kFloat, "f32[1,4,4,8] = tflite.CONV_2D@1(%x, %g, %b)"), 6);
  EXPECT_EQ(
      v(kFloat, "f32[1,4,4,8] = tflite.DEPTHWISE_CONV_2D@1(%x, %w, %b) {dilation_h_factor = 1, dilation_w_factor = 2}"),
      2);
  EXPECT_EQ(v(kFloat, "f32[1,4,4,8] = tflite.FULLY_CONNECTED@1(%x, %w, %b)"), 1);
  EXPECT_EQ(v(kFloat, "f32[1,4,4,8] = tflite.FULLY_CONNECTED@1(%x, %w, %b) {keep_num_dims = 1}"), 5);
  EXPECT_EQ(v(kFloat, "f32[1,4,4,8] = tflite.FULLY_CONNECTED@1(%x, %w, _) {keep_num_dims = 1}"), 5);
  EXPECT_EQ(v(kFloat, "f32[1,4,4,8] = tflite.FULLY_CONNECTED@1(%x, %w) {keep_num_dims = 1}"), 6);
  EXPECT_EQ(v("input %s: i32[4]\n" + kFloat, "f32[1,4,4,8] = tflite.TRANSPOSE_CONV@1(%s, %w, %x)"), 1);
  EXPECT_EQ(v("input %s: i32[4]\n" + kFloat, "f32[1,4,4,8] = tflite.TRANSPOSE_CONV@1(%s, %w, %x, %b)"), 3);
  EXPECT_EQ(v("input %s: i32[4]\n" + kFloat,
              "f32[1,4,4,8] = tflite.TRANSPOSE_CONV@1(%s, %w, %x, %b) {fused_activation_function = \"RELU\"}"),
            4);

  const std::string five = "input %a: f32[1,2,3,4,5]\n input %b: f32[5]\n input %p: i32[5]\n input %n: i32[1,2,3,4,5]";
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.SUB@1(%a, %a)"), 1);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.SUB@1(%a, %b)"), 3);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.DIV@1(%a, %b)"), 2);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.MAXIMUM@1(%a, %b)"), 3);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.TRANSPOSE@1(%a, %p)"), 4);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.PAD@1(%a, %p)"), 4);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.STRIDED_SLICE@1(%a, %p, %p, %p)"), 4);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.STRIDED_SLICE@1(%a, %p, %p, %p) {new_axis_mask = 1}"), 6);
  EXPECT_EQ(v(five, "i32[1,2,3,4,5] = tflite.ABS@1(%n)"), 5);
  EXPECT_EQ(v(five, "i32[1,2,3,4,5] = tflite.SPLIT@1(%p, %n)"), 3);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.GATHER@1(%a, %p) {batch_dims = 1}"), 5);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.BROADCAST_TO@1(%a, %p)"), 2);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.RESIZE_BILINEAR@1(%a, %p) {half_pixel_centers = 1}"), 3);
  EXPECT_EQ(v(five, "f32[1,2,3,4,5] = tflite.RESIZE_NEAREST_NEIGHBOR@1(%a, %p) {align_corners = 1}"), 3);
  EXPECT_EQ(v("input %a: i64[2]", "f32[2] = tflite.CAST@1(%a)"), 1);
  EXPECT_EQ(v("input %a: i64[2]", "bf16[2] = tflite.CAST@1(%a)"), 7);
  EXPECT_EQ(v("input %a: i64[2]", "i64[2] = tflite.MUL@1(%a, %a)"), 5);
  EXPECT_EQ(v("input %a: bool[2]", "i64[2] = tflite.WHERE@1(%a)"), 1);
  EXPECT_EQ(v("input %a: f32[2]", "i64[2] = tflite.WHERE@1(%a)"), 2);
}

TEST(TfliteVersions, SymbolsThatAgreeDoNotBroadcast) {
  const std::string inputs = "input %a: f32[N,2,3,4,5]\n input %b: f32[N,2,3,4,5]\n input %c: f32[M,2,3,4,5]";
  EXPECT_EQ(v(inputs, "f32[N,2,3,4,5] = tflite.SUB@1(%a, %b)"), 1);
  EXPECT_EQ(v(inputs, "f32[N,2,3,4,5] = tflite.SUB@1(%a, %c)"), 3);
}

TEST(TfliteVersions, Runtimes) {
  EXPECT_EQ(version_of(kFloat, "f32[1,4,4,8] = tflite.CONV_2D@1(%x, %g, %b)").runtime, "2.9.0");
  EXPECT_EQ(version_of("input %a: f32[2]", "f32[2] = tflite.STABLEHLO_SORT@1(%a)").runtime, "");
  EXPECT_TRUE(runtime_before("", "1.5.0"));
  EXPECT_TRUE(runtime_before("2.9.0", "2.10.0"));
  EXPECT_TRUE(runtime_before("1.13.1", "2.0.0"));
  EXPECT_FALSE(runtime_before("2.3.0", "2.3.0"));
  EXPECT_FALSE(runtime_before("2.3.0", ""));
}

}  // namespace
}  // namespace gantry::tflite_format
