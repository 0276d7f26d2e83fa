// addnorm embed as a process: vectors of texts, files, similarity, refusals. The model is a golden of transformers, with a
// tokenizer made here.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/import.h"
#include "cli/models/word_tokenizer.h"
#include "cli/process.h"
#include "support/models/import_files.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::Ended;
using test::Process;

struct EmbedCommand : testing::Test {
  static void SetUpTestSuite() {
    folder = std::make_unique<test::TemporaryFolder>();
    test::copy_of_golden("bert", folder->path / "model");
    folder->write("model/tokenizer.json", test::word_tokenizer());
  }
  static void TearDownTestSuite() { folder.reset(); }
  static Ended embed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "embed");
    return Process(folder->path, std::move(arguments)).end();
  }
  /// Of ids with those around them, by the model as it was loaded.
  static Tensor expected(std::vector<std::int32_t> ids) {
    static const ImportedModel imported = import_model(folder->path / "model");
    ids.insert(ids.begin(), 2);
    ids.push_back(3);
    return sentence_vectors(dynamic_cast<const Encoder&>(*imported.model), {.ids = ids}, {});
  }
  static std::vector<float> numbers(const std::string& line) {
    std::istringstream in(line);
    std::vector<float> all;
    for (float value = 0; in >> value;) all.push_back(value);
    return all;
  }
  static std::unique_ptr<test::TemporaryFolder> folder;
};
std::unique_ptr<test::TemporaryFolder> EmbedCommand::folder;

TEST_F(EmbedCommand, PrintsALineOfNumbersForEachText) {
  const Ended ended = embed({"model", "w7 w8 w9", "w30"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("their mean is taken"), std::string::npos) << ended.err;
  std::istringstream out(ended.out);
  std::string first, second, more;
  ASSERT_TRUE(std::getline(out, first) && std::getline(out, second));
  EXPECT_FALSE(std::getline(out, more)) << more;
  EXPECT_NEAR_ALL(std::span<const float>(numbers(first)), expected({7, 8, 9}).values<float>(), test::model_logits_tolerance());
  EXPECT_NEAR_ALL(std::span<const float>(numbers(second)), expected({30}).values<float>(), test::model_logits_tolerance());
}

TEST_F(EmbedCommand, ReadsTheLinesOfAFileEmptyOnesToo) {
  folder->write("texts.txt", "w7 w8 w9\r\n\nw30");
  const Ended file = embed({"model", "--text", "texts.txt"}), given = embed({"model", "w7 w8 w9", "", "w30"});
  ASSERT_EQ(file.code, 0) << file.err;
  EXPECT_EQ(file.out, given.out);
  const Ended input = Process(folder->path, {"embed", "model", "--text", "-"}, folder->path / "texts.txt").end();
  EXPECT_EQ(input.out, file.out) << input.err;
}

TEST_F(EmbedCommand, TakesTextsInBracketsAsTheyAre) {
  folder->write("brackets.txt", "[w7, w8]\n[SEP]\n[]\n[w9] w10 [w11]\n[w7]\x1f\n");
  const Ended file = embed({"model", "--text", "brackets.txt"});
  ASSERT_EQ(file.code, 0) << file.err;
  EXPECT_EQ(embed({"model", "[w7, w8]", "[SEP]", "[]", "[w9] w10 [w11]", "[w7]\x1f"}).out, file.out);
  EXPECT_EQ(embed({"model", "--", "[w7, w8]", "[SEP]", "[]", "[w9] w10 [w11]", "[w7]\x1f"}).out, file.out);
}

TEST_F(EmbedCommand, RefusesAFileWithoutText) {
  folder->write("empty.txt", "");
  const Ended ended = embed({"model", "--text", "empty.txt", "--json"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("--text empty.txt: there is no text in it"), std::string::npos) << ended.err;
  EXPECT_TRUE(ended.out.empty()) << ended.out;
}

TEST_F(EmbedCommand, GivesJsonWithWidthVectorsAndSimilarities) {
  const Ended ended = embed({"model", "w7 w8", "w8 w7", "w7 w8", "--json", "--similar"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["model"], "model");
  EXPECT_EQ(json["width"], 16);
  ASSERT_EQ(json["vectors"].size(), 3u);
  EXPECT_EQ(json["vectors"][0].size(), 16u);
  EXPECT_EQ(json["vectors"][0], json["vectors"][2]);
  ASSERT_EQ(json["similarities"].size(), 3u);
  EXPECT_EQ(json["similarities"][0][2], 1.0);
  EXPECT_LT(json["similarities"][0][1], 1.0);
  EXPECT_EQ(json["similarities"][0][1], json["similarities"][1][0]);
}

TEST_F(EmbedCommand, ComparesEveryTwoTexts) {
  const Ended ended = embed({"model", "--similar", "w7 w8", "w20", "w7 w8"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("  1.00  w7 w8\n"), std::string::npos) << ended.out;
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 3) << ended.out;
  EXPECT_NE(embed({"model", "--similar", "w7\n\x1b[2J", "w20"}).out.find("  w7\\n\\x1b[2J\n"), std::string::npos);
}

TEST_F(EmbedCommand, CutsTextsThatAreTooLongAndSaysSo) {
  std::string many = "w4";
  for (int i = 5; i < 31; ++i) many += " w" + std::to_string(i);
  const Ended ended = embed({"model", many});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("1 text cut to 12 tokens"), std::string::npos) << ended.err;
  std::vector<std::int32_t> first(10);
  for (int i = 0; i < 10; ++i) first[static_cast<std::size_t>(i)] = 4 + i;
  EXPECT_NEAR_ALL(std::span<const float>(numbers(ended.out)), expected(first).values<float>(), test::model_logits_tolerance());
}

TEST_F(EmbedCommand, RefusesInOneLineWhatItCannotDo) {
  folder->write("bytes.txt", "w7\n\xff\n");
  std::vector<std::string> many_similar(102, "w7");
  many_similar[0] = "model";
  many_similar.insert(many_similar.end(), {"--similar", "--json"});
  const struct {
    std::vector<std::string> arguments;
    int code;
    std::string said;
  } cases[] = {{{}, 2, "which model?"},
               {{"model"}, 2, "which texts?"},
               {{"model", "w7", "--text", "texts.txt"}, 2, "both given"},
               {{"nowhere", "w7"}, 1, "nowhere is not there"},
               {{"model", "--text", "no-such-file"}, 1, "no-such-file: cannot be read"},
               {{"model", "--text", "model"}, 1, "model: cannot be read"},
               {{"model", "--text", "bytes.txt"}, 1, "--text bytes.txt, line 2: "},
               {many_similar, 2, "at most 100 of them"}};
  for (const auto& c : cases) {
    const Ended ended = embed(c.arguments);
    EXPECT_EQ(ended.code, c.code) << ended.err;
    EXPECT_NE(ended.err.find(c.said), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
}

TEST_F(EmbedCommand, RefusesAModelThatIsNoEncoderOrHasNoTokenizer) {
  test::copy_of_golden("gpt2", folder->path / "lm");
  folder->write("lm/tokenizer.json", test::word_tokenizer());
  test::copy_of_golden("bert", folder->path / "silent");
  const Ended lm = embed({"lm", "w7"}), silent = embed({"silent", "w7"});
  EXPECT_EQ(lm.code, 1);
  EXPECT_NE(lm.err.find("kind lm; vectors of texts come from an encoder"), std::string::npos) << lm.err;
  EXPECT_EQ(silent.code, 1);
  EXPECT_NE(silent.err.find("silent has no tokenizer that is read"), std::string::npos) << silent.err;
}

}  // namespace
}  // namespace addnorm
