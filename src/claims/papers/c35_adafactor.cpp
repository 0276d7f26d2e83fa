// C35: Adafactor's clipped updates in place of warm-up, on the grid of C6.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/warmup_grid.h"
#include "claims/list.h"

namespace addnorm::lab::c35 {
namespace {

/// Adafactor's rate is relative to the RMS of a parameter: with this factor, one over that of square matrices at the start, its
/// steps begin as large as Adam's.
double same_steps(const ClaimContext& context) { return 1 / start_deviation(context, Role::q, {.width = 32, .layers = 6}); }
constexpr double kNeverClips = 1e6;

Samples measure(const ClaimContext& context) {
  Samples s;
  add_line(s, {.name = "Adam"}, context);
  add_line(s, {.name = "Adam with warm-up", .warmup = kGridWarmup}, context);
  const GridLine adafactor{.name = "Adafactor", .optimizer = OptimizerKind::adafactor, .rate_factor = same_steps(context)};
  add_line(s, adafactor, context);
  GridLine unclipped = adafactor;
  unclipped.name = "Adafactor without clipping";
  unclipped.update_clip = kNeverClips;
  add_line(s, unclipped, context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "loss of 6 + 6 post-LN layers that turn words round, after 500 steps at a constant rate (Adafactor's relative rate "
      "gives first steps of the same size); ",
      line_text(s, "Adam"), "; ", line_text(s, "Adam with warm-up"), "; ", line_text(s, "Adafactor"), "; ",
      line_text(s, "Adafactor without clipping"));
  bool needed = false, converges = false, by_clipping = false, open = false;
  for (const double rate : kGridRates) {
    const auto at = [&](const char* line) { return seeds_trained(s, grid_name(line, rate)); };
    if (help(at("Adam"), at("Adam with warm-up")) != Help::works) continue;
    needed = true;
    open = open || at("Adafactor") == SeedsTrained::some;
    if (at("Adafactor") != SeedsTrained::all) continue;
    converges = true;
    by_clipping = by_clipping || at("Adafactor without clipping") == SeedsTrained::none;
  }
  if (!needed) return undecided(text + ". There is no rate at which warm-up decides: nothing to test it on");
  if (converges && by_clipping) return holds(text);
  if (converges) return mixed(text);
  return open ? undecided(text + ". Seeds of Adafactor disagree where warm-up decides") : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C35",
      .statement = "Clipping the RMS of Adafactor's updates at 1 removes the instability that otherwise needs warm-up.",
      .source = "Shazeer and Stern 2018, arXiv 1804.04235",
      .expected =
          "a rate out of 1e-3, 3e-3, 5e-3 where post-LN needs warm-up with Adam (no seed trains without, all with 150 steps of "
          "it) "
          "and all train with clipped Adafactor without warm-up, none with Adafactor that is not clipped. Mixed: some train "
          "there "
          "without clipping too. Not decided: there is no rate at which Adam needs it, or seeds disagree",
      .changed = "first fewer than half of the seeds without; the verdicts were the same",
      .earlier = {.verdict = "not seen",
                  .why = "there is no rate at which warm-up decides: at 3e-3 one of three seeds trains with it now and every one "
                         "did before, with Xavier's weights both times; with GPT-2's all train without",
                  .since = VerdictSince::measured_again},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c35
