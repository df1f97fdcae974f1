#include "host/cli/invocation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "host/ir/text.hpp"
#include "host/passes/pass.hpp"
#include "host/report/render.hpp"
#include "host/version.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kNodesNamed = 5;

/// $XDG_CONFIG_HOME/gantry/config.toml or ~/.config/gantry/config.toml; empty if neither is set.
std::filesystem::path user_config() {
  const char* xdg = std::getenv("XDG_CONFIG_HOME");
  if (xdg && *xdg == '/') return std::filesystem::path(xdg) / "gantry/config.toml";
  const char* home = std::getenv("HOME");
  if (home && *home) return std::filesystem::path(home) / ".config/gantry/config.toml";
  return {};
}

/// Also of files that are not there yet.
bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code ec;
  const auto type = std::filesystem::status(a, ec).type();
  const bool special = type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found;
  if (special) return false;  // one may write to /dev/null as often as one likes
  if (std::filesystem::equivalent(a, b, ec) && !ec) return true;
  const std::filesystem::path x = std::filesystem::weakly_canonical(std::filesystem::absolute(a, ec), ec);
  return !ec && x == std::filesystem::weakly_canonical(std::filesystem::absolute(b, ec), ec) && !ec;
}

bool same_finding(const Diagnostic& a, const Diagnostic& b) {
  return a.code == b.code && a.message == b.message && a.op == b.op && a.plugin == b.plugin && a.place == b.place &&
         a.hint == b.hint;
}

/// Diagnostics that differ only in their node become one, with the nodes listed.
std::vector<Diagnostic> grouped(const std::vector<Diagnostic>& all) {
  std::vector<Diagnostic> groups;
  std::vector<std::size_t> counts;
  for (const Diagnostic& d : all) {
    const auto it = std::find_if(groups.begin(), groups.end(), [&](const Diagnostic& g) { return same_finding(g, d); });
    if (it == groups.end() || d.node.empty()) {
      groups.push_back(d);
      counts.push_back(1);
      continue;
    }
    std::size_t& count = counts[static_cast<std::size_t>(it - groups.begin())];
    if (count++ < kNodesNamed) it->node += ", " + d.node;
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (counts[i] > kNodesNamed) groups[i].node += " and " + std::to_string(counts[i] - kNodesNamed) + " more";
  return groups;
}

Level level_of(const Diagnostic& d) {
  if (d.severity == Severity::error) return Level::error;
  return d.severity == Severity::warning ? Level::warning : Level::info;
}

}  // namespace

Invocation::Invocation(const Command& command_, Arguments arguments, std::filesystem::path executable_)
    : command(command_),
      args(std::move(arguments)),
      executable(std::move(executable_)),
      progress_(!args.has("--quiet")) {
  report.gantry_version = kVersion;
}

Status Invocation::prepare() {
  const bool wants_config = command.config_with.empty() || args.has(command.config_with);
  if (command.uses_config && wants_config) GANTRY_TRY(merge_options());
  log_.set_level(level_from_name(config.get_string("log.level")));
  GANTRY_TRY(protect_inputs());
  const std::string& file = config.get_string("log.file");
  if (!file.empty()) GANTRY_TRY(log_.open_file(file));
  report.options = config.changed();
  return {};
}

