#include "tests/ops/table.hpp"

#include <atomic>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "host/pipeline.hpp"
#include "host/verify/feeds.hpp"
#include "host/verify/runtime.hpp"
#include "host/verify/verify.hpp"
#include "tests/support/onnx_text.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("gantry_ops_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Values between -1 and 1 that depend on name and place only.
void add_weights(onnx::GraphProto& graph, const std::string& weights) {
  std::istringstream in(weights);
  for (std::string entry; in >> entry;) {
    onnx::TensorProto& t = *graph.add_initializer();
    const std::size_t at = entry.find('=');
    t.set_name(entry.substr(0, at));
    t.set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t n = 1;
    std::istringstream dims(entry.substr(at + 1));
    for (std::string d; std::getline(dims, d, ',');) {
      t.add_dims(std::stoll(d));
      n *= std::stoll(d);
    }
    std::uint32_t state = 12345;
    for (char c : t.name()) state = state * 31 + static_cast<unsigned char>(c);
    for (std::int64_t i = 0; i < n; ++i) {
      state = state * 1664525 + 1013904223;
      t.add_float_data(static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1);
    }
  }
}

}  // namespace

void write_model(const fs::path& path, const Row& row) {
  const std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(row.opset) +
                           ", \"ai.onnx.ml\" : 3, \"com.microsoft\" : 1]> g (" + row.inputs + ") => (" + row.outputs +
                           ") { " + row.nodes + " }";
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage() + " in " + text);
  add_weights(*model.mutable_graph(), row.weights);
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
}

Status convert_model(const fs::path& model, const fs::path& out, const LayoutSettings& layout,
                     const std::set<std::string, std::less<>>& disabled, Report& report) {
  PluginSearch search;
  search.extra = {GANTRY_TEST_PLUGIN_DIR};
  search.defaults = false;
  GANTRY_ASSIGN(const auto plugins, PluginRegistry::discover(search, {}, report));
  PipelineOptions options;
  options.target = out.extension() == ".onnx" ? "onnx" : "tflite";
  options.disabled_passes = disabled;
  options.layout = layout;
  options.verify_each_pass = true;
  return convert_file(model, out, options, *plugins, report);
}

void expect_same_numbers(const fs::path& model, const fs::path& out, double atol,
                         const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  VerifyRequest request;
  request.shapes = shapes;
  request.reference = model;
  request.candidate = out;
  request.atol = atol;
  request.rtol = 1e-4;
  request.onnxruntime = request.litert = GANTRY_TEST_RUNTIME_DIR;
  const auto record = verify(request);
  ASSERT_TRUE(record.ok()) << record.error().message;
  for (const OutputComparison& o : record->outputs) EXPECT_TRUE(o.ok) << o.name << ": " << o.max_abs << ' ' << o.note;
  EXPECT_TRUE(record->ok);
}

namespace {

fs::path write_model(const Folder& folder, const Row& row) {
  write_model(folder / "m.onnx", row);
  return folder / "m.onnx";
}

/// Converts with the layout engine and without it, and checks what comes of each.
template <class Check>
void convert_twice(const fs::path& model, const fs::path& out, Check check) {
  using Passes = std::set<std::string, std::less<>>;
  for (const bool layout : {true, false}) {
    SCOPED_TRACE(layout ? "with layout" : "without layout");
    Report report;
    const Status s = convert_model(model, out, {}, layout ? Passes{} : Passes{"layout"}, report);
    EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
    if (s.ok()) check();
  }
}

}  // namespace

void expect_equal(const std::vector<Row>& rows) {
  const Folder folder;
  for (const Row& row : rows) {
    SCOPED_TRACE("opset " + std::to_string(row.opset) + ", " + row.inputs + " " + row.weights + ": " + row.nodes);
    const fs::path model = write_model(folder, row), out = folder / "m.tflite";
    convert_twice(model, out, [&] { expect_same_numbers(model, out, row.atol); });
  }
}

void expect_equal_to(const std::vector<PairRow>& rows) {
  const Folder folder;
  for (const PairRow& r : rows) {
    SCOPED_TRACE(r.row.inputs + ": " + r.row.nodes);
    const fs::path model = write_model(folder, r.row), reference = folder / "r.onnx", out = folder / "m.tflite";
    Row other = r.row;
    other.nodes = r.nodes;
    write_model(reference, other);
    convert_twice(model, out, [&] { expect_same_numbers(reference, out, r.row.atol); });
  }
}

void expect_equal_at_sizes(const std::vector<DynamicRow>& rows) {
  const Folder folder;
  for (const DynamicRow& r : rows) {
    SCOPED_TRACE("opset " + std::to_string(r.row.opset) + ", " + r.row.inputs + ": " + r.row.nodes);
    Row row = r.row;
    row.nodes +=
        " shape = Shape(y0) s = Cast<to = 1>(shape) all = Constant<value_ints = [-1]>() flat = Reshape(y0, all) n = "
        "Size(y0)"
        " zero = Constant<value_int = 0>() one = Constant<value_int = 1>() places = Range(zero, n, one)"
        " angles = Cast<to = 1>(places) weights = Cos(angles) weighed = Mul(flat, weights)"
        " y = ReduceMean<keepdims = 1>(weighed)";
    row.outputs = "float[1] y, float[" + std::to_string(r.rank) + "] s";
    const fs::path model = write_model(folder, row), out = folder / "m.tflite";
    convert_twice(model, out, [&] {
      for (const auto& sizes : r.sizes) expect_same_numbers(model, out, row.atol, sizes);
    });
  }
}

void expect_refused(const std::vector<Row>& rows, const std::string& text) {
  const Folder folder;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.nodes);
    Report report;
    const fs::path out = folder / "m.tflite";
    const Status s = convert_model(write_model(folder, row), out, {}, {}, report);
    ASSERT_FALSE(s.ok());
    EXPECT_NE(format(s.error()).find(text), std::string::npos) << format(s.error());
    EXPECT_FALSE(fs::exists(out));
  }
}

void expect_same_in_each_run(const std::vector<Row>& rows) {
  const Folder folder;
  const auto library = find_runtime(RuntimeKind::litert, GANTRY_TEST_RUNTIME_DIR);
  ASSERT_TRUE(library.ok());
  const auto runtime = Runtime::open_litert(*library);
  ASSERT_TRUE(runtime.ok());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.nodes);
    Report report;
    const fs::path out = folder / "m.tflite";
    ASSERT_TRUE(convert_model(write_model(folder, row), out, {}, {}, report).ok());
    const auto session = (*runtime)->load(out);
    ASSERT_TRUE(session.ok()) << session.error().message;
    const auto feeds = make_feeds((*session)->inputs(), {});
    ASSERT_TRUE(feeds.ok());
    const auto first = (*session)->run(*feeds);
    ASSERT_TRUE(first.ok()) << first.error().message;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(*(*session)->run(*feeds), *first);
  }
}

std::map<std::string, std::size_t> converted_operators(const Row& row) {
  const Folder folder;
  Report report;
  const Status s = convert_model(write_model(folder, row), folder / "m.tflite", {}, {}, report);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
  return report.target_ops;
}

}  // namespace gantry::test
