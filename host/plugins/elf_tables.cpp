// A file that was damaged without being cut short: most of what the dynamic loader trips over lies in three tables.
#include <algorithm>
#include <bit>
#include <string_view>

#include "host/plugins/elf_file.hpp"

namespace gantry::plugins::elf {
namespace {

constexpr const char* kBrokenSymbols = "its table of symbols is broken";
constexpr const char* kBrokenHash = "its hash table of symbols is broken";
constexpr const char* kBrokenRelocations = "its relocations are broken";

class Tables {
 public:
  Tables(File& file, const std::vector<Section>& sections, const std::vector<Segment>& segments)
      : file_(file), sections_(sections), segments_(segments) {}

  const char* check() {
    read_dynamic();
    for (const Section& s : sections_) {
      if (s.sh_type != SHT_DYNSYM) continue;
      if (const char* problem = symbols(s)) return problem;
    }
    for (const Section& s : sections_) {
      const bool loaded = (s.sh_flags & SHF_ALLOC) != 0;
      const char* problem = nullptr;
      if (s.sh_type == SHT_GNU_HASH) problem = hash(s);
      if (s.sh_type == SHT_RELA && loaded) problem = relocations(s);
      if (problem) return problem;
    }
    return nullptr;
  }

 private:
  // The loader takes the first relocations to be relative ones, as many as it is told.
  void read_dynamic() {
    for (const Segment& s : segments_) {
      if (s.p_type != PT_DYNAMIC) continue;
      const auto entries = file_.read<Dynamic>(s.p_offset, s.p_filesz / sizeof(Dynamic));
      if (!entries) continue;
      for (const Dynamic& d : *entries) {
        if (d.d_tag == DT_NULL) break;
        if (d.d_tag == DT_RELACOUNT) relative_count_ = d.d_un.d_val;
        if (d.d_tag == DT_RELA) relocations_ = d.d_un.d_ptr;
      }
    }
  }

  const char* symbols(const Section& s) {
    const auto table = file_.read<Symbol>(s.sh_offset, s.sh_size / sizeof(Symbol));
    if (!table || table->empty() || s.sh_link >= sections_.size()) return kBrokenSymbols;
    const Section& names = sections_[s.sh_link];
    const auto text = file_.read<char>(names.sh_offset, names.sh_size);
    if (!text || text->empty() || text->back() != '\0') return kBrokenSymbols;
    count_ = table->size();
    for (const Symbol& y : *table) {
      const bool address = y.st_shndx != SHN_UNDEF && y.st_shndx < SHN_LORESERVE && (y.st_info & 0xf) != STT_TLS;
      if (y.st_name >= text->size() || (address && !reachable(y.st_value))) return kBrokenSymbols;
    }
    return nullptr;
  }

  // A symbol may stand for the end of what is loaded.
  bool reachable(std::uint64_t address) const {
    return in_memory(segments_, address) || (address != 0 && in_memory(segments_, address - 1));
  }

  // Layout: four words, the filter, the buckets, then a word for each symbol from the first hashed on.
  const char* hash(const Section& s) {
    constexpr std::uint64_t kHead = 4 * sizeof(std::uint32_t);
    const auto head = file_.read<std::uint32_t>(s.sh_offset, 4);
    if (!head) return kBrokenHash;
    const std::uint64_t buckets = (*head)[0], first = (*head)[1], filter = (*head)[2], shift = (*head)[3];
    if (buckets == 0 || !std::has_single_bit(filter) || shift >= 32) return kBrokenHash;
    if (first > count_ && count_ != 0) return first == count_ + 1 ? nullptr : kBrokenHash;  // none is hashed
    const std::uint64_t begin = kHead + filter * sizeof(ElfW(Addr));
    if (begin + (buckets + count_ - first) * sizeof(std::uint32_t) > s.sh_size) return kBrokenHash;
    const auto bucket = file_.read<std::uint32_t>(s.sh_offset + begin, buckets);
    const auto chain = file_.read<std::uint32_t>(s.sh_offset + begin + buckets * sizeof(std::uint32_t), count_ - first);
    if (!bucket || !chain) return kBrokenHash;
    const bool inside =
        std::ranges::all_of(*bucket, [&](std::uint32_t b) { return b == 0 || (b >= first && b < count_); });
    const bool ended = chain->empty() || (chain->back() & 1) != 0;
    return inside && ended ? nullptr : kBrokenHash;
  }

  const char* relocations(const Section& s) {
    const auto table = file_.read<Relocation>(s.sh_offset, s.sh_size / sizeof(Relocation));
    const std::uint64_t relatives = s.sh_addr == relocations_ && kRelative != UINT64_MAX ? relative_count_ : 0;
    if (!table || relatives > table->size()) return kBrokenRelocations;
    for (std::size_t i = 0; i < table->size(); ++i) {
      const Relocation& r = (*table)[i];
      const std::uint64_t symbol = r.r_info >> (sizeof(void*) == 8 ? 32 : 8);
      const std::uint64_t type = r.r_info & (sizeof(void*) == 8 ? 0xffffffffu : 0xffu);
      if (!in_memory(segments_, r.r_offset) || symbol >= std::max<std::uint64_t>(count_, 1)) return kBrokenRelocations;
      const bool relative = type == kRelative;
      if (i < relatives && !relative) return kBrokenRelocations;
      if (relative && !reachable(static_cast<std::uint64_t>(r.r_addend))) return kBrokenRelocations;
    }
    return nullptr;
  }

#if defined(__x86_64__)
  static constexpr std::uint64_t kRelative = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
  static constexpr std::uint64_t kRelative = R_AARCH64_RELATIVE;
#else
  static constexpr std::uint64_t kRelative = UINT64_MAX;  // not checked
#endif

  File& file_;
  const std::vector<Section>& sections_;
  const std::vector<Segment>& segments_;
  std::uint64_t count_ = 0;                             // of symbols
  std::uint64_t relocations_ = 0, relative_count_ = 0;  // as the dynamic section says
};

}  // namespace

bool in_memory(const std::vector<Segment>& segments, std::uint64_t address) {
  return std::ranges::any_of(segments, [&](const Segment& s) {
    return s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_memsz;
  });
}

const char* check_tables(File& file, const std::vector<Section>& sections, const std::vector<Segment>& segments) {
  return Tables(file, sections, segments).check();
}

}  // namespace gantry::plugins::elf
