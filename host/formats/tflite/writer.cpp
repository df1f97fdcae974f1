#include "host/formats/tflite/writer.hpp"

#include <vector>

#include "host/formats/output_file.hpp"
#include "host/formats/tflite/writer_limits.hpp"

namespace gantry::tflite_format {
namespace {

Status write_payload(OutputFile& file, const Payload& p) {
  if (const auto bytes = p.constant->direct()) return file.write(p.offset, *bytes);
  return file.fill(p.offset, p.constant->byte_size(),
                   [&](std::span<std::byte> place) { return p.constant->write(place); });
}

// The skeleton and the payloads take turns; each byte of the file is written once.
Status write_file(OutputFile& file, const Skeleton& skeleton) {
  const std::span<const std::byte> bytes = skeleton.bytes();
  std::uint64_t done = 0;  // of the skeleton
  for (const Payload& p : skeleton.payloads()) {
    const std::uint64_t until = std::min<std::uint64_t>(p.offset, bytes.size());
    GANTRY_TRY(file.write(done, bytes.subspan(done, until - done)));
    GANTRY_TRY(write_payload(file, p));
    done = std::min<std::uint64_t>(p.offset + p.constant->byte_size(), bytes.size());
  }
  return file.write(done, bytes.subspan(done));
}

WriteStats stats_of(const ModelPlan& plan, const Skeleton& skeleton) {
  return {.file_bytes = skeleton.file_bytes(),
          .weight_bytes = plan.weight_bytes,
          .min_runtime_version = plan.min_runtime_version};
}

}  // namespace

Result<WriteStats> plan(std::span<const SignatureGraph> graphs, const WriteOptions& options) {
  GANTRY_ASSIGN(const ModelPlan plan, plan_model(graphs));
  GANTRY_ASSIGN(const Skeleton skeleton, Skeleton::build(plan, options, Limits()));
  return stats_of(plan, skeleton);
}

Result<WriteStats> write(std::span<const SignatureGraph> graphs, const std::filesystem::path& path,
                         const WriteOptions& options, const Limits& limits) {
  GANTRY_ASSIGN(const ModelPlan plan, plan_model(graphs));
  GANTRY_ASSIGN(const Skeleton skeleton, Skeleton::build(plan, options, limits));
  GANTRY_ASSIGN(OutputFile file, OutputFile::create(path, skeleton.file_bytes()));
  GANTRY_TRY(write_file(file, skeleton));
  GANTRY_TRY(file.commit());
  return stats_of(plan, skeleton);
}

Result<WriteStats> write(std::span<const SignatureGraph> graphs, const std::filesystem::path& path,
                         const WriteOptions& options) {
  return write(graphs, path, options, Limits());
}

Result<WriteStats> plan(const Graph& g, const WriteOptions& options) {
  return plan(std::vector{SignatureGraph{&g, options.signature}}, options);
}

Result<WriteStats> write(const Graph& g, const std::filesystem::path& path, const WriteOptions& options) {
  return write(std::vector{SignatureGraph{&g, options.signature}}, path, options);
}

}  // namespace gantry::tflite_format
