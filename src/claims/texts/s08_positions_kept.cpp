// S08: what the stream still knows of positions.
#include "claims/bench/experiment.h"
#include "claims/bench/positions.h"
#include "claims/list.h"

namespace addnorm::lab::s08 {
namespace {

constexpr double kChance = 1.0 / kProbedPositions;
constexpr const char* kStacks[] = {"plain", "plain-ln", "post-ln", "pre-ln"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      const std::vector<double> accuracy = position_accuracy(context, name, 6, seed);
      if (name == kStacks[0]) s.add("input", accuracy.front());
      s.add(name, accuracy.back());
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = concat("positions (of 16, chance 0.06) that a linear probe reads right: from the embeddings ",
                            s.text("input"), "; from the top of 6 untrained encoder layers:");
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(name));
  const auto kept = [&](const char* name) { return (s.mean(name) - kChance) / (s.mean("input") - kChance); };
  const bool lost = kept("plain") < 0.1 && kept("plain-ln") < 0.1;
  const bool pre = kept("pre-ln") > 0.25;
  const bool post = kept("post-ln") > 0.25;
  if (lost && pre && post) return holds(text);
  if (lost && (pre || post)) return holds_if(pre ? "no norm stands on the skip" : "a norm stands after the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S08",
          .statement = "Residual connections preserve what the position embeddings put into the stream.",
          .source = "text 000, paragraph after the formula",
          .expected =
              "of what the probe reads from the embeddings, above chance, more than a quarter is left with skips, less than a "
              "tenth without",
          .changed =
              "twice. With learned positions as large as the tokens and few rows to fit on, and a line at half of the positions "
              "right, post-LN kept 0.66 and pre-LN 0.32 (true only if the sum is normed); with sinusoidal ones on as few rows "
              "0.12 and 0.22 (false). Then four times the rows, and the line at a quarter of what the embeddings give: post-LN "
              "is near it",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s08
