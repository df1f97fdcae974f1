// Conversions in process: models a second, nodes a second; discovery of manifests; opening a plugin.
#include <filesystem>
#include <fstream>

#include <benchmark/benchmark.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "host/pipeline.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gantry;

fs::path folder() {
  static const fs::path path = [] {
    fs::path p = fs::temp_directory_path() / "gantry_benchmarks";
    fs::create_directories(p);
    return p;
  }();
  return path;
}

/// `blocks` residual blocks of two convolutions of `channels` channels.
fs::path residual_network(int blocks, int channels) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& g = *model.mutable_graph();
  g.set_name("g");
  const auto info = [&](onnx::ValueInfoProto& v, const std::string& name) {
    v.set_name(name);
    auto& t = *v.mutable_type()->mutable_tensor_type();
    t.set_elem_type(onnx::TensorProto::FLOAT);
    for (int d : {1, channels, 16, 16}) t.mutable_shape()->add_dim()->set_dim_value(d);
  };
  const auto node = [&](const char* op, std::vector<std::string> in, const std::string& out) {
    onnx::NodeProto& n = *g.add_node();
    n.set_op_type(op);
    for (const std::string& i : in) n.add_input(i);
    n.add_output(out);
  };
  info(*g.add_input(), "x0");
  onnx::TensorProto& w = *g.add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  for (int d : {channels, channels, 1, 1}) w.add_dims(d);
  w.mutable_raw_data()->assign(static_cast<std::size_t>(channels) * static_cast<std::size_t>(channels) * 4, '\1');
  std::string value = "x0";
  for (int i = 1; i <= blocks; ++i) {
    const std::string n = std::to_string(i);
    node("Conv", {value, "w"}, "a" + n);
    node("Relu", {"a" + n}, "b" + n);
    node("Conv", {"b" + n, "w"}, "c" + n);
    node("Add", {"c" + n, value}, "x" + n);
    value = "x" + n;
  }
  info(*g.add_output(), value);
  const fs::path path = folder() / ("residual_" + std::to_string(blocks) + ".onnx");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path;
}

std::unique_ptr<PluginRegistry> discover(const fs::path& plugins) {
  Report report;
  PluginSearch search;
  search.extra = {plugins};
  search.defaults = false;
  auto registry = PluginRegistry::discover(search, {}, report);
  return registry.ok() ? *std::move(registry) : nullptr;
}

void Convert(benchmark::State& state) {
  const int blocks = static_cast<int>(state.range(0));
  const fs::path model = residual_network(blocks, 8);
  const auto plugins = discover(GANTRY_BENCHMARK_PLUGIN_DIR);
  for (auto _ : state) {
    Report report;
    if (const Status s = convert_file(model, folder() / "out.tflite", {}, *plugins, report); !s.ok())
      state.SkipWithError(s.error().message.c_str());
  }
  state.counters["nodes/s"] = benchmark::Counter(4.0 * blocks, benchmark::Counter::kIsIterationInvariantRate);
  state.SetComplexityN(blocks);
}
BENCHMARK(Convert)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond)->Complexity();

void Discover(benchmark::State& state) {
  const fs::path dir = folder() / ("plugins_" + std::to_string(state.range(0)));
  fs::create_directories(dir);
  std::ifstream in(fs::path(GANTRY_BENCHMARK_PLUGIN_DIR) / "core_ops.gantry.toml");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  for (int i = 0; i < state.range(0); ++i) {
    std::string copy = text;
    copy.replace(copy.find("org.gantry.core-ops"), 19, "org.copy." + std::to_string(i));
    std::ofstream(dir / (std::to_string(i) + ".gantry.toml")) << copy;
  }
  for (auto _ : state) benchmark::DoNotOptimize(discover(dir));
}
BENCHMARK(Discover)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

void DescribePlugin(benchmark::State& state) {
  const fs::path library = fs::path(GANTRY_BENCHMARK_PLUGIN_DIR) / "core_ops.so";
  for (auto _ : state) benchmark::DoNotOptimize(describe_library(library));
}
BENCHMARK(DescribePlugin)->Unit(benchmark::kMicrosecond);

}  // namespace
