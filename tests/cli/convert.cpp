// gantry convert and check on small models: what is printed where, and what is written.
#include <nlohmann/json.hpp>

#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Convert = Cli;

const std::string kUnknownOps = R"(<ir_version: 8, opset_import: ["" : 17, "com.example.none" : 1]>
  g (float[1,4] x) => (float[1,4] z) {
    a = Relu(x)
    b = com.example.none.Frobnicate(a)
    c = com.example.none.Frobnicate(b)
    z = com.example.none.Twist(c)
  })";

TEST_F(Convert, WritesTheFileAndSaysSo) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("relu.tflite");
  const std::string before = read_file(in);
  const ProcessResult r = succeeds({"convert", in, "-o", out});
  EXPECT_THAT(r.last_line(), StartsWith("gantry: ok " + out));
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_LE(std::count(r.out.begin(), r.out.end(), '\n'), 12) << r.out;
  EXPECT_THAT(r.out, HasSubstr("RELU"));
  EXPECT_EQ(read_file(out).substr(4, 4), "TFL3");
  EXPECT_EQ(read_file(in), before);
  EXPECT_THAT(files(), testing::UnorderedElementsAre("relu.onnx", "relu.tflite"));
}

TEST_F(Convert, SameBytesTwice) {
  const std::string in = onnx("relu.onnx", kReluModel);
  succeeds({"convert", in, "-o", path("a.tflite")});
  succeeds({"convert", in, "-o", path("b.tflite")});
  EXPECT_EQ(read_file(path("a.tflite")), read_file(path("b.tflite")));
}

TEST_F(Convert, QuietAndVerbose) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("relu.tflite");
  const ProcessResult quiet = succeeds({"convert", in, "-o", out, "-q"});
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(std::count(quiet.err.begin(), quiet.err.end(), '\n'), 1) << quiet.err;
  const ProcessResult verbose = succeeds({"convert", in, "-o", out, "-v"});
  EXPECT_THAT(verbose.err, HasSubstr("opened plugin org.gantry.core-ops"));
  EXPECT_THAT(verbose.err, HasSubstr("Relu"));
  EXPECT_THAT(verbose.err, HasSubstr("pass convert"));
}

TEST_F(Convert, PluginsAreOpenedForTheOperatorsThatAsk) {
  const std::string in = onnx("gelu.onnx", R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    g (float[1,4] x) => (float[1,4] y) { y = com.microsoft.FastGelu(x) })");
  const ProcessResult both = succeeds({"convert", in, "-o", path("gelu.tflite"), "-v"});
  EXPECT_THAT(both.err, HasSubstr("opened plugin org.gantry.transformer"));
  EXPECT_THAT(both.err, HasSubstr("for onnx.com.microsoft::FastGelu"));
  const ProcessResult one = succeeds({"convert", onnx("relu.onnx", kReluModel), "-o", path("relu.tflite"), "-v"});
  EXPECT_THAT(one.err, testing::Not(HasSubstr("org.gantry.transformer")));
}

TEST_F(Convert, LogFileAndReport) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("relu.tflite");
  succeeds({"convert", in, "-o", out, "--log-file", path("log"), "--report", path("r.json"), "--set", "verify.seed=3"});
  EXPECT_THAT(read_file(path("log")), HasSubstr("opened plugin org.gantry.core-ops"));
  EXPECT_THAT(read_file(path("log")), HasSubstr("gantry: ok"));
  const json report = json::parse(read_file(path("r.json")));
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["exit_status"], 0);
  EXPECT_EQ(report["source"]["nodes"], 1);
  EXPECT_EQ(report["target"]["operators"]["RELU"], 1);
  EXPECT_EQ(report["plugins"][0]["id"], "org.gantry.core-ops");
  const json seed{{"key", "verify.seed"}, {"value", "3"}, {"from", "--set"}};
  EXPECT_THAT(report["options"], testing::Contains(seed));
}

TEST_F(Convert, ReportOfAFailure) {
  fails({"convert", path("none.onnx"), "-o", path("x.tflite"), "--report", path("r.json")}, 3, "E0301");
  const json report = json::parse(read_file(path("r.json")));
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["exit_status"], 3);
  EXPECT_EQ(report["code"], "E0301");
}

const std::string kImage = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] w = {1, 2, 3, 4}> { [conv] y = Conv(x, w) })";

TEST_F(Convert, TheFileSaysWhatWasReordered) {
  const std::string in = onnx("m.onnx", kImage), out = path("m.tflite");
  const auto entry = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"convert", in, "-o", out});
    succeeds(more);
    const json file = json::parse(succeeds({"inspect", out, "--json"}).out);
    return json::parse(file["metadata"]["gantry"].get<std::string>());
  };
  EXPECT_EQ(entry({})["reordered"], "");
  const json all = entry({"--io-layout", "nhwc"});
  EXPECT_EQ(all["io_layout"], "nhwc");
  EXPECT_EQ(all["reordered"], "x: 0,2,3,1; y: 0,2,3,1");
  EXPECT_EQ(entry({"--set", "layout.io_by_name=x=nhwc"})["reordered"], "x: 0,2,3,1");
}

