// What people and programs see of a report: exact texts.
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "host/report/render.hpp"

namespace gantry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report converted() {
  Report r;
  r.gantry_version = "0.1.0";
  r.input = "models/resnet18.onnx";
  r.output = "out/resnet18.tflite";
  r.from_dialect = "onnx";
  r.to_dialect = "tflite";
  r.input_bytes = 46'800'000;
  r.output_bytes = 46'790'000;
  r.weight_bytes = 46'750'000;
  r.source_nodes = 69;
  r.target_nodes = 35;
  r.source_ops = {{"Conv", 20}, {"Relu", 17}, {"BatchNormalization", 20}};
  r.target_ops = {{"ADD", 8},  {"CONV_2D", 20}, {"FULLY_CONNECTED", 1}, {"MAX_POOL_2D", 1},
                  {"MEAN", 1}, {"RESHAPE", 2},  {"TRANSPOSE", 2}};
  r.transposes = r.reshapes = 2;
  r.transpose_bytes = 604'160;
  r.reshape_bytes = 4'000;
  r.inputs = {{"input", "f32[1,3,224,224]", "as in the source"}};
  r.outputs = {{"output", "f32[1,1000]", "as in the source"}};
  r.passes = {{"infer", 0.05, 69, 69, true},
              {"convert", 0.08, 69, 120, true},
              {"quantize", 9, 0, 0, false},
              {"fuse", 0.0004, 120, 35, true}};
  r.plugins = {{"org.gantry.core-ops", "0.1.0", "core_ops.so", "onnx.Conv, onnx.Relu and 5 more", 0.001}};
  r.options = {{"verify.atol=1e-4", "--set"}, {"a=b=c", "gantry.toml:3:1"}};
  r.verify = {true, true, "ONNX Runtime 1.32.0", "LiteRT 2.3.0", 1e-4, 0, 0.3, {{"output", 3.1e-6, 2e-5, true, ""}}};
  r.seconds = 0.42;
  return r;
}

TEST(ReportTable, OfAConversion) {
  EXPECT_EQ(render_table(converted()),
            "model       resnet18.onnx (onnx, 44.6 MiB) -> resnet18.tflite (tflite, 44.6 MiB)\n"
            "operators   69 -> 35: 20 CONV_2D, 8 ADD, 2 RESHAPE, 2 TRANSPOSE, 1 FULLY_CONNECTED and 2 kinds more\n"
            "weights     44.6 MiB\n"
            "moved       2 TRANSPOSE of 590.0 KiB, 2 RESHAPE of 3.9 KiB\n"
            "inputs      input f32[1,3,224,224]\n"
            "outputs     output f32[1,1000]\n"
            "plugins     org.gantry.core-ops 0.1.0\n"
            "time        0.42 s: convert 80 ms, infer 50 ms, fuse 400 us\n"
            "verify      ok, 1 output within 0.0001, largest difference 3.1e-06 (ONNX Runtime 1.32.0, LiteRT 2.3.0, "
            "0.30 s)\n");
  EXPECT_EQ(last_line(converted()), "gantry: ok out/resnet18.tflite (44.6 MiB, verified, 0.42 s)");
}

TEST(ReportTable, OfAFailure) {
  Report r;
  r.input = "m.onnx";
  r.from_dialect = "onnx";
  r.to_dialect = "tflite";
  r.input_bytes = 900;
  r.source_nodes = 3;
  r.source_ops = {{"Relu", 2}, {"com.foo::Bar", 1}};
  r.seconds = 0.0123;
  r.add(warning(Code::warn_ignored, "a"));
  r.add(error(Code::unsupported_op, "no converter for com.foo::Bar"));
  r.add(error(Code::unsupported_op, "no converter for com.foo::Baz"));
  EXPECT_EQ(render_table(r),
            "model       m.onnx (onnx, 900 B) -> tflite (not written)\n"
            "operators   3: 2 Relu, 1 com.foo::Bar\n"
            "plugins     none opened\n"
            "time        12 ms\n"
            "problems    2 errors, 1 warning\n");
  EXPECT_EQ(last_line(r), "gantry: failed E0401 no converter for com.foo::Bar (and 1 error more)");
}

TEST(ReportTable, OfADifference) {
  Report r = converted();
  r.verify.ok = false;
  r.verify.rtol = 0.01;
  r.verify.outputs = {{"a", 0.5, 0.1, false, "x"},
                      {"b", 1e-7, 0, true, ""},
                      {"c", std::numeric_limits<double>::infinity(), 0, false, "shape"}};
  EXPECT_THAT(render_table(r),
              HasSubstr("verify      2 of 3 outputs beyond 0.0001 + 0.01 x, largest difference inf (ONNX Runtime"));
}

