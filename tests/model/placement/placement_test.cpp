// Which arrangement weights behave as, also where their config says another: every model at hand under every label.
#include "addnorm/model/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "addnorm/autograd/ops.h"
#include "addnorm/data/tokenizer.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/import.h"
#include "addnorm/model/language_model.h"
#include "model/placement/labels.h"
#include "support/data.h"
#include "support/models/import_files.h"
#include "support/models/training.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;
using Ground = PlacementFinding::Ground;
using test::kLabels;
using test::summary;

/// The weights under every label: always `truth`, and a warning exactly where the label is another one.
void expect_seen_through(const fs::path& path, const PlacementSample& sample, const std::string& truth, bool final_norm) {
  for (const char* label : kLabels) {
    SCOPED_TRACE(label);
    const ImportedModel imported = import_model(path, {.arrangement = label, .final_norm = final_norm});
    const PlacementFinding found = detect_placement(*imported.model, sample);
    EXPECT_EQ(found.configured, label);
    EXPECT_EQ(found.behaves_as, truth) << summary(found);
    EXPECT_EQ(found.ground, Ground::trials) << summary(found);
    EXPECT_EQ(found.agrees, label == truth) << summary(found);
    EXPECT_EQ(found.warnings.empty(), label == truth) << summary(found);
    EXPECT_FALSE(found.final_norm_missing);
    EXPECT_EQ(std::ranges::count_if(found.trials, &PlacementTrial::configured), 1);
  }
}

/// Six digits and how they are sorted, but for the last: what gpt-nano-sort was trained on.
struct SortedDigits {
  SortedDigits() {
    std::mt19937 draw(1);
    for (std::size_t row = 0; row < kRows; ++row) {
      Ids digits(6);
      for (std::int32_t& digit : digits) digit = static_cast<std::int32_t>(draw() % 3);
      ids.insert(ids.end(), digits.begin(), digits.end());
      std::ranges::sort(digits);
      ids.insert(ids.end(), digits.begin(), digits.end() - 1);
    }
  }
  PlacementSample sample() const { return {.tokens = {.ids = ids, .batch = kRows}}; }
  static constexpr std::size_t kRows = 32;
  Ids ids;
};

TEST(Placement, OfGptNanoSortIsPreLnWhateverItsLabel) {
  ADDNORM_NEEDS_DATA("models/gpt-nano-sort");
  expect_seen_through(test::test_data() / "models" / "gpt-nano-sort", SortedDigits().sample(), "pre-ln", true);
}

TEST(Placement, OfStories260KIsPreLnWhateverItsLabel) {
  ADDNORM_NEEDS_DATA("models/stories260K");
  const fs::path folder = test::test_data() / "models" / "stories260K";
  const auto tokenizer = read_tokenizer(folder / "tok512.bin");
  Ids ids = tokenizer->frame().before;
  const Ids text = tokenizer->encode(
      "Once upon a time there was a boy who had a red ball. One day he went to the park with his mom. "
      "He saw a big dog and he was scared. The dog wanted to play with the ball, and they were happy.");
  ids.insert(ids.end(), text.begin(), text.end());
  expect_seen_through(folder, {.tokens = {.ids = ids}}, "pre-ln", true);
}

TEST(Placement, OfTheTransliterationIsPreLnInBothStacksWhateverItsLabel) {
  ADDNORM_NEEDS_DATA("models/aren-transliteration");
  const fs::path folder = test::test_data() / "models" / "aren-transliteration";
  const auto words = [&](const char* file) {
    std::vector<std::string> all;
    std::istringstream lines(test::text_of(folder / file));
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  };
  const auto ids_of = [](const std::string& line, const std::vector<std::string>& known) {
    Ids ids;
    std::istringstream letters(line);
    for (std::string letter; letters >> letter;)
      ids.push_back(static_cast<std::int32_t>(std::ranges::find(known, letter) - known.begin()));
    return ids;
  };
  std::vector<Ids> sources, targets;
  for (const std::string& pair : words("expected.tsv")) {
    sources.push_back(ids_of(pair.substr(0, pair.find('\t')), words("source_vocabulary.txt")));
    targets.push_back(ids_of("<s> " + pair.substr(pair.find('\t') + 1) + " </s>", words("target_vocabulary.txt")));
  }
  const test::Padded source(sources), target(targets);
  expect_seen_through(folder, {.tokens = source.tokens(), .target = target.tokens()}, "pre-ln", true);
}

