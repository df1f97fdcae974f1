// Where the file goes: room, folders, permissions, and files beyond what one flatbuffer can hold.
#include <tflite_generated.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "host/formats/output_file.hpp"
#include "host/formats/tflite/writer_limits.hpp"
#include "tests/unit/tflite_support.hpp"

namespace gantry::tflite_format {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// y = x + k, with k of `n` floats; with a permute pending if `lazy`.
Graph weighted(std::int64_t n, bool lazy = false) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Constant k = Constant::of<float>({2, n / 2}, std::span<const float>(values));
  if (lazy) k = *k.permute(std::vector<std::int64_t>{1, 0});
  Graph g;
  g.name = "g";
  const ValueId x = g.add_input(g.main(), "x", k.type());
  const ValueId c = g.add_constant(k, "k");
  const NodeId a =
      g.add_node(g.end(g.main()), {.dialect = "tflite", .domain = "", .name = "ADD"}, std::vector{x, c}, 1);
  g.set_type(g.node(a).outputs[0], k.type());
  g.set_name(g.node(a).outputs[0], "y");
  g.add_output(g.main(), "y", g.node(a).outputs[0]);
  return g;
}

void expect_not_written(const fs::path& path, const Graph& g, std::string_view reason) {
  const auto r = write(g, path);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::output_not_written);
  EXPECT_EQ(r.error().place, path.string());
  EXPECT_THAT(r.error().message, HasSubstr(reason));
}

TEST(TfliteOutput, ReplacesAFileWhole) {
  const TemporaryFolder folder;
  std::ofstream(folder / "m.tflite") << "old";
  ASSERT_TRUE(write(weighted(8), folder / "m.tflite").ok());
  EXPECT_TRUE(verify_file(folder / "m.tflite").ok());
  EXPECT_EQ(folder.files(), 1u);
}

TEST(TfliteOutput, NoSuchFolder) {
  const TemporaryFolder folder;
  expect_not_written(folder / "no/such/m.tflite", weighted(8), "No such file or directory");
  EXPECT_EQ(folder.files(), 0u);
}

TEST(TfliteOutput, NotAFile) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "m.tflite");
  expect_not_written(folder / "m.tflite", weighted(8), "directory");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_not_written(folder / "pipe", weighted(8), "not a regular file");
  expect_not_written("/dev/null", weighted(8), "not a regular file");
  EXPECT_EQ(folder.files(), 2u);
}

TEST(TfliteOutput, ReadOnlyFolder) {
  constexpr uid_t kNobody = 65534;
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
  const uid_t user = ::geteuid();
  ASSERT_TRUE(user != 0 || ::seteuid(kNobody) == 0);  // root may write anywhere
  expect_not_written(folder / "m.tflite", weighted(8), "Permission denied");
  ASSERT_EQ(::seteuid(user), 0);
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(TfliteOutput, FileSizeLimit) {
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 1000;
  const TemporaryFolder folder;
  const Graph g = weighted(1000);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto r = write(g, folder / "m.tflite");
  ::setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::output_not_written);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(TfliteOutput, FullDisk) {
  const TemporaryFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "may not mount";
  for (const bool lazy : {false, true})
    expect_not_written(folder / "m.tflite", weighted(1 << 20, lazy), "No space left");
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_TRUE(write(weighted(1000), folder / "m.tflite").ok());
  ::umount(folder.path().c_str());
}

// Constants of all sizes, plain and with transforms pending, by every way that the bytes can take.
TEST(TfliteOutput, EveryWayOfWritingIsTheSame) {
  const TemporaryFolder folder;
  for (const bool lazy : {false, true}) {
    for (const std::int64_t n : {2, 1026, 20'000, 200'002, 5'000'000}) {
      SCOPED_TRACE(n);
      const Graph g = weighted(n, lazy);
      for (const Limits limits : {Limits(), Limits{.inline_bytes = 0}}) {
        const auto path = folder / "m.tflite";
        const auto r = write(g, path, {}, limits);
        ASSERT_TRUE(r.ok()) << r.error().message;
        EXPECT_EQ(fs::file_size(path), r->file_bytes);
        EXPECT_TRUE(verify_file(path).ok());
        const auto back = read(path);
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(print(*back, {.model_info = false}), print(g, {.model_info = false}));
      }
    }
  }
}

TEST(TfliteOutput, BuffersAfterTheFlatbufferAreAligned) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write(weighted(2002), folder / "m.tflite", {}, {.inline_bytes = 0}).ok());
  const std::string bytes = bytes_of(folder / "m.tflite");
  int outside = 0;
  for (const tflite::Buffer* b : *tflite::GetModel(bytes.data())->buffers()) {
    if (b->offset() <= 1) continue;
    ++outside;
    EXPECT_EQ(b->data(), nullptr);
    EXPECT_EQ(b->size(), 8008u);
    EXPECT_EQ(b->offset() % 16, 0u);
    EXPECT_EQ(b->offset() + b->size(), bytes.size());
  }
  EXPECT_EQ(outside, 1);
}

TEST(TfliteOutput, AFailureInsideAFillLeavesNothing) {
  const TemporaryFolder folder;
  {
    auto file = OutputFile::create(folder / "m.tflite", 1 << 20);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(folder.files(), 1u);
    const auto fail = [](std::span<std::byte>) { return Status(error(Code::internal, "no")); };
    EXPECT_EQ(file->fill(16, 100, fail).error().code, Code::internal);
    EXPECT_EQ(file->fill(5000, 1 << 19, fail).error().code, Code::internal);
  }
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace gantry::tflite_format
