// addnorm eval of checkpoints of others: the text that they read, held to passes over ids that are written down here.
#include <cmath>
#include <numbers>

#include "addnorm/autograd/tape.h"
#include "addnorm/data/text_dataset.h"
#include "addnorm/model/import.h"
#include "addnorm/train/objective.h"
#include "addnorm/train/trainer.h"
#include "cli/models/import_commands.h"
#include "cli/models/word_tokenizer.h"
#include "core/json/json.h"

namespace addnorm::test {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kBegin = 2, kEnd = 3, kMask = 30;
constexpr std::int32_t kNone = kIgnoredLabel;

struct EvalImported : ImportCommands {
  /// A golden with a tokenizer of words. It takes 12 tokens.
  void model(const std::string& name, const WordTokenizer& tokenizer) {
    name_ = name;
    checkpoint(name);
    write_text(at(name) / "tokenizer.json", word_tokenizer(tokenizer));
    model_ = import_model(at(name)).model;
  }
  Json eval(const std::string& text) const {
    folder.write("text.txt", text);
    return parsed(written({"eval", name_, "--data", "text.txt", "--json"}), "stdout");
  }
  /// The sum over the labels of one sequence.
  double nats(const Ids& ids, const Ids& labels) const {
    const NoGrad no_grad;
    const Batch batch{.sequences = 1, .ids = ids, .labels = labels};
    return static_cast<double>(batch_loss(*model_, batch, {}).value().data<float>()[0]) * static_cast<double>(batch.counted());
  }

 private:
  std::string name_;
  std::unique_ptr<Model> model_;
};

Ids word_ids(std::int32_t count) {
  Ids ids;
  for (std::int32_t i = 0; i < count; ++i) ids.push_back(4 + i * 7 % 23);
  return ids;
}
std::string text_of_ids(const Ids& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "w" : " w") + std::to_string(id);
  return text;
}
Ids part(const Ids& ids, std::size_t from, std::size_t to) {
  return {ids.begin() + static_cast<std::ptrdiff_t>(from), ids.begin() + static_cast<std::ptrdiff_t>(to)};
}
Ids joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(EvalImported, AMaskedModelReadsTheTokensAroundAText) {
  model("bert-masked", {.mask = true});
  const Json one = eval("w7");
  EXPECT_EQ(one["labels"].number(), 1);
  EXPECT_NEAR(one["loss"].number(), nats({kBegin, kMask, kEnd}, {kNone, 7, kNone}), 1e-5);
  const Json two = eval("w7 w9");
  EXPECT_EQ(two["labels"].number(), 1);
  double nearest = 1;  // in the place of the one that is predicted stands the mask, any other, or itself
  for (std::int32_t id = 4; id <= kMask; ++id) {
    nearest = std::min(nearest, std::abs(two["loss"].number() - nats({kBegin, id, 9, kEnd}, {kNone, 7, kNone, kNone})));
    nearest = std::min(nearest, std::abs(two["loss"].number() - nats({kBegin, 7, id, kEnd}, {kNone, kNone, 9, kNone})));
  }
  EXPECT_LT(nearest, 1e-5) << two["loss"].number();
}

// 12 tokens, of which the tokenizer has two: 23 words are windows of 10, 10 and 3.
TEST_F(EvalImported, EveryWindowOfAMaskedModelHasTheTokensAroundIt) {
  model("bert-masked", {.mask = true});
  const Json found = eval(text_of_ids(word_ids(23)));
  EXPECT_EQ(found["sequences"].number(), 3);
  EXPECT_EQ(found["labels"].number(), 2 + 2 + 1);
  EXPECT_FALSE(found.contains("bits_per_byte"));
}

