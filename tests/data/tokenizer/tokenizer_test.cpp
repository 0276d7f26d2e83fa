// Tokenizers: what they give, what they refuse, and that files are read as other programs read them.
#include "addnorm/data/tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/data.h"
#include "support/folder.h"
#include "support/near.h"
#include "support/sanitizer.h"

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

TEST(BuiltinTokenizers, AddWhatIsAskedForAfterTheOrdinaryIdsAndNoTextGivesIt) {
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
  const auto chars = char_tokenizer(
      "b\xF0\x9F\x98\x81 \xC3\xA9"
      "ab");
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
  for (const AddedTokens added :
       {AddedTokens{}, AddedTokens{.begin_end = true}, AddedTokens{.mask = true}, AddedTokens{true, true}}) {
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

// Read once: 50,257 tokens take their time under sanitizers.
const Tokenizer* gpt2_tokenizer() {
  static const auto gpt2 = read_tokenizer(test::test_data() / "tokenizer/gpt2_vocab.json");
  return gpt2.get();
}

TEST(Gpt2Tokenizer, GivesTheIdsOfThePublishedCases) {
  ADDNORM_NEEDS_DATA("tokenizer/gpt2_vocab.json");
  const Tokenizer* gpt2 = gpt2_tokenizer();
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
      if (decoded.find("\xEF\xBF\xBD") != std::string::npos) continue;  // bytes that are not UTF-8, which Python cannot show
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

// Encodes as large files are: `step` bytes more at a time, what is complete is taken.
Ids encoded_in_pieces(const Tokenizer& tokenizer, std::string_view text, std::size_t step) {
  Ids ids;
  std::string held;
  for (std::size_t at = 0; at < text.size(); at += step) {
    held += text.substr(at, step);
    const std::size_t whole = at + step >= text.size() ? held.size() : tokenizer.complete(held);
    const Ids more = tokenizer.encode(std::string_view(held).substr(0, whole));
    ids.insert(ids.end(), more.begin(), more.end());
    held.erase(0, whole);
  }
  return ids;
}

TEST(TokenizerJson, LargeTextsInPiecesGiveTheIdsOfTheWhole) {
  std::string text;
  for (int round = 0; round < 3; ++round)
    for (const auto& part : goldens()["texts"]) text += part.get<std::string>() + (round == 0 ? " " : round == 1 ? "\n" : "");
  std::size_t in_pieces = 0;
  for (const auto& golden : goldens()["tokenizers"]) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto tokenizer = from_json(golden["tokenizer"]);
    in_pieces += tokenizer->complete(text) > 0;
    const Ids want = tokenizer->encode(text);
    for (const std::size_t step : {1u, 7u, 64u, 1000u}) EXPECT_EQ(encoded_in_pieces(*tokenizer, text, step), want) << step;
  }
  EXPECT_EQ(in_pieces, 10u);  // the others see a text as one word, or strip its ends
}

TEST(TokenizerJson, KnowsTheTokensThatStandForNoText) {
  const auto special = [](const char* name) {
    for (const auto& golden : goldens()["tokenizers"])
      if (golden["name"] == name) return from_json(golden["tokenizer"])->special();
    return SpecialTokens{};
  };
  EXPECT_EQ(special("bert-uncased").begin, 2);
  EXPECT_EQ(special("bert-uncased").end, 3);
  EXPECT_EQ(special("bert-uncased").pad, 0);
  EXPECT_EQ(special("bert-uncased").unknown, 1);
  EXPECT_EQ(special("bert-uncased").mask, 4);
  EXPECT_EQ(special("bert-cased").end, 3);
  EXPECT_EQ(special("roberta").begin, 0);
  EXPECT_EQ(special("roberta").end, 2);
  EXPECT_EQ(special("roberta").mask, 340);
  EXPECT_EQ(special("llama-3").begin, 0);
  EXPECT_EQ(special("llama-3").end, 1);
  EXPECT_EQ(special("metaspace-always").pad, 1);
  EXPECT_EQ(special("nfc").begin, std::nullopt);
}

// ---- texts that are not as they should be ------------------------------------------------------------------------------

nlohmann::json small(const char* parts = "{}") {
  nlohmann::json json = nlohmann::json::parse(R"({"version":"1.0","added_tokens":[],"normalizer":null,"pre_tokenizer":null,
    "post_processor":null,"decoder":{"type":"Fuse"},
    "model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"ab":3,"abc":4},"merges":["a b",["ab","c"]]}})");
  json.merge_patch(nlohmann::json::parse(parts));
  return json;
}

TEST(Bpe, JoinsWhatItsMergesSay) {
  EXPECT_EQ(from_json(small())->encode("abcab"), (Ids{4, 3}));
  EXPECT_EQ(from_json(small())->encode("cba"), (Ids{2, 1, 0}));
  EXPECT_EQ(from_json(small(R"({"model":{"merges":[]}})"))->encode("ab"), (Ids{0, 1}));
  EXPECT_EQ(from_json(small(R"({"model":{"merges":[],"ignore_merges":true}})"))->encode("abc"), (Ids{4}));
}

TEST(Bpe, WithoutATokenForACharacterSaysWhereAndHowOften) {
  EXPECT_TRUE(throws_saying<DataError>([] { from_json(small())->encode("abxcx"); },
                                       {"byte 2", "U+0078 'x'", "no token", "2 such places"}));
  EXPECT_TRUE(throws_saying<DataError>([] { from_json(small())->encode("ab\xFF"); }, {"byte 2", "0xFF", "not UTF-8"}));
  const auto words = from_json(small(R"({"model":{"vocab":{"a":null,"b":null,"c":null},"merges":[],"ignore_merges":true},
                                      "pre_tokenizer":{"type":"Whitespace"}})"));
  EXPECT_EQ(words->encode("ab abc ab"), (Ids{3, 4, 3}));
  EXPECT_TRUE(throws_saying<DataError>([&] { words->encode("ab acb abc x"); }, {"byte 3", "'acb'", "2 such places"}));
  const auto lower = from_json(small(R"({"normalizer":{"type":"Lowercase"}})"));
  EXPECT_EQ(lower->encode("ABC"), (Ids{4}));
  EXPECT_TRUE(throws_saying<DataError>([&] { lower->encode("ABXC"); }, {"byte 2", "U+0058 'X'"}));
  const auto with_unknown = from_json(small(R"({"model":{"unk_token":"c"}})"));
  EXPECT_EQ(with_unknown->encode("axx"), (Ids{0, 2, 2}));
}

TEST(Gpt2Tokenizer, GivesBackTheBytesOfAnythingAlsoWhatIsNotUtf8) {
  ADDNORM_NEEDS_DATA("tokenizer/gpt2_vocab.json");
  const Tokenizer* gpt2 = gpt2_tokenizer();
  const std::vector<std::string> texts{"\xFF\xFE",     "caf\xE9 au lait", "\xC0\xAF \xED\xA0\x80", std::string("a\0b", 3),
                                       "\xF0\x9F\x98", "it\x80's"};
  for (const std::string& text : texts) EXPECT_EQ(gpt2->decode(gpt2->encode(text)), text);
  EXPECT_EQ(gpt2->encode("a<|endoftext|>b"), (Ids{64, 50256, 65}));
  EXPECT_EQ(gpt2->decode(Ids{64, 50256, 65}), "ab");
}

TEST(Gpt2Tokenizer, TrainedOnACorpusGivesTheCorpusBack) {
  ADDNORM_NEEDS_DATA("tokenizer/corpus.en");
  const fs::path folder = test::test_data() / "tokenizer";
  const std::string text = test::text_of(folder / "corpus.en");
  const auto tokenizer = read_tokenizer(folder / "train-bpe-reference-merges.txt");  // either file leads to the other
  EXPECT_EQ(reread(*tokenizer)->to_json(), tokenizer->to_json());
  const Ids ids = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_LT(ids.size(), text.size() / 2);
  EXPECT_EQ(encoded_in_pieces(*tokenizer, text, 5000), ids);
  std::string by_id;
  for (const std::int32_t id : ids) by_id += tokenizer->decode(Ids{id});
  EXPECT_EQ(by_id, text);
}

TEST(Gpt2Tokenizer, WordsOfAMebibyteTakeNoLongerThanTheirBytes) {
  ADDNORM_NEEDS_DATA("tokenizer/gpt2_vocab.json");
  const Tokenizer* gpt2 = gpt2_tokenizer();
  const std::size_t size = test::kSanitized ? 1 << 16 : 1 << 20;
  std::string word;
  for (std::uint32_t i = 0, state = 1; i < size; ++i)
    word += static_cast<char>('a' + (state = state * 1664525 + 1013904223) / 7 % 26);
  for (const std::string& text : {word, std::string(size, 'a'), std::string(size, ' ')})
    EXPECT_EQ(gpt2->decode(gpt2->encode(text)), text);
  // Long words are joined by other code than short ones, to the same end.
  for (const std::size_t length : {40u, 47u, 48u, 49u, 50u, 60u}) {
    const std::string text = word.substr(0, length), twice = text + " " + text;
    Ids ids = gpt2->encode(text);
    std::size_t joined = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) joined += gpt2->encode(gpt2->decode(Ids{ids[i], ids[i + 1]})).size() < 2;
    EXPECT_EQ(joined, 0u) << length;
    EXPECT_EQ(gpt2->decode(gpt2->encode(twice)), twice);
  }
}

// ---- files that are not as they should be (H-09) -----------------------------------------------------------------------

void refused(const nlohmann::json& json, const std::vector<std::string>& said) {
  EXPECT_TRUE(throws_saying<DataError>([&] { from_json(json); }, {"tokenizer.json: "})) << json.dump();
  for (const std::string& part : said) EXPECT_TRUE(throws_saying<DataError>([&] { from_json(json); }, {part}));
}

TEST(HostileTokenizer, IdsThatCannotBeAreRefused) {
  refused(small(R"({"model":{"vocab":{"a":2147483647}}})"), {"model.vocab", "2147483647", "5 tokens"});
  refused(small(R"({"model":{"vocab":{"a":2147483648}}})"), {"2147483648", "whole numbers from 0"});
  refused(small(R"({"model":{"vocab":{"a":-1}}})"), {"-1"});
  refused(small(R"({"model":{"vocab":{"a":1.5}}})"), {"1.5"});
  refused(small(R"({"model":{"vocab":{"a":"0"}}})"), {"\"0\""});
  refused(small(R"({"model":{"vocab":{"a":1}}})"), {"id 1 twice", "\"a\" and \"b\""});
  refused(small(R"({"model":{"vocab":null}})"), {"model has no field 'vocab'"});
  nlohmann::json empty = small(R"({"model":{"merges":[]}})");
  empty["model"]["vocab"] = nlohmann::json::object();
  refused(empty, {"model.vocab is empty"});
  empty["model"]["vocab"]["x"] = 2147483647;  // alone: no table of two thousand million entries
  refused(empty, {"2147483647", "1 tokens"});
}

TEST(HostileTokenizer, MergesMustBeOfTokens) {
  refused(small(R"({"model":{"merges":["a x"]}})"), {"model.merges[0]", "'x' is not in the vocabulary"});
  refused(small(R"({"model":{"merges":["a b","b c"]}})"), {"model.merges[1]", "'bc'"});
  refused(small(R"({"model":{"merges":["ab"]}})"), {"two tokens"});
  refused(small(R"({"model":{"merges":["a b c"]}})"), {"two tokens"});
  refused(small(R"({"model":{"merges":[["a"]]}})"), {"model.merges[0]", "two tokens"});
  refused(small(R"({"model":{"merges":{}}})"), {"array"});
  nlohmann::json many = small();
  for (int i = 0; i < (test::kSanitized ? 50000 : 1000000); ++i) many["model"]["merges"].push_back("a b");
  EXPECT_EQ(from_json(many)->encode("abcab"), (Ids{4, 3}));
}

TEST(HostileTokenizer, AddedTokensMustAgreeWithTheVocabulary) {
  const auto with = [](const char* token) { return small((R"({"added_tokens":[)" + std::string(token) + "]}").c_str()); };
  refused(with(R"({"id":2147483647,"content":"x"})"), {"added_tokens[0]", "2147483647"});
  refused(with(R"({"id":1,"content":"a"})"), {"'a' the id 1", "vocabulary gives it 0"});
  refused(with(R"({"id":1,"content":"x"})"), {"'x' the id 1", "that of 'b'"});
  refused(with(R"({"id":9,"content":""})"), {"no content"});
  refused(with(R"({"id":9,"content":"x"},{"id":10,"content":"x"})"), {"added_tokens[1]", "second"});
  refused(with(R"({"id":9,"content":"x"},{"id":9,"content":"y"})"), {"'y' the id 9", "that of 'x'"});
  refused(small(R"({"model":{"unk_token":"?"}})"), {"unk_token '?'", "not in its vocabulary"});
  refused(small(R"({"post_processor":{"type":"BertProcessing","sep":["[SEP]",102],"cls":["a",0]}})"),
          {"[SEP]", "nor an added token"});
  refused(small(R"({"post_processor":{"type":"BertProcessing","sep":["b",7],"cls":["a",0]}})"),
          {"post_processor.sep[1] is 7", "'b' is 1"});
}

TEST(HostileTokenizer, WhatWeDoNotHaveIsNamed) {
  refused(small(R"({"model":{"type":"Unigram"}})"), {"model.type is \"Unigram\"", "BPE and WordPiece"});
  refused(small(R"({"normalizer":{"type":"Precompiled","precompiled_charsmap":"x"}})"),
          {"normalizer.type is \"Precompiled\"", "NFKC"});
  refused(small(R"({"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Nmt"}]}})"),
          {"normalizer.normalizers[1].type"});
  refused(small(R"({"pre_tokenizer":{"type":"UnicodeScripts"}})"), {"pre_tokenizer.type", "ByteLevel"});
  refused(small(R"({"decoder":{"type":"CTC"}})"), {"decoder.type", "ByteFallback"});
  refused(small(R"({"post_processor":{"type":"Else"}})"), {"post_processor.type", "TemplateProcessing"});
  refused(small(R"({"model":{"dropout":0.1}})"), {"model.dropout is 0.1"});
  refused(small(R"({"model":{"end_of_word_suffix":"</w>"}})"), {"model.end_of_word_suffix", "</w>"});
  refused(small(R"({"model":{"new_thing":1}})"), {"model has a field 'new_thing'"});
  refused(small(R"({"later":1})"), {"'later'"});
  refused(small(R"({"normalizer":{"type":"NFC","strength":2}})"), {"normalizer has a field 'strength'"});
  refused(small(R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated"}})"),
          {"pre_tokenizer.pattern.Regex", "(a"});
  refused(small(R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a"},"behavior":"Else"}})"), {"behavior", "Isolated"});
  refused(small(R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},{"type":"Digits"}]}})"),
          {"after ByteLevel"});
}

