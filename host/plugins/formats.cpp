// Files that plugins read, and the ways between dialects that plugins open.
#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <utility>

#include "host/plugins/call.hpp"
#include "host/plugins/definitions.hpp"
#include "host/plugins/registry_impl.hpp"

namespace gantry {
namespace {

// `magic` is in hexadecimal.
bool begins_with(std::span<const std::byte> bytes, std::string_view magic) {
  if (bytes.size() < magic.size() / 2) return false;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < magic.size() / 2; ++i) {
    if (std::to_integer<int>(bytes[i]) != digit(magic[2 * i]) * 16 + digit(magic[2 * i + 1])) return false;
  }
  return true;
}

bool has_extension(const ManifestFormat& f, std::string extension) {
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(f.extensions, extension) != f.extensions.end();
}

// The file is sound, but what it holds cannot be read: exit status 4; it is damaged: exit status 3.
Diagnostic refusal(const plugins::Call& call, gantry_status status, const std::filesystem::path& path) {
  Diagnostic d = status == GANTRY_DECLINED ? call.reason() : call.failure();
  constexpr std::string_view kFailed = "the plugin failed: ";
  if (status != GANTRY_DECLINED) {
    d.code = Code::input_malformed;
    if (d.message.starts_with(kFailed)) d.message.erase(0, kFailed.size());
  }
  return std::move(d).at(path.string());
}

}  // namespace

const ManifestFormat* PluginRegistry::format_of(const std::filesystem::path& path,
                                                std::span<const std::byte> bytes) const {
  const ManifestFormat* by_bytes = nullptr;
  const ManifestFormat* by_extension = nullptr;
  for (const Manifest& m : manifests()) {
    for (const ManifestFormat& f : m.formats) {
      const bool extension = has_extension(f, path.extension().string());
      const bool magic = !f.magic.empty() && begins_with(bytes, f.magic);
      if (magic && extension) return &f;
      if (magic && !by_bytes) by_bytes = &f;
      if (extension && f.magic.empty() && !by_extension) by_extension = &f;
    }
  }
  return by_bytes ? by_bytes : by_extension;
}

Result<Graph> PluginRegistry::read(const ManifestFormat& format, const std::filesystem::path& path,
                                   std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                                   Report& report) {
  const auto offers = [&](const Manifest& m) {
    return std::ranges::any_of(m.formats, [&](const ManifestFormat& f) { return &f == &format; });
  };
  const auto manifest = std::ranges::find_if(manifests(), offers);
  GANTRY_ASSIGN(const plugins::OpenPlugin* plugin,
                impl_->store->open(static_cast<std::size_t>(manifest - manifests().begin())));
  report.plugins.push_back(
      {manifest->id, manifest->version, manifest->library, "files of " + format.name, plugin->seconds});
  plugins::Definitions definitions(nullptr);
  GANTRY_TRY(definitions.add(*plugin));
  const gantry_format* record = nullptr;
  for (std::uint64_t i = 0; i < plugin->descriptor->format_count; ++i) {
    const gantry_format& f = *plugin->descriptor->formats[i];
    if (std::string_view(f.name.data, f.name.size) == format.name) record = &f;
  }

  Graph g;
  const Op end_of_file{format.dialect, "", "end of file"};
  const NodeId end = g.add_node({g.main(), {}}, end_of_file, {}, 0);
  const std::string name = path.string();
  gantry_file file{};
  file.struct_size = sizeof file;
  file.path = plugins::abi_text(name);
  file.bytes = {bytes.data(), bytes.size()};
  {
    plugins::Call call(plugins::Call::Kind::read, g, end, *plugin, definitions, format.dialect);
    const gantry_status status = call.run(*record, file, std::move(owner));
    if (status != GANTRY_OK) return refusal(call, status, path);
    for (Diagnostic& d : call.take_messages()) report.add(std::move(d));
    call.commit_read();
  }
  g.erase_node(end);
  return g;
}

std::vector<std::string> PluginRegistry::dialect_path(std::string_view from, std::string_view to) const {
  std::map<std::string, std::string, std::less<>> came_from{{std::string(from), ""}};
  std::deque<std::string> front{std::string(from)};
  while (!front.empty() && !came_from.contains(to)) {
    const std::string here = std::move(front.front());
    front.pop_front();
    for (const Manifest& m : manifests()) {
      for (const ManifestRow& r : m.rows) {
        if (r.kind != ManifestRow::Kind::converter || r.dialect != here) continue;
        if (came_from.emplace(r.target, here).second) front.push_back(r.target);
      }
    }
  }
  std::vector<std::string> path;
  const auto last = came_from.find(to);
  if (last == came_from.end()) return path;
  for (std::string at = last->first; !at.empty(); at = came_from.find(at)->second) path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

}  // namespace gantry
