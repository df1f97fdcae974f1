// The files that hold Keras models.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gantry/sdk.hpp>

#include "builder.hpp"
#include "zip.hpp"

using namespace gantry::sdk;

namespace gantry::keras {
namespace {

namespace fs = std::filesystem;

int major_version(const std::string& text) { return text.starts_with("3") ? 3 : 2; }
std::string text_of(const Json& j) { return j.is_string() ? j.get<std::string>() : ""; }
std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A configuration may be the model's, or have it within.
const Json& model_of(const Json& j) {
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): its callers hold it
  if (member(j, "class_name").is_string()) return j;
  const Json& inner = member(j, "model_config");
  if (member(inner, "class_name").is_string()) return inner;
  throw std::runtime_error("the JSON is of no Keras model: it has no class_name");
}

void read_hdf5(const Reading& reading) {
  const Hdf5File file(reading.bytes());
  const auto config = file.text("/", "model_config");
  decline_if(!config,
             "the file has weights only, and no model_config; give the model's JSON, with the weights beside it");
  std::string version = file.text("/", "keras_version").value_or("");
  if (version.empty() && file.has_group("/model_weights"))
    version = file.text("/model_weights", "keras_version").value_or("");
  const Json model = parse_json(*config, "model_config");
  Builder(reading, file, major_version(version)).build(model_of(model));
}

void read_archive(const Reading& reading) {
  constexpr std::size_t kMostText = std::size_t{64} << 20, kMostWeights = std::size_t{1} << 40;
  const Zip zip(reading.bytes());
  std::vector<std::byte> config_bytes, metadata_bytes, weights_bytes;
  if (!zip.contains("config.json"))
    throw std::runtime_error("the zip archive is no Keras model: it has no config.json");
  const Json config = parse_json(as_text(zip.read("config.json", kMostText, config_bytes)), "config.json");
  std::string version;
  if (zip.contains("metadata.json")) {
    const Json metadata = parse_json(as_text(zip.read("metadata.json", kMostText, metadata_bytes)), "metadata.json");
    version = text_of(member(metadata, "keras_version"));
  }
  const Hdf5File file(zip.read("model.weights.h5", kMostWeights, weights_bytes));
  Builder(reading, file, major_version(version)).build(model_of(config));
}

// model.json: model.weights.h5, model.h5, model_weights.h5, or the only .weights.h5 of the folder.
fs::path weights_beside(const fs::path& json) {
  const fs::path folder = json.has_parent_path() ? json.parent_path() : fs::path(".");
  std::error_code ec;
  for (const char* ending : {".weights.h5", ".h5", "_weights.h5", ".weights.hdf5", ".hdf5"}) {
    const fs::path file = folder / (json.stem().string() + ending);
    if (fs::is_regular_file(file, ec)) return file;
  }
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().string().ends_with(".weights.h5") && it->is_regular_file(ec)) found.push_back(it->path());
  decline_if(found.size() != 1, "the weights are not there: beside ", json.filename().string(), ", ",
             json.stem().string(), ".weights.h5 is looked for");
  return found[0];
}

std::vector<std::byte> read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ec;
  const auto size = fs::file_size(path, ec);
  if (!in || ec) throw std::runtime_error("the weights' file " + path.filename().string() + " cannot be read");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("the weights' file " + path.filename().string() + " cannot be read");
  return bytes;
}

void read_json(const Reading& reading) {
  const Json config = parse_json(as_text(reading.bytes()), "the file");
  const Json& model = model_of(config);
  const std::vector<std::byte> bytes = read_whole(weights_beside(reading.path()));
  const Hdf5File file(bytes);
  Builder(reading, file, major_version(text_of(member(config, "keras_version")))).build(model);
}

constexpr std::string_view kHdf5("\x89HDF\r\n\x1a\n", 8);
constexpr std::string_view kZip("PK\x03\x04", 4);

}  // namespace
}  // namespace gantry::keras

GANTRY_FORMAT("Keras HDF5", "keras", extensions(".h5", ".hdf5", ".keras"), gantry::keras::kHdf5) {
  gantry::keras::read_hdf5(reading);
}
GANTRY_FORMAT("Keras archive", "keras", extensions(".keras"), gantry::keras::kZip) {
  gantry::keras::read_archive(reading);
}
GANTRY_FORMAT("Keras JSON", "keras", extensions(".json"), std::string_view{}) { gantry::keras::read_json(reading); }