TEST(HostileTokenizer, FilesThatAreSomethingElseAreRefused) {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& text, const std::string& said) {
    EXPECT_TRUE(
        throws_saying<DataError>([&] { read_tokenizer(folder.write("tokenizer.json", text)); }, {"tokenizer.json: ", said}))
        << text.substr(0, 50);
  };
  says("", "not JSON");
  says("{", "not JSON");
  says("[1]", "no field 'model'");
  says("{\"model\":3}", "model");
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2048\n";
  says(pointer, "is a Git LFS pointer of 66 bytes that stands for 2048 bytes");
  EXPECT_TRUE(throws_saying<DataError>([&] { read_tokenizer(folder.write("tok512.bin", pointer)); }, {"Git LFS pointer"}));
  says("{\"model\":{\"a\":1,\"a\":2}}", "\"a\" is given twice");
  says("\xEF\xBB\xBF{}", "tokenizer.json");
  says(std::string(100000, '['), "nested deeper than 32");
  says("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\\ud800\":0},\"merges\":[]}}", "not JSON");
  EXPECT_TRUE(throws_saying<DataError>([&] { read_tokenizer(folder.path / "none"); }, {"none"}));
  fs::remove(folder.path / "tokenizer.json");
  EXPECT_TRUE(throws_saying<DataError>([&] { read_tokenizer(folder.path); }, {"neither tokenizer.json nor vocab.json"}));
  folder.write("vocab.json", "{\"a\":0}");
  EXPECT_TRUE(throws_saying<DataError>([&] { read_tokenizer(folder.path); }, {"merges.txt"}));
  folder.write("merges.txt", "#version: 0.2\na b\n");
  EXPECT_TRUE(throws_saying<DataError>([&] { read_tokenizer(folder.path); }, {"merges.txt: line 2", "'b'"}));
}

