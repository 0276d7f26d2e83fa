// Causes, read from what probes recorded.
#include "addnorm/lab/cause.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace addnorm {
namespace {

constexpr std::size_t kUnits = 8;

/// A stack in which nothing is wrong.
ProbeRecord healthy(std::int64_t step) {
  StackRecord stack{.name = "stack"};
  for (std::size_t i = 0; i < kUnits; ++i) stack.units.push_back("layers." + std::to_string(i / 2) + (i % 2 ? ".ffn" : ".self"));
  stack.stream_rms.assign(kUnits + 1, 1.0);
  stack.spread.assign(kUnits + 1, 0.5);
  stack.gradient_norm.assign(kUnits + 1, 0.1);
  stack.update_ratio.assign(kUnits, 0.3);
  stack.attention_entropy.assign(kUnits, 0.7);
  ProbeRecord record{.step = step, .loss = 3.4};
  record.stacks.push_back(stack);
  return record;
}

/// Tokens alike at the top, gradients gone below unit 5.
ProbeRecord collapsed(std::int64_t step) {
  ProbeRecord record = healthy(step);
  StackRecord& stack = record.stacks[0];
  stack.spread.back() = 0.003;
  for (std::size_t i = 0; i < 5; ++i) stack.gradient_norm[i] = 1e-5;
  return record;
}

const Judged kStuck{.outcome = Outcome::stuck, .loss = 3.4, .best = 3.4};
const Judged kDiverged{.outcome = Outcome::diverged, .loss = 3.6, .best = 2.05, .diverged_at = 214};
const Judged kBrokeOff{.outcome = Outcome::diverged, .loss = 3.6, .best = 2.05, .diverged_at = 214, .broke_off = true};

std::optional<Cause> cause_of(const std::vector<ProbeRecord>& records, const Judged& judged = kStuck) {
  return find_cause(records, judged);
}

TEST(Cause, OfATrainedRunThereIsNone) {
  EXPECT_FALSE(cause_of({collapsed(1)}, {.outcome = Outcome::trained, .loss = 2, .best = 2}).has_value());
  EXPECT_FALSE(cause_of({collapsed(1)}, {.outcome = Outcome::too_short, .loss = 3.4, .best = 3.4}).has_value());
}

TEST(Cause, NamesTheStepAndTheUnitWhereTokensBecameAlikeAndTheGradientWasGone) {
  const auto cause = cause_of({healthy(1), collapsed(11), collapsed(21)});
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->kind, CauseKind::tokens_alike);
  EXPECT_EQ(cause->step, 11);
  EXPECT_EQ(cause->unit, 5u);
  EXPECT_NE(cause->text.find("no gradient reaches below unit 5 of 8"), std::string::npos) << cause->text;
  EXPECT_FALSE(cause->confirmed);
}

TEST(Cause, IsNotWhatWentAwayAgain) {
  EXPECT_EQ(cause_of({collapsed(1), collapsed(11), healthy(21), healthy(31)})->kind, CauseKind::unknown);
  const auto mostly = cause_of({healthy(1), collapsed(11), collapsed(21), collapsed(31), collapsed(41), healthy(51)});
  EXPECT_EQ(mostly->kind, CauseKind::tokens_alike);
  EXPECT_EQ(mostly->step, 11);
}

TEST(Cause, SaysNearlyWhereTokensStillDifferALittle) {
  ProbeRecord record = collapsed(11);
  record.stacks[0].spread.back() = 0.02;
  for (std::size_t i = 0; i < 5; ++i) record.stacks[0].gradient_norm[i] = 0.005;
  EXPECT_NE(cause_of({record})->text.find("nearly alike"), std::string::npos) << cause_of({record})->text;
}

TEST(Cause, SaysSoWhereLittleGradientIsLeftThoughNoneOfItIsGone) {
  ProbeRecord record = collapsed(11);
  for (std::size_t i = 0; i < 5; ++i) record.stacks[0].gradient_norm[i] = 0.005;
  const auto cause = cause_of({record});
  EXPECT_EQ(cause->kind, CauseKind::tokens_alike);
  EXPECT_EQ(cause->unit, 0u);
  EXPECT_NE(cause->text.find("hardly any gradient"), std::string::npos) << cause->text;
}

TEST(Cause, DistinguishesTheWaysInWhichAStackFails) {
  ProbeRecord record = healthy(1);
  StackRecord& stack = record.stacks[0];
  const StackRecord good = stack;

  stack.gradient_norm[0] = 1e6;
  EXPECT_EQ(cause_of({record})->kind, CauseKind::gradient_explodes);
  stack = good;
  for (std::size_t i = 0; i < 4; ++i) stack.gradient_norm[i] = 1e-9;
  EXPECT_EQ(cause_of({record})->kind, CauseKind::gradient_vanishes);
  EXPECT_EQ(cause_of({record})->unit, 4u);
  stack = good;
  stack.stream_rms.back() = 1e5;
  EXPECT_EQ(cause_of({record})->kind, CauseKind::stream_grows);
  stack = good;
  stack.spread.back() = 0.001;
  EXPECT_EQ(cause_of({record})->kind, CauseKind::rank_collapse);
  stack = good;
  stack.update_ratio.assign(kUnits, 1e-5);
  EXPECT_EQ(cause_of({record})->kind, CauseKind::branches_die);
  stack = good;
  stack.attention_entropy.assign(kUnits, std::nan(""));
  stack.attention_entropy[0] = 0.001;
  EXPECT_EQ(cause_of({record})->kind, CauseKind::attention_collapse);
}

