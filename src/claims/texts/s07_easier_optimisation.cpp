// S07: residual connections make a network easier to optimise.
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s07 {
namespace {

constexpr const char* kStacks[] = {"plain-ln", "post-ln", "pre-ln"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : kStacks) {
    SmallRun run = short_run(context, name);
    run.rate = 1e-3;
    add_run(s, name, run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "loss of a 6-layer decoder after 250 steps at 1e-3:";
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(name));
  const auto better = [&](const char* name) { return s.most(name) < s.least("plain-ln") - 0.1; };
  if (better("post-ln") && better("pre-ln")) return holds(text);
  if (better("post-ln") || better("pre-ln"))
    return holds_if(concat("the arrangement is ", better("pre-ln") ? "pre-LN" : "post-LN"), text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S07",
          .statement = "Residual connections make optimisation easier.",
          .source = "text 000, paragraph after the formula",
          .expected = "with skips every seed ends at least 0.1 nats below every seed without, at the same rate and steps",
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s07
