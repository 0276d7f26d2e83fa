// docs/testing.md, S-13, S-14 and the large parts of S-23 and S-44: headers near the limit of 100 MB, each in a child process
// whose peak memory is measured.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tensor/safetensors/support.h"

namespace addnorm::test {
namespace {

struct Outcome {
  int status;  // of exit(): 0 accepted, 1 rejected with DataError, 2 anything else
  std::size_t peak_bytes;
  double cpu_seconds;
};

Outcome open_in_a_child(const std::filesystem::path& path) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const SafetensorsReader reader(path);
      _exit(0);
    } catch (const DataError&) {
      _exit(1);
    } catch (...) {
      _exit(2);
    }
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status),
          .peak_bytes = static_cast<std::size_t>(usage.ru_maxrss) * 1024,
          .cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

class SafetensorsLarge : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "large.safetensors"; }

  /// Writes a header piece by piece, piece(i, out) for every i, and as many bytes of data; returns the header's length.
  template <class Piece>
  std::size_t write_header(std::size_t pieces, std::size_t data_bytes, Piece&& piece) {
    std::FILE* out = std::fopen(file().c_str(), "wb");
    std::fwrite("\0\0\0\0\0\0\0\0{", 1, 9, out);
    for (std::size_t i = 0; i < pieces; ++i) piece(i, out);
    std::fputc('}', out);
    const auto length = static_cast<std::size_t>(std::ftell(out)) - 8;
    std::fseek(out, 0, SEEK_SET);
    std::fwrite(length_bytes(length).data(), 1, 8, out);
    std::fclose(out);
    std::filesystem::resize_file(file(), 8 + length + data_bytes);
    return length;
  }

  /// Recorded as `child`peak_mb and `child`cpu_ms: a name already recorded would be overwritten.
  static void expect_within(const Outcome& outcome, std::size_t bytes, double seconds, const std::string& child = "") {
    RecordProperty(child + "peak_mb", static_cast<int>(outcome.peak_bytes / 1'000'000));
    RecordProperty(child + "cpu_ms", static_cast<int>(1000 * outcome.cpu_seconds));
    if (kSanitized) return;
    EXPECT_LE(outcome.peak_bytes, bytes);
    EXPECT_LE(outcome.cpu_seconds, seconds);
  }

  TemporaryFolder folder_;
};

TEST_F(SafetensorsLarge, ST13_AMillionTensorsInAHeaderOf99MegabytesTakeAtMostThreeTimesItsSize) {
  const std::size_t length = write_header(1'000'000, 4'000'000, [](std::size_t i, std::FILE* out) {
    std::fprintf(out, "%s\"layers.%07zu.attention.out.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}",
                 i ? "," : "", (i * 7919) % 1'000'000, i * 4, i * 4 + 4);
  });
  ASSERT_GT(length, 97'000'000u);
  ASSERT_LE(length, 100'000'000u);
  const Outcome outcome = open_in_a_child(file());
  EXPECT_EQ(outcome.status, 0);
  expect_within(outcome, 3 * length, 5.0);
}

TEST_F(SafetensorsLarge, ST14_TensorsThatShareOneRangeAreRejected) {
  const std::size_t length = write_header(1'500'000, 16, [](std::size_t i, std::FILE* out) {
    std::fprintf(out, "%s\"%zu\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}", i ? "," : "", i);
  });
  ASSERT_LE(length, 100'000'000u);
  const Outcome within_the_limit = open_in_a_child(file());
  EXPECT_EQ(within_the_limit.status, 1);
  expect_within(within_the_limit, 3 * length, 5.0);

  write_file(file(), length_bytes(600'000'000) + "{");  // ten million of them: too long a header, whatever it says
  std::filesystem::resize_file(file(), 700'000'000);
  const Outcome beyond = open_in_a_child(file());
  EXPECT_EQ(beyond.status, 1);
  expect_within(beyond, 257'500'000, 1.0, "beyond_");
}

TEST_F(SafetensorsLarge, ST23_AMetadataStringOf50MegabytesIsRead) {
  write_header(1, 0, [](std::size_t, std::FILE* out) {
    std::fputs("\"__metadata__\":{\"k\":\"", out);
    for (int i = 0; i < 50'000'000; ++i) std::fputc('v', out);
    std::fputs("\"}", out);
  });
  const Outcome outcome = open_in_a_child(file());
  EXPECT_EQ(outcome.status, 0);
  expect_within(outcome, 257'500'000, 1.0);
}

TEST_F(SafetensorsLarge, ST23_MillionsOfMetadataKeysTakeAtMostThreeTimesTheHeader) {
  const std::size_t length = write_header(7'500'000, 0, [](std::size_t i, std::FILE* out) {
    std::fprintf(out, "%s\"%zu\":\"\"%s", i == 0 ? "\"__metadata__\":{" : ",", i, i + 1 == 7'500'000 ? "}" : "");
  });
  ASSERT_LE(length, 100'000'000u);
  const Outcome outcome = open_in_a_child(file());
  EXPECT_EQ(outcome.status, 0);
  expect_within(outcome, 3 * length, 10.0);
}

TEST_F(SafetensorsLarge, ST44_RefusesToWriteAHeaderAboveAHundredMillionBytes) {
  write_file(file(), "old");
  SafetensorsWriter writer;
  writer.set_metadata("k", std::string(100'000'000, 'v'));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.save(file()); }, {"at most 100000000"}));
  EXPECT_EQ(read_file(file()), "old");
}

}  // namespace
}  // namespace addnorm::test
