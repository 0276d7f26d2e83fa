// S03: stacking layers, the gradient, and training. (The text's "prevents ... less efficiently" says the opposite of what it
// means.)
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s03 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::size_t units : {4u, 20u, 56u}) {
    SmallRun run = mixture_run(context, "plain-ln", units);
    run.steps = context.steps(run.steps);
    for (const RunSummary& summary : run_seeds(run, context)) {
      s.add(concat("loss, ", units, " units"), summary.last());
      s.add(concat("gradient, ", units, " units"), summary.gradient_ratio);
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("without skips, after training: loss with 4, 20, 56 units ", s.text("loss, 4 units"), ", ", s.text("loss, 20 units"),
             ", ", s.text("loss, 56 units"), "; gradient at the bottom over that at the top ", s.text("gradient, 4 units"), ", ",
             s.text("gradient, 20 units"), ", ", s.text("gradient, 56 units"));
  const bool loss = s.least("loss, 56 units") > s.most("loss, 20 units") && s.least("loss, 20 units") > s.most("loss, 4 units");
  const bool gradient = s.most("gradient, 56 units") < 0.01 * s.least("gradient, 4 units");
  if (loss && gradient) return holds(text);
  if (loss || gradient)
    return holds_if(loss ? "it is said of training; more than 1 % of the gradient arrives"
                         : "it is said of the gradient; the loss does not rise with every step in depth",
                    text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S03",
          .statement = "Stacking layers makes gradients flow less well through the network, and training suffers.",
          .source = "text 000, third paragraph (where \"prevents\" turns the sentence into its opposite)",
          .expected =
              "without skips the loss rises from 4 to 20 to 56 units in every seed, and less than 1 % of the gradient arrives",
          .earlier = {"true",
                      "with GPT-2's weights 20 units without skips are at chance already, so that 56 cannot be worse; the "
                      "gradient is lost all the same"},
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s03
