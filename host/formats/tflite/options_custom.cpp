#include <flatbuffers/flexbuffers.h>

#include "host/formats/tflite/options.hpp"

namespace gantry::tflite_format {
namespace {

constexpr std::string_view kRaw = "custom_options";
constexpr std::size_t kMaxBytes = 65536, kMaxKeys = 1024;  // beyond these the bytes stay bytes

template <class T, class Add>
void add_list(flexbuffers::Builder& b, const char* key, const std::vector<T>& values, bool typed, Add add) {
  const std::size_t start = b.StartVector(key);
  for (const T& v : values) add(v);
  b.EndVector(start, typed && !values.empty(), false);
}

struct Adder {
  flexbuffers::Builder& b;
  const char* key;

  bool operator()(std::int64_t v) { return b.Int(key, v), true; }
  bool operator()(float v) { return b.Float(key, v), true; }
  bool operator()(const std::string& v) { return b.String(key, v), true; }
  bool operator()(const std::vector<std::int64_t>& v) {
    return add_list(b, key, v, true, [&](std::int64_t x) { b.Int(x); }), true;
  }
  bool operator()(const std::vector<float>& v) {
    return add_list(b, key, v, true, [&](float x) { b.Float(x); }), true;
  }
  bool operator()(const std::vector<std::string>& v) {
    return add_list(b, key, v, false, [&](const std::string& x) { b.String(x); }), true;
  }
  bool operator()(const Constant&) { return false; }
};

// Reads values of a map; stops when more is read than a limit, since a few bytes can be referred to many times.
class ValueReader {
 public:
  explicit ValueReader(std::size_t bytes) : left_(16 * bytes + 4096) {}

  bool read(const flexbuffers::Reference& r, Attr& out) {
    if (r.IsIntOrUint())
      out = r.AsInt64();
    else if (r.IsBool())
      out = std::int64_t{r.AsBool()};
    else if (r.IsFloat())
      out = r.AsFloat();
    else if (r.IsString() && spend(r.AsString().size()))
      out = r.AsString().str();
    else if (r.IsTypedVector())
      return read_list(r.AsTypedVector(), out);
    else if (r.IsUntypedVector())
      return read_list(r.AsVector(), out);
    else
      return false;
    return spend(0);
  }

 private:
  bool spend(std::size_t bytes) {
    bytes += sizeof(std::string);
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

  // A list of one kind of elements; false if it is mixed or holds something else.
  template <class V>
  bool read_list(const V& v, Attr& out) {
    std::vector<std::int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const flexbuffers::Reference r = v[i];
      if (!spend(r.IsString() ? r.AsString().size() : 0)) return false;
      if (r.IsIntOrUint())
        ints.push_back(r.AsInt64());
      else if (r.IsFloat())
        floats.push_back(r.AsFloat());
      else if (r.IsString())
        strings.push_back(r.AsString().str());
    }
    if (ints.size() == v.size())
      out = std::move(ints);
    else if (floats.size() == v.size())
      out = std::move(floats);
    else if (strings.size() == v.size())
      out = std::move(strings);
    else
      return false;
    return true;
  }

  std::size_t left_;
};

bool read_map(std::span<const std::uint8_t> bytes, Attrs& out) {
  // One byte more than the buffer has, and zero: the verifier does not see that the last key ends.
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end()), seen;
  copy.push_back(0);
  if (!flexbuffers::VerifyBuffer(copy.data(), bytes.size(), &seen)) return false;
  const flexbuffers::Reference root = flexbuffers::GetRoot(copy.data(), bytes.size());
  if (!root.IsMap()) return false;
  const flexbuffers::Map map = root.AsMap();
  const flexbuffers::TypedVector keys = map.Keys();
  const flexbuffers::Vector values = map.Values();
  if (keys.size() != values.size() || keys.size() > kMaxKeys) return false;
  ValueReader reader(bytes.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string key = keys[i].AsKey();
    Attr value;
    if (key.empty() || key == kRaw || out.contains(key) || !reader.read(values[i], value)) return false;
    out[key] = std::move(value);
  }
  return true;
}

}  // namespace

Result<std::string> write_custom_options(const Node& node) {
  if (const Attr* raw = node.attr(kRaw); raw && node.attrs.size() == 1) {
    if (const auto* bytes = std::get_if<std::string>(raw)) return *bytes;
  }
  flexbuffers::Builder b;
  const std::size_t start = b.StartMap();
  for (const auto& [name, value] : node.attrs) {
    if (!std::visit(Adder{b, name.c_str()}, value)) {
      return error(Code::internal,
                   "attribute \"" + name + "\" of " + node.op.str() + ": a custom operator cannot hold a tensor")
          .on_node(node.name)
          .on_op(node.op.str());
    }
  }
  b.EndMap(start);
  b.Finish();
  return std::string(b.GetBuffer().begin(), b.GetBuffer().end());
}

Attrs read_custom_options(std::span<const std::uint8_t> bytes) {
  Attrs attrs;
  if (bytes.empty()) return attrs;
  if (bytes.size() <= kMaxBytes && read_map(bytes, attrs)) return attrs;
  attrs.clear();
  attrs[std::string(kRaw)] = std::string(bytes.begin(), bytes.end());
  return attrs;
}

}  // namespace gantry::tflite_format