TEST(HostileTokenizer, APatternThatWouldTakeForEverIsStopped) {
  const auto tokenizer =
      from_json(small(R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a+)+$"},"behavior":"Isolated"}})"));
  EXPECT_TRUE(throws_saying<DataError>([&] { tokenizer->encode(std::string(5000, 'a') + "b"); }, {"(a+)+$", "5001 bytes"}));
}

// A change at random to a file, or to a value in it.
std::string mutated(const nlohmann::json& json, std::uint64_t& state) {
  const auto random = [&](std::size_t below) {
    return static_cast<std::size_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % below;
  };
  static const std::vector<nlohmann::json> odd{nullptr,
                                               true,
                                               -1,
                                               0,
                                               2147483647,
                                               1e300,
                                               "",
                                               "a",
                                               "\u2581",
                                               {{"type", "Sequence"}},
                                               nlohmann::json::array(),
                                               nlohmann::json::object(),
                                               {{"Regex", "(?<=a)*"}}};
  if (random(2) == 0) {
    nlohmann::json changed = json.flatten();
    auto at = changed.begin();
    std::advance(at, random(changed.size()));
    if (random(4) == 0)
      changed.erase(at);
    else if (const auto& value = odd[random(odd.size())]; value.is_primitive())
      *at = value;
    try {
      return changed.unflatten().dump();
    } catch (const nlohmann::json::exception&) {
      return json.dump();
    }
  }
  std::string text = json.dump();
  for (std::size_t changes = 1 + random(4); changes > 0; --changes) {
    const std::size_t at = random(text.size()), length = random(8);
    if (random(3) == 0)
      text.erase(at, length);
    else if (random(2) == 0)
      text.insert(at, text.substr(random(text.size()), length));
    else
      text[at] = static_cast<char>(random(256));
  }
  return text;
}

