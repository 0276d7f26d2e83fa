// Regular expressions of tokenizer.json: what they mean, and which are refused.
#include <gtest/gtest.h>

#include <string>

#include "addnorm/data/tokenizer.h"
#include "data/tokenizer/steps/regex.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

/// The matches, a bar after each.
std::string pieces(const char* pattern, std::string_view text) {
  std::string all;
  for (const auto& [first, end] : Regex(pattern).matches(text)) all += std::string(text.substr(first, end - first)) + "|";
  return all;
}

// Fractions and raised digits, within brackets and outside; what ends a line. As tokenizers 0.23.3 has it.
TEST(TokenizerPatterns, MeanWhatTheyMeanToOniguruma) {
  EXPECT_EQ(pieces(R"(\w+)", "a\u00BD b"), "a\u00BD|b|");
  EXPECT_EQ(pieces(R"([\w]+)", "a\u00BD b"), "a|b|");
  EXPECT_EQ(pieces(R"([^\w\s]+)", "a\u00BD b"), "\u00BD|");
  EXPECT_EQ(pieces(R"(\W+)", "a\u00BD.b"), ".|");
  EXPECT_EQ(pieces(R"(.+)", "a\rb\u0085c\u2028d\ne"), "a\rb\u0085c\u2028d|e|");
  EXPECT_EQ(pieces(R"(a$)", "a\ra\na"), "a|a|");
  EXPECT_EQ(pieces(R"(\p{L}+\x{2e}+)", "ab..c"), "ab..|");
  EXPECT_EQ(pieces(R"([\p{L}&&[^\p{Lu}]]+|(?i:'S)|\s+(?!\S))", "aB's  c"), "a|'s| |c|");
}

// Each of them was refused while ICU ran the patterns, because the two libraries differ there.
TEST(TokenizerPatterns, ThatOnlyOnigurumaReadsSoWork) {
  EXPECT_EQ(pieces(R"(a\b)", "a ab ba"), "a|a|");
  EXPECT_EQ(pieces(R"(\h+)", "aFg 09"), "aF|09|");  // hexadecimal digits, not white space
  EXPECT_EQ(pieces(R"(\v)", "a\vb\nc"), "\v|");     // one character, not a class
  EXPECT_EQ(pieces(R"(\O)", "a\n"), "a|\n|");
  EXPECT_EQ(pieces(R"(\X)", "e\u0301a"), "e\u0301|a|");
  EXPECT_EQ(pieces(R"(\Q.\E)", "a.Q.E"), "Q.E|");  // no quoting
  EXPECT_EQ(pieces(R"((a|b)\1)", "abba"), "bb|");
  EXPECT_EQ(pieces(R"(\p{^L}+)", "a12b"), "12|");
  EXPECT_EQ(pieces("(?m).", "a\n"), "a|\n|");  // the point takes line ends, too
  EXPECT_EQ(pieces("a|(?i)b", "aABb"), "a|B|b|");
  EXPECT_EQ(pieces("(?<name>a)", "ba"), "a|");
  EXPECT_EQ(pieces(R"((?<n>a|b\g<n>c))", "bbacc"), "bbacc|");
  EXPECT_EQ(pieces("[[:alpha:]]+", "a\u00E91"), "a\u00E9|");
  EXPECT_EQ(pieces("[]a]+", "a]b"), "a]|");
  EXPECT_EQ(pieces(R"(\d{1,3}+)", "12345"), "12345|");  // repeated once more, not possessive
}

TEST(TokenizerPatterns, KnowPossessiveRepetitionAbsenceAndWhereTheSearchBegan) {
  EXPECT_EQ(pieces("a++b|a", "aabaa"), "aab|a|a|");
  EXPECT_EQ(pieces("a++a", "aaa"), "");
  EXPECT_EQ(pieces(R"([^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s)",
                   "The cat's  12 \n"),
            "The| cat|'s| | |12| \n|");  // as tiktoken writes GPT-4's
  EXPECT_EQ(pieces(R"(/\*(?~\*/)\*/)", "a/*b*/c*/"), "/*b*/|");
  EXPECT_EQ(pieces(R"(\G\d)", "12a3"), "1|2|");
}

