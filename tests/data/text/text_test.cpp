// Text as training data: what is read, how it is kept, and what happens when it is not what it should be (T-08).
#include "addnorm/data/text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "core/file.h"
#include "support/data.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::throws_saying;

TextSources one(const fs::path& path) { return text_sources(std::vector<fs::path>{path}); }

std::vector<std::int32_t> ids_of(const TokenFile& tokens) {
  std::vector<std::int32_t> ids(tokens.size());
  tokens.copy(0, ids.size(), ids.data());
  return ids;
}

// More than two pieces long (a piece is 1 MiB), with two- and three-byte characters at changing places.
std::string long_text() {
  std::string text;
  for (int line = 0; text.size() < (5u << 19); ++line)
    text += concat("line ", line, line % 3 == 0 ? " \xC3\xA9" : " \xE4\xBD\xA0", "\n");
  return text;
}

bool file_is_left(const fs::path& folder, std::string_view beginning) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().native().starts_with(beginning)) return true;
  return false;
}

// ---- which files -------------------------------------------------------------------------------------------------------

TEST(TextSources, TakeAFolderSortedAndRecursivelyWithoutHiddenFilesAndSaySo) {
  const TemporaryFolder folder;
  folder.write("b.txt", "bb");
  folder.write("a/z.txt", "z");
  folder.write("a.txt", "aaa");
  folder.write(".git/config", "hidden");
  folder.write(".hidden", "hidden");
  fs::create_symlink("nowhere", folder.path / "broken");
  const TextSources sources = one(folder.path);
  ASSERT_EQ(sources.files.size(), 3u);
  EXPECT_EQ(sources.files[0].name, "a.txt");
  EXPECT_EQ(sources.files[1].name, "a/z.txt");
  EXPECT_EQ(sources.files[2].name, "b.txt");
  EXPECT_EQ(sources.bytes(), 6u);
  EXPECT_EQ(sources.summary(), "3 files, 6 bytes (2 hidden ones, 1 that is no file left out)");
}

TEST(TextSources, LeaveOutTheFoldersThatSomebodyElseKnows) {
  const TemporaryFolder folder;
  folder.write("a.txt", "a");
  folder.write("below/made/b.txt", "b");
  folder.write("made/c.txt", "c");
  const std::vector<fs::path> paths{folder.path};
  const OtherFolders made{"thing", [](const fs::path& path) { return path.filename() == "made"; }};
  EXPECT_EQ(text_sources(paths, made).summary(), (folder.path / "a.txt").string() + ", 1 bytes (2 things left out)");
  EXPECT_EQ(text_sources(paths).files.size(), 3u);
  EXPECT_EQ(text_sources(std::vector<fs::path>{folder.path / "made"}, made).files.size(), 1u);  // named itself
}

TEST(TextSources, TakeFilesInTheOrderGivenEvenHiddenOnes) {
  const TemporaryFolder folder;
  const std::vector<fs::path> paths{folder.write("b", "1"), folder.write(".a", "2")};
  const TextSources sources = text_sources(paths);
  EXPECT_EQ(ids_of(*token_file(sources, *byte_tokenizer(), folder.path / "cache")), (std::vector<std::int32_t>{'1', '2'}));
  EXPECT_EQ(one(paths[0]).summary(), paths[0].string() + ", 1 bytes");
}