TEST(HostileTokenizer, ChangedAtRandomItIsReadOrRefusedAndNothingElse) {
  std::uint64_t state = 1;
  std::size_t read = 0, refusals = 0;
  const TemporaryFolder folder;
  for (const auto& golden : goldens()["tokenizers"]) {
    nlohmann::json json = small(R"({"added_tokens":[{"id":5,"content":"\u00E9","lstrip":true,"normalized":true}]})");
    for (const char* part : {"normalizer", "pre_tokenizer", "decoder"}) json[part] = golden["tokenizer"][part];
    if (golden["tokenizer"]["model"]["type"] == "WordPiece")
      json["model"] = {{"type", "WordPiece"}, {"unk_token", "a"}, {"vocab", {{"a", 0}, {"b", 1}, {"##b", 2}}}};
    for (int i = 0; i < 80; ++i) {
      const fs::path path = folder.write("tokenizer.json", i == 0 ? json.dump() : mutated(json, state));
      try {
        const auto tokenizer = read_tokenizer(path);
        static_cast<void>(tokenizer->decode(Ids{0}));
        static_cast<void>(tokenizer->complete("a b c"));
        ++read;
        static_cast<void>(tokenizer->encode("The norm, \xC3\xA9 1"));
      } catch (const DataError&) {
        ++refusals;
      }
    }
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refusals, 100u);
}

}  // namespace
}  // namespace addnorm
