// .npy and .npz files: round trips, what NumPy itself writes, and broken ones.
#include <cstring>
#include <zlib.h>

#include <gmock/gmock.h>

#include "host/verify/npy.hpp"
#include "verify_models.hpp"

namespace gantry {
namespace {

using models::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class T>
std::vector<std::byte> packed(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A file of version 1 with this header and these data.
std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0' + static_cast<char>(header.size() & 0xff) +
                     static_cast<char>(header.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

std::string error_of(const std::string& file) {
  const auto result = parse_npy(bytes_of(file), "x.npy");
  return result.ok() ? "" : result.error().message;
}

TEST(VerifyNpy, RoundTripsEveryType) {
  for (const DType t : {DType::boolean, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8,
                        DType::uint16, DType::uint32, DType::uint64, DType::float16, DType::float32, DType::float64,
                        DType::complex64, DType::complex128}) {
    Tensor tensor{t, {2, 3}, std::vector<std::byte>(6 * dtype_bits(t) / 8)};
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes[i] = static_cast<std::byte>(t == DType::boolean ? i % 2 : i * 7);
    const auto file = to_npy(tensor);
    ASSERT_TRUE(file.ok()) << dtype_name(t);
    const auto header_end = file->size() - tensor.bytes.size();
    EXPECT_EQ(header_end % 64, 0u) << "the data are aligned";
    const auto back = parse_npy(*file, "x.npy");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, tensor) << dtype_name(t);
  }
}

TEST(VerifyNpy, RoundTripsScalarsAndEmptyTensors) {
  for (const Tensor& t : {models::floats({}, {1.5f}), models::floats({0}, {}), models::floats({3, 0, 2}, {}),
                          models::floats({1}, {2.5f})}) {
    const auto file = to_npy(t);
    ASSERT_TRUE(file.ok());
    const auto back = parse_npy(*file, "x.npy");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, t);
  }
}

TEST(VerifyNpy, RefusesToWriteWhatNumPyLacks) {
  const auto file = to_npy({DType::bfloat16, {1}, std::vector<std::byte>(2)});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Code::output_format);
}

TEST(VerifyNpy, WritesTheHeaderThatNumPyWrites) {
  const auto file = to_npy(models::floats({2, 1}, {1, 2}));
  ASSERT_TRUE(file.ok());
  const std::string text(reinterpret_cast<const char*>(file->data()), file->size());
  EXPECT_THAT(text, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }"));
  const auto vector = to_npy(models::floats({2}, {1, 2}));
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(vector->data()), vector->size()),
              HasSubstr("'shape': (2,), }"));
}

TEST(VerifyNpy, ReadsFortranOrder) {
  const std::vector<std::int32_t> columns{0, 3, 1, 4, 2, 5};  // [[0,1,2],[3,4,5]] column by column
  const auto data = packed(columns);
  const auto t = parse_npy(bytes_of(npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}\n",
                                        {reinterpret_cast<const char*>(data.data()), data.size()})),
                           "x.npy");
  ASSERT_TRUE(t.ok()) << t.error().message;
  EXPECT_EQ(t->bytes, packed<std::int32_t>({0, 1, 2, 3, 4, 5}));
}

TEST(VerifyNpy, ReadsBigEndianNumbersAndEveryVersion) {
  for (const char version : {1, 2, 3}) {
    const auto t = parse_npy(bytes_of(npy("{\"shape\": (2L,), \"descr\": \">u2\", \"fortran_order\": False,}",
                                          std::string("\x01\x02\x03\x04", 4), version)),
                             "x.npy");
    ASSERT_TRUE(t.ok()) << t.error().message;
    EXPECT_EQ(t->dtype, DType::uint16);
    EXPECT_EQ(t->bytes, packed<std::uint16_t>({0x0102, 0x0304}));
  }
}

TEST(VerifyNpy, ReadsComplexBigEndianPartByPart) {
  const auto t = parse_npy(
      bytes_of(npy("{'descr': '>c8', 'fortran_order': False, 'shape': ()}", std::string("\x3f\x80\0\0\x40\0\0\0", 8))),
      "x.npy");
  ASSERT_TRUE(t.ok()) << t.error().message;
  EXPECT_EQ(t->bytes, packed<float>({1.0f, 2.0f}));
}

