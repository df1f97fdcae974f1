#include "weights.hpp"

#include <algorithm>

namespace gantry::keras {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return parts;
}

// "kernel:0" -> "kernel"
std::string_view without_number(std::string_view name) { return name.substr(0, name.rfind(':')); }

bool fits(std::string_view component, std::string_view wanted) {
  if (const std::size_t either = wanted.find('|'); either != std::string_view::npos)
    return fits(component, wanted.substr(0, either)) || fits(component, wanted.substr(either + 1));
  if (wanted.ends_with('*')) return component.starts_with(wanted.substr(0, wanted.size() - 1));
  return component == wanted;
}

// Whether the path has the parts in order before its last component.
bool lies_in(const std::vector<std::string>& path, const std::vector<std::string>& parts) {
  std::size_t part = 0;
  for (std::size_t i = 0; i + 1 < path.size() && part < parts.size(); ++i) part += fits(path[i], parts[part]);
  return part == parts.size();
}

// And one of the names last.
bool fits(const std::vector<std::string>& path, const std::vector<std::string>& parts, const Role& role) {
  return !path.empty() && lies_in(path, parts) &&
         std::ranges::find(role.names, without_number(path.back())) != role.names.end();
}

}  // namespace

Weights::Weights(const Hdf5File& file) : file_(file), root_("/") {
  if (file.has_group("/model_weights")) {
    root_ = "/model_weights";
    by_name_ = true;
  } else {
    by_name_ = file.texts("/", "layer_names").has_value();
  }
}

Scope Weights::layer(const Scope& model, const std::string& name, const std::string& key) const {
  if (by_name_) {
    if (model.group == root_) return {(root_ == "/" ? "" : root_) + "/" + name, {}};
    Scope inner = model;  // what is in a nested model has its layer's name in the weights' names
    inner.parts.push_back(name);
    return inner;
  }
  const std::string base = model.group == "/" ? "" : model.group;
  for (const char* list : {"/layers/", "/_layer_checkpoint_dependencies/"})
    for (const std::string& last : {key, name})
      if (file_.has_group(base + list + last)) return {base + list + last, {}};
  return {base + "/layers/" + key, {}};
}

Scope Weights::part(const Scope& layer, const std::string& name, const std::string& own) const {
  if (!by_name_) {  // Keras 2.14 stores private ones under their own names
    const std::string inner = layer.group + "/_" + name;
    return {file_.has_group(inner) ? inner : layer.group + "/" + name, {}};
  }
  Scope inner = layer;
  if (name == "forward_layer") inner.parts.emplace_back("forward*");
  if (name == "backward_layer") inner.parts.push_back(own.empty() ? "backward*" : "backward*|" + own);
  if (name == "output_dense")
    inner.parts.emplace_back("attention_output");
  else if (name.ends_with("_dense"))
    inner.parts.push_back(name.substr(0, name.size() - 6));
  return inner;
}

const std::vector<std::string>& Weights::names_of(const std::string& group) const {
  const auto it = names_.find(group);
  if (it != names_.end()) return it->second;
  auto names = file_.has_group(group) ? file_.texts(group, "weight_names") : std::nullopt;
  return names_[group] = names ? *std::move(names) : std::vector<std::string>{};
}

std::optional<std::string> Weights::find(const Scope& layer, const Role& role) const {
  const Scope scope = role.part.empty() ? layer : part(layer, role.part);
  if (by_name_) {
    for (const std::string& name : names_of(scope.group))
      if (fits(split(name), scope.parts, role)) return scope.group + "/" + name;
    return std::nullopt;
  }
  std::string path = scope.group + "/vars/" + std::to_string(role.index);
  if (file_.has_dataset(path)) return path;
  return std::nullopt;
}

std::vector<std::string> Weights::all(const Scope& layer) const {
  std::vector<std::string> paths;
  if (by_name_) {
    for (const std::string& name : names_of(layer.group))
      if (lies_in(split(name), layer.parts)) paths.push_back(layer.group + "/" + name);
    return paths;
  }
  const auto path = [&] { return layer.group + "/vars/" + std::to_string(paths.size()); };
  while (file_.has_dataset(path())) paths.push_back(path());
  return paths;
}

}  // namespace gantry::keras