TEST_F(EvalImported, AMaskedModelWithoutTextIsRefused) {
  model("bert-masked", {.mask = true});
  folder.write("empty.txt", " \n");
  const Ended ended = run({"eval", "bert-masked", "--data", "empty.txt"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("empty.txt"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("no token"), std::string::npos) << ended.err;
}

TEST_F(EvalImported, ALanguageModelReadsTheTokenThatBeginsAText) {
  for (const char* name : {"llama", "mistral", "qwen2", "olmo2", "opt"}) {
    model(name, {.end = false});
    const Json found = eval("w7 w9 w11");
    const double nats_of_text = nats({kBegin, 7, 9}, {7, 9, 11});
    EXPECT_EQ(found["labels"].number(), 3) << name;
    EXPECT_NEAR(found["loss"].number(), nats_of_text / 3, 1e-5) << name;
    EXPECT_NEAR(found["bits_per_byte"].number(), nats_of_text / std::numbers::ln2 / 9, 1e-5) << name;  // of "w7 w9 w11"
    EXPECT_EQ(eval("w7")["labels"].number(), 1) << name;
  }
}

TEST_F(EvalImported, ALanguageModelPredictsTheTokenThatEndsAText) {
  model("llama", {});
  const Json both = eval("w7 w9");
  EXPECT_NEAR(both["loss"].number(), nats({kBegin, 7, 9}, {7, 9, kEnd}) / 3, 1e-5);
  EXPECT_NEAR(both["bits_per_byte"].number(), nats({kBegin, 7, 9}, {7, 9, kEnd}) / std::numbers::ln2 / 5, 1e-5);
  model("llama", {.begin = false});
  const Json end = eval("w7 w9");
  EXPECT_EQ(end["labels"].number(), 2);
  EXPECT_NEAR(end["loss"].number(), nats({7, 9}, {9, kEnd}) / 2, 1e-5);
}

// Windows of 12 tokens; the last ends with the text and counts what the others have not.
TEST_F(EvalImported, ALongTextBeginsOnce) {
  model("llama", {.end = false});
  const Ids words = word_ids(20), all = joined({kBegin}, words);
  const Ids labels = joined(Ids(4, kNone), part(all, 13, 21));
  const double sum = nats(part(all, 0, 12), part(all, 1, 13)) + nats(part(all, 8, 20), labels);
  const std::string text = text_of_ids(words);
  const Json found = eval(text);
  EXPECT_EQ(found["labels"].number(), 20);
  EXPECT_EQ(found["sequences"].number(), 2);
  EXPECT_NEAR(found["loss"].number(), sum / 20, 1e-5);
  EXPECT_NEAR(found["bits_per_byte"].number(), sum / std::numbers::ln2 / static_cast<double>(text.size()), 1e-5);
}

TEST_F(EvalImported, WithoutATokenToBeginWithTheFirstIsNotPredicted) {
  model("gpt2", {.begin = false, .end = false});
  const Json found = eval("w7 w9 w11");
  EXPECT_EQ(found["labels"].number(), 2);
  EXPECT_NEAR(found["loss"].number(), nats({7, 9}, {9, 11}) / 2, 1e-5);
  EXPECT_EQ(run({"eval", "gpt2", "--data", "words.txt"}).code, 0);
  folder.write("one.txt", "w7");
  const Ended one = run({"eval", "gpt2", "--data", "one.txt"});
  EXPECT_EQ(one.code, 1);
  EXPECT_NE(one.err.find("one.txt"), std::string::npos) << one.err;
}

/// Words of which each but every eighth follows from the one before.
Ids chain(std::int32_t count) {
  Ids ids{4};
  for (std::int32_t i = 1; i < count; ++i) ids.push_back(i % 8 == 0 ? 4 + i * i % 23 : 4 + (ids.back() * 5 + 1) % 23);
  return ids;
}

/// OPT's golden, which has learned the chain.
struct TrainedOpt : ImportCommands {
  TrainedOpt() {
    const ImportedModel opt = import_model(import_golden("opt"));
    const Ids text = chain(4000);
    const auto data = shuffled_windows(std::make_shared<TokenVector>(text), {0, text.size()}, 12, 1);
    TrainerOptions options{.batch_size = 8};
    options.schedule = {.kind = ScheduleKind::cosine, .rate = 1e-2, .least = 1e-3, .warmup = 10, .steps = 200};
    Trainer trainer(*opt.model, *data, options);
    for (int i = 0; i < 200; ++i) trainer.step();
    export_model(opt, at("opt"));
    write_text(at("opt") / "tokenizer.json", word_tokenizer({.end = false}));
    folder.write("chain.txt", text_of_ids(chain(600)));
  }
  void label_as_post_ln() const {
    replace_in(at("opt") / "config.json", "\"do_layer_norm_before\": true", "\"do_layer_norm_before\": false");
    change_weights(at("opt"), [](Stored& all) {
      for (const char* name : {"weight", "bias"}) all.erase(std::string("model.decoder.final_layer_norm.") + name);
    });
  }
};

TEST_F(TrainedOpt, WeightsThatAreNotWhatTheConfigSaysAreReportedInOneLine) {
  const Ended right = run({"eval", "opt", "--data", "chain.txt", "--json"});
  ASSERT_EQ(right.code, 0) << right.err;
  EXPECT_EQ(right.err.find("warning"), std::string::npos) << right.err;
  const Json good = parsed(right.out, "stdout");
  EXPECT_EQ(good["placement"]["configured"], "pre-ln");
  EXPECT_EQ(good["placement"]["behaves_as"], "pre-ln");
  EXPECT_EQ(good["placement"]["ground"], "trials");
  EXPECT_EQ(good["placement"]["agrees"], true);
  label_as_post_ln();
  const Ended wrong = run({"eval", "opt", "--data", "chain.txt", "--json"});
  ASSERT_EQ(wrong.code, 0) << wrong.err;
  const std::size_t warned = wrong.err.find("warning: the config says post-ln, but the weights behave as pre-ln");
  ASSERT_NE(warned, std::string::npos) << wrong.err;
  EXPECT_EQ(wrong.err.find('\n', warned), wrong.err.size() - 1) << wrong.err;
  const Json bad = parsed(wrong.out, "stdout");
  EXPECT_EQ(bad["placement"]["configured"], "post-ln");
  EXPECT_EQ(bad["placement"]["behaves_as"], "pre-ln");
  EXPECT_EQ(bad["placement"]["agrees"], false);
  EXPECT_GT(bad["loss"].number(), good["loss"].number() + 0.1);  // the model is back as it was: the config's
}

TEST_F(EvalImported, WhatIsNoTextIsRefusedByName) {
  model("gpt2", {.begin = false, .end = false});
  const Ended weights = run({"eval", "gpt2", "--data", "gpt2"});
  EXPECT_EQ(weights.code, 1);
  EXPECT_NE(weights.err.find("gpt2/model.safetensors: is not text"), std::string::npos) << weights.err;
  const Ended device = run({"eval", "/dev/null", "--data", "words.txt"});
  EXPECT_EQ(device.code, 1);
  EXPECT_NE(device.err.find("/dev/null is neither a folder nor a file"), std::string::npos) << device.err;
}

}  // namespace
}  // namespace addnorm::test
