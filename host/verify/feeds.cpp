#include "host/verify/feeds.hpp"

#include <algorithm>
#include <cstring>

#include "host/ir/float16.hpp"
#include "host/verify/npy.hpp"

namespace gantry {

namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014): a counter and a mixing function, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Mean 0, variance 1, within +-6: the sum of 12 uniform numbers of 16 bits, less 6. No library's logarithm or
  /// cosine has a part in it.
  float normal() {
    std::int64_t sum = 0;
    for (int word = 0; word < 3; ++word) {
      const std::uint64_t b = bits();
      for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>(b >> shift & 0xffff);
    }
    return static_cast<float>(static_cast<double>(2 * sum - 12 * 0xffff) / (2.0 * 0x10000));
  }

  unsigned below(unsigned n) { return static_cast<unsigned>((bits() >> 32) * n >> 32); }

 private:
  std::uint64_t state_;
};

/// FNV-1a: inputs get numbers by their name, so that another input does not change them.
std::uint64_t hash(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

template <class T>
void fill(std::vector<std::byte>& bytes, auto&& next) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = static_cast<T>(next());
    std::memcpy(&bytes[at], &value, sizeof(T));
  }
}

std::string list(const std::vector<Port>& inputs) {
  std::string text;
  for (const Port& port : inputs) text += (text.empty() ? "" : ", ") + port.name;
  return text.empty() ? "it has none" : "it has " + text;
}

/// The name that `name` means: itself, or that of the only input, if `name` is not a name that was chosen for it.
Result<std::string> resolve(const std::vector<Port>& inputs, const std::string& name, bool exact, std::string what) {
  const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const Port& p) { return p.name == name; });
  if (known) return name;
  if (!exact && inputs.size() == 1) return inputs[0].name;
  return error(Code::usage, what + " for '" + name + "', but the model has no such input").try_this(list(inputs));
}

bool fits(const Type& type, const std::vector<std::int64_t>& dims) {
  if (!type.ranked) return true;
  if (type.rank() != dims.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || (type.dims[i].known() && type.dims[i].size != dims[i])) return false;
  }
  return true;
}

using Symbols = std::map<std::string, std::int64_t>;

/// Notes the sizes that `dims` give to the symbols of `type`; the first that is given stays.
void learn(const Type& type, const std::vector<std::int64_t>& dims, Symbols& symbols) {
  for (std::size_t i = 0; i < std::min(type.dims.size(), dims.size()); ++i) {
    if (!type.dims[i].symbol.empty()) symbols.emplace(type.dims[i].symbol, dims[i]);
  }
}

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// The shapes that files and options give, by the name of the input.
Result<Shapes> given_shapes(const std::vector<Port>& inputs, const FeedOptions& options,
                            const std::map<std::string, const GivenTensor*>& given) {
  Shapes shapes;
  for (const auto& [key, dims] : options.shapes) {
    if (options.allow_unused_shapes && !key.empty() && std::ranges::find(inputs, key, &Port::name) == inputs.end())
      continue;
    GANTRY_ASSIGN(const std::string name, resolve(inputs, key, !key.empty(), "a shape is given"));
    shapes[name] = dims;
  }
  for (const Port& port : inputs) {
    const auto found = given.find(port.name);
    if (found != given.end()) {
      const GivenTensor& g = *found->second;
      if (g.tensor.dtype != port.type.dtype || !fits(port.type, g.tensor.dims)) {
        return error(Code::input_type, "the input '" + port.name + "' is " + port.type.str() + ", but the file holds " +
                                           g.tensor.type_text())
            .at(g.place);
      }
      shapes[port.name] = g.tensor.dims;
    }
    const auto shape = shapes.find(port.name);
    if (shape != shapes.end() && !fits(port.type, shape->second)) {
      return error(Code::usage,
                   "the shape given for the input '" + port.name + "' does not fit: it is " + port.type.str());
    }
  }
  return shapes;
}

/// Where the name in "NAME=FILE" ends, npos if there is none. Both may hold a '=': what is a file decides.
std::size_t name_end(const std::string& argument) {
  std::error_code ec;
  if (std::filesystem::exists(argument, ec)) return std::string::npos;
  for (std::size_t at = argument.find('='); at != std::string::npos; at = argument.find('=', at + 1)) {
    if (std::filesystem::exists(argument.substr(at + 1), ec)) return at;
  }
  return argument.find('=');
}

}  // namespace

