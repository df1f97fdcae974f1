#include "tests/keras/keras_file.hpp"

#include <cstring>
#include <fstream>
#include <hdf5.h>
#include <unistd.h>
#include <zlib.h>

#include "host/verify/run_model.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

hid_t make_group(hid_t at, const std::string& name) {
  return H5Gcreate2(at, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

void write_text(hid_t at, const std::string& name, const std::string& text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(at, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char* data = text.c_str();
  H5Awrite(attribute, type, static_cast<const void*>(&data));
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void write_texts(hid_t at, const std::string& name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& t : texts) longest = std::max(longest, t.size());
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, longest);
  const hsize_t n = texts.size();
  const hid_t space = H5Screate_simple(1, &n, nullptr);
  const hid_t attribute = H5Acreate2(at, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  std::string all(longest * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) all.replace(i * longest, texts[i].size(), texts[i]);
  if (!texts.empty()) H5Awrite(attribute, type, all.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void write_weight(hid_t at, const std::string& path, const Weight& w) {
  const hid_t create = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(create, 1);
  const std::vector<hsize_t> dims(w.dims.begin(), w.dims.end());
  const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  const hid_t data = H5Dcreate2(at, path.c_str(), H5T_IEEE_F32LE, space, create, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, w.elements.data());
  H5Dclose(data);
  H5Sclose(space);
  H5Pclose(create);
}

/// A file in memory, filled by `fill`, as bytes.
template <class Fill>
std::string hdf5_bytes(Fill fill) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, 0);
  const hid_t file = H5Fcreate("memory.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  fill(file);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  std::string bytes(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)), '\0');
  H5Fget_file_image(file, bytes.data(), bytes.size());
  H5Fclose(file);
  H5Pclose(access);
  return bytes;
}

void put(std::string& out, std::uint64_t n, int width) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(n >> (8 * i));
}

}  // namespace

void KerasModel::input(const std::string& name, const Json& shape) {
  Json dims = shape;
  dims.insert(dims.begin(), nullptr);
  layers_.push_back({{{"class_name", "InputLayer"},
                      {"name", name},
                      {"config", {{"batch_input_shape", dims}, {"dtype", "float32"}, {"name", name}}},
                      {"inbound_nodes", Json::array()}},
                     name,
                     {}});
  inputs_.push_back(name);
}

void KerasModel::layer(const std::string& class_name, const std::string& name, const std::vector<std::string>& from,
                       Json config, std::vector<Weight> weights) {
  config["name"] = name;
  Json operands = Json::array();
  for (const std::string& f : from) operands.push_back({f, 0, 0, Json::object()});
  layers_.push_back({{{"class_name", class_name}, {"name", name}, {"config", config}, {"inbound_nodes", {operands}}},
                     name,
                     std::move(weights)});
}

Json KerasModel::config() const {
  Json layers = Json::array(), inputs = Json::array(), outputs = Json::array();
  for (const Layer& l : layers_) layers.push_back(l.json);
  for (const std::string& n : inputs_) inputs.push_back({n, 0, 0});
  for (const std::string& n : outputs_) outputs.push_back({n, 0, 0});
  return {{"class_name", "Functional"},
          {"config", {{"name", "m"}, {"layers", layers}, {"input_layers", inputs}, {"output_layers", outputs}}}};
}

std::string KerasModel::hdf5() const {
  return hdf5_bytes([&](hid_t file) {
    write_text(file, "model_config", config().dump());
    write_text(file, "keras_version", "2.14.0");
    const hid_t root = make_group(file, "model_weights");
    std::vector<std::string> names;
    for (const Layer& l : layers_) {
      names.push_back(l.name);
      const hid_t group = make_group(root, l.name);
      std::vector<std::string> weights;
      for (const Weight& w : l.weights) {
        weights.push_back(l.name + "/" + w.name + ":0");
        write_weight(group, weights.back(), w);
      }
      write_texts(group, "weight_names", weights);
      H5Gclose(group);
    }
    write_texts(root, "layer_names", names);
    H5Gclose(root);
  });
}

std::string KerasModel::hdf5_of_objects(const std::string& group,
                                        const std::map<std::string, std::string>& keys) const {
  return hdf5_bytes([&](hid_t file) {
    for (const Layer& l : layers_)
      for (std::size_t i = 0; i < l.weights.size(); ++i)
        write_weight(file, group + "/" + keys.at(l.name) + "/vars/" + std::to_string(i), l.weights[i]);
  });
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out, directory;
  for (const auto& [name, data] : members) {
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    const std::size_t at = out.size();
    const auto common = [&](std::string& to) {
      put(to, 20, 2), put(to, 0, 2), put(to, 0, 2), put(to, 0, 4), put(to, crc, 4);
      put(to, data.size(), 4), put(to, data.size(), 4), put(to, name.size(), 2), put(to, 0, 2);
    };
    put(out, 0x04034b50, 4);
    common(out);
    out += name + data;
    put(directory, 0x02014b50, 4), put(directory, 20, 2);
    common(directory);
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4), put(directory, at, 4);
    directory += name;
  }
  const std::size_t at = out.size();
  out += directory;
  put(out, 0x06054b50, 4), put(out, 0, 4), put(out, members.size(), 2), put(out, members.size(), 2);
  put(out, directory.size(), 4), put(out, at, 4), put(out, 0, 2);
  return out;
}

KerasTest::KerasTest() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info->test_suite_name()) + "." + info->name();
  for (char& c : name) c = c == '/' ? '_' : c;
  folder_ = fs::temp_directory_path() / ("gantry_keras_" + name + std::to_string(getpid()));
  fs::create_directories(folder_);
}