TEST(Placement, TellsThatTheNormAtTheEndWasLost) {
  ADDNORM_NEEDS_DATA("models/gpt-nano-sort");
  const test::TemporaryFolder folder;
  test::Stored weights = test::stored(test::test_data() / "models" / "gpt-nano-sort" / "model.safetensors");
  std::erase_if(weights, [](const auto& entry) { return entry.first.find("ln_f") != std::string::npos; });
  test::store(folder.path / "model.safetensors", weights);
  EXPECT_THROW(import_model(folder.path), DataError);
  const ImportedModel imported = import_model(folder.path, {.final_norm = false});
  const PlacementFinding found = detect_placement(*imported.model, SortedDigits().sample());
  EXPECT_EQ(found.behaves_as, "pre-ln") << summary(found);
  EXPECT_TRUE(found.final_norm_missing) << summary(found);
  EXPECT_FALSE(found.agrees);
  EXPECT_TRUE(test::mentions(found.warnings, "the norm at the end is missing")) << summary(found);
}

TEST(Placement, TakesPaddedRowsOnly) {
  const auto model = make_model({.vocab = 7, .layers = 1, .d_model = 8, .heads = 2, .seq_len = 8});
  const std::vector<std::int32_t> ids{1, 2, 3, 4, 5, 6};
  EXPECT_THROW(detect_placement(*model, Tokens{.ids = ids, .batch = 2, .lengths = {2, 4}, .joined = true}), UsageError);
  EXPECT_THROW(detect_placement(*model, Tokens{.ids = ids, .batch = 4}), UsageError);
}

TEST(Placement, LeavesTheModelAsItWas) {
  const ImportedModel imported = import_model(test::import_golden("opt"));
  const auto& lm = dynamic_cast<const LanguageModel&>(*imported.model);
  const Ids ids{4, 9, 2, 17, 30, 5};
  const Tensor before = lm({.ids = ids}).value();
  detect_placement(*imported.model, Tokens{.ids = ids});
  EXPECT_EQ(imported.model->config().arrangement, "pre-ln");
  EXPECT_NEAR_ALL(lm({.ids = ids}).value(), before, test::exact());
}

TEST(Placement, StopsBetweenTrialsWhenAskedTo) {
  const ImportedModel imported = import_model(test::import_golden("opt"));
  const auto& lm = dynamic_cast<const LanguageModel&>(*imported.model);
  const Ids ids{4, 9, 2, 17, 30, 5};
  const Tensor before = lm({.ids = ids}).value();
  std::size_t asked = 0;
  const auto some = [&] { return ++asked < 3; };
  const PlacementFinding found = detect_placement(*imported.model, {.tokens = {.ids = ids}}, some);
  EXPECT_TRUE(found.stopped);
  EXPECT_EQ(asked, 3u);
  EXPECT_TRUE(found.behaves_as.empty() && found.trials.empty()) << summary(found);
  EXPECT_NEAR_ALL(lm({.ids = ids}).value(), before, test::exact());
  asked = 0;
  EXPECT_FALSE(detect_placement(*imported.model, {.tokens = {.ids = ids}}, [&] { return ++asked > 0; }).stopped);
  EXPECT_EQ(asked, 8u);
}

// Small models of ours, trained for a moment under each arrangement, and then labelled as each of them.

/// The weights of `model` in one with another label: each norm of a unit stands where that one has it.
std::unique_ptr<Model> relabelled(Model& model, const char* label) {
  ModelConfig config = model.config();
  config.final_norm = dynamic_cast<LanguageModel&>(model).stack().residual().arrangement().exit;
  config.arrangement = label;
  std::unique_ptr<Model> other = make_model(config, Start::blank);
  std::map<std::string, Tensor> values;
  const auto without_slot = [](std::string path) {
    for (const char* slot : {".in.", ".post.", ".out."})
      if (const std::size_t at = path.rfind(slot); path.starts_with("residual.layers") && at != std::string::npos)
        path.replace(at, std::string_view(slot).size(), ".norm.");
    return path;
  };
  for_each_parameter(model, [&](Parameter& p) { values[without_slot(p.path)] = p.value.value(); });
  for_each_parameter(*other, [&](Parameter& p) { p.value.value() = values.at(without_slot(p.path)); });
  return other;
}

