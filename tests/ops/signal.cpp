#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

TEST(Signal, FourierTransforms) {
  std::vector<Row> rows;
  for (const char* attributes : {"", "<inverse = 1>", "<axis = 2>"})
    rows.push_back({17, "float[2,10,6,2] x", "", std::string("y = DFT") + attributes + "(x)"});
  for (const char* attributes : {"<onesided = 1>", "<axis = 2, onesided = 1>", "<axis = 2>"})
    rows.push_back({17, "float[2,10,7,1] x", "", std::string("y = DFT") + attributes + "(x)"});
  for (int length : {6, 16})
    rows.push_back(
        {17, "float[2,10,1] x", "", "n = Constant<value_int = " + std::to_string(length) + ">() y = DFT(x, n)"});
  rows.push_back({20, "float[2,10,6,2] x", "", "a = Constant<value_int = 1>() y = DFT(x, , a)"});
  rows.push_back({20, "float[2,256,1] x", "", "y = DFT(x)"});
  expect_equal(rows);
}

TEST(Signal, ShortTimeTransforms) {
  const std::string step = "s = Constant<value_int = 3>() n = Constant<value_int = 8>() ";
  expect_equal({
      {17, "float[2,40,1] x", "", step + "y = STFT(x, s, , n)"},
      {17, "float[2,40,1] x", "w=8", step + "y = STFT(x, s, w)"},
      {17, "float[2,40,1] x, float[8] w", "", step + "y = STFT<onesided = 0>(x, s, w, n)"},
  });
}

TEST(Signal, DeterminantsOfSmallMatrices) {
  std::vector<Row> rows;
  for (const char* n : {"1", "2", "3", "4", "6"})
    rows.push_back({17, std::string("float[2,3,") + n + "," + n + "] x", "", "y = Det(x)"});
  rows.push_back({17, "float[4,4] x", "", "y = Det(x)"});
  expect_equal(rows);
  expect_refused({{17, "float[11,11] x", "", "y = Det(x)"}}, "11 x 11");
}

TEST(Signal, CountsOfNGrams) {
  const std::string attributes =
      "<max_gram_length = 2, max_skip_count = 2, min_gram_length = 1, ngram_counts = [0, 3], "
      "ngram_indexes = [0, 1, 2, 3, 4], pool_int64s = [0, 1, 2, 0, 1, 1, 2]";
  for (const char* mode : {"TF", "IDF", "TFIDF"})
    expect_equal(
        {{17, "int64[2,9] x", "",
          "y = TfIdfVectorizer" + attributes + ", weights = [1.0, 2.0, 0.5, 3.0, 1.5], mode = \"" + mode + "\">(x)"}});
}

TEST(Signal, RandomNumbersMustBeAllowed) {
  expect_refused({{18, "float[2,3] x", "", "y = RandomNormalLike(x)"}, {18, "float[2,3] x", "", "y = Bernoulli(x)"}},
                 "--allow-random");
}

}  // namespace
}  // namespace gantry::test
