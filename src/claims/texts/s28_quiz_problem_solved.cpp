// S28: question 5: which problem do residual connections solve?
#include "addnorm/nn/module.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s28 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"plain-ln", "without"}, {"pre-ln", "with"}}) {
    SmallRun run = mixture_run(context, stack, 56);
    run.steps = context.steps(run.steps);
    for (const RunSummary& summary : run_seeds(run, context)) {
      s.add(concat(name, ", training loss"), summary.last());
      s.add(concat(name, ", held-out minus training loss"), summary.held_out - summary.last());
      s.add(concat(name, ", gradient"), summary.gradient_ratio);
    }
    s.add(concat(name, ", parameters"), static_cast<double>(count_parameters(*started(run.model, 1))));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("56 units without and with skips: training loss ", s.text("without, training loss"), " and ",
             s.text("with, training loss"), "; gradient at the bottom over the top ", s.text("without, gradient"), " and ",
             s.text("with, gradient"), "; held-out minus training loss ", s.text("without, held-out minus training loss"),
             " and ", s.text("with, held-out minus training loss"), "; parameters ", s.text("without, parameters"), " and ",
             s.text("with, parameters"));
  const bool degradation = s.least("without, training loss") > s.most("with, training loss");
  const bool vanishing = s.most("without, gradient") < 0.01 * s.least("with, gradient");
  const bool no_gap = s.mean("without, held-out minus training loss") <= 0.2;
  const bool as_many = s.mean("with, parameters") >= 0.9 * s.mean("without, parameters");
  if (degradation && vanishing && no_gap && as_many) return holds(text);
  if (degradation != vanishing && no_gap && as_many)
    return holds_if(degradation ? "only degradation is meant" : "only vanishing gradients are meant", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S28",
      .statement =
          "Question 5: the problem solved is vanishing gradients and degradation, not overfitting, cost or memory (answer B).",
      .source = "text 001, question 5",
      .expected =
          "without skips: higher training loss in every seed, less than 1 % of the gradient, a gap of at most 0.2 to held-out "
          "data; "
          "with them at least 0.9 of the parameters",
      .compares = true,
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s28
