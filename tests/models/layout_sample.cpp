// Random graphs of TFLite operators in LiteRT, as they are and as the layout engine writes them.
#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

#include "host/formats/tflite/writer.hpp"
#include "tests/ops/table.hpp"
#include "tests/unit/layout_graphs.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

/// Every output is made by a node of its own, as a runtime wants it.
bool can_be_written(const Graph& g) {
  std::set<ValueId> seen;
  for (const Output& o : g.region(g.main()).outputs)
    if (!g.value(o.value).producer || !seen.insert(o.value).second) return false;
  return true;
}

TEST(LayoutSample, LiteRTGivesTheSameNumbers) {
  const fs::path folder = fs::temp_directory_path() / ("gantry_sample_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path before = folder / "before.tflite", after = folder / "after.tflite";
  std::size_t run = 0, improved = 0;
  for (unsigned seed = 0; run < 50 && seed < 1000; seed += 5) {
    gantry::testing::LayoutGraphs maker(seed);
    Graph g = maker.make(6 + seed % 9);
    g.erase_dead();
    if (!can_be_written(g)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto written = tflite_format::write(g, before);
    ASSERT_TRUE(written.ok()) << format(written.error());
    Report report;
    const Status s = convert_model(before, after, {}, {}, report);
    ASSERT_TRUE(s.ok()) << format(s.error());
    expect_same_numbers(before, after, 1e-4);
    improved += report.layout.cost_after < report.layout.cost_before;
    ++run;
  }
  EXPECT_EQ(run, 50u);
  EXPECT_GT(improved, 5u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace gantry::test
