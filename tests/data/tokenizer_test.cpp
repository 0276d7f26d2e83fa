// Tokenizers: what they give, what they refuse, and that files are read as other programs read them.
#include "addnorm/data/tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/data.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;
using test::TemporaryFolder;
using test::throws_saying;

std::unique_ptr<Tokenizer> reread(const Tokenizer& tokenizer) {
  const TemporaryFolder folder;
  return read_tokenizer(folder.write("tokenizer.json", tokenizer.to_json()));
}

// ---- bytes and characters ----------------------------------------------------------------------------------------------

TEST(ByteTokenizer, GivesTheBytes) {
  const auto bytes = byte_tokenizer();
  EXPECT_EQ(bytes->kind(), "bytes");
  EXPECT_EQ(bytes->vocabulary(), 256u);
  EXPECT_EQ(bytes->encode("a\xFF"), (Ids{'a', 255}));
  EXPECT_EQ(bytes->decode(Ids{'a', 255, 0}), std::string("a\xFF\0", 3));
  EXPECT_TRUE(throws_saying<UsageError>([&] { bytes->decode(Ids{1, 256}); }, {"256", "0 to 255"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { bytes->decode(Ids{-1}); }, {"-1"}));
}

TEST(BuiltinTokenizers, AddWhatIsAskedForBehindTheOrdinaryIdsAndNoTextGivesIt) {
  const auto check = [](const Tokenizer& tokenizer, std::int32_t ordinary) {
    EXPECT_EQ(tokenizer.vocabulary(), static_cast<std::size_t>(ordinary + 3));
    EXPECT_EQ(tokenizer.special().begin, ordinary);
    EXPECT_EQ(tokenizer.special().end, ordinary + 1);
    EXPECT_EQ(tokenizer.special().mask, ordinary + 2);
    EXPECT_EQ(tokenizer.special().pad, std::nullopt);
    EXPECT_EQ(tokenizer.encode("<s>").size(), 3u);
    EXPECT_EQ(tokenizer.decode(Ids{ordinary, 0, ordinary + 1, ordinary + 2}), tokenizer.decode(Ids{0}));
  };
  check(*byte_tokenizer({.begin_end = true, .mask = true}), 256);
  check(*char_tokenizer("<s>a", {.begin_end = true, .mask = true}), 4);
  EXPECT_EQ(byte_tokenizer({.mask = true})->special().mask, 256);
}

TEST(CharTokenizer, NumbersTheCharactersInTheirOrder) {
  const auto chars = char_tokenizer("b\xF0\x9F\x98\x81 \xC3\xA9" "ab");
  EXPECT_EQ(chars->kind(), "chars");
  EXPECT_EQ(chars->vocabulary(), 5u);
  EXPECT_EQ(chars->encode("ab \xC3\xA9\xF0\x9F\x98\x81"), (Ids{1, 2, 0, 3, 4}));
  EXPECT_EQ(chars->decode(Ids{4, 3, 0}), "\xF0\x9F\x98\x81\xC3\xA9 ");
  EXPECT_EQ(chars->complete("ab\xF0\x9F"), 2u);
  EXPECT_EQ(chars->complete("ab\xC3\xA9"), 4u);
  EXPECT_EQ(chars->complete("ab\xFF"), 3u);  // no more bytes would help
}

TEST(CharTokenizer, RefusesWhatItDoesNotHaveWithPlaceAndCount) {
  const auto chars = char_tokenizer("ab");
  EXPECT_TRUE(throws_saying<DataError>([&] { chars->encode("abxcb"); }, {"byte 2", "U+0078 'x'", "2 such places"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { chars->encode("a\xC3"); }, {"byte 1", "0xC3", "not UTF-8"}));
  EXPECT_TRUE(throws_saying<DataError>([] { char_tokenizer("a\xED\xA0\x80"); }, {"byte 1", "0xED", "3 such places"}));
  EXPECT_TRUE(throws_saying<DataError>([] { char_tokenizer(""); }, {"empty"}));
}

TEST(BuiltinTokenizers, AreReadBackFromWhatTheyWrote) {
  for (const AddedTokens added : {AddedTokens{}, AddedTokens{.begin_end = true}, AddedTokens{.mask = true}, AddedTokens{true, true}}) {
    const auto bytes = byte_tokenizer(added), chars = char_tokenizer("<s>/ \n\t\"\\\x01\xC3\xA9\xF0\x9F\x98\x81", added);
    for (const Tokenizer* tokenizer : {bytes.get(), chars.get()}) {
      const auto again = reread(*tokenizer);
      EXPECT_EQ(again->kind(), tokenizer->kind());
      EXPECT_EQ(again->to_json(), tokenizer->to_json());
      EXPECT_EQ(again->special().begin, tokenizer->special().begin);
      EXPECT_EQ(again->special().mask, tokenizer->special().mask);
      EXPECT_EQ(again->encode("<s>\n\xC3\xA9"), tokenizer->encode("<s>\n\xC3\xA9"));
    }
  }
}

// ---- GPT-2 -------------------------------------------------------------------------------------------------------------

std::vector<std::string> texts_of(const fs::path& path) {
  std::vector<std::string> texts;
  const std::string all = test::text_of(path), between = "\n__ggml_vocab_test__\n";
  std::size_t begin = 0;
  for (std::size_t at; (at = all.find(between, begin)) != std::string::npos; begin = at + between.size())
    texts.push_back(all.substr(begin, at - begin));
  if (begin < all.size()) texts.push_back(all.substr(begin));
  return texts;
}

TEST(Gpt2Tokenizer, GivesTheIdsOfThePublishedCases) {
  ADDNORM_NEEDS_DATA("tokenizer/gpt2_vocab.json");
  const auto gpt2 = read_tokenizer(test::test_data() / "tokenizer/gpt2_vocab.json");
  EXPECT_EQ(gpt2->vocabulary(), 50257u);
  EXPECT_EQ(gpt2->special().end, 50256);
  const auto texts = texts_of(test::test_data() / "tokenizer/gpt2_tokens.inp");
  std::istringstream lines(test::text_of(test::test_data() / "tokenizer/gpt2_tokens.out"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_LT(count, texts.size());
    std::istringstream numbers(line);
    const Ids want{std::istream_iterator<std::int32_t>(numbers), {}};
    EXPECT_EQ(gpt2->encode(texts[count]), want) << texts[count];
    EXPECT_EQ(gpt2->decode(want), texts[count]);
  }
  EXPECT_EQ(count, texts.size());
  EXPECT_GT(count, 40u);
}

// ---- tokenizer.json, against Hugging Face's `tokenizers` (tools/make_tokenizer_goldens.py) -----------------------------

const nlohmann::json& goldens() {
  static const nlohmann::json all = nlohmann::json::parse(std::ifstream(ADDNORM_SOURCE_DIR "/tests/golden/tokenizers.json"));
  return all;
}

std::unique_ptr<Tokenizer> from_json(const nlohmann::json& json) {
  const TemporaryFolder folder;
  return read_tokenizer(folder.write("tokenizer.json", json.dump()));
}

TEST(TokenizerJson, GivesTheIdsAndTextsOfTheReference) {
  for (const auto& golden : goldens()["tokenizers"]) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto tokenizer = from_json(golden["tokenizer"]);
    const auto& texts = goldens()["texts"];
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i].get<std::string>(), decoded = golden["decoded"][i].get<std::string>();
      const Ids want = golden["ids"][i].get<Ids>();
      EXPECT_EQ(tokenizer->encode(text), want) << texts[i];
      const std::string ours = tokenizer->decode(want);
      if (decoded.find("\xEF\xBF\xBD") != std::string::npos) continue;  // bytes that are not UTF-8, which Python cannot tell
      EXPECT_TRUE(ours == decoded || ours == " " + decoded) << texts[i] << ": '" << ours << "', not '" << decoded << "'";
    }
  }
}

TEST(TokenizerJson, IsWrittenSoThatTheSameTokenizerIsReadAgain) {
  for (const auto& golden : goldens()["tokenizers"]) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto tokenizer = from_json(golden["tokenizer"]), again = reread(*tokenizer);
    EXPECT_EQ(again->to_json(), tokenizer->to_json());
    for (const auto& text : goldens()["texts"])
      EXPECT_EQ(again->encode(text.get<std::string>()), tokenizer->encode(text.get<std::string>()));
  }
}

}  // namespace
}  // namespace addnorm