TEST_F(Convert, ToOnnxByTheExtensionOrByName) {
  const std::string in = onnx("m.onnx", kImage), out = path("out.onnx");
  succeeds({"convert", in, "-o", out});
  EXPECT_THAT(succeeds({"inspect", out}).out, HasSubstr("Conv"));
  fails({"convert", in, "-o", path("x.tflite"), "--to", "onnx"}, 7, "E0702");
  fails({"convert", in, "-o", in}, 2, "E0201");
  succeeds({"convert", in, "-o", path("e.onnx"), "--set", "onnx.external_data=true"});
}

TEST_F(Convert, ExplainsWhatIsLeft) {
  const std::string in = onnx("m.onnx", kImage);
  const ProcessResult all = succeeds({"explain", "*", in});
  EXPECT_THAT(all.out, HasSubstr("TRANSPOSE"));
  EXPECT_THAT(all.out, HasSubstr("wanted by CONV_2D 'conv'"));
  EXPECT_THAT(all.out, HasSubstr("made by   input 'x' as d1 d2 d3 (2 x 4 x 4)"));
  EXPECT_THAT(all.out, HasSubstr("--io-layout"));
  EXPECT_EQ(succeeds({"explain", "conv", in}).out, all.out);
  EXPECT_THAT(succeeds({"explain", "*", in, "--io-layout", "nhwc"}).out, HasSubstr("no transpose"));
  EXPECT_EQ(json::parse(succeeds({"explain", "*", in, "--json"}).out)["layout"]["moves"].size(), 2);
  fails({"explain", "convv", in}, 2, "E0201");
}

TEST_F(Convert, DryRunWritesNothing) {
  const std::string in = onnx("relu.onnx", kReluModel);
  EXPECT_THAT(succeeds({"convert", in, "--dry-run"}).last_line(), StartsWith("gantry: ok"));
  succeeds({"convert", in, "-o", path("x.tflite"), "--dry-run"});
  EXPECT_THAT(files(), testing::ElementsAre("relu.onnx"));
  fails({"convert", in, "-o", path("x.tflite"), "--dry-run", "--verify"}, 2, "E0201");
}

TEST_F(Convert, ListsAllUnsupportedOperators) {
  const std::string in = onnx("m.onnx", kUnknownOps);
  const ProcessResult r = gantry({"convert", in, "-o", path("m.tflite")});
  EXPECT_EQ(r.status, 4);
  EXPECT_THAT(r.last_line(), StartsWith("gantry: failed E0401 "));
  EXPECT_THAT(r.err, HasSubstr("com.example.none"));
  EXPECT_THAT(r.err, HasSubstr("Frobnicate"));
  EXPECT_THAT(r.err, HasSubstr("Twist"));
  EXPECT_FALSE(std::filesystem::exists(path("m.tflite")));
}

TEST_F(Convert, CheckTellsWhatConverts) {
  const ProcessResult good = succeeds({"check", onnx("relu.onnx", kReluModel)});
  EXPECT_THAT(good.out, HasSubstr("1 of 1 node"));
  EXPECT_THAT(good.last_line(), StartsWith("gantry: ok 1 of 1 node"));

  const std::string in = onnx("m.onnx", kUnknownOps);
  const ProcessResult bad = gantry({"check", in});
  EXPECT_EQ(bad.status, 4);
  EXPECT_THAT(bad.out, HasSubstr("Frobnicate"));
  EXPECT_THAT(bad.out, HasSubstr("Twist"));
  EXPECT_THAT(bad.out, HasSubstr("1 of 4 nodes convert to tflite (25 %)"));
  EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << "findings are results: " << bad.err;
  EXPECT_THAT(bad.last_line(), StartsWith("gantry: failed E0401 "));
  const json report = json::parse(gantry({"check", in, "--json"}).out);
  EXPECT_EQ(report["unconverted_nodes"], 3);
  EXPECT_EQ(report["diagnostics"].size(), 2);
  EXPECT_THAT(files(), testing::UnorderedElementsAre("relu.onnx", "m.onnx"));
}

TEST_F(Convert, AllowCustom) {
  const std::string in = onnx("m.onnx", R"(<ir_version: 8, opset_import: ["" : 17, "com.example.none" : 1]>
    g (float[1,4] x) => (float[1,4] z) { z = com.example.none.Twist(x) })");
  const ProcessResult r = succeeds({"convert", in, "-o", path("m.tflite"), "--allow-custom"});
  EXPECT_THAT(r.err, HasSubstr("W1002"));
}

