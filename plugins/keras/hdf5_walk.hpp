// What an HDF5 file holds, as records. The HDF5 library crashes and hangs on some damaged files, so this runs in a
// process of its own (hdf5_file.cpp).
#pragma once

#include <cstddef>
#include <span>

namespace gantry::keras {

/// Kinds of records; after each come its fields. Text is its size (8 bytes) and its bytes, a number 8 bytes.
enum class Hdf5Record : char {
  group = 'G',      // path
  attribute = 'A',  // path, name, count, that many texts
  placed = 'P',     // path, rank, dims, offset in the file: little-endian float32
  read = 'R',       // path, rank, dims, then the elements as little-endian float32
  unusable = 'U',   // path, why
  failed = 'X',     // why: the file is damaged
  end = 'E',
};

/// Writes them to the descriptor `out`. Never throws.
void walk_hdf5(std::span<const std::byte> bytes, int out) noexcept;

}  // namespace gantry::keras
