// Every golden of an import under every label. Their weights are random: trials are inconclusive, and by design only the norms
// that are there count. They distinguish post-ln, which ends without one, from the three that end in one, but not these from each
// other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "addnorm/model/import.h"
#include "addnorm/model/placement.h"
#include "model/placement/labels.h"
#include "support/models/import_files.h"

namespace addnorm {
namespace {

using Ids = std::vector<std::int32_t>;
using Ground = PlacementFinding::Ground;
using test::kLabels;
using test::summary;

struct GoldenPlacement {
  const char* golden;
  const char* truth;
};

// As transformers has them: modeling_gpt2.py GPT2Block, modeling_bert.py BertSelfOutput and BertOutput, ...
constexpr std::array kGoldens{
    GoldenPlacement{"gpt2", "pre-ln"},
    GoldenPlacement{"gpt2-untied", "pre-ln"},
    GoldenPlacement{"bert", "post-ln"},
    GoldenPlacement{"bert-masked", "post-ln"},
    GoldenPlacement{"bert-decoder", "post-ln"},
    GoldenPlacement{"roberta-masked", "post-ln"},
    GoldenPlacement{"distilbert-masked", "post-ln"},
    GoldenPlacement{"llama", "pre-ln"},
    GoldenPlacement{"llama-tied-biased", "pre-ln"},
    GoldenPlacement{"mistral", "pre-ln"},
    GoldenPlacement{"qwen2", "pre-ln"},
    GoldenPlacement{"qwen3", "pre-ln"},
    GoldenPlacement{"olmo2", "res-post"},
    GoldenPlacement{"opt", "pre-ln"},
    GoldenPlacement{"opt-post", "post-ln"},
    GoldenPlacement{"opt-projected", "post-ln"},
};

/// Four texts of twelve tokens that no golden knows.
struct RandomTexts {
  explicit RandomTexts(unsigned seed) {
    std::mt19937 draw(seed);
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(4 + draw() % 27);
  }
  PlacementSample sample() const { return {.tokens = {.ids = ids, .batch = 4}}; }
  Ids ids = Ids(48);
};

/// That trials did not decide: none knew the texts, or several knew them equally well.
bool says_undecided(const PlacementFinding& found) {
  return test::mentions(found.evidence, "the trials are inconclusive") || test::mentions(found.evidence, "do about as well");
}

class GoldenPlacements : public testing::TestWithParam<GoldenPlacement> {};

TEST_P(GoldenPlacements, AreThoseOfTheirConfigs) {
  const auto& [golden, truth] = GetParam();
  const ImportedModel imported = import_model(test::import_golden(golden));
  for (unsigned seed = 0; seed <= 5; ++seed) {
    const RandomTexts texts(seed);
    const PlacementFinding found = detect_placement(*imported.model, seed > 0 ? texts.sample() : PlacementSample{});
    EXPECT_EQ(found.configured, truth);
    EXPECT_EQ(found.behaves_as, truth) << summary(found);
    EXPECT_EQ(found.ground, Ground::norms) << summary(found);
    EXPECT_TRUE(found.agrees && found.warnings.empty() && !found.final_norm_missing) << summary(found);
    EXPECT_EQ(found.trials.size(), seed > 0 ? 8u : 0u);
    EXPECT_EQ(says_undecided(found), seed > 0) << summary(found);
  }
}

TEST_P(GoldenPlacements, AreSeenThroughWrongLabelsAsFarAsNormsTell) {
  const auto& [golden, truth] = GetParam();
  const bool post = std::string_view(truth) == "post-ln";
  for (const char* label : kLabels) {
    const bool labelled_post = std::string_view(label) == "post-ln";
    const ImportedModel imported = import_model(test::import_golden(golden), {.arrangement = label, .final_norm = !post});
    for (unsigned seed = 0; seed <= 3; ++seed) {
      SCOPED_TRACE(concat(golden, " labelled ", label, ", texts ", seed));
      const RandomTexts texts(seed);
      const PlacementFinding found = detect_placement(*imported.model, seed > 0 ? texts.sample() : PlacementSample{});
      EXPECT_EQ(found.configured, label);
      EXPECT_EQ(found.ground, Ground::norms) << summary(found);
      if (post == labelled_post) {  // right, or not distinguishable from what is right: the label stands
        EXPECT_EQ(found.behaves_as, label) << summary(found);
        EXPECT_TRUE(found.agrees && found.warnings.empty()) << summary(found);
        const bool not_seen = test::mentions(found.evidence, "how it differs from others that end so is not visible");
        EXPECT_TRUE(post || not_seen || test::mentions(found.evidence, "do about as well")) << summary(found);
        continue;
      }
      EXPECT_EQ(found.behaves_as, post ? "post-ln" : "pre-ln")
          << summary(found);  // by far the most that end in a norm are pre-ln
      EXPECT_FALSE(found.agrees);
      EXPECT_EQ(found.final_norm_missing, post) << summary(found);
      ASSERT_EQ(found.warnings.size(), 1u) << summary(found);
      EXPECT_TRUE(test::mentions(found.warnings, post ? "are the norms of post-ln" : "such are the norms of pre-ln"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenPlacements, testing::ValuesIn(kGoldens), [](const auto& tested) {
  std::string name = tested.param.golden;
  std::erase(name, '-');
  return name;
});

/// No golden is left out.
TEST(GoldenPlacementsOf, EveryFolderThereIs) {
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::import_golden(""))) {
    const std::string name = entry.path().filename().string();
    ++folders;
    EXPECT_TRUE(std::ranges::any_of(kGoldens, [&](const GoldenPlacement& one) { return one.golden == name; })) << name;
  }
  EXPECT_EQ(folders, kGoldens.size());
}

}  // namespace
}  // namespace addnorm
