// S14: how fast the identity is learned.
#include "claims/bench/experiment.h"
#include "claims/bench/identity_task.h"
#include "claims/list.h"

namespace addnorm::lab::s14 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::int64_t most = context.steps(1000);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    s.add("with skip", static_cast<double>(steps_to_identity(context, {.skip = true, .most = most}, seed)));
    s.add("without", static_cast<double>(steps_to_identity(context, {.skip = false, .most = most}, seed)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("steps of Adam until a feed-forward block is the identity to a mean squared error of 0.01: with skip ",
             s.text("with skip"), ", without ", s.text("without"));
  return s.most("with skip") < s.least("without") / 1.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S14",
          .statement = "With a skip the identity is easier to learn.",
          .source = "text 001, Why Residuals Help, 2",
          .expected = "in every seed at least 1.5 times fewer steps with a skip",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s14
