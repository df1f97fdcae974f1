// NumPy's files: .npy (one tensor; versions 1 to 3) and .npz (a zip of them). What NumPy's format.py writes is read, of
// the element types that have a number of bytes; files may be broken or hostile.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"
#include "host/verify/tensor.hpp"

namespace gantry {

/// The tensor in the bytes of a .npy file; bytes behind it are ignored, as NumPy does. `place` goes into errors.
/// Either byte order; Fortran order is put into row-major order.
/// Errors: input_malformed; input_type for strings, objects, dates and structures.
Result<Tensor> parse_npy(std::span<const std::byte> file, std::string_view place);
/// The bytes of a .npy file (version 1, C order, little-endian). Errors: output_format for types that NumPy lacks.
Result<std::vector<std::byte>> to_npy(const Tensor& tensor);

/// The members of a .npz file in its order, named without ".npy"; stored or deflated. Errors: as parse_npy.
Result<std::vector<NamedTensor>> parse_npz(std::span<const std::byte> file, std::string_view place);
/// The bytes of a .npz file, stored. Errors: as to_npy; output_too_large from 4 GiB.
Result<std::vector<std::byte>> to_npz(std::span<const NamedTensor> tensors);

/// The tensors of a file of either kind; that of a .npy file is named as the file, without extension.
/// Errors: input_not_found, and those above.
Result<std::vector<NamedTensor>> read_numpy(const std::filesystem::path& path);

}  // namespace gantry
