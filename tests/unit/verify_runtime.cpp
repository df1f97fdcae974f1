// The real runtimes on one-node models, and libraries that only look like runtimes.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "host/verify/npy.hpp"
#include "host/verify/run_model.hpp"
#include "host/verify/runtime.hpp"
#include "host/verify/verify.hpp"
#include "verify_models.hpp"

namespace gantry {
namespace {

using models::as_floats;
using models::floats;
using models::ModelPort;
using models::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kRelu = 19, kAdd = 0, kConv2d = 3, kWhere = 109;  // BuiltinOperator
const std::string kRuntimes = GANTRY_TEST_RUNTIME_DIR;
const std::string kFakes = GANTRY_TEST_FAKE_RUNTIME_DIR;

const std::vector<ModelPort> kX{{"x", DType::float32, {"2", "3"}}}, kY{{"y", DType::float32, {"2", "3"}}};

std::string relu_onnx(const TempDir& dir) { return dir.write("relu.onnx", models::onnx_model("Relu", kX, kY)); }
std::string relu_tflite(const TempDir& dir) { return dir.write("relu.tflite", models::tflite_model(kRelu, kX, kY)); }

/// Runs a model on these tensors, in a process of its own.
Result<ModelRun> run(RuntimeKind kind, const std::string& model, const std::map<std::string, Tensor>& feeds) {
  GANTRY_ASSIGN(const auto library, find_runtime(kind, kRuntimes));
  return run_model(kind, library, model, [&](const std::vector<Port>&) { return Result(feeds); }, 60);
}

VerifyRequest request(const std::string& reference, const std::string& candidate) {
  VerifyRequest r;
  r.reference = reference;
  r.candidate = candidate;
  r.onnxruntime = r.litert = kRuntimes;
  return r;
}

TEST(VerifyRuntime, OnnxRuntimeRunsARelu) {
  const TempDir dir;
  const auto r = run(RuntimeKind::onnxruntime, relu_onnx(dir), {{"x", floats({2, 3}, {-1, 2, -3, 4, -5, 6})}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_THAT(r->runtime, StartsWith("ONNX Runtime 1."));
  ASSERT_EQ(r->inputs.size(), 1u);
  EXPECT_EQ(r->inputs[0].name + " " + r->inputs[0].type.str(), "x f32[2,3]");
  EXPECT_THAT(r->outputs, ElementsAre(NamedTensor{"y", floats({2, 3}, {0, 2, 0, 4, 0, 6})}));
}

TEST(VerifyRuntime, LiteRtRunsARelu) {
  const TempDir dir;
  const auto r = run(RuntimeKind::litert, relu_tflite(dir), {{"x", floats({2, 3}, {-1, 2, -3, 4, -5, 6})}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_THAT(r->runtime, StartsWith("LiteRT 2."));
  EXPECT_EQ(r->inputs[0].name + " " + r->inputs[0].type.str(), "x f32[2,3]");
  EXPECT_THAT(r->outputs, ElementsAre(NamedTensor{"y", floats({2, 3}, {0, 2, 0, 4, 0, 6})}));
}

TEST(VerifyRuntime, DynamicDimensionsAreResized) {
  const TempDir dir;
  const std::vector<ModelPort> x{{"x", DType::float32, {"N", "2"}}}, y{{"y", DType::float32, {"N", "2"}}};
  const std::map<std::string, Tensor> feeds{{"x", floats({3, 2}, {-1, 2, -3, 4, -5, 6})}};
  const auto tflite = run(RuntimeKind::litert, dir.write("m.tflite", models::tflite_model(kRelu, x, y)), feeds);
  ASSERT_TRUE(tflite.ok()) << tflite.error().message;
  EXPECT_EQ(tflite->inputs[0].type.str(), "f32[?,2]");
  EXPECT_EQ(tflite->outputs[0].tensor, floats({3, 2}, {0, 2, 0, 4, 0, 6}));
  const auto onnx = run(RuntimeKind::onnxruntime, dir.write("m.onnx", models::onnx_model("Relu", x, y)), feeds);
  ASSERT_TRUE(onnx.ok()) << onnx.error().message;
  EXPECT_EQ(onnx->inputs[0].type.str(), "f32[N,2]");
  EXPECT_EQ(onnx->outputs[0].tensor, floats({3, 2}, {0, 2, 0, 4, 0, 6}));
}

TEST(VerifyRuntime, ScalarsRun) {
  const TempDir dir;
  const std::vector<ModelPort> x{{"x", DType::float32, {}}}, y{{"y", DType::float32, {}}};
  const std::map<std::string, Tensor> feeds{{"x", floats({}, {2})}};
  EXPECT_EQ(
      run(RuntimeKind::litert, dir.write("m.tflite", models::tflite_model(kRelu, x, y)), feeds)->outputs[0].tensor,
      floats({}, {2}));
  EXPECT_EQ(
      run(RuntimeKind::onnxruntime, dir.write("m.onnx", models::onnx_model("Relu", x, y)), feeds)->outputs[0].tensor,
      floats({}, {2}));
}

TEST(VerifyRuntime, WrongFeedsAreRefusedBeforeTheRuntimeSeesThem) {
  const TempDir dir;
  for (const auto& [kind, model] :
       {std::pair(RuntimeKind::onnxruntime, relu_onnx(dir)), std::pair(RuntimeKind::litert, relu_tflite(dir))}) {
    EXPECT_EQ(run(kind, model, {{"z", floats({2, 3}, {1, 2, 3, 4, 5, 6})}}).error().message,
              "nothing is given for the input 'x'");
    EXPECT_EQ(run(kind, model, {{"x", floats({6}, {1, 2, 3, 4, 5, 6})}}).error().message,
              "the input 'x' is f32[2,3], but f32[6] is given for it");
    Tensor short_one = floats({2, 3}, {1, 2, 3});
    EXPECT_THAT(run(kind, model, {{"x", short_one}}).error().message, HasSubstr("has 12 bytes"));
  }
}

TEST(VerifyRuntime, ErrorsCarryTheRuntimesOwnWords) {
  const TempDir dir;
  const auto onnx = run(RuntimeKind::onnxruntime, dir.write("m.onnx", models::onnx_model("NoSuchOp", kX, kY)), {});
  ASSERT_FALSE(onnx.ok());
  EXPECT_EQ(onnx.error().code, Code::verify_runtime);
  EXPECT_THAT(onnx.error().message, AllOf(StartsWith("ONNX Runtime: "), HasSubstr("NoSuchOp")));
  EXPECT_THAT(onnx.error().place, HasSubstr("m.onnx"));
  const auto tflite = run(RuntimeKind::litert, dir.write("m.tflite", models::tflite_model(kConv2d, kX, kY)),
                          {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}});
  ASSERT_FALSE(tflite.ok());
  EXPECT_EQ(tflite.error().code, Code::verify_runtime);
  EXPECT_THAT(tflite.error().message, AllOf(StartsWith("LiteRT: it cannot "), HasSubstr("CONV_2D")));
}

TEST(VerifyRuntime, BrokenModelsAreErrors) {
  const TempDir dir;
  EXPECT_THAT(run(RuntimeKind::onnxruntime, dir.write("m.onnx", "no model"), {}).error().message,
              StartsWith("ONNX Runtime: "));
  const std::string whole = models::tflite_model(kRelu, kX, kY);
  EXPECT_EQ(run(RuntimeKind::litert, dir.write("m.tflite", whole.substr(0, whole.size() / 2)), {})
                .error()
                .message.substr(0, 7),
            "LiteRT:");
  EXPECT_THAT(run(RuntimeKind::litert, dir.path() + "/none.tflite", {}).error().message,
              StartsWith("LiteRT: it cannot read the model"));
}

TEST(VerifyRuntime, ChangedBytesOfAModelNeverEndThisProcess) {
  const TempDir dir;
  const std::string whole = models::tflite_model(kRelu, kX, kY);
  for (std::size_t i = 8; i < whole.size(); i += 97) {
    std::string changed = whole;
    for (std::size_t k = i; k < whole.size(); k += 61) changed[k] = static_cast<char>(0xff);
    (void)run(RuntimeKind::litert, dir.write("m.tflite", changed), {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}});
  }
}

TEST(VerifyRuntime, AnOutputOfUnknownShapeIsExplained) {
  const TempDir dir;
  const auto r = run(RuntimeKind::litert,
                     dir.write("m.tflite", models::tflite_model(kWhere, {{"x", DType::boolean, {"4"}}},
                                                                {{"y", DType::int64, {"N", "1"}}})),
                     {{"x", {DType::boolean, {4}, std::vector<std::byte>(4)}}});
  ASSERT_FALSE(r.ok());
  EXPECT_THAT(r.error().hint, HasSubstr("'y' is i64[?,1]"));
}

TEST(VerifyRuntime, StringsAreRefused) {
  const TempDir dir;
  const auto r = run(
      RuntimeKind::onnxruntime,
      dir.write("m.onnx", models::onnx_model("Identity", {{"x", DType::string, {"1"}}}, {{"y", DType::string, {"1"}}})),
      {});
  EXPECT_EQ(r.error().message, "the input 'x' has an element type that cannot be compared");
}

TEST(VerifyRuntime, AMissingLibraryIsSaidWithWhatToDo) {
  const TempDir dir;
  const auto given = find_runtime(RuntimeKind::litert, dir.path());
  ASSERT_FALSE(given.ok());
  EXPECT_EQ(given.error().code, Code::verify_no_runtime);
  EXPECT_THAT(given.error().message, HasSubstr("LiteRT was not found: '" + dir.path()));
  EXPECT_THAT(given.error().hint,
              AllOf(HasSubstr("GANTRY_RUNTIMES"), HasSubstr("verify.litert"), HasSubstr("ai-edge-litert")));
}

TEST(VerifyRuntime, LibrariesAreFoundByFolderFileVersionAndEnvironment) {
  const TempDir dir;
  const std::string file = dir.write("libonnxruntime.so.1.32.0", "");
  dir.write("libonnxruntime.so.1.9.version", "1.9");
  EXPECT_EQ(find_runtime(RuntimeKind::onnxruntime, dir.path())->string(), file);
  EXPECT_EQ(find_runtime(RuntimeKind::onnxruntime, file)->string(), file);
  const char* before = std::getenv("GANTRY_RUNTIMES");
  const std::string saved = before ? before : "";
  setenv("GANTRY_RUNTIMES", dir.path().c_str(), 1);
  EXPECT_EQ(find_runtime(RuntimeKind::onnxruntime)->string(), file);
  before ? setenv("GANTRY_RUNTIMES", saved.c_str(), 1) : unsetenv("GANTRY_RUNTIMES");
}

TEST(VerifyRuntime, ALibraryThatIsNoRuntimeIsAnError) {
  const TempDir dir;
  const auto text = Runtime::open_onnxruntime(dir.write("libonnxruntime.so", "text"));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::verify_runtime);
  EXPECT_THAT(text.error().message, HasSubstr("cannot be opened"));
  const auto other = Runtime::open_litert(kFakes + "/old/libonnxruntime.so");
  EXPECT_THAT(other.error().message, HasSubstr("has no function LiteRt"));
  const auto old = Runtime::open_onnxruntime(kFakes + "/old/libonnxruntime.so");
  EXPECT_THAT(old.error().message, HasSubstr("older than 1.16"));
}

TEST(VerifyRuntime, ARuntimeThatCrashesExitsOrHangsIsAnError) {
  const TempDir dir;
  VerifyRequest r = request(relu_onnx(dir), relu_tflite(dir));
  r.onnxruntime = kFakes + "/crash";
  auto result = verify(r);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::verify_runtime);
  EXPECT_THAT(result.error().message,
              AllOf(StartsWith("ONNX Runtime crashed with signal 6"), HasSubstr("the end is near")));
  r.onnxruntime = kFakes + "/exit";
  result = verify(r);
  EXPECT_THAT(result.error().message, HasSubstr("ended the process with status 3"));
  r.onnxruntime = kFakes + "/hang";
  r.timeout_seconds = 0.3;
  result = verify(r);
  EXPECT_THAT(result.error().message, HasSubstr("did not end within 0.3 s"));
}

TEST(VerifyRuntime, AModelAndItsConversionAreTheSame) {
  const TempDir dir;
  const auto record = verify(request(relu_onnx(dir), relu_tflite(dir)));
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_TRUE(record->ran);
  EXPECT_TRUE(record->ok);
  EXPECT_THAT(record->reference, StartsWith("ONNX Runtime"));
  EXPECT_THAT(record->candidate, StartsWith("LiteRT"));
  ASSERT_EQ(record->outputs.size(), 1u);
  EXPECT_EQ(record->outputs[0].name, "y");
  EXPECT_EQ(record->outputs[0].max_abs, 0);
}

TEST(VerifyRuntime, ADifferenceIsNoErrorOfTheRun) {
  const TempDir dir;
  const auto record = verify(request(dir.write("neg.onnx", models::onnx_model("Neg", kX, kY)), relu_tflite(dir)));
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_FALSE(record->ok);
  EXPECT_THAT(record->outputs[0].note, HasSubstr("6 of 6 elements differ, most at ["));
}

TEST(VerifyRuntime, OtherNamesAreMatchedByPosition) {
  const TempDir dir;
  const std::vector<ModelPort> a{{"a", DType::float32, {"2", "3"}}}, b{{"b", DType::float32, {"2", "3"}}};
  const auto record = verify(request(relu_onnx(dir), dir.write("m.tflite", models::tflite_model(kRelu, a, b))));
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_TRUE(record->ok);
  EXPECT_EQ(record->outputs[0].name, "y");
  EXPECT_EQ(record->outputs[0].note, "compared with 'b'");
}

TEST(VerifyRuntime, TwoInputsAreMatchedByName) {
  const TempDir dir;
  const std::vector<ModelPort> ab{{"a", DType::float32, {"2"}}, {"b", DType::float32, {"2"}}}, ba{ab[1], ab[0]},
      y{{"y", DType::float32, {"2"}}};
  const std::string onnx = dir.write("sub.onnx", models::onnx_model("Sub", ab, y));
  const auto record = verify(request(onnx, dir.write("sub2.onnx", models::onnx_model("Sub", ba, y))));
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_FALSE(record->ok) << "a - b is not b - a";
  const auto three = verify(request(relu_onnx(dir), dir.write("add.tflite", models::tflite_model(kAdd, ab, y))));
  EXPECT_EQ(three.error().code, Code::verify_mismatch);
}

TEST(VerifyRuntime, AMissingOutputIsADifference) {
  const TempDir dir;
  const std::vector<ModelPort> x{{"x", DType::float32, {"2"}}},
      two{{"y", DType::float32, {"1"}}, {"z", DType::float32, {"1"}}}, one{two[0]};
  const auto record = verify(request(dir.write("split.onnx", models::onnx_model("Split", x, two)),
                                     dir.write("relu.onnx", models::onnx_model("Relu", {{"x", DType::float32, {"2"}}},
                                                                               {{"y", DType::float32, {"2"}}}))));
  ASSERT_TRUE(record.ok()) << record.error().message;
  ASSERT_EQ(record->outputs.size(), 2u);
  EXPECT_EQ(record->outputs[0].note, "f32[2], but the reference gives f32[1]");
  EXPECT_EQ(record->outputs[1].note, "the candidate has no such output");
}

TEST(VerifyRuntime, GivenInputsAreUsed) {
  const TempDir dir;
  const std::vector<NamedTensor> inputs{{"x", floats({2, 3}, {-1, -2, -3, -4, -5, -6})}};
  const auto npz = to_npz(inputs);
  VerifyRequest r = request(dir.write("neg.onnx", models::onnx_model("Neg", kX, kY)),
                            dir.write("abs.onnx", models::onnx_model("Abs", kX, kY)));
  EXPECT_FALSE(verify(r)->ok);
  r.inputs = {dir.write("in.npz", {reinterpret_cast<const char*>(npz->data()), npz->size()})};
  const auto record = verify(r);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_TRUE(record->ok) << "-x = |x| where x is negative";
}

TEST(VerifyRuntime, FilesThatCannotBeRunAreNamed) {
  const TempDir dir;
  const auto none = verify(request(dir.path() + "/none.onnx", relu_tflite(dir)));
  EXPECT_EQ(none.error().code, Code::input_not_found);
  EXPECT_EQ(none.error().message, "the file cannot be read: No such file or directory");
  EXPECT_EQ(verify(request(dir.path(), relu_tflite(dir))).error().message, "it is a folder, not a file");
  EXPECT_EQ(verify(request(dir.write("m.h5", "text"), relu_tflite(dir))).error().code, Code::input_format);
  EXPECT_EQ(*runtime_for(dir.write("model.bin", models::tflite_model(kRelu, kX, kY))), RuntimeKind::litert);
}

}  // namespace
}  // namespace gantry
