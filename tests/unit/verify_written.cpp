// What Gantry's own writer makes, run by LiteRT: names, order of inputs and outputs, types, weights, open dimensions.
#include <gmock/gmock.h>

#include "host/verify/run_model.hpp"
#include "tests/unit/tflite_support.hpp"
#include "verify_models.hpp"

namespace gantry {
namespace {

using models::as_floats;
using models::floats;
using ::testing::ElementsAre;

Result<ModelRun> run(const char* text, const std::map<std::string, Tensor>& feeds) {
  const tflite_format::TemporaryFolder folder;
  const Graph graph = tflite_format::graph_of(text);
  GANTRY_TRY(tflite_format::write(graph, folder / "m.tflite"));
  GANTRY_ASSIGN(const auto library, find_runtime(RuntimeKind::litert, GANTRY_TEST_RUNTIME_DIR));
  return run_model(
      RuntimeKind::litert, library, folder / "m.tflite", [&](const std::vector<Port>&) { return Result(feeds); }, 60);
}

TEST(VerifyWritten, ManyInputsAndOutputsKeepTheirNamesAndOrder) {
  const auto r = run(R"(graph "g" {
    input %z: f32[2]
    input %a: f32[2]
    %d: f32[2] = tflite.SUB@1(%z, %a)
    %e: f32[2] = tflite.SUB@1(%a, %z)
    output "z-a" = %d
    output "a-z" = %e
  })",
                     {{"z", floats({2}, {5, 7})}, {"a", floats({2}, {1, 2})}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  ASSERT_EQ(r->inputs.size(), 2u);
  EXPECT_EQ(r->inputs[0].name + r->inputs[1].name, "za");
  EXPECT_THAT(r->outputs,
              ElementsAre(NamedTensor{"z-a", floats({2}, {4, 5})}, NamedTensor{"a-z", floats({2}, {-4, -5})}));
}

TEST(VerifyWritten, WeightsAndOptionsArrive) {
  const auto r = run(R"(graph "g" {
    input %x: f32[1,1,2,2]
    const %w: f32[1,1,1,2] = [10, 1]
    const %b: f32[1] = [-3]
    %y: f32[1,1,2,1] = tflite.CONV_2D@1(%x, %w, %b) {fused_activation_function = "RELU", padding = "VALID", stride_h = 1, stride_w = 1, dilation_h_factor = 1, dilation_w_factor = 1}
    output "y" = %y
  })",
                     {{"x", floats({1, 1, 2, 2}, {1, 2, -1, 4})}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_THAT(as_floats(r->outputs[0].tensor), ElementsAre(9, 0));
}

TEST(VerifyWritten, OpenDimensionsTakeTheSizeThatIsGiven) {
  const char* text = R"(graph "g" {
    input %x: f32[N,2]
    %y: f32[N,2] = tflite.NEG@1(%x)
    output "y" = %y
  })";
  for (const std::int64_t n : {1, 3}) {
    const auto r = run(text, {{"x", floats({n, 2}, std::vector<float>(static_cast<std::size_t>(2 * n), 1.5f))}});
    ASSERT_TRUE(r.ok()) << r.error().message;
    EXPECT_EQ(r->outputs[0].tensor, floats({n, 2}, std::vector<float>(static_cast<std::size_t>(2 * n), -1.5f)));
  }
}

TEST(VerifyWritten, AConstantOutputIsRead) {
  const auto r = run(R"(graph "g" {
    input %x: f32[1]
    const %k: f32[2] = [3, 4]
    %y: f32[1] = tflite.NEG@1(%x)
    output "y" = %y
    output "k" = %k
  })",
                     {{"x", floats({1}, {1})}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->outputs[1].tensor, floats({2}, {3, 4}));
}

TEST(VerifyWritten, OtherTypesRun) {
  const auto r = run(R"(graph "g" {
    input %x: i64[2]
    input %m: bool[2]
    %y: i64[2] = tflite.ADD@1(%x, %x)
    %n: bool[2] = tflite.LOGICAL_NOT@1(%m)
    output "y" = %y
    output "n" = %n
  })",
                     {{"x", {DType::int64, {2}, std::vector<std::byte>(16, std::byte{1})}},
                      {"m", {DType::boolean, {2}, {std::byte{1}, std::byte{0}}}}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->outputs[0].tensor, (Tensor{DType::int64, {2}, std::vector<std::byte>(16, std::byte{2})}));
  EXPECT_EQ(r->outputs[1].tensor, (Tensor{DType::boolean, {2}, {std::byte{0}, std::byte{1}}}));
}

TEST(VerifyWritten, EmptyTensorsRun) {
  const auto r = run(R"(graph "g" {
    input %x: f32[0,2]
    input %z: f32[1]
    %y: f32[0,2] = tflite.NEG@1(%x)
    %w: f32[1] = tflite.NEG@1(%z)
    output "y" = %y
    output "w" = %w
  })",
                     {{"x", floats({0, 2}, {})}, {"z", floats({1}, {2})}});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->outputs[0].tensor, floats({0, 2}, {}));
  EXPECT_EQ(r->outputs[1].tensor, floats({1}, {-2}));
}

}  // namespace
}  // namespace gantry
