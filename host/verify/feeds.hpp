// What a model gets to run on: tensors of the user's files, and random ones for the rest.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/ir/result.hpp"
#include "host/verify/runtime.hpp"

namespace gantry {

/// A tensor from a file of the user's.
struct GivenTensor {
  std::string name;   // of the input that it is for
  bool exact = true;  // false: the name is that of a .npy file and may be that of no input
  Tensor tensor;
  std::string place;  // the file, for messages
};

/// Reads "NAME=FILE.npy", "FILE.npy" (named as the file) and "FILE.npz" (all of its members).
/// Errors: those of read_numpy; usage, if two are for one input.
Result<std::vector<GivenTensor>> read_given(const std::vector<std::string>& arguments);

struct FeedOptions {
  std::vector<GivenTensor> given;
  std::map<std::string, std::vector<std::int64_t>> shapes;  // by input; for dimensions that the model leaves open
  bool allow_unused_shapes = false;                         // names that are no input's mean nothing
  std::uint64_t seed = 0;
};

/// One tensor for each input. An input that is not given is random: floating-point numbers of mean 0 and variance 1
/// (each the sum of 12 uniform ones, so that every machine makes the same), integers from 0 to 10 that do not depend on
/// the type, booleans. It depends on the seed and on the input's name only. Dimensions that are open are as in
/// `shapes`, equal where their symbols are equal, and else 1. A single file without a name that fits is for a single
/// input. Errors: usage, if a name is that of no input or a shape does not fit; input_type, if a given tensor does not
/// fit; unsupported_type, for an input of strings.
Result<std::map<std::string, Tensor>> make_feeds(const std::vector<Port>& inputs, const FeedOptions& options);

/// The random tensor of make_feeds. `dims` are all >= 0, and their product times the size of an element fits memory.
Tensor random_tensor(DType dtype, const std::vector<std::int64_t>& dims, std::string_view name, std::uint64_t seed);

}  // namespace gantry