Status Invocation::merge_options() {
  std::error_code ec;
  const std::filesystem::path own = executable.parent_path().parent_path() / "share/gantry/configs/default.toml";
  for (const std::filesystem::path& path : {own, user_config()})
    if (!path.empty() && std::filesystem::exists(path, ec)) GANTRY_TRY(config.merge_file(path));
  for (const std::string& path : args.all("--config")) GANTRY_TRY(config.merge_file(path));
  for (const std::string& setting : args.all("--set")) GANTRY_TRY(config.merge_setting(setting));

  if (args.has("--verbose")) GANTRY_TRY(config.set("log.level", std::string("info"), "-v"));
  if (args.has("--quiet")) GANTRY_TRY(config.set("log.level", std::string("error"), "-q"));
  if (args.has("--log-file")) GANTRY_TRY(config.set("log.file", args.get("--log-file"), "--log-file"));
  if (args.has("--no-default-plugins")) GANTRY_TRY(config.set("plugins.defaults", false, "--no-default-plugins"));
  if (args.has("--io-layout")) GANTRY_TRY(config.set("layout.io", std::string(args.get("--io-layout")), "--io-layout"));
  if (args.has("--strict-types")) GANTRY_TRY(config.set("convert.strict_types", true, "--strict-types"));
  if (args.has("--allow-custom")) GANTRY_TRY(config.set("convert.allow_custom", true, "--allow-custom"));
  if (args.has("--allow-random")) GANTRY_TRY(config.merge_setting("plugins.\"org.gantry.core-ops\".allow_random=true"));
  if (args.has("--verify")) GANTRY_TRY(config.set("convert.verify", true, "--verify"));
  for (const std::string flag : {"--atol", "--rtol"}) {
    if (!args.has(flag)) continue;
    GANTRY_ASSIGN(const double number, parse_float(flag, args.get(flag)));
    GANTRY_TRY(config.set("verify." + flag.substr(2), number, flag));
  }
  if (args.has("--seed")) {
    GANTRY_ASSIGN(const std::int64_t seed, parse_int("--seed", args.get("--seed")));
    GANTRY_TRY(config.set("verify.seed", seed, "--seed"));
  }
  if (args.has("--batch")) {
    const std::string& batch = args.get("--batch");
    const std::int64_t open = -1;
    GANTRY_ASSIGN(const std::int64_t size,
                  batch == "dynamic" ? Result<std::int64_t>(open) : parse_int("--batch", batch));
    GANTRY_TRY(config.merge_setting("plugins.\"org.gantry.keras\".batch=" + std::to_string(size)));
  }
  if (args.has("--to")) return merge_target(args.get("--to"));
  return {};
}

// qonnx and qcdq are ONNX: they say how a Keras model's quantizers are written.
Status Invocation::merge_target(const std::string& to) {
  const bool onnx = to == "onnx" || to == "qonnx" || to == "qcdq";
  if (!onnx && to != "tflite")
    return error(Code::output_format, "no writer for \"" + to + "\"")
        .at("--to")
        .try_this("what can be written: tflite, onnx, qonnx, qcdq");
  const bool from_onnx = std::filesystem::path(args.get("IN")).extension() == ".onnx";
  if (onnx && !from_onnx) GANTRY_TRY(config.merge_setting("plugins.\"org.gantry.quant\".output=\"" + to + "\""));
  return config.set("convert.target", onnx ? std::string("onnx") : to, "--to");
}

std::vector<std::string> Invocation::files_read() const {
  std::vector<std::string> files = args.all("--config");
  for (const Positional& p : command.positionals)
    files.insert(files.end(), args.all(p.name).begin(), args.all(p.name).end());
  for (const std::string& input : args.all("--inputs")) files.push_back(input.substr(input.rfind('=') + 1));
  return files;
}

/// What the command reads must not be what it writes.
Status Invocation::protect_inputs() const {
  const auto check = [&](const std::string& flag, const std::string& written) -> Status {
    for (const std::string& read : files_read())
      if (same_file(read, written))
        return error(Code::usage, flag + " would overwrite " + read + ", which is read")
            .try_this("give it another name");
    return {};
  };
  const std::string &output = args.get("--output"), &json = args.get("--report");
  GANTRY_TRY(check("--output", output));
  GANTRY_TRY(check("--report", json));
  GANTRY_TRY(check("the log file", config.get_string("log.file")));
  const std::string& log = config.get_string("log.file");
  const auto differ = [](const std::string& flag, const std::string& a, const std::string& other,
                         const std::string& b) -> Status {
    if (!same_file(a, b)) return {};
    return error(Code::usage, flag + " and " + other + " are the same file").try_this("give one another name");
  };
  GANTRY_TRY(differ("--output", output, "--report", json));
  GANTRY_TRY(differ("--output", output, "the log file", log));
  return differ("--report", json, "the log file", log);
}

