// Regular expressions of tokenizer.json: what they mean to Oniguruma, or not at all.
#include <gtest/gtest.h>

#include <string>

#include "data/tokenizer/steps/unicode.h"
#include "support/near.h"

namespace addnorm {
namespace {

TEST(TokenizerPatterns, ThatLibrariesReadDifferentlyAreRefusedByNameAndPlace) {
  struct Refused {
    const char *pattern, *part;
  };
  for (const auto& [pattern, part] : {Refused{R"(a\b)", R"('\b' at byte 1)"},
                                      {R"(\h+)", R"('\h' at byte 0)"},
                                      {R"(\v)", R"('\v')"},
                                      {R"(\O)", R"('\O')"},
                                      {R"(\X)", R"('\X')"},
                                      {R"(\Q.\E)", R"('\Q')"},
                                      {R"((a)\1)", R"('\1')"},
                                      {R"(\p{^L})", R"('\p{^')"},
                                      {"(?m).", "'(?m'"},
                                      {"a|(?i)b", "'(?i' at byte 2"},
                                      {"(?<name>a)", "'(?<'"},
                                      {"[[:alpha:]]+", "'[:' at byte 1"},
                                      {"[a-z--b]", "'--'"},
                                      {"[]a]", "']'"},
                                      {R"(\d{1,3}+)", "'}+'"},
                                      {"x*", "'x*' matches an empty piece"},
                                      {"|a", "'|a' matches an empty piece"},
                                      {"$", "'$' matches an empty piece"},
                                      {"(?<=a)", "matches an empty piece"}})
    EXPECT_TRUE(test::throws_saying<DataError>([p = pattern] { Regex{p}; }, {part})) << pattern;
}

/// The matches, a bar behind each.
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

}  // namespace
}  // namespace addnorm
