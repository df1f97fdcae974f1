// Boost.DLL's library_info would be at hand for this, but it reads only the table of symbols that `strip` removes,
// takes the sizes in a broken file at their word (gigabytes of memory), and reads past the end of its text.
#include "host/plugins/elf.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "host/plugins/elf_file.hpp"

namespace gantry::plugins {
namespace {

using namespace elf;  // NOLINT: its own parts

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr int kMachine = EM_RISCV;
#else
constexpr int kMachine = EM_NONE;  // not checked
#endif

constexpr std::size_t kLongestName = 4096;  // of a symbol, to look at
constexpr std::size_t kMostListed = 1000;

const char* check_header(const Header& h) {
  if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return "it is no ELF file";
  constexpr int kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (h.e_ident[EI_CLASS] != kClass || h.e_ident[EI_DATA] != ELFDATA2LSB) return "it is for another kind of machine";
  if (kMachine != EM_NONE && h.e_machine != kMachine) return "it is for another kind of machine";
  if (h.e_type != ET_DYN) return "it is no shared library";
  if (h.e_phentsize != sizeof(Segment) || h.e_phnum == 0) return "its program header is broken";
  if (h.e_shnum != 0 && h.e_shentsize != sizeof(Section)) return "its section header is broken";
  return nullptr;
}

// The addresses that the dynamic loader follows without looking.
const char* check_dynamic(File& file, const std::vector<Segment>& segments, const Segment& dynamic) {
  const auto entries = file.read<Dynamic>(dynamic.p_offset, dynamic.p_filesz / sizeof(Dynamic));
  if (!entries) return "it is cut short";
  bool symbols = false, texts = false, ended = false;
  for (const Dynamic& d : *entries) {
    ended = ended || d.d_tag == DT_NULL;
    if (ended) break;
    switch (d.d_tag) {
      case DT_SYMTAB:
      case DT_STRTAB:
      case DT_HASH:
      case DT_GNU_HASH:
      case DT_RELA:
      case DT_REL:
      case DT_JMPREL:
      case DT_PLTGOT:
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY:
      case DT_VERSYM:
      case DT_VERNEED:
      case DT_VERDEF:
        if (!in_memory(segments, d.d_un.d_ptr)) return "its dynamic section is broken";
        symbols = symbols || d.d_tag == DT_SYMTAB;
        texts = texts || d.d_tag == DT_STRTAB;
        break;
      case DT_RELASZ:
      case DT_PLTRELSZ:
      case DT_STRSZ:
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAYSZ:
        if (d.d_un.d_val > file.size()) return "its dynamic section is broken";
        break;
      default:
        break;
    }
  }
  return symbols && texts && ended ? nullptr : "its dynamic section is broken";
}

const char* check_segments(File& file, const std::vector<Segment>& segments) {
  const Segment* dynamic = nullptr;
  bool loads = false;
  for (const Segment& s : segments) {
    if (s.p_type == PT_DYNAMIC) dynamic = &s;
    if (s.p_type != PT_LOAD && s.p_type != PT_DYNAMIC) continue;
    if (!file.holds(s.p_offset, s.p_filesz)) return "it is cut short";
    if (s.p_filesz > s.p_memsz || s.p_vaddr + s.p_memsz < s.p_vaddr) return "its program header is broken";
    loads = loads || s.p_type == PT_LOAD;
  }
  if (!loads || !dynamic) return "it is no shared library";
  return check_dynamic(file, segments, *dynamic);
}

// Calls `f` with the name of every dynamic symbol that the library defines and lets others see.
template <class F>
const char* for_each_export(File& file, const Header& h, F f) {
  const auto sections = file.read<Section>(h.e_shoff, h.e_shnum);
  if (!sections) return "it is cut short";
  for (const Section& s : *sections) {
    if (s.sh_type != SHT_DYNSYM) continue;
    const auto symbols = file.read<Symbol>(s.sh_offset, s.sh_size / sizeof(Symbol));
    if (!symbols || s.sh_link >= sections->size()) return "its section header is broken";
    const Section& strings = (*sections)[s.sh_link];
    const auto names = file.read<char>(strings.sh_offset, strings.sh_size);
    if (!names) return "its section header is broken";
    const std::string_view text(names->data(), names->size());
    for (const Symbol& y : *symbols) {
      const auto binding = y.st_info >> 4, visibility = y.st_other & 3;  // as ELF64_ST_BIND and ELF64_ST_VISIBILITY
      const bool visible = binding != STB_LOCAL && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
      if (y.st_shndx == SHN_UNDEF || !visible || y.st_name >= text.size()) continue;
      const std::string_view name = text.substr(y.st_name, kLongestName);
      f(name.substr(0, name.find('\0')));
    }
  }
  return nullptr;
}

// Whether the table of dynamic symbols defines the symbol. A library without section headers is given the benefit of
// the doubt: looking the symbol up after opening decides.
const char* check_export(File& file, const Header& h, std::string_view symbol) {
  if (h.e_shnum == 0) return nullptr;
  bool found = false;
  const char* problem = for_each_export(file, h, [&](std::string_view name) { found = found || name == symbol; });
  if (problem) return problem;
  return found ? nullptr : "it does not export gantry_plugin_entry, so it is no plugin of Gantry";
}

const char* problem_of(File& file, std::string_view symbol) {
  if (!file.good()) return "it cannot be read";
  const auto header = file.read<Header>(0, 1);
  if (!header) return file.size() == 0 ? "it is empty" : "it is no ELF file";
  if (const char* problem = check_header(header->front())) return problem;
  const auto segments = file.read<Segment>(header->front().e_phoff, header->front().e_phnum);
  if (!segments) return "it is cut short";
  if (const char* problem = check_segments(file, *segments)) return problem;
  if (const char* problem = check_export(file, header->front(), symbol)) return problem;
  const auto sections = file.read<Section>(header->front().e_shoff, header->front().e_shnum);
  return sections ? check_tables(file, *sections, *segments) : "it is cut short";
}

}  // namespace

Status check_shared_library(const std::filesystem::path& path, std::string_view symbol) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) {
    return error(Code::plugin_load, "the library does not exist").at(path.string());
  }
  if (!std::filesystem::is_regular_file(path, problem)) {
    return error(Code::plugin_load, "the library is no file").at(path.string());
  }
  File file(path);
  if (const char* text = problem_of(file, symbol)) {
    return error(Code::plugin_load, std::string("the library cannot be opened: ") + text).at(path.string());
  }
  return {};
}

Result<std::vector<std::string>> exported_symbols(const std::filesystem::path& path) {
  const auto problem = [&](const char* text) {
    return error(Code::plugin_load, std::string("the library cannot be read: ") + text).at(path.string());
  };
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return problem("it is no file");
  File file(path);
  const auto header = file.read<Header>(0, 1);
  if (!header) return problem("it is no ELF file");
  if (const char* text = check_header(header->front())) return problem(text);
  std::vector<std::string> names;
  const char* text = for_each_export(file, header->front(), [&](std::string_view name) {
    if (names.size() < kMostListed) names.emplace_back(name);
  });
  if (text) return problem(text);
  std::ranges::sort(names);
  return names;
}

}  // namespace gantry::plugins