void Invocation::out(std::string_view text) {
  progress_.clear();
  if (out_failed_ || std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  out_failed_ = true;
  out_errno_ = errno;
}

void Invocation::log(Level level, std::string_view text) {
  progress_.clear();
  log_.write(level, printable(text));
}

std::function<void(std::string_view, std::size_t, std::size_t)> Invocation::on_progress() {
  return [this](std::string_view stage, std::size_t done, std::size_t total) { progress_.update(stage, done, total); };
}

Ticker Invocation::ticker(std::string what) {
  progress_.clear();
  return progress_.ticker(std::move(what));
}

std::function<void(std::string_view, const Graph&)> Invocation::on_dump() {
  return [this](std::string_view title, const Graph& graph) {
    progress_.clear();
    log_.write_always("// " + std::string(title) + "\n" + print(graph));
  };
}

Result<std::unique_ptr<PluginRegistry>> Invocation::open_plugins() {
  PluginSearch search;
  for (const std::string& folder : args.all("--plugin-path")) search.extra.emplace_back(folder);
  for (const std::string& folder : config.get_strings("plugins.path")) search.extra.emplace_back(folder);
  search.defaults = config.get_bool("plugins.defaults");
  search.executable = executable;

  PluginSettings settings;
  for (const std::string& id : config.configured_plugins()) {
    for (const auto& [name, setting] : config.plugin_settings(id)) {
      PluginSettingValue& value = settings[id][name];
      value.origin = setting.origin;
      const auto take = [&](const auto& v) -> Status {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<std::string>>)
          return error(Code::config_bad_value, name + " of plugin " + id + " cannot be a list").at(setting.origin);
        else
          value.value = v;
        return {};
      };
      GANTRY_TRY(std::visit(take, setting.value));
    }
  }

  GANTRY_ASSIGN(std::unique_ptr<PluginRegistry> registry,
                PluginRegistry::discover(search, std::move(settings), report));
  for (const std::string key : {"passes.disable", "passes.dump"})
    GANTRY_TRY(check_pass_names(key, registry->manifests()));
  return registry;
}

Status Invocation::check_pass_names(const std::string& key, const std::vector<Manifest>& manifests) {
  constexpr std::string_view pattern = "pattern:";
  std::vector<std::string> passes, patterns;
  for (const Pass& pass : all_passes()) passes.emplace_back(pass.name);
  for (const Manifest& m : manifests)
    for (const ManifestRow& row : m.rows)
      if (row.kind == ManifestRow::Kind::pattern) patterns.push_back(std::string(pattern) + row.name);
  const auto within = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : config.get_strings(key)) {
    if (within(passes, name) || within(patterns, name) || name == "*") continue;
    const bool is_pattern = name.starts_with(pattern);
    const std::string nearest = nearest_name(name, is_pattern ? patterns : passes);
    const std::string hint = nearest.empty() ? "gantry opt --list shows the passes" : "did you mean " + nearest + "?";
    // The plugin of a pattern may be on the search path of other runs only.
    if (!is_pattern)
      return error(Code::config_bad_value, key + ": there is no pass " + name).at(config.origin(key)).try_this(hint);
    report.add(
        warning(Code::warn_plugin, key + ": no plugin on the search path has the " + name).at(config.origin(key)));
  }
  return {};
}

std::string Invocation::target() const {
  const std::string& named = config.get_string("convert.target");
  if (named != "auto") return named;
  return std::filesystem::path(args.get("--output")).extension() == ".onnx" ? "onnx" : "tflite";
}

Result<PipelineOptions> Invocation::pipeline_options() {
  PipelineOptions options;
  options.target = target();
  options.onnx.external_data = config.get_bool("onnx.external_data");
  GANTRY_ASSIGN(options.shapes, parse_shapes(args.all("--shape")));
  for (const std::string& pass : config.get_strings("passes.disable")) options.disabled_passes.insert(pass);
  for (const std::string& pass : config.get_strings("passes.dump")) options.dump.insert(pass);
  options.verify_each_pass = config.get_bool("passes.verify");
  options.on_dump = on_dump();
  options.on_external_file = [this](const std::filesystem::path& file) { external_files_.push_back(file.string()); };
  options.on_progress = on_progress();
  options.allow_custom = config.get_bool("convert.allow_custom");
  options.strict_types = config.get_bool("convert.strict_types");
  options.dry_run = args.has("--dry-run");
  GANTRY_ASSIGN(options.layout, layout_settings());
  return options;
}