TEST_F(Convert, Shapes) {
  const std::string in =
      onnx("m.onnx", R"(<ir_version: 8, opset_import: ["" : 17]> g (float[N,4] x) => (float[N,4] y) { y = Relu(x) })");
  EXPECT_THAT(succeeds({"convert", in, "-o", path("a.tflite"), "--shape", "x=3,4"}).out, HasSubstr("f32[3,4]"));
  EXPECT_THAT(succeeds({"convert", in, "-o", path("b.tflite"), "--shape", "5,4"}).out, HasSubstr("f32[5,4]"));
  EXPECT_THAT(fails({"check", in, "--shape", "z=3,4"}, 2, "E0201").err, HasSubstr("x"));
}

TEST_F(Convert, OutputFormats) {
  const std::string in = onnx("relu.onnx", kReluModel);
  fails({"convert", in, "-o", path("x.bin")}, 7, "E0702");
  fails({"convert", in, "-o", path("x.tflite"), "--to", "caffe"}, 7, "E0702");
  succeeds({"convert", in, "-o", path("x.tflite"), "--to", "tflite"});
}

TEST_F(Convert, Verify) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("relu.tflite");
  const ProcessResult r = succeeds({"convert", in, "-o", out, "--verify"});
  EXPECT_THAT(r.out, HasSubstr("verify"));
  const ProcessResult v = succeeds({"verify", in, out});
  EXPECT_THAT(v.out, HasSubstr("y"));
  EXPECT_THAT(v.last_line(), StartsWith("gantry: ok 1 output within tolerance"));
}

TEST_F(Convert, VerifyFindsDifferences) {
  const std::string relu = onnx("relu.onnx", kReluModel);
  const std::string other =
      onnx("sigmoid.onnx",
           R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1,4] x) => (float[1,4] y) { y = Sigmoid(x) })");
  const ProcessResult r = gantry({"verify", relu, other});
  EXPECT_EQ(r.status, 5) << r.err;
  EXPECT_THAT(r.last_line(), StartsWith("gantry: failed E0501 "));
  EXPECT_THAT(r.out, HasSubstr("differs"));
  succeeds({"verify", relu, other, "--atol", "10"});
}

TEST_F(Convert, InspectBothFormats) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("relu.tflite");
  succeeds({"convert", in, "-o", out});
  const ProcessResult source = succeeds({"inspect", in});
  EXPECT_THAT(source.out, HasSubstr("x: f32[1,4]"));
  EXPECT_THAT(source.out, HasSubstr("1 x Relu"));
  EXPECT_THAT(source.out, HasSubstr("ai.onnx 17"));
  const ProcessResult target = succeeds({"inspect", out});
  EXPECT_THAT(target.out, HasSubstr("TFLite"));
  EXPECT_THAT(target.out, HasSubstr("1 x RELU v1"));
  const json j = json::parse(succeeds({"inspect", out, "--json"}).out);
  EXPECT_EQ(j["format"], "TFLite");
  EXPECT_EQ(j["inputs"][0]["name"], "x");
  EXPECT_EQ(j["inputs"][0]["shape"], json::array({1, 4}));
}

TEST_F(Convert, OptPrintsTheGraph) {
  const std::string in = onnx("relu.onnx", kReluModel);
  const ProcessResult r = succeeds({"opt", in, "--passes=normalize,convert"});
  EXPECT_THAT(r.out, HasSubstr("tflite.RELU"));
  const std::string text = file("g.txt", succeeds({"opt", in}).out);
  EXPECT_EQ(succeeds({"opt", text}).out, read_file(text)) << "printing what was parsed gives the same";
  succeeds({"opt", text, "--passes", "normalize,convert", "-o", path("out.txt")});
  EXPECT_EQ(read_file(path("out.txt")), r.out);
  EXPECT_THAT(succeeds({"opt", "--list"}).out, HasSubstr("normalize"));
  EXPECT_THAT(succeeds({"opt", in, "--passes=normalize", "--set", "passes.dump=normalize"}).err,
              HasSubstr("onnx.Relu"));
}

TEST_F(Convert, StrictTypesRefuseFloat64InFloat32) {
  const auto model = [](const std::string& node) {
    return "<ir_version: 8, opset_import: [\"\" : 23]> g (double[2,4] x, double[4] s) => (double[2,4] y) { y = " +
           node + " }";
  };
  // By the definition of the kernel, and by a converter's own cast.
  for (const char* node : {"Exp(x)", "RMSNormalization(x, s)"}) {
    const std::string in = onnx("f64.onnx", model(node)), out = path("f64.tflite");
    EXPECT_THAT(succeeds({"convert", in, "-o", out}).err, HasSubstr("W1001"));
    EXPECT_THAT(fails({"convert", in, "-o", out, "--strict-types"}, 4, "E0402").err, HasSubstr("--strict-types"));
    fails({"convert", in, "-o", out, "--set", "convert.strict_types=true"}, 4, "E0402");
  }
}

}  // namespace
}  // namespace gantry::test
