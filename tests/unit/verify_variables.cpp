// The marks of variable tensors in a TFLite file: found where they are, and nothing is read outside of broken files.
#include <random>
#include <tflite_generated.h>

#include <gtest/gtest.h>

#include "host/verify/litert_variables.hpp"

namespace gantry {
namespace {

std::vector<std::byte> model(const std::vector<bool>& variables) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
  for (const bool v : variables) {
    const auto name = b.CreateString("t");
    tflite::TensorBuilder t(b);
    t.add_name(name);
    t.add_is_variable(v);
    tensors.push_back(t.Finish());
  }
  const auto all = b.CreateVector(tensors);
  const std::vector subgraphs{tflite::CreateSubGraph(b, all), tflite::CreateSubGraph(b)};
  tflite::FinishModelBuffer(b, tflite::CreateModel(b, 3, 0, b.CreateVector(subgraphs)));
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  return {bytes.begin(), bytes.end()};
}

TEST(VariableMarks, AreFound) {
  EXPECT_TRUE(variable_marks({}).empty());
  EXPECT_TRUE(variable_marks(model({})).empty());
  EXPECT_TRUE(variable_marks(model({false, false})).empty());
  std::vector<std::byte> file = model({true, false, true});
  const auto marks = variable_marks(file);
  ASSERT_EQ(marks.size(), 2U);
  for (const std::size_t at : marks) file.at(at) = std::byte{0};
  const auto& tensors = *tflite::GetModel(file.data())->subgraphs()->Get(0)->tensors();
  for (const auto* t : tensors) EXPECT_FALSE(t->is_variable());
}

TEST(VariableMarks, BrokenFilesAreReadWithinTheirBounds) {
  const std::vector<std::byte> whole = model({true, true, false});
  for (std::size_t n = 0; n < whole.size(); ++n)
    variable_marks(std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> broken = whole;
    for (int k = 0; k < 3; ++k) broken[random() % broken.size()] = static_cast<std::byte>(random());
    for (const std::size_t at : variable_marks(broken)) EXPECT_LT(at, broken.size());
  }
}

}  // namespace
}  // namespace gantry
