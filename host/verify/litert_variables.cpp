#include "host/verify/litert_variables.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

namespace gantry {
namespace {

// Fields of the schema, by their number.
constexpr unsigned kSubgraphs = 2, kTensors = 0, kIsVariable = 5;

/// A flatbuffer, read with a look at its bounds. Place 0 stands for "not there".
class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  std::size_t root() const { return follow(0); }
  std::size_t field(std::size_t table, unsigned number) const {
    const auto back = get<std::int32_t>(table);
    const auto vtable = static_cast<std::int64_t>(table) - back.value_or(0);
    if (!table || !back || vtable < 0) return 0;
    const auto place = static_cast<std::size_t>(vtable);
    const std::size_t entry = 4 + 2 * std::size_t{number};
    if (get<std::uint16_t>(place).value_or(0) < entry + 2) return 0;
    const std::size_t offset = get<std::uint16_t>(place + entry).value_or(0);
    return offset ? table + offset : 0;
  }
  std::vector<std::size_t> tables(std::size_t table, unsigned number) const {
    const std::size_t at = field(table, number), vector = at ? follow(at) : 0;
    const std::size_t count = vector ? get<std::uint32_t>(vector).value_or(0) : 0;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < std::min(count, file_.size() / 4); ++i) {
      if (const std::size_t t = follow(vector + 4 + 4 * i)) found.push_back(t);
    }
    return found;
  }
  bool is_set(std::size_t place) const { return place && get<std::uint8_t>(place).value_or(0) == 1; }

 private:
  template <class T>
  std::optional<T> get(std::size_t place) const {
    if (place > file_.size() || file_.size() - place < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + place, sizeof value);
    return value;
  }
  std::size_t follow(std::size_t place) const {
    const auto offset = get<std::uint32_t>(place);
    return offset && *offset ? place + *offset : 0;
  }

  std::span<const std::byte> file_;
};

}  // namespace

std::vector<std::size_t> variable_marks(std::span<const std::byte> file) {
  const Reader reader(file);
  std::vector<std::size_t> marks;
  for (const std::size_t subgraph : reader.tables(reader.root(), kSubgraphs)) {
    for (const std::size_t tensor : reader.tables(subgraph, kTensors)) {
      if (const std::size_t mark = reader.field(tensor, kIsVariable); reader.is_set(mark)) marks.push_back(mark);
    }
  }
  return marks;
}

std::unique_ptr<ModelWithVariables> ModelWithVariables::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status{};
  void* address = MAP_FAILED;
  if (::fstat(file, &status) == 0 && status.st_size > 0)
    address = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  ::close(file);
  if (address == MAP_FAILED) return nullptr;
  std::unique_ptr<ModelWithVariables> model(
      new ModelWithVariables({static_cast<std::byte*>(address), static_cast<std::size_t>(status.st_size)}));
  model->marks_ = variable_marks(model->bytes_);
  if (model->marks_.empty()) model.reset();
  return model;
}

ModelWithVariables::~ModelWithVariables() { ::munmap(bytes_.data(), bytes_.size()); }

void ModelWithVariables::take_marks_out() const {
  for (const std::size_t place : marks_) bytes_[place] = std::byte{0};
}
void ModelWithVariables::put_marks_back() const {
  for (const std::size_t place : marks_) bytes_[place] = std::byte{1};
}

}  // namespace gantry