KerasTest::~KerasTest() {
  std::error_code ec;
  fs::remove_all(folder_, ec);
}

fs::path KerasTest::write(const std::string& name, const std::string& bytes) const {
  std::ofstream(folder_ / name, std::ios::binary) << bytes;
  return folder_ / name;
}

Status KerasTest::convert(const fs::path& input, const fs::path& output, const std::string& quantizers,
                          const std::string& io) {
  PluginSearch search;
  search.extra = {GANTRY_TEST_PLUGIN_DIR};
  search.defaults = false;
  PluginSettings settings;
  settings["org.gantry.quant"]["output"].value = quantizers;
  settings["org.gantry.quant"]["rounding_mode"].value = rounding_;
  GANTRY_ASSIGN(const std::unique_ptr<PluginRegistry> plugins, PluginRegistry::discover(search, settings, report_));
  PipelineOptions options;
  options.target = output.extension() == ".onnx" ? "onnx" : "tflite";
  options.layout.io = io;
  return convert_file(input, output, options, *plugins, report_);
}

std::vector<std::vector<float>> KerasTest::run(const std::string& hdf5, const std::vector<std::vector<float>>& inputs) {
  const fs::path model = folder_ / "float.onnx";
  const Status s = convert(write("m.h5", hdf5), model, "onnx");
  EXPECT_TRUE(s.ok()) << s.error().message;
  if (!s.ok()) return {};
  const auto feeds = [&](const std::vector<Port>& ports) -> Result<std::map<std::string, Tensor>> {
    std::map<std::string, Tensor> all;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      Tensor t{DType::float32, ports[i].type.sizes(), {}};
      t.bytes.resize(inputs[i].size() * sizeof(float));
      std::memcpy(t.bytes.data(), inputs[i].data(), t.bytes.size());
      all[ports[i].name] = std::move(t);
    }
    return all;
  };
  const Result<fs::path> library = find_runtime(RuntimeKind::onnxruntime, GANTRY_TEST_RUNTIME_DIR);
  EXPECT_TRUE(library.ok());
  if (!library.ok()) return {};
  const Result<ModelRun> done = run_model(RuntimeKind::onnxruntime, *library, model, feeds, 60);
  EXPECT_TRUE(done.ok()) << done.error().message;
  std::vector<std::vector<float>> outputs;
  if (!done.ok()) return outputs;
  for (const NamedTensor& o : done->outputs) {
    std::vector<float>& out = outputs.emplace_back(o.tensor.bytes.size() / sizeof(float));
    std::memcpy(out.data(), o.tensor.bytes.data(), o.tensor.bytes.size());
  }
  return outputs;
}

}  // namespace gantry::test
