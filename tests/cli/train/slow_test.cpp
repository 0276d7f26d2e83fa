// T-08, the largest case: more than 4 GiB of text in one line, trained on by the tool.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using test::Process;

// Zeros, which take no room, and letters from the beginning of the validation data on, which lies beyond 4 GiB. Whoever read ids
// modulo 2^32 would find zeros there too, which are easily learned.
TEST(LargeTraining, T08OnMoreThan4GiBInOneLineTakesLittleMemoryAndReadsTheEnd) {
  const test::TemporaryFolder folder;
  const std::uint64_t gib = std::uint64_t{1} << 30, bytes = 43 * gib / 10, room = 5 * gib;
  const std::uint64_t free = fs::space(folder.path).available;
  if (free < room) GTEST_SKIP() << "skipped: needs 5 GB of disk for the ids; " << free / gib << " GB are free";
  const fs::path text = folder.write("text", "");
  fs::resize_file(text, bytes);
  const std::uint64_t measured = bytes - bytes / 50;  // --validation 0.02
  ASSERT_GT(measured, 4 * gib);
  {
    std::string letters;
    for (std::uint32_t i = 0; i < 1 << 16; ++i) letters += static_cast<char>('a' + i * i % 23);
    std::fstream file(text, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::int64_t>(measured) - 1024);  // rounding, and the first token, which is no label
    file << letters;
    ASSERT_TRUE(file.good());
  }
  const Ended ended = Process(folder.path, {"train",
                                            "--data",
                                            "text",
                                            "--tokenizer",
                                            "bytes",
                                            "--validation",
                                            "0.02",
                                            "--layers",
                                            "1",
                                            "--d-model",
                                            "32",
                                            "--lr",
                                            "0.02",
                                            "--quiet",
                                            "--warmup-steps",
                                            "0",
                                            "--steps",
                                            "12",
                                            "--seq-len",
                                            "64",
                                            "--batch-size",
                                            "8",
                                            "--eval-samples",
                                            "64",
                                            "--json",
                                            "--out",
                                            "run"})
                          .end();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json result = json::parse(ended.out);
  EXPECT_LT(result.at("loss"), 1);                   // zeros are learned by now
  EXPECT_EQ(result.at("validation_accuracy"), 0.0);  // and none of them is where letters are
  EXPECT_TRUE(test::kSanitized || ended.peak_mib < 128) << ended.peak_mib << " MiB";
}

}  // namespace
}  // namespace addnorm