TEST(TextSources, RefuseWhatIsNotThereOrEmptyOrUnreadable) {
  const TemporaryFolder folder;
  EXPECT_TRUE(throws_saying<DataError>([&] { one(folder.path / "none"); }, {"none", "no such file"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { one(folder.path); }, {"no file below this folder"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { text_sources({}); }, {"no path"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { one("/dev/null"); }, {"/dev/null", "a device"}));
  const fs::path secret = folder.write("secret", "x");
  fs::permissions(secret, fs::perms::none);
  if (geteuid() != 0) {  // root reads everything
    EXPECT_TRUE(throws_saying<DataError>([&] { one(secret); }, {"secret", "ermission"}));
  }
}

TEST(TextSources, InputThatCanBeReadOnceIsKept) {
  const TemporaryFolder folder;
  std::istringstream in(long_text());
  const TextSources sources = saved_text(in, folder.path / "input.txt");
  EXPECT_EQ(test::text_of(sources.files.at(0).path), long_text());
  std::istringstream nothing;
  EXPECT_TRUE(throws_saying<DataError>([&] { saved_text(nothing, folder.path / "nothing"); }, {"empty"}));
  EXPECT_FALSE(fs::exists(folder.path / "nothing"));
}

// ---- tokenised once ----------------------------------------------------------------------------------------------------

TEST(TokenFile, HoldsTheIdsOfTheWholeTextAlthoughItIsReadInPieces) {
  const TemporaryFolder folder;
  const std::string text = long_text();
  const TextSources sources = one(folder.write("text", text));
  const auto chars = char_tokenizer(sources);
  const auto tokens = token_file(sources, *chars, folder.path / "cache");
  EXPECT_EQ(ids_of(*tokens), char_tokenizer(text)->encode(text));
  EXPECT_EQ(tokens->source_bytes(), text.size());
  EXPECT_EQ(tokens->history(), concat("made: ", (folder.path / "cache").string()));
  EXPECT_FALSE(file_is_left(folder.path, ".addnorm"));
}

TEST(TokenFile, UsesAsManyBytesPerIdAsTheVocabularyNeeds) {
  const TemporaryFolder folder;
  const std::string text = "a\xC3\xA9z";
  const TextSources sources = one(folder.write("text", text));
  const auto sized = [&](const Tokenizer& tokenizer) {
    const auto tokens = token_file(sources, tokenizer, folder.path / "cache");
    EXPECT_EQ(ids_of(*tokens), tokenizer.encode(text));
    return (fs::file_size(folder.path / "cache") - 128) / tokens->size();
  };
  EXPECT_EQ(sized(*byte_tokenizer()), 1u);
  EXPECT_EQ(sized(*byte_tokenizer({.mask = true})), 2u);
  std::string many = text;  // 70,000 characters
  for (unsigned code = 0x20000; code < 0x20000 + 70000; ++code)
    many += {static_cast<char>(0xF0), static_cast<char>(0x80 | (code >> 12 & 63)), static_cast<char>(0x80 | (code >> 6 & 63)),
             static_cast<char>(0x80 | (code & 63))};
  EXPECT_EQ(sized(*char_tokenizer(many)), 4u);
}

TEST(TokenFile, IsReadAgainWhileTextAndTokenizerAreTheSameAndMadeAnewOtherwise) {
  const TemporaryFolder folder;
  const fs::path text = folder.write("text", "hello world"), cache = folder.path / "cache";
  const auto history = [&](const Tokenizer& tokenizer) { return token_file(one(text), tokenizer, cache)->history(); };
  EXPECT_NE(history(*byte_tokenizer()).find("made: "), std::string::npos);
  EXPECT_NE(history(*byte_tokenizer()).find("read from "), std::string::npos);
  EXPECT_NE(history(*char_tokenizer("helo wrd")).find("the tokenizer is another one"), std::string::npos);
  EXPECT_NE(history(*byte_tokenizer()).find("the tokenizer is another one"), std::string::npos);
  folder.write("text", "hello  orld");  // the same size
  EXPECT_NE(history(*byte_tokenizer()).find("the text has changed"), std::string::npos);
  folder.write("text", "hello");
  EXPECT_NE(history(*byte_tokenizer()).find("the files are others"), std::string::npos);
  fs::create_directory(folder.path / "moved");
  fs::rename(text, folder.path / "moved/text");
  EXPECT_NE(token_file(one(folder.path / "moved/text"), *byte_tokenizer(), cache)->history().find("read from"),
            std::string::npos);
}

TEST(TokenFile, IsNeverTrustedWhenItWasCutOrChanged) {
  const TemporaryFolder folder;
  const std::string text = "some text to be kept";
  const TextSources sources = one(folder.write("text", text));
  const fs::path cache = folder.path / "cache";
  static_cast<void>(token_file(sources, *byte_tokenizer(), cache));
  const std::string good = test::text_of(cache);
  ASSERT_EQ(good.size(), 128 + text.size());
  const auto check = [&](const std::string& bad) {
    folder.write("cache", bad);
    const auto tokens = token_file(sources, *byte_tokenizer(), cache);
    EXPECT_NE(tokens->history().find("made anew"), std::string::npos);
    EXPECT_EQ(ids_of(*tokens), byte_tokenizer()->encode(text));
    EXPECT_EQ(test::text_of(cache), good);
  };
  for (std::size_t length = 0; length < good.size(); length += 21) check(good.substr(0, length));
  for (std::size_t at = 0; at < good.size(); at += 5) {  // every field counts, and every id
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 16);
    check(bad);
  }
  check(good + "x");
  folder.write("cache", good);  // the control
  EXPECT_NE(token_file(sources, *byte_tokenizer(), cache)->history().find("read from"), std::string::npos);
}

TEST(TokenFile, ThatIsCutWhileItIsUsedIsAnErrorAndNotTheEndOfTheProcess) {
  const TemporaryFolder folder;
  const TextSources sources = one(folder.write("text", std::string(100000, 'x')));
  const auto tokens = token_file(sources, *byte_tokenizer(), folder.path / "cache");
  fs::resize_file(folder.path / "cache", 100);
  std::int32_t id = 0;
  EXPECT_TRUE(throws_saying<DataError>([&] { tokens->copy(99999, 1, &id); }, {"cache", "changed"}));
}

TEST(TokenFile, CopiesOnlyWhatThereIs) {
  const auto tokens = token_memory({1, 2, 3}, 3);
  std::vector<std::int32_t> ids(2);
  tokens->copy(1, 2, ids.data());
  EXPECT_EQ(ids, (std::vector<std::int32_t>{2, 3}));
  tokens->copy(3, 0, ids.data());
  EXPECT_TRUE(throws_saying<UsageError>([&] { tokens->copy(2, 2, ids.data()); }, {"2", "of 3"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { tokens->copy(~0ull, 2, ids.data()); }, {"of 3"}));
}

TEST(TokenFile, StopsWhenAskedToAndLeavesNoFile) {
  const TemporaryFolder folder;
  const TextSources sources = one(folder.write("text", long_text()));
  double last = -1;
  const Progress twice = [&](double share) {
    EXPECT_GT(share, last);
    last = share;
    return share == 0;
  };
  EXPECT_EQ(token_file(sources, *byte_tokenizer(), folder.path / "cache", twice), nullptr);
  EXPECT_GT(last, 0.1);
  EXPECT_FALSE(fs::exists(folder.path / "cache"));
  EXPECT_FALSE(file_is_left(folder.path, ".addnorm"));
  const Progress never = [](double) { return false; };
  EXPECT_EQ(char_tokenizer(sources, {}, never), nullptr);
  EXPECT_EQ(suggest_tokenizer(sources, {}, never).tokenizer, nullptr);
  static_cast<void>(token_file(sources, *byte_tokenizer(), folder.path / "cache"));
  EXPECT_EQ(token_file(sources, *byte_tokenizer(), folder.path / "cache", never), nullptr);  // while it is checked
}

TEST(TokenFile, NoticesTextThatChangesWhileItIsRead) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("text", long_text());
  const TextSources sources = one(path);
  const auto with = [&](const std::function<void()>& change) {
    return [&, change] {
      static_cast<void>(token_file(sources, *byte_tokenizer(), folder.path / "cache", [&](double share) {
        if (share > 0.3 && share < 0.5) change();
        return true;
      }));
    };
  };
  EXPECT_TRUE(throws_saying<DataError>(with([&] { fs::last_write_time(path, fs::file_time_type::clock::now()); }),
                                       {"text", "written to"}));
  EXPECT_TRUE(throws_saying<DataError>(with([&] { fs::resize_file(path, 1 << 20); }), {"text", "while being read"}));
  EXPECT_TRUE(throws_saying<DataError>(with([] {}), {"text", "when it was found"}));  // after the cut
  EXPECT_FALSE(fs::exists(folder.path / "cache"));
}

/// Bytes, remembering how much text it was given at once.
class WatchedTokenizer final : public Tokenizer {
 public:
  std::string_view kind() const override { return bytes_->kind(); }
  std::size_t vocabulary() const override { return bytes_->vocabulary(); }
  SpecialTokens special() const override { return bytes_->special(); }
  std::vector<std::int32_t> encode(std::string_view text) const override {
    longest = std::max(longest, text.size());
    return bytes_->encode(text);
  }
  TextFlaws flaws(std::string_view text) const override { return bytes_->flaws(text); }
  std::string decode(std::span<const std::int32_t> ids) const override { return bytes_->decode(ids); }
  std::size_t complete(std::string_view text) const override { return text.size() - text.size() / 10; }
  std::string to_json() const override { return bytes_->to_json(); }

  mutable std::size_t longest = 0;

 private:
  std::unique_ptr<Tokenizer> bytes_ = byte_tokenizer();
};

TEST(TokenFile, IsMadeFromPiecesHoweverLongTheTextIs) {
  const TemporaryFolder folder;
  const std::string text(20 << 20, 'x');  // one line
  const TextSources sources = one(folder.write("text", text));
  const WatchedTokenizer watched;
  EXPECT_EQ(token_file(sources, watched, folder.path / "cache")->size(), text.size());
  EXPECT_LT(watched.longest, 2u << 20);
}

TEST(TokenFile, OfATextThatItsTokenizerCannotTakeInPiecesIsRefusedBeforeItFillsTheMemory) {
  const TemporaryFolder folder;
  const auto whole = read_tokenizer(folder.write(
      "tokenizer.json", R"({"model":{"type":"BPE","vocab":{"x":0,"xx":1},"merges":["x x"]},"decoder":{"type":"Fuse"}})"));
  const TextSources large = one(folder.write("large", std::string(9 << 20, 'x')));
  EXPECT_TRUE(throws_saying<DataError>([&] { token_file(large, *whole, folder.path / "cache"); },
                                       {"large: from byte 0 on", "8 MiB", "tokenizer (bpe)", "as a whole"}));
  const TextSources small = one(folder.write("small", std::string(100, 'x')));
  EXPECT_EQ(token_file(small, *whole, folder.path / "cache")->size(), 50u);
}

TEST(TokenFile, OfAnEmptyTextIsRefused) {
  const TemporaryFolder folder;
  const TextSources sources = one(folder.write("text", ""));
  EXPECT_TRUE(throws_saying<DataError>([&] { token_file(sources, *byte_tokenizer(), folder.path / "cache"); }, {"empty"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { char_tokenizer(sources); }, {"empty"}));
  EXPECT_EQ(suggest_tokenizer(sources).reason, "bytes: the text is empty");
}

// ---- T-08: texts that are not as they should be ------------------------------------------------------------------------

TEST(Text, BytesWorkOnAnything) {
  const TemporaryFolder folder;
  std::string all(256, '\0');
  std::iota(all.begin(), all.end(), '\0');
  const std::vector<std::string> texts{"x", "no newline",  "a\r\nb\r\n",   "\xEF\xBB\xBF text", std::string("a\0b", 3),
                                       all, "\xFF\xFEt\0", "\x1F\x8B\x08", "\xED\xA0\x80"};
  for (const std::string& text : texts) {
    const TextSources sources = one(folder.write("text", text));
    const auto tokens = token_file(sources, *byte_tokenizer(), folder.path / "cache");
    EXPECT_EQ(byte_tokenizer()->decode(ids_of(*tokens)), text);
  }
}

TEST(Text, CharactersKeepLineEndsByteOrderMarksAndNul) {
  const TemporaryFolder folder;
  const std::string text(
      "\xEF\xBB\xBF"
      "a\r\nb\0c",
      9);
  const TextSources sources = one(folder.write("text", text));
  const auto chars = char_tokenizer(sources);
  EXPECT_EQ(chars->vocabulary(), 7u);
  EXPECT_EQ(chars->decode(ids_of(*token_file(sources, *chars, folder.path / "cache"))), text);
}

// Lone continuation, overlong (2, 3, 4 bytes), surrogate, beyond Unicode, a byte that is none, cut at the end.
const std::vector<std::string> kNotUtf8{"\x80",         "\xC0\xAF",         "\xE0\x80\xAF", "\xF0\x80\x80\xAF",
                                        "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFE",         "\xC3",
                                        "\xE4\xBD",     "\xF0\x9F\x98"};

TEST(Text, ThatIsNotUtf8IsRefusedForCharactersWithOffsetAndCountAlsoAtTheBordersOfPieces) {
  const TemporaryFolder folder;
  constexpr std::size_t kPiece = 1 << 20;
  for (const std::string& bad : kNotUtf8)
    for (const std::size_t at : {std::size_t{0}, kPiece - 2, kPiece - 1, kPiece}) {
      SCOPED_TRACE(concat(testing::PrintToString(bad), " at ", at));
      std::string text(kPiece + 100, 'a');
      text.replace(at, bad.size(), bad);
      const TextSources sources = one(folder.write("text", text));
      const std::string offset = concat("at byte ", at, " stands the byte"), hint = "with tokenizer bytes reads anything";
      const std::string count = bad.size() == 1 ? "not UTF-8; a model" : concat("; ", bad.size(), " such places");
      EXPECT_TRUE(throws_saying<DataError>([&] { char_tokenizer(sources); }, {"text: ", offset, count, hint}));
      if (at != kPiece - 1) continue;
      const auto letters = char_tokenizer("a");
      EXPECT_TRUE(throws_saying<DataError>([&] { token_file(sources, *letters, folder.path / "cache"); },
                                           {"text: ", offset, count, hint}));
      EXPECT_NE(suggest_tokenizer(sources).reason.find(concat("bytes: ", sources.files[0].path.string(), ": ", offset)),
                std::string::npos);
    }
  EXPECT_FALSE(fs::exists(folder.path / "cache"));
}

TEST(Text, CharactersThatCrossPiecesAreWhole) {
  const TemporaryFolder folder;
  for (std::size_t shift = 1; shift <= 5; ++shift) {
    const std::string text = std::string((1 << 20) - shift, 'a') + "\xF0\x9F\x98\x81\xE4\xBD\xA0\xC3\xA9";
    const TextSources sources = one(folder.write("text", text));
    const auto chars = char_tokenizer(sources);
    EXPECT_EQ(chars->vocabulary(), 4u);
    EXPECT_EQ(ids_of(*token_file(sources, *chars, folder.path / "cache")), chars->encode(text));
  }
}

TEST(Text, EachFileIsUtf8ByItself) {
  const TemporaryFolder folder;
  folder.write("set/1", "abc\xC3");
  folder.write("set/2", "\xA9");
  EXPECT_TRUE(throws_saying<DataError>([&] { char_tokenizer(one(folder.path / "set")); }, {"set/1: at byte 3", "0xC3"}));
}

TEST(Text, FilesThatAreNoTextAreNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& said) {
    const TextSources sources = one(folder.write("text", bytes));
    EXPECT_TRUE(throws_saying<DataError>([&] { char_tokenizer(sources); }, {said}));
    EXPECT_NE(suggest_tokenizer(sources).reason.find(said), std::string::npos);
  };
  refused(std::string("\x1F\x8B\x08\0\0", 5), "gzip");
  refused(std::string("\xFF\xFEh\0i\0", 6), "UTF-16");
  refused(std::string("\xFE\xFF\0h\0i", 6), "UTF-16");
  refused(
      "\xFD"
      "7zXZ",
      "xz file");
  refused("\x28\xB5\x2F\xFD", "zstd");
}

TEST(Text, ACharacterThatTheTokenizerDoesNotHaveIsNamedWithItsPlaceInTheFile) {
  const TemporaryFolder folder;
  std::string text(4 << 20, 'a');
  text.replace(3 << 20, 2, "\xC3\xA9");
  text += "z";
  const TextSources sources = one(folder.write("text", text));
  EXPECT_TRUE(throws_saying<DataError>([&] { token_file(sources, *char_tokenizer("ab"), folder.path / "cache"); },
                                       {"text: at byte 3145728", "U+00E9 '\xC3\xA9'", "2 of this tokenizer", "2 such places"}));
}

TEST(Text, IsReadByCharactersWhereThereAreFewAndByBytesOtherwise) {
  const TemporaryFolder folder;
  const TextSources few = one(folder.write("few", "hello"));
  EXPECT_EQ(suggest_tokenizer(few).tokenizer->kind(), "chars");
  EXPECT_EQ(suggest_tokenizer(few).reason, "characters: the text is UTF-8 and has 4 different ones");
  EXPECT_EQ(suggest_tokenizer(few, {}, {}, 4).tokenizer->kind(), "chars");
  EXPECT_EQ(suggest_tokenizer(few, {}, {}, 3).reason, "bytes: the text has more than 3 different characters");
  EXPECT_EQ(suggest_tokenizer(few, {.mask = true}).tokenizer->special().mask, 4);
}

TEST(Text, OfShakespeareHasItsSixtyFiveCharacters) {
  ADDNORM_NEEDS_DATA("text/tinyshakespeare.txt");
  const TextSources sources = one(test::test_data() / "text/tinyshakespeare.txt");
  const TemporaryFolder folder;
  const TokenizerChoice choice = suggest_tokenizer(sources);
  EXPECT_EQ(choice.tokenizer->vocabulary(), 65u);
  EXPECT_EQ(token_file(sources, *choice.tokenizer, folder.path / "cache")->size(), 1115394u);
}

}  // namespace
}  // namespace addnorm
