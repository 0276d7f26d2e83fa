// T-08, the large cases: a line of 100 MB, a file of more than 4 GiB.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "addnorm/core/error.h"
#include "addnorm/data/text.h"
#include "support/data.h"
#include "support/folder.h"
#include "support/near.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TextSources one(const fs::path& path) { return text_sources(std::vector<fs::path>{path}); }

double peak_mib() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// 100 MB without a line end: words of one to nine letters.
fs::path long_line(const TemporaryFolder& folder) {
  std::ofstream file(folder.path / "line", std::ios::binary);
  std::string part;
  for (std::uint32_t i = 0; i < 100; ++i) part += std::string(1 + i * 7 % 9, static_cast<char>('a' + i % 26)) + " ";
  for (std::size_t written = 0; written < 100000000; written += part.size()) file << part;
  return folder.path / "line";
}

TEST(LargeText, OfOneLineIsTokenisedInLittleMemory) {
  const TemporaryFolder folder;
  const TextSources sources = one(long_line(folder));
  const auto bounded = [&](const Tokenizer& tokenizer) {
    const double before = peak_mib();
    const auto tokens = token_file(sources, tokenizer, folder.path / "cache");
    EXPECT_EQ(tokens->source_bytes(), sources.bytes());
    EXPECT_TRUE(test::kSanitized || peak_mib() - before < 64) << peak_mib() << " MiB, before " << before;
    return tokens->size();
  };
  EXPECT_EQ(bounded(*byte_tokenizer()), sources.bytes());
  EXPECT_EQ(bounded(*char_tokenizer(sources)), sources.bytes());
  ADDNORM_NEEDS_DATA("tokenizer/gpt2_vocab.json");
  EXPECT_LT(bounded(*read_tokenizer(test::test_data() / "tokenizer/gpt2_vocab.json")), sources.bytes());
}

TEST(LargeText, OfMoreThan4GiBIsReadToItsEnd) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("sparse", "");
  fs::resize_file(path, (std::uint64_t{1} << 32) + 100);
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp((std::int64_t{1} << 32) + 5).write("\xFF", 1);
  EXPECT_TRUE(test::throws_saying<DataError>([&] { char_tokenizer(one(path)); }, {"sparse: at byte 4294967301", "0xFF"}));
}

}  // namespace
}  // namespace addnorm