TEST(ReportTable, HasAtMostTwelveLinesOfHarmlessText) {
  Report r = converted();
  const std::string evil = "evil\x1b[2J\nname" + std::string(1000, 'x');
  r.add(error(Code::internal, evil));
  r.input = r.output = evil;
  for (int i = 0; i < 100; ++i) {
    r.inputs.push_back({evil, evil, evil});
    r.outputs.push_back({evil, evil, evil});
    r.plugins.push_back({evil, evil, evil, evil, 0});
    r.passes.push_back({evil, 1, 0, 0, true});
    r.target_ops[evil + std::to_string(i)] = 1000;
  }
  const std::string table = render_table(r);
  EXPECT_LE(std::count(table.begin(), table.end(), '\n'), 12);
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_LT(table.size(), 4000u);
  const std::string line = last_line(r);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(line, HasSubstr("gantry: failed E0101 evil\\x1b[2J; name"));
}

TEST(ReportTable, TellsWhetherTheLayoutIsProvedBest) {
  Report r = converted();
  r.layout.ran = r.layout.optimal = r.layout.proved = true;
  r.layout.cost_before = 4096;
  r.layout.cost_after = 2048;
  r.layout.transpose_cost = r.layout.lower_bound = 1024;
  r.layout.candidates = 70;
  r.layout.seconds = 0.012;
  const std::string costs = "layout      cost 4.0 KiB -> 2.0 KiB, transposes 1.0 KiB (lower bound 1.0 KiB), ";
  EXPECT_THAT(render_table(r), HasSubstr(costs + "optimal, 12 ms\n"));
  r.layout.optimal = false;
  EXPECT_THAT(render_table(r), HasSubstr(costs + "optimal among 70 candidates, 12 ms\n"));
  r.layout.proved = false;
  EXPECT_THAT(render_table(r), HasSubstr(costs + "perhaps not optimal, 12 ms\n"));
  r.layout.won = 2048;
  EXPECT_THAT(render_table(r), HasSubstr("perhaps not optimal, best effort won 2.0 KiB, 12 ms\n"));
  r.layout.won = 0;
  EXPECT_THAT(render_table(r), HasSubstr("perhaps not optimal, best effort won nothing, 12 ms\n"));
}

TEST(ReportMove, SaysWhoDisagrees) {
  const MoveRecord m{7,
                     "TRANSPOSE",
                     "x/transposed",
                     2048,
                     {"CONV_2D", "stem", "d0 d1 d2 (4 x 4 x 32)"},
                     {{"output", "y", "d2 d0 d1 (32 x 4 x 4)"}},
                     "a reason"};
  EXPECT_EQ(render_move(m),
            "TRANSPOSE 'x/transposed': moves 2.0 KiB\n"
            "  made by   CONV_2D 'stem' as d0 d1 d2 (4 x 4 x 32)\n"
            "  wanted by output 'y' as d2 d0 d1 (32 x 4 x 4)\n"
            "  removing  a reason\n");
}

TEST(ReportTable, ShowsAnotherLayout) {
  Report r = converted();
  r.inputs = {{"input", "f32[1,224,224,3]", "0,2,3,1"}};
  EXPECT_THAT(render_table(r), HasSubstr("inputs      input f32[1,224,224,3] (layout 0,2,3,1)\n"));
}

TEST(ReportLastLine, OfLittle) { EXPECT_EQ(last_line(Report{}), "gantry: ok"); }