TEST(VerifyNpy, MakesBooleansOfAnyByte) {
  const auto t = parse_npy(
      bytes_of(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\x01\xff", 3))), "x");
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->bytes, packed<std::uint8_t>({0, 1, 1}));
}

TEST(VerifyNpy, SaysWhatIsBroken) {
  EXPECT_THAT(error_of(""), HasSubstr("does not begin with NumPy's mark"));
  EXPECT_THAT(error_of("hello, this is text"), HasSubstr("does not begin with NumPy's mark"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x09\0\x04\0{}  ", 14)), HasSubstr("version 9"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x01\0\xff\xff{}", 12)), HasSubstr("ends in its header"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x02\0\xff\xff", 10)), HasSubstr("ends in its header"));
  EXPECT_THAT(error_of(npy("{}", "")), HasSubstr("its header is not"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "12345678")),
              HasSubstr("its header is not"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "")),
              HasSubstr("its header is not"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", "")),
              HasSubstr("its header is not"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "12345678")),
              HasSubstr("needs 12 bytes, but only 8"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999)}", "")),
              HasSubstr("too large"));
}

TEST(VerifyNpy, RefusesWhatIsNoNumber) {
  for (const std::string descr : {"'<U5'", "'|O'", "'<M8[s]'", "'f4'", "''", "'|S3'", "[('a', '<f4'), ('b', '<i4')]"}) {
    const auto result =
        parse_npy(bytes_of(npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,)}", "12345678")), "x");
    ASSERT_FALSE(result.ok()) << descr;
    EXPECT_EQ(result.error().code, Code::input_type) << descr << ": " << result.error().message;
  }
}

TEST(VerifyNpy, SurvivesEveryTruncationAndEveryChangedByte) {
  const auto file = to_npy(models::floats({2, 2}, {1, 2, 3, 4}));
  ASSERT_TRUE(file.ok());
  for (std::size_t n = 0; n < file->size(); ++n) {
    EXPECT_FALSE(parse_npy(std::span(*file).first(n), "x").ok()) << n;
  }
  for (std::size_t i = 0; i < 80; ++i) {
    for (const unsigned value : {0u, 0x27u, 0x28u, 0x39u, 0xffu}) {
      auto changed = *file;
      changed[i] = static_cast<std::byte>(value);
      (void)parse_npy(changed, "x");  // any result, but no crash
    }
  }
}

TEST(VerifyNpy, ReadsAFileUnderItsName) {
  const TempDir dir;
  const auto bytes = to_npy(models::floats({2}, {1, 2}));
  const std::string path = dir.write("image.npy", {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  const auto tensors = read_numpy(path);
  ASSERT_TRUE(tensors.ok());
  EXPECT_THAT(*tensors, ElementsAre(NamedTensor{"image", models::floats({2}, {1, 2})}));
  EXPECT_EQ(read_numpy(dir.path() + "/none.npy").error().code, Code::input_not_found);
  EXPECT_EQ(read_numpy(dir.path()).error().code, Code::input_not_found);
  EXPECT_EQ(read_numpy(dir.write("empty.npy", "")).error().code, Code::input_malformed);
}

std::vector<NamedTensor> two_tensors() {
  return {{"a", models::floats({2, 2}, {1, 2, 3, 4})}, {"b/x:0", {DType::int64, {1}, packed<std::int64_t>({-5})}}};
}

TEST(VerifyNpz, RoundTrips) {
  const auto tensors = two_tensors();
  const auto file = to_npz(tensors);
  ASSERT_TRUE(file.ok());
  const auto back = parse_npz(*file, "x.npz");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, tensors);
  const auto none = to_npz({});
  ASSERT_TRUE(parse_npz(*none, "x.npz").ok());
  EXPECT_TRUE(parse_npz(*none, "x.npz")->empty());
}

/// The number of `n` bytes, little-endian.
std::string le(std::uint64_t n, int bytes) {
  std::string out;
  for (; bytes > 0; --bytes, n >>= 8) out += static_cast<char>(n & 0xff);
  return out;
}

/// A deflated .npz of one member as numpy.savez_compressed writes it, with 64-bit sizes in the directory if `zip64`.
std::string deflated_npz(const std::string& member, bool zip64, std::uint64_t claimed_size) {
  std::string packed_data(compressBound(member.size()) + 64, '\0');
  z_stream s{};
  deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.data()));
  s.avail_in = static_cast<uInt>(member.size());
  s.next_out = reinterpret_cast<Bytef*>(packed_data.data());
  s.avail_out = static_cast<uInt>(packed_data.size());
  deflate(&s, Z_FINISH);
  packed_data.resize(s.total_out);
  deflateEnd(&s);
  const auto crc = crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(member.data()), member.size());
  const std::string name = "x.npy";
  const std::string common = le(45, 2) + le(0, 2) + le(8, 2) + le(0, 4) + le(crc, 4);
  const std::string local = le(0x04034b50, 4) + common + le(packed_data.size(), 4) + le(claimed_size, 4) +
                            le(name.size(), 2) + le(0, 2) + name + packed_data;
  const std::string extra =
      zip64 ? le(1, 2) + le(24, 2) + le(claimed_size, 8) + le(packed_data.size(), 8) + le(0, 8) : "";
  const std::uint64_t limit = 0xffffffff;
  std::string directory = le(0x02014b50, 4) + le(45, 2) + common + le(zip64 ? limit : packed_data.size(), 4) +
                          le(zip64 ? limit : claimed_size, 4) + le(name.size(), 2) + le(extra.size(), 2) + le(0, 2) +
                          le(0, 2) + le(0, 2) + le(0, 4) + le(zip64 ? limit : 0, 4) + name + extra;
  const std::size_t at = local.size();
  const std::size_t directory_size = directory.size();
  if (zip64) {
    const std::size_t end64 = at + directory.size();
    directory += le(0x06064b50, 4) + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 4) + le(0, 4) + le(1, 8) + le(1, 8) +
                 le(directory_size, 8) + le(at, 8);
    directory += le(0x07064b50, 4) + le(0, 4) + le(end64, 8) + le(1, 4);
  }
  return local + directory + le(0x06054b50, 4) + le(0, 4) + le(1, 2) + le(1, 2) + le(directory_size, 4) +
         le(zip64 ? limit : at, 4) + le(0, 2);
}