Result<std::vector<GivenTensor>> read_given(const std::vector<std::string>& arguments) {
  std::vector<GivenTensor> all;
  for (const std::string& argument : arguments) {
    const std::size_t equals = name_end(argument);
    const bool named = equals != std::string::npos;
    const std::filesystem::path path = named ? argument.substr(equals + 1) : argument;
    GANTRY_ASSIGN(std::vector<NamedTensor> tensors, read_numpy(path));
    if (named && tensors.size() != 1) {
      return error(Code::usage, "'" + argument + "' names one input, but the file holds " +
                                    std::to_string(tensors.size()) + " tensors");
    }
    for (NamedTensor& t : tensors) {
      GivenTensor g{t.name, path.extension() == ".npz", std::move(t.tensor), path.string()};
      if (named) g.name = argument.substr(0, equals);
      if (named) g.exact = true;
      const bool twice = std::any_of(all.begin(), all.end(), [&](const GivenTensor& o) { return o.name == g.name; });
      if (twice) return error(Code::usage, "two files are given for the input '" + g.name + "'");
      all.push_back(std::move(g));
    }
  }
  return all;
}

Result<std::map<std::string, Tensor>> make_feeds(const std::vector<Port>& inputs, const FeedOptions& options) {
  std::map<std::string, const GivenTensor*> given;
  for (const GivenTensor& g : options.given) {
    GANTRY_ASSIGN(const std::string name, resolve(inputs, g.name, g.exact, "a tensor is given"));
    given[name] = &g;
  }
  GANTRY_ASSIGN(const Shapes shapes, given_shapes(inputs, options, given));
  Symbols symbols;
  for (const Port& port : inputs) {
    if (const auto shape = shapes.find(port.name); shape != shapes.end()) learn(port.type, shape->second, symbols);
  }
  std::map<std::string, Tensor> feeds;
  for (const Port& port : inputs) {
    if (const auto found = given.find(port.name); found != given.end()) {
      feeds[port.name] = found->second->tensor;
      continue;
    }
    std::vector<std::int64_t> dims;
    if (const auto shape = shapes.find(port.name); shape != shapes.end()) {
      dims = shape->second;
    } else {
      for (const Dim& d : port.type.dims) {
        const auto symbol = symbols.find(d.symbol);
        dims.push_back(d.known() ? d.size : symbol == symbols.end() ? 1 : symbol->second);
      }
    }
    if (dtype_bits(port.type.dtype) < 8) {
      return error(Code::unsupported_type,
                   "no random values can be made for the input '" + port.name + "' of type " + port.type.str());
    }
    const auto elements = element_count(dims);
    const auto bytes = elements ? packed_bytes(port.type.dtype, static_cast<std::uint64_t>(*elements)) : std::nullopt;
    if (!bytes || *bytes >> 36 != 0) {
      return error(Code::input_too_large, "the input '" + port.name + "' is too large: " + port.type.str());
    }
    feeds[port.name] = random_tensor(port.type.dtype, dims, port.name, options.seed);
  }
  return feeds;
}

Tensor random_tensor(DType dtype, const std::vector<std::int64_t>& dims, std::string_view name, std::uint64_t seed) {
  Random random(seed ^ hash(name));
  const auto elements = static_cast<std::uint64_t>(element_count(dims).value_or(0));
  Tensor t{dtype, dims, std::vector<std::byte>(packed_bytes(dtype, elements).value_or(0))};
  const auto normal = [&] { return random.normal(); };
  const auto small = [&] { return random.below(11); };
  switch (dtype) {
    case DType::float32:
    case DType::complex64:
      fill<float>(t.bytes, normal);
      break;
    case DType::float64:
    case DType::complex128:
      fill<double>(t.bytes, normal);
      break;
    case DType::float16:
      fill<std::uint16_t>(t.bytes, [&] { return f32_to_f16(random.normal()); });
      break;
    case DType::bfloat16:
      fill<std::uint16_t>(t.bytes, [&] { return f32_to_bf16(random.normal()); });
      break;
    case DType::boolean:
      fill<std::uint8_t>(t.bytes, [&] { return random.below(2); });
      break;
    case DType::int8:
    case DType::uint8:
      fill<std::uint8_t>(t.bytes, small);
      break;
    case DType::int16:
    case DType::uint16:
      fill<std::uint16_t>(t.bytes, small);
      break;
    case DType::int32:
    case DType::uint32:
      fill<std::uint32_t>(t.bytes, small);
      break;
    case DType::int64:
    case DType::uint64:
      fill<std::uint64_t>(t.bytes, small);
      break;
    default:
      break;
  }
  return t;
}

}  // namespace gantry