TEST(Placement, OfTrainedModelsIsSeenThroughEveryLabel) {
  const ModelConfig config{.vocab = Language().vocabulary(), .layers = 2, .d_model = 32, .heads = 4, .seq_len = 16};
  TrainerOptions options{.batch_size = 16};
  options.schedule = {.rate = 5e-3, .warmup = 20, .steps = 120};
  const auto sample = Language().dataset(config.seq_len, 99);
  const Batch batch = sample->batch(0, 32);
  for (const char* truth : kLabels) {
    ModelConfig own = config;
    own.arrangement = truth;
    test::SmallRun run(options, own);
    run.steps(120);
    for (const char* label : kLabels) {
      SCOPED_TRACE(concat(truth, " labelled ", label));
      const std::unique_ptr<Model> model = relabelled(*run.model, label);
      const PlacementFinding found = detect_placement(*model, Tokens{.ids = batch.ids, .batch = 32});
      EXPECT_EQ(found.behaves_as, truth) << summary(found);
      EXPECT_EQ(found.ground, Ground::trials) << summary(found);
      EXPECT_EQ(found.warnings.empty(), std::string_view(label) == truth) << summary(found);
      // What a warning calls worse is worse; where both do about as well it says so.
      const PlacementTrial& configured = *std::ranges::find_if(found.trials, &PlacementTrial::configured);
      const PlacementTrial& best = *std::ranges::find(found.trials, found.behaves_as, &PlacementTrial::arrangement);
      const bool worse = test::mentions(found.warnings, "but the weights behave as");
      EXPECT_TRUE(!worse || configured.loss > best.loss + 0.1) << summary(found);
      EXPECT_TRUE(found.warnings.empty() || worse || test::mentions(found.warnings, "both do about as well")) << summary(found);
    }
  }
}

// Untrained weights: only the norms that are there count, and trials report that they are inconclusive.

struct Labelled {
  const char* golden;
  const char* label;
  bool final_norm;
  const char* truth;
  bool missing;
};

TEST(Placement, OfUntrainedWeightsIsKnownByTheirNorms) {
  const Ids ids{4, 9, 12, 17, 30, 5, 7, 8, 23, 11, 6, 19};
  for (const Labelled& one :
       {Labelled{"opt", "post-ln", true, "pre-ln", false}, Labelled{"opt-post", "pre-ln", false, "post-ln", true},
        Labelled{"gpt2", "post-ln", true, "pre-ln", false}, Labelled{"bert", "pre-ln", false, "post-ln", true},
        Labelled{"bert-masked", "pre-ln", false, "post-ln", true}, Labelled{"llama", "post-ln", true, "pre-ln", false}}) {
    SCOPED_TRACE(one.golden);
    const ImportedModel wrong =
        import_model(test::import_golden(one.golden), {.arrangement = one.label, .final_norm = one.final_norm});
    for (const bool with_sample : {false, true}) {
      const PlacementFinding found = detect_placement(*wrong.model, with_sample ? Tokens{.ids = ids} : Tokens{});
      EXPECT_EQ(found.behaves_as, one.truth) << summary(found);
      EXPECT_EQ(found.ground, Ground::norms) << summary(found);
      EXPECT_FALSE(found.agrees);
      EXPECT_EQ(found.final_norm_missing, one.missing);
      EXPECT_EQ(found.warnings.size(), 1u) << summary(found);
    }
    const ImportedModel right = import_model(test::import_golden(one.golden));
    const PlacementFinding found = detect_placement(*right.model, Tokens{.ids = ids});
    EXPECT_EQ(found.behaves_as, one.truth) << summary(found);
    EXPECT_TRUE(found.agrees && found.warnings.empty()) << summary(found);
  }
}

}  // namespace
}  // namespace addnorm
