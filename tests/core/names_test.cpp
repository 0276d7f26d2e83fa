#include "addnorm/core/names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace addnorm {
namespace {

const std::vector<std::string> kKnown{"post-ln", "pre-ln", "rezero", "hc"};

TEST(Names, FoldAwayCaseDashUnderscoreAndSpace) {
  EXPECT_EQ(folded("PreLN"), "preln");
  EXPECT_EQ(folded("GPT 2"), "gpt2");
  EXPECT_EQ(folded("pre_ln"), folded("Pre-LN"));
}

TEST(Names, NearestIsTheOneWithTheFewestEdits) {
  EXPECT_EQ(nearest_name("PreLM", kKnown), "pre-ln");
  EXPECT_EQ(nearest_name("pos-tln", kKnown), "post-ln");
  EXPECT_EQ(nearest_name("rezro", kKnown), "rezero");
  EXPECT_EQ(nearest_name("hx", kKnown), "hc");
}

TEST(Names, TwoNeighboursThatChangedPlacesAreOneEdit) {
  EXPECT_EQ(nearest_name("benhc", std::vector<std::string>{"train", "bench"}), "bench");
  EXPECT_EQ(nearest_name("ch", kKnown), "hc");
  EXPECT_EQ(nearest_name("erzreo", kKnown), "rezero");
}

TEST(Names, NothingIsNearestToSomethingElseAltogether) {
  EXPECT_EQ(nearest_name("transformer", kKnown), "");
  EXPECT_EQ(nearest_name("ab", kKnown), "");
  EXPECT_EQ(nearest_name("rezero", {}), "");
}

TEST(Names, AnUnknownOneIsAnsweredWithTheNearestAndTheList) {
  EXPECT_EQ(unknown_name("arrangement", "prelm", kKnown),
            "unknown arrangement 'prelm'; did you mean pre-ln? known: post-ln, pre-ln, rezero, hc");
  EXPECT_EQ(unknown_name("arrangement", "zzz", kKnown), "unknown arrangement 'zzz'; known: post-ln, pre-ln, rezero, hc");
}

TEST(Names, OfFieldsAreThoseOfTheCallerWhereItHasSome) {
  const FieldWords words = [](const std::string& field) { return "--" + field; };
  EXPECT_EQ(called(nullptr, "lr"), "lr");
  EXPECT_EQ(called(words, "lr"), "--lr");
  EXPECT_EQ(with_fields_called("fewer {layers} or a larger {lr}", nullptr), "fewer layers or a larger lr");
  EXPECT_EQ(with_fields_called("fewer {layers} or a larger {lr}", words), "fewer --layers or a larger --lr");
  for (const char* text : {"", "no field", "open {lr", "closed lr}"}) EXPECT_EQ(with_fields_called(text, words), text);
}

}  // namespace
}  // namespace addnorm
