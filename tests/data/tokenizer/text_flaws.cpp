// What a text has that a vocabulary has no token for: counted, and found quickly however long a word is.
#include <gtest/gtest.h>

#include <ctime>

#include "addnorm/core/error.h"
#include "addnorm/data/tokenizer.h"
#include "support/folder.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

constexpr const char* kByteLevel = R"(, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";

/// BPE of two letters and two words. A text without white space is one word.
std::unique_ptr<Tokenizer> two_letters(const std::string& steps, const std::string& of_model = "") {
  const test::TemporaryFolder folder;
  return read_tokenizer(
      folder.write("tokenizer.json", concat(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "xy": 3},)", of_model,
                                            R"( "merges": ["a b"]})", steps, "}")));
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

template <class Body>
double seconds_of(Body&& body) {
  const std::clock_t begun = std::clock();
  body();
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

TEST(TextFlaws, AreTheCharactersWithoutATokenOrTheWordWhereNoneHasOne) {
  for (const char* steps : {"", kByteLevel}) {
    const auto tokenizer = two_letters(steps);
    const TextFlaws some = tokenizer->flaws("abxab\u00e9x");
    EXPECT_EQ(some.count, 3u);
    EXPECT_EQ(some.first, 2u);
    EXPECT_EQ(some.what, "the character U+0078 'x', for which the vocabulary has no token");
    const TextFlaws all = tokenizer->flaws("xyz");
    EXPECT_EQ(all.count, 1u);
    EXPECT_EQ(all.what, "'xyz', for which the vocabulary has no token");
    EXPECT_EQ(tokenizer->flaws("abba").count, 0u);
    EXPECT_EQ(tokenizer->flaws("").count, 0u);
    EXPECT_EQ(tokenizer->flaws("xy").count, 1u);  // a token, but only of what is joined
    EXPECT_EQ(two_letters(steps, R"("ignore_merges": true,)")->flaws("xy").count, 0u);
    EXPECT_EQ(two_letters(steps, R"("unk_token": "b",)")->flaws("xyz").count, 0u);
  }
}

TEST(TextFlaws, OfAWordWhoseCharactersAreTokensOnlyByThemselvesIsTheWord) {
  const test::TemporaryFolder folder;  // the two bytes of an e with an accent are one token, but none each
  const auto tokenizer = read_tokenizer(
      folder.write("tokenizer.json", concat(R"({"model": {"type": "BPE", "vocab": {"a": 0, "\u00c3\u00a9": 1}, "merges": [],)",
                                            R"("ignore_merges": true})", kByteLevel, "}")));
  EXPECT_EQ(tokenizer->encode("\u00e9"), std::vector<std::int32_t>{1});
  const TextFlaws found = tokenizer->flaws("a\u00e9");
  EXPECT_EQ(found.count, 1u);
  EXPECT_EQ(found.what, "'a\u00e9', for which the vocabulary has no token");
  EXPECT_THROW(tokenizer->encode("a\u00e9"), DataError);
}

TEST(TextFlaws, AWordIsShownByItsBeginningOnOneLine) {
  const auto tokenizer = two_letters("");
  EXPECT_EQ(tokenizer->flaws("x\n\x1b").what, "'x\\n\\x1b', for which the vocabulary has no token");
  const std::string umlauts = "x" + repeated("\u00fc", 50);  // byte 60 is inside of a character
  EXPECT_EQ(tokenizer->flaws(umlauts).what,
            concat("'x", repeated("\u00fc", 29), "...' (101 bytes), for which the vocabulary has no token"));
}

// Measured against encoding as many letters that are known, so that it holds on any machine and under sanitizers. A message for
// each character, of which one is reported, would take three to eight times as long as that.
TEST(TextFlaws, OfAVeryLongWordTakeNoLongerThanEncodingOne) {
  const std::size_t length = test::kSanitized ? 1 << 18 : 1 << 21;
  for (const char* steps : {"", kByteLevel}) {
    const auto tokenizer = two_letters(steps);
    const std::string known = repeated("ba", length / 2), none(length, 'x'), every_other = repeated("ax", length / 2);
    const double encoding = seconds_of([&] { EXPECT_GT(tokenizer->encode(known).size(), length / 2); });
    const double word = seconds_of([&] { EXPECT_EQ(tokenizer->flaws(none).count, 1u); });
    const double characters = seconds_of([&] { EXPECT_EQ(tokenizer->flaws(every_other).count, length / 2); });
    EXPECT_LT(word, 1.5 * encoding + 0.05) << steps;
    EXPECT_LT(characters, 1.5 * encoding + 0.05) << steps;
  }
}

}  // namespace
}  // namespace addnorm
