// C34: RAdam without warm-up against Adam with it, on the grid of C6.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/warmup_grid.h"

namespace addnorm::lab::c34 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  add_line(s, {.name = "Adam"}, context);
  add_line(s, {.name = "Adam with warm-up", .warmup = kGridWarmup}, context);
  add_line(s, {.name = "RAdam", .optimizer = OptimizerKind::radam}, context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("loss of 6 + 6 post-LN layers that turn words round, after 500 steps at a constant rate; ",
                                  line_text(s, "Adam"), "; ", line_text(s, "Adam with warm-up"), "; ", line_text(s, "RAdam"));
  int decides = 0, as_good = 0;  // rates at which warm-up decides, and at which RAdam does without it
  for (const double rate : kGridRates) {
    if (!most_fail(s, "Adam", rate) || !all_train(s, "Adam with warm-up", rate)) continue;
    ++decides;
    if (all_train(s, "RAdam", rate)) ++as_good;
  }
  if (decides == 0) return undecided(text + ". There is no rate at which warm-up decides: nothing to test it on");
  if (as_good == decides) return holds(text);
  return as_good > 0 ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C34",
      .statement = "RAdam, which holds early adaptive steps back, trains post-LN without warm-up as Adam does with it.",
      .source = "Liu et al. 2019, arXiv 1908.03265",
      .expected =
          "at every rate out of 1e-3, 3e-3, 5e-3 where warm-up decides for Adam (fewer than half of the seeds train without, all "
          "with 150 steps of it) all seeds train with RAdam without warm-up. Mixed: at some. Not decided: "
          "there is none. That the "
          "variance of early steps is the reason is not measured",
      .earlier = {.verdict = "not seen",
                  .why = "there is no rate at which warm-up decides: at 3e-3 one of three seeds trains with it now and every one "
                         "did before, with Xavier's weights both times; with GPT-2's all train without",
                  .since = VerdictSince::measured_again},
      .see =
          {{"S50",
            "there RAdam is held against Adam without warm-up alone, at 5e-3 in a decoder of 6 layers, and trains where Adam "
            "does not. So held it does better here too, at the higher rates with Xavier's weights. Whether it makes up for the "
            "warm-up is not decided: there is no rate at which that decides in every seed"}},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c34