std::string nested(std::size_t depth, char open, char close) {
  std::string pattern(depth, open);
  pattern += 'a';
  return pattern.append(depth, close);
}

TEST(TokenizerPatterns, ThatCannotBeReadOrMatchNothingAreRefused) {
  struct Refused {
    std::string pattern, part;
  };
  for (const auto& [pattern, part] : {Refused{"x*", "'x*' matches an empty piece"},
                                      {"|a", "'|a' matches an empty piece"},
                                      {"$", "'$' matches an empty piece"},
                                      {"(?<=a)", "matches an empty piece"},
                                      {"(a", "cannot be read: end pattern with unmatched parenthesis"},
                                      {"[a", "cannot be read: premature end of char-class"},
                                      {R"(\p{Nope})", "invalid character property name {Nope}"},
                                      {"a(*FAIL)", "cannot be read"},  // callouts
                                      {"a(?{b})", "cannot be read"},
                                      {"a\xFF", "must be UTF-8"},
                                      {nested(251, '(', ')'), "at most 250 groups"},
                                      {nested(251, '[', ']'), "at most 250 groups"},
                                      {std::string(10001, 'a'), "at most 10000 bytes"}})
    EXPECT_TRUE(test::throws_saying<DataError>([&p = pattern] { Regex{p}; }, {part})) << pattern;
  EXPECT_EQ(pieces(nested(250, '(', ')').c_str(), "ba"), "a|");
}

TEST(TokenizerPatterns, ThatGoBackWithoutEndAreStoppedAndTheLimitIsNamed) {
  const auto stopped = [](const char* pattern, std::size_t letters, std::string_view ending) {
    std::string text(letters, 'a');
    text += ending;
    const std::string named = concat("the pattern '", pattern, "' cannot be matched in a text of ", text.size(), " bytes");
    EXPECT_TRUE(test::throws_saying<DataError>([&] { Regex(pattern).matches(text); }, {named, "more than 33554432 steps back"}));
  };
  stopped("(a+)+$", 5000, "b");
  stopped("a+[^a]*z", 100000, "b!");
}

// As long words and files without line ends are.
TEST(TokenizerPatterns, MatchAMebibyteAtOnce) {
  const std::string letters(1 << 20, 'a'), spaces(1 << 20, ' ');
  EXPECT_EQ(Regex(R"(\p{L}+)").matches(letters).size(), 1u);
  EXPECT_EQ(Regex(R"(\s*[\r\n]+|\s+(?!\S)|\s+)").matches(spaces).size(), 1u);
}

// Three bytes of four, a byte that cannot be, a cut character at the end: a U+FFFD each.
TEST(TokenizerPatterns, SeeOneReplacementCharacterWhereATextIsNotUtf8) {
  EXPECT_EQ(pieces(R"(\uFFFD)", "a\xF0\x9F\x98z\xFF\xE2\x82"), "\xF0\x9F\x98|\xFF|\xE2\x82|");
  EXPECT_EQ(pieces(R"([^\p{L}]\p{L}+)", "\xF0\x9F\x98\x41 \xFF\x80zz"), "\xF0\x9F\x98\x41|\x80zz|");
  EXPECT_EQ(pieces(".", "\xED\xA0\x80\xC3"), "\xED|\xA0|\x80|\xC3|");
}

// U+31350 is a letter since Unicode 15, and to Oniguruma's 14 a sign, after which GPT-4's pattern takes line ends along.
TEST(TokenizerPatterns, KeepTextsWholeWhereTheirUnicodeIsOlderThanOurs) {
  const test::TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("tokenizer.json", R"json({"added_tokens":[],"pre_tokenizer":
    {"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
    {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},"decoder":{"type":"ByteLevel"},
    "model":{"type":"BPE","vocab":{"a":0,"\u0120":1,"\u010A":2,"\u0120a":3},"merges":["\u0120 a"]}})json"));
  EXPECT_EQ(tokenizer->complete("a \U00031350\nb"), 1u);
  EXPECT_EQ(tokenizer->complete("a \u4E00\nb"), 5u);
}

}  // namespace
}  // namespace addnorm
