// Reads ELF's section headers, .dynsym and its string table (System V ABI, chapter 4). Every offset is checked against
// the file's size: the file may be anything.
#include "host/cli/elf_exports.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>

#include "host/formats/format.hpp"

namespace gantry::cli {
namespace {

using Bytes = std::span<const std::byte>;

/// Copies the i-th T of an array at `offset`; false if it is not within the file.
template <class T>
bool read(Bytes file, std::uint64_t offset, std::uint64_t index, T& out) {
  const std::uint64_t size = file.size();
  if (offset > size || index > (size - offset) / sizeof(T) || (size - offset) - index * sizeof(T) < sizeof(T))
    return false;
  std::memcpy(&out, file.data() + offset + index * sizeof(T), sizeof(T));
  return true;
}

/// A string of the table, "" if it does not end within.
std::string_view string_at(Bytes file, const Elf64_Shdr& table, std::uint64_t offset) {
  if (table.sh_offset > file.size() || table.sh_size > file.size() - table.sh_offset || offset >= table.sh_size)
    return {};
  const std::string_view rest(reinterpret_cast<const char*>(file.data()) + table.sh_offset + offset,
                              table.sh_size - offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

bool exported(const Elf64_Sym& symbol) {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

Result<std::vector<std::string>> exported_symbols(const std::filesystem::path& library) {
  auto mapped = MappedFile::open(library);
  if (!mapped.ok()) return error(Code::plugin_load, mapped.error().message).at(library.string());
  const Bytes file = (*mapped)->bytes();
  const auto damaged = [&](const char* what) {
    return error(Code::plugin_load, std::string("not a shared library: ") + what).at(library.string());
  };

  Elf64_Ehdr header;
  if (!read(file, 0, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return damaged("it is no ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return damaged("it is for another machine");
  if (header.e_type != ET_DYN) return damaged("it is an ELF file of another kind");

  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!read(file, header.e_shoff, i, section)) return damaged("its section headers are cut off");
    if (section.sh_type != SHT_DYNSYM) continue;
    if (!read(file, header.e_shoff, section.sh_link, strings)) return damaged("its symbols have no names");
    for (std::uint64_t s = 0; s < section.sh_size / sizeof(Elf64_Sym); ++s) {
      Elf64_Sym symbol;
      if (!read(file, section.sh_offset, s, symbol)) return damaged("its symbols are cut off");
      if (exported(symbol)) names.emplace_back(string_at(file, strings, symbol.st_name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gantry::cli