TEST(Cause, OfARunThatHadTrainedIsItsDivergence) {
  const auto cause = cause_of({healthy(1), healthy(11)}, kDiverged);
  EXPECT_EQ(cause->kind, CauseKind::late_divergence);
  EXPECT_NE(cause->text.find("at step 214"), std::string::npos) << cause->text;
}

TEST(Cause, OfARunThatBrokeOffMayBeSeenInAnyOfItsRecords) {
  ProbeRecord burst = healthy(11);
  burst.stacks[0].gradient_norm[0] = std::nan("");
  EXPECT_EQ(cause_of({healthy(1), burst, healthy(21)}, kBrokeOff)->kind, CauseKind::gradient_explodes);
}

TEST(Cause, OfARunThatEndedAboveTheLineAgainIsNotWhatOneRecordShows) {
  EXPECT_EQ(cause_of({collapsed(1), healthy(11), healthy(21), healthy(31)}, kDiverged)->kind, CauseKind::late_divergence);
  EXPECT_EQ(cause_of({collapsed(1), healthy(11), healthy(21), healthy(31)}, kBrokeOff)->kind, CauseKind::tokens_alike);
}

TEST(Cause, IsNotAGradientThatNobodyMeasured) {
  ProbeRecord record = healthy(1);
  std::vector<double>& norms = record.stacks[0].gradient_norm;
  norms.assign(kUnits + 1, std::nan(""));
  norms[0] = 0.1;  // as with recompute
  EXPECT_EQ(cause_of({record})->kind, CauseKind::unknown);
  EXPECT_EQ(cause_of(probe_records(to_json(record)))->kind, CauseKind::unknown);
  norms.back() = 0.1;
  EXPECT_EQ(cause_of(probe_records(to_json(record)))->kind, CauseKind::unknown);
  norms.back() = std::nan("");
  record.stacks[0].spread.back() = 0.001;
  EXPECT_NE(cause_of({record})->text.find("not measured"), std::string::npos) << cause_of({record})->text;
  norms.assign(kUnits + 1, std::numeric_limits<double>::infinity());
  EXPECT_EQ(cause_of({record})->kind, CauseKind::gradient_explodes);
  EXPECT_EQ(cause_of(probe_records(to_json(record)))->kind, CauseKind::gradient_explodes);
}

TEST(Cause, IsNotATopWhereTokensAreAlikeWhileTheyDifferInTheOutput) {
  ProbeRecord record = collapsed(1);
  for (std::size_t i = 0; i < 5; ++i) record.stacks[0].gradient_norm[i] = 0.005;
  EXPECT_EQ(cause_of(probe_records(to_json(record)))->kind, CauseKind::tokens_alike);
  record.stacks[0].output_spread = 0.4;
  EXPECT_EQ(cause_of(probe_records(to_json(record)))->kind, CauseKind::unknown);
}

TEST(Cause, SignsAreSeenInRunsThatTrainedToo) {
  EXPECT_EQ(signs_in(std::vector{healthy(1), collapsed(11), collapsed(21)}).front(), CauseKind::tokens_alike);
  EXPECT_TRUE(signs_in(std::vector{collapsed(1), healthy(11), healthy(21)}).empty());
}

TEST(Cause, WithoutProbesIsUnknownAndSaysWhy) {
  EXPECT_NE(cause_of({})->text.find("no probes"), std::string::npos);
  EXPECT_EQ(cause_of({}, {.outcome = Outcome::slow})->kind, CauseKind::slow);
}

TEST(ProbeLines, ReadBackWhatWasWritten) {
  ProbeRecord record = collapsed(7);
  record.stacks[0].output_spread = 0.25;
  record.stacks[0].attention_entropy[1] = std::nan("");
  const std::string text = to_json(record) + "\n{\"step\": 8, \"sta";  // and half a line
  const std::vector<ProbeRecord> read = probe_records(text);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].step, 7);
  EXPECT_EQ(read[0].stacks.at(0).units, record.stacks[0].units);
  EXPECT_EQ(read[0].stacks[0].gradient_norm, record.stacks[0].gradient_norm);
  EXPECT_EQ(read[0].stacks[0].spread, record.stacks[0].spread);
  EXPECT_EQ(read[0].stacks[0].output_spread, 0.25);
  EXPECT_TRUE(std::isnan(read[0].stacks[0].attention_entropy[1]));
}

}  // namespace
}  // namespace addnorm
