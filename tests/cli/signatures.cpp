// Several models into one file, a signature each.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// tokens [1, T, 32] after a cache [1, P, 32]: one head of attention, 64 KB of weights.
std::string decoder(const std::string& tokens, const std::string& past) {
  std::string text = R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1,)" + tokens + ",128] tokens, float[1," +
                     past + R"(,128] past) => (float[1,)" + tokens + R"(,128] logits, float[1,A,128] present)
    <float[128,128] w = {)";
  for (int i = 0; i < 128 * 128; ++i) text += (i ? "," : "") + std::to_string((i * 7919 % 201 - 100) / 800.0);
  return text + R"(}> {
    k = MatMul(tokens, w)
    present = Concat<axis = 1>(past, k)
    kt = Transpose<perm = [0,2,1]>(present)
    scores = MatMul(tokens, kt)
    p = Softmax(scores)
    logits = MatMul(p, present) })";
}

class Signatures : public Cli {
 protected:
  Signatures() : prefill_(onnx("p.onnx", decoder("8", "4"))), decode_(onnx("d.onnx", decoder("1", "12"))) {}
  ProcessResult convert(std::vector<std::string> more) const {
    more.insert(more.begin(), {"convert", prefill_, decode_, "-o", path("m.tflite"), "--signatures", "prefill,decode"});
    return succeeds(more);
  }
  const std::string prefill_, decode_;
};

TEST_F(Signatures, WeightsAreStoredOnceAndEachIsVerified) {
  const ProcessResult r = convert({"--verify", "--report", path("r.json")});
  EXPECT_THAT(r.out, HasSubstr("4 outputs within"));
  const auto size = std::filesystem::file_size(path("m.tflite"));
  EXPECT_GT(size, 128u * 128 * 4);
  EXPECT_LT(size, 128u * 128 * 4 * 3 / 2);

  const json report = json::parse(read_file(path("r.json")));
  ASSERT_EQ(report["signatures"].size(), 2u);
  EXPECT_EQ(report["signatures"][0]["name"], "prefill");
  EXPECT_EQ(report["signatures"][1]["source"]["path"], decode_);
  EXPECT_EQ(report["signatures"][1]["inputs"][1]["type"], "f32[1,12,128]");
  EXPECT_EQ(report["inputs"][0]["name"], "prefill/tokens");
  EXPECT_EQ(report["verify"]["outputs"][2]["name"], "decode/logits");
  EXPECT_EQ(report["target"]["nodes"].get<int>(), report["signatures"][0]["target"]["nodes"].get<int>() +
                                                      report["signatures"][1]["target"]["nodes"].get<int>());
}

TEST_F(Signatures, VerifyByName) {
  convert({});
  const std::string out = path("m.tflite");
  EXPECT_THAT(succeeds({"verify", prefill_, decode_, out}).out, HasSubstr("decode/present"));
  succeeds({"verify", decode_, out, "--signatures", "decode"});
  EXPECT_THAT(succeeds({"verify", out, out}).out, HasSubstr("prefill/logits"));
  EXPECT_THAT(fails({"verify", decode_, out}, 2, "E0201").err, HasSubstr("prefill,decode"));
  EXPECT_THAT(fails({"verify", decode_, out, "--signatures", "decod"}, 2, "E0201").err, HasSubstr("decod"));
  fails({"verify", prefill_, decode_, out, "--signatures", "decode"}, 2, "E0201");
  EXPECT_THAT(fails({"verify", prefill_, decode_, out, "--inputs", "x=x.npy"}, 2, "E0201").err,
              HasSubstr("prefill:x=x.npy"));
}

TEST_F(Signatures, ShapesOfAllOrOfOne) {
  const std::string open = onnx("open.onnx", decoder("T", "P"));
  const std::vector<std::string> common{"convert",        open,       open,           "-o",
                                        path("m.tflite"), "--verify", "--signatures", "prefill,decode"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const ProcessResult r = succeeds(
      with({"--shape", "prefill:tokens=1,8,128", "--shape", "decode:tokens=1,1,128", "--shape", "past=1,16,128"}));
  EXPECT_THAT(r.out, HasSubstr("prefill/tokens f32[1,8,128], prefill/past f32[1,16,128], decode/tokens f32[1,1,128]"));
  EXPECT_THAT(fails(with({"--shape", "prefil:tokens=1,8,128"}), 2, "E0201").err, HasSubstr("prefil:tokens"));
  fails(with({"--shape", "prefill:token=1,8,128"}), 2, "E0201");
}

TEST_F(Signatures, OneModelUnderAnotherName) {
  succeeds({"convert", decode_, "-o", path("m.tflite"), "--signatures", "step"});
  succeeds({"verify", decode_, path("m.tflite"), "--signatures", "step"});
  EXPECT_THAT(fails({"verify", decode_, path("m.tflite"), "--signatures", "serving_default"}, 2, "E0201").err,
              HasSubstr("it has step"));
}

TEST_F(Signatures, WhatIsRefused) {
  const auto two = [&](const std::string& names, const std::string& out) {
    return std::vector<std::string>{"convert", prefill_, decode_, "-o", path(out), "--signatures", names};
  };
  EXPECT_THAT(fails({"convert", prefill_, decode_, "-o", path("x.tflite")}, 2, "E0201").err, HasSubstr("--signatures"));
  EXPECT_THAT(fails(two("prefill", "x.tflite"), 2, "E0201").err, HasSubstr("2 models for 1 signature"));
  fails(two("a,b,c", "x.tflite"), 2, "E0201");
  EXPECT_THAT(fails(two("a,a", "x.tflite"), 2, "E0201").err, HasSubstr("two signatures are named \"a\""));
  fails(two("a,", "x.tflite"), 2, "E0201");
  fails(two("", "x.tflite"), 2, "E0201");
  fails(two("a,b", "x.onnx"), 7, "E0702");
  fails(two("a,b", "x.bin"), 7, "E0702");
  fails({"convert", prefill_, decode_, "-o", decode_, "--signatures", "a,b"}, 2, "E0201");
  fails({"convert", prefill_, path("none.onnx"), "-o", path("x.tflite"), "--signatures", "a,b"}, 3, "E0301");
  fails({"convert", prefill_, "-o", path("x.onnx"), "--signatures", "a"}, 2, "E0201");
  const std::string bad = onnx("bad.onnx", R"(<ir_version: 8, opset_import: ["" : 17, "none" : 1]>
    g (float[1,4] x) => (float[1,4] y) { y = none.Nothing(x) })");
  EXPECT_THAT(fails({"convert", bad, bad, "-o", path("x.tflite"), "--signatures", "a,b"}, 4, "E0401").last_line(),
              HasSubstr("1 error more"));
  for (const std::string& name : files()) EXPECT_FALSE(name.starts_with("x.")) << name;
}

}  // namespace
}  // namespace gantry::test