TEST(ReportJson, HasEveryField) {
  Report r = converted();
  r.unconverted_nodes = 2;
  r.layout = {.ran = true,
              .optimal = true,
              .proved = true,
              .io = "preserve",
              .cost_before = 900,
              .cost_after = 90,
              .won = 10,
              .transpose_cost = 80,
              .lower_bound = 80,
              .candidates = 5,
              .candidates_dropped = 0,
              .regions_skipped = 0,
              .seconds = 0.5,
              .moves = {{7, "TRANSPOSE", "t", 80, {"RELU", "r", "d0 d1"}, {{"output", "y", "d1 d0"}}, "n"}},
              .reordered = {},
              .by_min_cut = 1,
              .by_elimination = 2,
              .by_integer_program = 3,
              .by_search = 4};
  r.add(warning(Code::warn_precision, "in f32").at("p").on_node("n").on_op("o").from_plugin("q").try_this("h"));
  const auto json = nlohmann::json::parse(render_json(r));
  const auto expected = nlohmann::json::parse(R"({
    "report_version": 1, "gantry_version": "0.1.0", "ok": true, "exit_status": 0, "code": null,
    "source": {"path": "models/resnet18.onnx", "dialect": "onnx", "bytes": 46800000, "nodes": 69,
               "operators": {"BatchNormalization": 20, "Conv": 20, "Relu": 17}},
    "target": {"path": "out/resnet18.tflite", "dialect": "tflite", "bytes": 46790000, "nodes": 35,
               "operators": {"ADD": 8, "CONV_2D": 20, "FULLY_CONNECTED": 1, "MAX_POOL_2D": 1, "MEAN": 1, "RESHAPE": 2, "TRANSPOSE": 2}},
    "unconverted_nodes": 2, "weight_bytes": 46750000,
    "transposes": {"count": 2, "bytes": 604160}, "reshapes": {"count": 2, "bytes": 4000},
    "layout": {"io": "preserve", "optimal": true, "optimal_among_candidates": true, "cost_before": 900, "cost_after": 90,
               "transpose_cost": 80, "lower_bound": 80, "best_effort_won": 10, "candidates": 5, "candidates_dropped": 0, "regions_skipped": 0,
               "seconds": 0.5,
               "moves": [{"operator": "TRANSPOSE", "node": "t", "bytes": 80,
                          "producer": {"operator": "RELU", "node": "r", "order": "d0 d1"},
                          "consumers": [{"operator": "output", "node": "y", "order": "d1 d0"}], "needs": "n"}],
               "solved_by": {"min_cut": 1, "elimination": 2, "integer_program": 3, "search": 4}},
    "inputs": [{"name": "input", "type": "f32[1,3,224,224]", "layout": "as in the source", "perm": null}],
    "outputs": [{"name": "output", "type": "f32[1,1000]", "layout": "as in the source", "perm": null}],
    "plugins": [{"id": "org.gantry.core-ops", "version": "0.1.0", "library": "core_ops.so",
                 "reason": "onnx.Conv, onnx.Relu and 5 more", "seconds": 0.001}],
    "passes": [{"name": "infer", "enabled": true, "seconds": 0.05, "nodes_before": 69, "nodes_after": 69},
               {"name": "convert", "enabled": true, "seconds": 0.08, "nodes_before": 69, "nodes_after": 120},
               {"name": "quantize", "enabled": false, "seconds": 9.0, "nodes_before": 0, "nodes_after": 0},
               {"name": "fuse", "enabled": true, "seconds": 0.0004, "nodes_before": 120, "nodes_after": 35}],
    "signatures": null,
    "options": [{"key": "verify.atol", "value": "1e-4", "from": "--set"}, {"key": "a", "value": "b=c", "from": "gantry.toml:3:1"}],
    "diagnostics": [{"severity": "warning", "code": "W1001", "message": "in f32", "place": "p", "node": "n", "operator": "o",
                     "plugin": "q", "hint": "h"}],
    "verify": {"ok": true, "reference": "ONNX Runtime 1.32.0", "candidate": "LiteRT 2.3.0", "atol": 0.0001, "rtol": 0.0,
               "seconds": 0.3, "outputs": [{"name": "output", "ok": true, "max_abs": 3.1e-06, "max_rel": 2e-05, "note": null}]},
    "seconds": 0.42})");
  EXPECT_EQ(json, expected) << nlohmann::json::diff(expected, json).dump(2);
}

TEST(ReportJson, OfAFailure) {
  Report r;
  r.add(error(Code::input_malformed, "broken \xff name"));
  r.verify.ran = true;
  r.verify.outputs = {
      {"y", std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), false, "n"}};
  const auto json = nlohmann::json::parse(render_json(r));
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["exit_status"], 3);
  EXPECT_EQ(json["code"], "E0303");
  EXPECT_EQ(json["diagnostics"][0]["message"], "broken \xef\xbf\xbd name") << "invalid UTF-8 is replaced";
  EXPECT_EQ(json["diagnostics"][0]["node"], nullptr);
  EXPECT_EQ(json["verify"]["outputs"][0]["max_abs"], nullptr);
  EXPECT_EQ(json["source"]["path"], nullptr);
}

TEST(ReportJson, KeysComeInTheirOrder) {
  const std::string json = render_json(Report{});
  EXPECT_EQ(json.find("{\n  \"report_version\": 1,\n  \"gantry_version\": \"\",\n  \"ok\": true,"), 0u) << json;
  EXPECT_THAT(json, HasSubstr("\"verify\": null"));
}

}  // namespace
}  // namespace gantry