namespace {

/// The HiGHS library, or "": without it the other methods do what they can.
std::string find_highs(const std::filesystem::path& named, const std::filesystem::path& executable) {
  const char* runtimes = std::getenv("GANTRY_RUNTIMES");
  std::vector<std::filesystem::path> places{named};
  if (named.empty())
    places = {runtimes ? runtimes : "", executable.parent_path().parent_path() / "lib/gantry/runtimes"};
  std::error_code ec;
  for (const std::filesystem::path& place : places) {
    if (place.empty()) continue;
    if (std::filesystem::is_regular_file(place, ec)) return place.string();
    if (std::filesystem::is_regular_file(place / "libhighs.so", ec)) return (place / "libhighs.so").string();
  }
  return {};
}

}  // namespace

Result<LayoutSettings> Invocation::layout_settings() {
  LayoutSettings s;
  s.io = config.get_string("layout.io");
  for (const std::string& entry : config.get_strings("layout.io_by_name")) {
    const std::size_t at = entry.rfind('=');
    const std::string io = at == std::string::npos ? "" : entry.substr(at + 1);
    if (io != "preserve" && io != "nhwc" && io != "nchw")
      return error(Code::config_bad_value, "layout.io_by_name: '" + entry + "' is not NAME=preserve, nhwc or nchw")
          .at(config.origin("layout.io_by_name"));
    s.io_by_name[entry.substr(0, at)] = io;
  }
  s.node_cost = config.get_int("layout.cost.node");
  s.reshape_cost = config.get_float("layout.cost.reshape");
  s.effort = config.get_string("layout.effort");
  s.highs_library = find_highs(config.get_string("layout.highs"), executable);
  return s;
}

int Invocation::finish(Status status) {
  progress_.clear();
  if (!status.ok()) {
    const auto known = [&](const Diagnostic& d) {
      return same_finding(d, status.error()) && d.node == status.error().node;
    };
    if (std::none_of(report.diagnostics.begin(), report.diagnostics.end(), known)) report.add(status.error());
  }
  if (Status written = write_report(); !written.ok()) report.add(written.take_error());
  const bool converted = report.output_bytes > 0 || !report.has_errors();  // verification may have failed after it
  if (command.ends_with_table && converted && !quiet()) out(printable(render_table(report)));
  if (Status closed = close_stdout(); !closed.ok()) report.add(closed.take_error());
  log_details();
  print_diagnostics();

  const Diagnostic* failure = report.first_error();
  if (!failure && !command.ends_with_line) return 0;
  const std::string line = failure || summary.empty() ? last_line(report) : "gantry: ok " + summary;
  log_.write_always(printable(line));
  return failure ? exit_status(failure->code) : 0;
}

void Invocation::print_diagnostics() {
  for (const Diagnostic& d : grouped(report.diagnostics)) {
    if (findings_shown && exit_status(d.code) == exit_status(Code::unsupported_op)) continue;
    log(level_of(d), format(d));
  }
}

void Invocation::log_details() {
  for (const PluginRecord& p : report.plugins)
    log(Level::info, "opened plugin " + p.id + " " + p.version + " (" + p.library + ") for " + p.reason);
  for (const PassRecord& p : report.passes) {
    std::string text = "pass " + p.name;
    if (p.enabled) {
      text += ": " + count_text(p.nodes_before, "node") + " -> " + std::to_string(p.nodes_after) + ", " +
              duration_text(p.seconds);
    } else {
      text += ": off";
    }
    log(Level::info, text);
  }
}

Status Invocation::write_report() {
  if (!args.has("--report") || !protect_inputs().ok()) return {};
  for (const std::string& file : external_files_)
    if (same_file(file, args.get("--report")))
      return error(Code::usage, "--report would overwrite " + file + ", which holds weights of the input")
          .try_this("give it another name");
  return write_text_file(args.get("--report"), render_json(report) + "\n");
}

Status Invocation::close_stdout() {
  errno = 0;
  if (std::fflush(stdout) != 0 && !out_failed_) {
    out_failed_ = true;
    out_errno_ = errno;
  }
  if (!out_failed_ || out_errno_ == EPIPE) return {};  // whoever read has seen enough
  return error(Code::output_not_written, std::string("cannot write to standard output: ") + std::strerror(out_errno_));
}

}  // namespace gantry::cli
