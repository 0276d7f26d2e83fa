// What a model reads while it is looked into, from C++ without the tool.
#include "addnorm/probe/xray_text.h"

#include <gtest/gtest.h>

#include "addnorm/probe/xray.h"
#include "cli/models/word_tokenizer.h"
#include "support/models/import_files.h"
#include "train/run/runs.h"

namespace addnorm::test {
namespace {

struct XrayTexts : Runs {
  std::string encoder() const {
    copy_of_golden("bert", folder.path / "bert");
    folder.write("bert/tokenizer.json", word_tokenizer({.mask = true}));
    return (folder.path / "bert").string();
  }
  template <class Call>
  static std::string refused(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(XrayTexts, OfARunAreItsValidationData) {
  Watcher watcher;
  train_run(request("a", "\"steps\": 1"), watcher);
  const std::string run = (folder.path / "a").string();
  const RunModel model = load_run(run);
  const XrayText text = xray_text(model, {.folder = run, .tokens = 48});
  EXPECT_EQ(text.source, "the validation data of the run");
  const XrayResult found = xray(*model.model, text.batches);
  EXPECT_EQ(found.tokens, 48u);
  EXPECT_EQ(found.stacks.size(), 1u);
}

TEST_F(XrayTexts, OfAnEncoderAreTheLinesOfAFile) {
  const std::string folder_of_model = encoder();
  const RunModel model = load_run(folder_of_model);
  const XrayText text = xray_text(
      model, {.folder = folder_of_model, .file = folder.write("lines.txt", "w4 w5\n\nw6 w7 w8\n").string(), .tokens = 100});
  EXPECT_EQ(text.read, 2u);
  EXPECT_EQ(text.sample.lengths, (std::vector<std::size_t>{4, 5}));
  EXPECT_FALSE(text.stopped);
}

TEST_F(XrayTexts, AreReadFromALanguageModelsIdsWhereItHasNoTokenizer) {
  copy_of_golden("gpt2", folder.path / "gpt2");
  std::filesystem::remove(folder.path / "gpt2" / "tokenizer.json");
  const std::string name = (folder.path / "gpt2").string();
  const RunModel model = load_run(name, RunWeights::best_if_there, TextNeeds::text_or_ids);
  const std::string ids = folder.write("ids.txt", "1, 2 3\n4 5\n").string();
  const XrayText given = xray_text(model, {.folder = name, .file = ids});
  EXPECT_EQ(given.read, 3u);
  EXPECT_EQ(given.sample.labels[0], 2);
  const XrayText drawn = xray_text(model, {.folder = name, .tokens = 20});
  EXPECT_EQ(drawn.source, "ids drawn at random");
  ASSERT_EQ(drawn.notes.size(), 1u);
  const std::string wrong = folder.write("wrong.txt", "1 2\n3 x\n").string();
  const std::string message = refused([&] { xray_text(model, {.folder = name, .file = wrong}); });
  EXPECT_EQ(message.find(concat("file ", wrong, ", line 2: 'x' is no id of this model")), 0u) << message;
}

TEST_F(XrayTexts, MessagesNameFieldsOrWhatAProgramCallsThem) {
  const std::string name = encoder();
  const RunModel model = load_run(name);
  XrayTextAsked asked{.folder = name, .tokens = 2};
  EXPECT_EQ(refused([&] { xray_text(model, asked); }).find("tokens is 2; this model's tokenizer puts 2 tokens around"), 0u);
  asked.words = [](std::string field) { return "--" + field; };
  EXPECT_EQ(refused([&] { xray_text(model, asked); }).find("--tokens is 2; this model's"), 0u);
  asked.tokens = 0;
  EXPECT_EQ(refused([&] { xray_text(model, asked); }), "--tokens is 0; it must be at least 1");
}

TEST_F(XrayTexts, EndWhenTheyAreStopped) {
  const std::string name = encoder();
  const std::string file = folder.write("lines.txt", "w4 w5\n").string();
  EXPECT_TRUE(xray_text(load_run(name), {.folder = name, .file = file, .go_on = [] { return false; }}).stopped);
}

}  // namespace
}  // namespace addnorm::test
