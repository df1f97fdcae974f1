#include "host/cli/load.hpp"

#include "host/formats/format.hpp"
#include "host/formats/onnx/reader.hpp"
#include "host/formats/tflite/reader.hpp"
#include "host/ir/text.hpp"

namespace gantry::cli {
namespace {

/// The text form begins so, after blank lines and comments.
bool is_text_form(std::string_view text) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (!text.starts_with("//")) return text.starts_with("graph");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

Result<Model> load_model(const std::filesystem::path& path,
                         const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  GANTRY_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  Model model;
  model.path = path;
  model.file_bytes = text.size();
  const FileFormat format = detect_format(file->bytes(), path);
  if (!shapes.empty() && (format == FileFormat::tflite || (format == FileFormat::text && is_text_form(text))))
    return error(Code::usage, "--shape is for ONNX models").at(path.string()).try_this("leave it out");
  if (format == FileFormat::text && is_text_form(text)) {
    GANTRY_ASSIGN(model.graph, parse(text, path.string()));
    model.format_name = "text";
    model.semantics = onnx_format::make_semantics();
    return model;
  }
  if (format == FileFormat::tflite) {
    GANTRY_ASSIGN(model.graph, tflite_format::read(path));
    model.format_name = "TFLite";
    model.semantics = onnx_format::make_semantics();
    return model;
  }
  if (format == FileFormat::empty)
    return error(Code::input_malformed, "'" + path.filename().string() + "' is empty").at(path.string());
  // All else goes to the reader of ONNX, whose refusal says what the file is.
  GANTRY_ASSIGN(onnx_format::ReadResult read, onnx_format::read(path, {.shapes = shapes}));
  model.graph = std::move(read.graph);
  model.semantics = std::move(read.semantics);
  model.format_name = "ONNX";
  return model;
}

}  // namespace gantry::cli
