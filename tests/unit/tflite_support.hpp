// For the tests of the TFLite format: graphs from text, and a folder that goes away.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "host/formats/tflite/reader.hpp"
#include "host/formats/tflite/writer.hpp"
#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"

namespace gantry::tflite_format {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gantry-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline Graph graph_of(std::string_view text) {
  Result<Graph> g = parse(text);
  if (!g.ok()) {
    ADD_FAILURE() << g.error().place << ": " << g.error().message;
    return Graph();
  }
  const Status s = verify(*g);
  if (!s.ok()) ADD_FAILURE() << s.error().message;
  return *std::move(g);
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Text of a graph without what reading a file adds.
inline std::string text_of(const Graph& g) { return print(g, {.max_constant_elements = 1000, .model_info = false}); }

/// Writes, verifies, reads back, and expects the same graph.
inline void expect_round_trip(const Graph& g) {
  const TemporaryFolder folder;
  const auto path = folder / "model.tflite";
  const auto written = write(g, path);
  ASSERT_TRUE(written.ok()) << written.error().message << " " << written.error().node;
  const Status sound = verify_file(path);
  EXPECT_TRUE(sound.ok()) << sound.error().message;
  auto back = read(path);
  ASSERT_TRUE(back.ok()) << back.error().message;
  const Status s = verify(*back);
  EXPECT_TRUE(s.ok()) << s.error().message;
  EXPECT_EQ(text_of(*back), text_of(g));
}

}  // namespace gantry::tflite_format