TEST(VerifyNpz, ReadsDeflatedMembersAndZip64) {
  const Tensor tensor = models::floats({1000}, std::vector<float>(1000, 2.0f));
  const auto member = to_npy(tensor);
  const std::string text(reinterpret_cast<const char*>(member->data()), member->size());
  for (const bool zip64 : {false, true}) {
    const auto back = parse_npz(bytes_of(deflated_npz(text, zip64, text.size())), "x.npz");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_THAT(*back, ElementsAre(NamedTensor{"x", tensor}));
  }
}

TEST(VerifyNpz, RefusesFalseSizes) {
  const auto member = to_npy(models::floats({1000}, std::vector<float>(1000, 2.0f)));
  const std::string text(reinterpret_cast<const char*>(member->data()), member->size());
  for (const std::uint64_t claimed : {text.size() - 1, text.size() + 1, std::size_t{0}, std::size_t{1} << 50}) {
    const auto result = parse_npz(bytes_of(deflated_npz(text, true, claimed)), "x.npz");
    ASSERT_FALSE(result.ok()) << claimed;
    EXPECT_THAT(result.error().message, HasSubstr("does not unpack to its size"));
  }
}

TEST(VerifyNpz, SaysWhatIsBroken) {
  const auto tensors = two_tensors();
  const auto whole = to_npz(tensors);
  const std::string text(reinterpret_cast<const char*>(whole->data()), whole->size());
  const auto message = [](const std::string& file) {
    const auto result = parse_npz(bytes_of(file), "x.npz");
    return result.ok() ? "" : result.error().message;
  };
  EXPECT_THAT(message(text.substr(0, text.size() / 2)), HasSubstr("its directory is missing"));
  std::string changed = text;
  changed[text.find("\x93NUMPY") + 20] ^= 1;
  EXPECT_THAT(message(changed), HasSubstr("the checksum of 'a.npy' is wrong"));
  changed = text;
  changed.replace(changed.rfind("a.npy"), 5, "a.txt");
  EXPECT_THAT(message(changed), HasSubstr("holds 'a.txt', which is no .npy file"));
  changed = text;
  changed[changed.rfind("PK\x01\x02") + 8] |= 1;
  EXPECT_THAT(message(changed), HasSubstr("packed in a way that is not known"));
}

TEST(VerifyNpz, SurvivesEveryTruncationAndEveryChangedByte) {
  const auto tensors = two_tensors();
  const auto file = to_npz(tensors);
  for (std::size_t n = 0; n < file->size(); ++n) EXPECT_FALSE(parse_npz(std::span(*file).first(n), "x").ok()) << n;
  for (std::size_t i = 0; i < file->size(); ++i) {
    for (const unsigned value : {0u, 1u, 0x7fu, 0xffu}) {
      auto changed = *file;
      changed[i] = static_cast<std::byte>(value);
      (void)parse_npz(changed, "x");
    }
  }
}

}  // namespace
}  // namespace gantry
