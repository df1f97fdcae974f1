// Whole networks: the numbers, the transposes that are left, and what a conversion must never do.
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/models/networks.hpp"
#include "tests/models/reordered.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

/// A network, and how many TRANSPOSE are known to be right with its inputs and outputs as they are, and in NHWC.
struct Case {
  std::string name;
  Row (*network)();
  std::size_t preserve, nhwc;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

std::size_t transposes(const Report& report) {
  const auto it = report.target_ops.find("TRANSPOSE");
  return it == report.target_ops.end() ? 0 : it->second;
}

class Models : public testing::TestWithParam<Case> {
 protected:
  Models() : folder_(fs::temp_directory_path() / ("gantry_models_" + GetParam().name + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    write_model(model(), GetParam().network());
  }
  ~Models() override {
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }
  fs::path model() const { return folder_ / "m.onnx"; }

  /// Converts, and checks what holds for every network.
  Report convert(const std::string& io, const std::string& name) {
    LayoutSettings layout;
    layout.io = io;
    Report report;
    const Status s = convert_model(model(), folder_ / name, layout, {}, report);
    EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
    EXPECT_TRUE(report.layout.ran);
    EXPECT_TRUE(report.layout.optimal);
    // The bound is that of the transposes; what the cost has above it are reshapes.
    const auto nodes = static_cast<std::int64_t>(transposes(report));
    EXPECT_EQ(static_cast<std::int64_t>(report.transpose_bytes) + nodes * layout.node_cost, report.layout.lower_bound);
    if (!report.target_ops.contains("RESHAPE")) {
      EXPECT_EQ(report.layout.cost_after, report.layout.lower_bound);
    }
    EXPECT_EQ(report.plugins.size(), GetParam().name == "attention_block" ? 2u : 1u);
    for (const PluginRecord& p : report.plugins) {
      EXPECT_TRUE(p.id == "org.gantry.core-ops" ||
                  (p.id == "org.gantry.transformer" && p.reason.find("onnx.LayerNormalization") != std::string::npos))
          << p.id << " for " << p.reason;
    }
    return report;
  }

  fs::path folder_;
};

TEST_P(Models, NumbersAreRightAndTransposesAreFew) {
  EXPECT_EQ(transposes(convert("preserve", "m.tflite")), GetParam().preserve);
  expect_same_numbers(model(), folder_ / "m.tflite", 1e-4);
}

TEST_P(Models, ChannelsLastAtTheEdges) {
  const Report report = convert("nhwc", "m.tflite");
  EXPECT_EQ(transposes(report), GetParam().nhwc);
  const fs::path reference = folder_ / "reordered.onnx";
  write_reordered(model(), reference, report);
  expect_same_numbers(reference, folder_ / "m.tflite", 1e-4);
}

TEST_P(Models, SameBytesTwiceAndTheInputStays) {
  const std::string before = bytes_of(model());
  convert("preserve", "a.tflite");
  convert("preserve", "b.tflite");
  EXPECT_EQ(bytes_of(folder_ / "a.tflite"), bytes_of(folder_ / "b.tflite"));
  EXPECT_FALSE(bytes_of(folder_ / "a.tflite").empty());
  EXPECT_EQ(bytes_of(model()), before);
}

// A channel or pixel shuffle moves data itself, once; so do the heads of an attention, those of q, k and v together.
INSTANTIATE_TEST_SUITE_P(Networks, Models,
                         testing::Values(Case{"mobilenet_like", mobilenet_like, 1, 0},
                                         Case{"residual_cnn", residual_cnn, 1, 0}, Case{"unet", unet, 2, 0},
                                         Case{"attention_block", attention_block, 2, 2},
                                         Case{"feature_map_and_tokens", feature_map_and_tokens, 7, 6},
                                         Case{"channel_shuffle", channel_shuffle, 3, 2},
                                         Case{"pixel_shuffle", pixel_shuffle, 2, 1}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace gantry::test
