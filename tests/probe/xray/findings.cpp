// What an x-ray says in words follows from its numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "addnorm/probe/xray.h"
#include "probe/measures/measures.h"

namespace addnorm {
namespace {

/// A result that was never measured, to say things of.
XrayResult made_up() {
  XrayResult r;
  r.loss = 3;
  StackXray s{.name = "stack", .units = {"layers.0.self", "layers.0.ffn", "layers.1.self", "layers.1.ffn"}, .layers = 2};
  s.stream_rms = {0.1, 0.2, 2, 2.5, 4};
  s.peaks.resize(5);
  for (StreamPeak& peak : s.peaks) peak = {.value = 3, .over_median = 12};
  s.lens = {8, 7, 5, 4, 3};
  s.bypass_change = {0.5, 5.25, 0.01, 0.02};
  s.expendable = {{2, 3}, 0.05};
  s.block_influence = {0.5, 0.1};
  s.attention_entropy = {0.2, kNotMeasured, 0.7, kNotMeasured};
  s.attribution = {1, 2, -0.5, 3, 0.5, 0};
  r.attributed = 6;
  r.stacks = {s};
  r.norms = {{.name = "layers.0.self.in", .slot = "in", .rms = 0.5, .least = 0.1, .most = 0.75},
             {.name = "exit", .slot = "exit", .rms = 1, .least = 0.5, .most = 9}};
  return r;
}

bool says(const XrayResult& r, const std::string& sentence) {
  const std::vector<std::string> all = findings_of(r);
  return std::ranges::find(all, sentence) != all.end();
}

TEST(Findings, AreSentencesOfTheNumbers) {
  const XrayResult r = made_up();
  for (const char* sentence :
       {"the stream grows 40x, from an RMS of 0.1 to 4; the largest step is 10x at layers.0.ffn",
        "no element of the stream exceeds 12 medians",
        "units layers.1.self and layers.1.ffn can be by-passed for at most 0.02 nats each, all 2 at once for 0.05 nats",
        "the model needs layers.0.ffn most: 5.25 nats without it",
        "read as if the stack ended there, the loss falls from 8 at the input to 3; half of that is reached after layers.0.ffn, "
        "unit 2 of 4",
        "of the label's logit, 6 above the mean, most is brought by layers.1.self 3, layers.0.self 2, the embedding 1; "
        "against it: layers.0.ffn -0.5",
        "of whole layers, layers.0 turns the stream most (block influence 0.5), layers.1 least (0.1)",
        "attention is sharpest in layers.0.self (entropy 0.2 of the most possible) and widest in layers.1.self (0.7)",
        "gains of norms have an RMS between 0.5 (layers.0.self.in) and 1 (exit); a single one of exit reaches 9"})
    EXPECT_TRUE(says(r, sentence)) << sentence << "\nbut:\n" << testing::PrintToString(findings_of(r));
}

TEST(Findings, ChangeWithTheNumbers) {
  XrayResult r = made_up();
  r.stacks[0].stream_rms = {1, 1.1, 0.9, 1, 1.2};
  r.stacks[0].peaks[2] = {.value = -2411, .over_median = 4000, .feature = 138, .position = 0, .text = "\"The\""};
  r.stacks[0].expendable = {{}, kNotMeasured};
  r.stacks[0].lens = {8, 7, 2.5, 4, 3};
  r.stacks[0].attention_entropy = {0.72, kNotMeasured, 0.7, kNotMeasured};
  EXPECT_TRUE(says(r, "attention is about equally wide in all units: entropies from 0.7 to 0.72 of the most possible"));
  EXPECT_TRUE(says(r, "the stream keeps its size: its RMS stays between 0.9 and 1.2"));
  EXPECT_TRUE(says(r, "feature 138 is massive: -2,411, 4,000 medians, at position 0 (\"The\") after layers.0.ffn"));
  EXPECT_TRUE(says(r, "every unit counts: the least, layers.1.self, costs 0.01 nats when it is by-passed"));
  EXPECT_TRUE(says(r, "the loss would be lower if the stack ended after layers.0.ffn: 2.5 instead of 3"));
  r.stacks[0].stream_rms = {0.1, 1, 1, 1.25, 1};
  r.norms[0] = {.stack = "stack", .name = "layers.0.self.post", .slot = "post", .rms = 1, .least = 1, .most = 1};
  EXPECT_TRUE(says(r, "norms hold the stream: after the first unit its RMS stays between 1 and 1.25 (0.1 at the input)"));
  r.norms[0].slot = "in";
  EXPECT_TRUE(says(r, "the stream grows 10x, from an RMS of 0.1 to 1; the largest step is 10x at layers.0.self"));
  r.stacks[0].stream_rms = {4, 3, 2, 1, 0.5};
  EXPECT_TRUE(says(r, "the stream shrinks to 0.125 of its size, from an RMS of 4 to 0.5"));
  r.stacks[0].stream_rms[2] = kNotMeasured;
  EXPECT_TRUE(says(r, "the stream is not finite, or 0, somewhere: nothing can be said of its size"));
}

TEST(Findings, NameUnitsThatDoHarmOrNothing) {
  XrayResult r = made_up();
  r.stacks[0].bypass_change = {0.5, 5.25, -1.45, 0};
  r.stacks[0].branch_rms = {1, 1, 1, 0};
  EXPECT_TRUE(says(r, "without layers.1.self the loss would be 1.45 nats lower: it does harm here"));
  EXPECT_TRUE(says(r, "layers.1.ffn adds nothing: what is written is 0"));
  r.stacks[0].bypass_change[2] = -0.02;  // less than a hundredth of the loss
  r.stacks[0].branch_rms[3] = 1e-9;
  for (const std::string& sentence : findings_of(r)) {
    EXPECT_EQ(sentence.find("harm"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("adds nothing"), std::string::npos) << sentence;
  }
}

TEST(Findings, DoNotJudgeUnitsByALossThatIsNoBetterThanGuessing) {
  XrayResult r = made_up();
  r.config.vocab = 16;  // ln 16 = 2.77
  const std::vector<std::string> all = findings_of(r);
  EXPECT_EQ(all.front(),
            "the loss, 3, is no better than guessing (2.77): what units cost says nothing of this model with this text");
  for (const std::string& sentence : all)
    for (const char* word : {"by-passed", "stack ended", "label's logit"})
      EXPECT_EQ(sentence.find(word), std::string::npos) << sentence;
}

TEST(Findings, MakeNoDifferenceOfWhatIsTooSmallToShow) {
  XrayResult r = made_up();
  r.stacks[0].lens = {8, 7, 6.8, 2.99, 3};
  EXPECT_TRUE(says(r,
                   "read as if the stack ended there, the loss falls from 8 at the input to 3; half of that is reached after "
                   "layers.1.self, unit 3 of 4"));
  r.stacks[0].lens = {8, 7, 6.8, 6, 3};
  EXPECT_TRUE(says(r,
                   "read as if the stack ended there, the loss falls from 8 at the input to 3; half of that is reached only "
                   "after the last unit"));
  r.attributed = -0.25;
  EXPECT_TRUE(std::ranges::any_of(findings_of(r), [](const std::string& sentence) {
    return sentence.starts_with("of the label's logit, 0.25 below the mean, most is brought by layers.1.self 3");
  }));
}

TEST(Findings, BeginWithWarningsAndEndWithNotes) {
  XrayResult r = made_up();
  r.warnings = {"wrong"};
  r.notes = {"known"};
  const std::vector<std::string> all = findings_of(r);
  EXPECT_EQ(all.front(), "wrong");
  EXPECT_EQ(all.back(), "known");
}

}  // namespace
}  // namespace addnorm
