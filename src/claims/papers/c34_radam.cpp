// C34: RAdam without warm-up against Adam with it, on the grid of C6.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/warmup_grid.h"
#include "claims/list.h"

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
  int decides = 0, as_good = 0, open = 0;  // rates at which warm-up decides, and at which RAdam does without it, or may
  for (const double rate : kGridRates) {
    if (help(s, grid_name("Adam", rate), grid_name("Adam with warm-up", rate)) != Help::works) continue;
    ++decides;
    const SeedsTrained radam = seeds_trained(s, grid_name("RAdam", rate));
    as_good += radam == SeedsTrained::all;
    open += radam == SeedsTrained::some;
  }
  if (decides == 0) return undecided(text + ". There is no rate at which warm-up decides: nothing to test it on");
  if (as_good == decides) return holds(text);
  if (as_good > 0) return mixed(text);
  return open > 0 ? undecided(text + ". Seeds of RAdam disagree where warm-up decides") : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C34",
      .statement = "RAdam, which holds early adaptive steps back, trains post-LN without warm-up as Adam does with it.",
      .source = "Liu et al. 2019, arXiv 1908.03265",
      .expected =
          "at every rate out of 1e-3, 3e-3, 5e-3 where warm-up decides for Adam (no seed trains without, all with 150 steps of "
          "it) all seeds train with RAdam without warm-up. Mixed: at some. Not decided: there is none, or seeds disagree. That "
          "the "
          "variance of early steps is the reason is not measured",
      .changed = "first fewer than half of the seeds without; the verdicts were the same",
      .earlier = {.verdict = "not seen",
                  .why = "there is no rate at which warm-up decides: at 3e-3 one of three seeds trains with it now and every one "
                         "did before, with Xavier's weights both times; with GPT-2's all train without",
                  .since = VerdictSince::measured_again},
      .see = {{"S50",
               "there RAdam is held against Adam without warm-up alone, at 5e-3 in a decoder of 6 layers, and trains where Adam "
               "does not. So held it does better here too, at the higher rates with Xavier's weights, and worse at 1e-3 with "
               "either. "
               "Whether it makes up for the "
               "warm-up is not decided: there is no rate at which that decides in every seed"}},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c34
