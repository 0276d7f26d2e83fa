// Tokens and their ids, and how a tokenizer.json lists them: in any order, with escapes, each token once.
#include "data/tokenizer/spec.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>

#include "addnorm/data/tokenizer.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

using Ids = std::vector<std::int32_t>;
using test::throws_saying;

TEST(Vocabulary, FindsTokensByTextAndByIdHoweverManyThereAre) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.id_of(""), std::nullopt);
  EXPECT_EQ(vocabulary.text_of(0), std::nullopt);
  std::map<std::string, std::int32_t> oracle;
  const auto text = [](std::int32_t i) {
    return i == 7 ? std::string() : std::string(static_cast<std::size_t>(1 + i % 40), 'x') + std::to_string(i % 5000);
  };
  for (std::int32_t i = 0; i < 12000; ++i) {
    const std::int32_t id = i * 7919 % 12007;  // each once, in no order
    EXPECT_EQ(vocabulary.add(text(i), id), oracle.emplace(text(i), id).second) << i;
  }
  EXPECT_LT(vocabulary.size(), 12000u);  // some texts came again
  const auto same = [&] {
    EXPECT_EQ(vocabulary.size(), oracle.size());
    for (const auto& [token, id] : oracle) EXPECT_EQ(vocabulary.id_of(token), id) << token;
    EXPECT_EQ(vocabulary.id_of("y"), std::nullopt);
  };
  same();
  vocabulary.sort();
  same();
  std::int32_t last = -1;
  for (const auto& [token, id] : vocabulary) {
    EXPECT_LT(last, id);
    EXPECT_EQ(vocabulary.text_of(id), token);
    last = id;
  }
  EXPECT_EQ(vocabulary.back().id, last);
  EXPECT_EQ(vocabulary.text_of(last + 1), std::nullopt);
}

TEST(Vocabulary, IsEqualToOneWithTheSameTokensInTheSameOrder) {
  Vocabulary a, b;
  for (Vocabulary* each : {&a, &b}) EXPECT_TRUE(each->add("x", 1));
  EXPECT_EQ(a, b);
  EXPECT_TRUE(a.add("y", 0));
  EXPECT_NE(a, b);
  EXPECT_TRUE(b.add("y", 0));
  EXPECT_EQ(a, b);
  a.sort();
  EXPECT_NE(a, b);
  EXPECT_FALSE(a.add("y", 5));
  EXPECT_EQ(a.id_of("y"), 0);
}

std::unique_ptr<Tokenizer> from_text(const std::string& text) {
  const test::TemporaryFolder folder;
  return read_tokenizer(folder.write("tokenizer.json", text));
}

std::string model(const std::string& first, const std::string& second) {
  return R"({"model":{)" + first + "," + second + R"(,"type":"BPE"},"decoder":{"type":"Fuse"}})";
}

constexpr const char* kTokens = R"("vocab":{"c":2,"a":0,"\u0062":1,"abc":4,"ab":3})";

TEST(TokenizerJson, TellsTokensAndMergesInAnyOrderAndWithEscapes) {
  const std::string merges = R"("merges":["a\u0020b",["\u0061b" , "\u0063"]])";
  const auto tokens_first = from_text(model(kTokens, merges)), merges_first = from_text(model(merges, kTokens));
  EXPECT_EQ(tokens_first->encode("abcab"), (Ids{4, 3}));
  EXPECT_EQ(tokens_first->to_json(), merges_first->to_json());
  EXPECT_EQ(tokens_first->vocabulary(), 5u);
  EXPECT_EQ(from_text("\xEF\xBB\xBF" + model(kTokens, merges))->to_json(), merges_first->to_json());
}

TEST(TokenizerJson, RefusesTheSameMergesBeforeAndAfterTheTokens) {
  const auto refused = [](const char* merge, std::initializer_list<std::string> said) {
    const std::string merges = std::string(R"("merges":["a b",)") + merge + "]";
    for (const std::string& text : {model(kTokens, merges), model(merges, kTokens)})
      EXPECT_TRUE(throws_saying<DataError>([&] { from_text(text); }, said)) << text;
  };
  refused(R"("a x")", {"tokenizer.json: model.merges[1]: joins 'a' and 'x', but 'x' is not in the vocabulary"});
  refused(R"("ab")", {"model.merges[1]: is 'ab'", "two tokens"});
  for (const char* odd : {"7", "null", R"(["a"])", R"(["a","b","c"])", R"(["a",1])", R"([1,"a","b"])", "[]", R"({"a":"b"})"})
    refused(odd, {std::string("model.merges[1] is ") + odd, "it must be two tokens"});
  refused(R"("a\q b")", {"not JSON: line 1", "after \\"});
  refused(R"(["a",])", {"not JSON: line 1", "a value is expected"});
}

TEST(TokenizerJson, RefusesATokenGivenTwiceAndIdsThatAreNone) {
  const auto refused = [](const char* vocabulary, std::initializer_list<std::string> said) {
    const std::string text = model(R"("merges":[])", std::string(R"("vocab":{"a":0,)") + vocabulary + "}");
    EXPECT_TRUE(throws_saying<DataError>([&] { from_text(text); }, said)) << text;
  };
  refused(R"("\u0061":1)", {"tokenizer.json: field \"a\" is given twice"});
  for (const char* odd : {"-1", "-0.0", "1.5", "null", "true", "\"1\"", "[1]", "{}", "2147483648", "18446744073709551615"})
    refused((std::string(R"("b\n":)") + odd).c_str(),
            {std::string(R"(model.vocab gives the token "b\n" the id )") + odd, "whole"});
  refused(R"("b":1e0)", {"the id 1.0"});
  refused(R"("b":01)", {"not JSON", "column"});
  refused(R"("b":)", {"not JSON", "a value is expected"});
}

// Tokenizers of ours are known by what they write, and other programs write fields in another order.
TEST(TokenizerJson, PartsMeanTheSameInAnyOrderOfTheirFields) {
  std::string text = byte_tokenizer()->to_json();
  const std::string ours = R"({"add_prefix_space":false,"trim_offsets":false,"type":"ByteLevel","use_regex":false})";
  for (std::size_t at; (at = text.find(ours)) != std::string::npos;)
    text.replace(at, ours.size(), R"({"type":"ByteLevel", "use_regex":false,"trim_offsets":false,"add_prefix_space":false})");
  ASSERT_NE(text, byte_tokenizer()->to_json());
  EXPECT_EQ(from_text(text)->kind(), "bytes");
  EXPECT_EQ(from_text(text)->to_json(), byte_tokenizer()->to_json());
}

}  // namespace
}  // namespace addnorm
