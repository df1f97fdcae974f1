// Readers of files: a function that turns a file into a graph of some dialect.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gantry/sdk/emit.hpp"
#include "gantry/sdk/graph.hpp"
#include "gantry/sdk/register.hpp"

namespace gantry::sdk {

/// The file that a reader was called for, and the graph that it makes. Nodes are made by emit(), in the order of
/// computation; their results need no types. Throw Declined (decline()) where the file is sound but holds what cannot
/// be read; any other exception says that it is damaged, with what() as the reason.
class Reading {
 public:
  Reading(const Call& call, const gantry_file& file, std::string_view dialect)
      : call_(call), file_(file), dialect_(dialect) {}

  /// As the user gave it. Files that belong to it may be opened in its folder only.
  std::filesystem::path path() const { return std::filesystem::path(view(file_.path)); }
  /// The whole file. Constants whose elements lie within it are not copied.
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(file_.bytes.data), static_cast<std::size_t>(file_.bytes.size)};
  }
  const Call& call() const { return call_; }
  Emit emit(std::string_view domain = {}) const { return Emit(call_, dialect_, domain); }

  Value input(std::string_view name, const Type& type) const {
    const gantry_type t = Emit::raw(type);
    gantry_value out = 0;
    call_.check(call_.host->add_input(call_.context, view(name), &t, &out));
    return Value(call_, out);
  }
  void output(std::string_view name, const Value& v) const {
    call_.check(call_.host->add_output(call_.context, view(name), v.id()));
  }
  /// A constant of the file's bytes, or of other memory, which is copied.
  Value constant(const Type& type, std::span<const std::byte> elements) const {
    const gantry_type t = Emit::raw(type);
    gantry_value out = 0;
    call_.check(call_.host->constant(call_.context, &t, {elements.data(), elements.size()}, &out));
    return Value(call_, out);
  }
  /// A node with a name of its own.
  std::vector<Value> node(std::string_view name, std::string_view domain, std::string_view op, std::size_t outputs,
                          const std::vector<Value>& inputs, const Attributes& attributes) const {
    return emit(domain).named(name).ops(op, outputs, inputs, attributes);
  }

 private:
  const Call& call_;
  const gantry_file& file_;
  std::string_view dialect_;
};

using ReadFn = void (*)(const Reading&);

namespace detail {
struct FormatData {
  ReadFn fn;
  std::string_view dialect;
};
inline gantry_status read_file(const gantry_host* h, gantry_context* c, const gantry_file* file, const void* data) {
  return guarded(h, c, 0, [&](const Call& call) -> gantry_status {
    const auto& d = *static_cast<const FormatData*>(data);
    d.fn(Reading(call, *file, d.dialect));
    return GANTRY_OK;
  });
}
}  // namespace detail

/// Declares files that the plugin reads into graphs of `dialect`. `magic`: how they begin, may be empty.
template <std::size_t N>
Registered register_format(std::string_view name, std::string_view dialect, const Names<N>& extensions,
                           std::string_view magic, ReadFn fn) {
  auto& r = detail::Registry::get();
  auto& f = r.formats.emplace_back();
  static std::deque<detail::FormatData> data;
  f.struct_size = sizeof f;
  f.name = view(name);
  f.dialect = view(dialect);
  f.extensions = r.keep(extensions);
  f.magic = {magic.data(), magic.size()};
  f.read = detail::read_file;
  f.data = &data.emplace_back(detail::FormatData{fn, dialect});
  r.format_list.push_back(&f);
  return {};
}

template <class... T>
constexpr Names<sizeof...(T)> extensions(T... extension) {
  return {{std::string_view(extension)...}};
}

}  // namespace gantry::sdk

/// GANTRY_FORMAT("Keras HDF5", "keras", extensions(".h5"), magic) { ... }: `reading` is in scope.
#define GANTRY_FORMAT(name, dialect, extensions, magic)                                        \
  static void GANTRY_SDK_NAME(read)(const ::gantry::sdk::Reading&);                            \
  [[maybe_unused]] static const auto GANTRY_SDK_NAME(registered) =                             \
      ::gantry::sdk::register_format(name, dialect, extensions, magic, GANTRY_SDK_NAME(read)); \
  static void GANTRY_SDK_NAME(read)(const ::gantry::sdk::Reading& reading)
