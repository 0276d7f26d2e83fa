// S47: are vanishing or exploding gradients the root of post-norm's failures?
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s47 {
namespace {

/// Relative change of each layer's W_2 by the first steps: bottom over top. Adam's steps do not follow the gradient's size.
double update_ratio(SmallRun run, const ClaimContext& context) {
  run.steps = 10;
  const auto before = started(run.model, run.seed);
  const TrainedModel after = train_small(run, context);
  if (after.broke_off) return kNotMeasured;
  const std::vector<Var> from = parameters_of(*before, Role::ffn_out);
  const std::vector<Var> to = parameters_of(*after.model, Role::ffn_out);
  return relative_distance(to.front().value(), from.front().value()) / relative_distance(to.back().value(), from.back().value());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  SmallRun run = short_run(context, "post-ln");
  run.steps = context.steps(run.steps);
  const std::vector<RunSummary> done = run_seeds(run, context);
  for (std::size_t i = 0; i < done.size(); ++i) {
    run.seed = context.seeds[i];
    const auto model = started(run.model, run.seed);
    s.add("gradient at the start", profile_of(*model, data_of(run, run.seed)->batch(0, run.batch)).gradient_ratio());
    s.add("updates of the first 10 steps", update_ratio(run, context));
    s.add("gradient at the end", done[i].gradient_ratio);
    s.add("trained", trained(run, done[i]) ? 1 : 0);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("6 post-LN layers at 5e-3 without warm-up, ", s.seeds_text("trained"),
                                  " trained; bottom over top: gradient before the first step ", s.text("gradient at the start"),
                                  ", updates of the first 10 steps ", s.text("updates of the first 10 steps"),
                                  ", gradient after 250 steps ", s.text("gradient at the end"));
  if (seeds_trained(s.of("trained")) != SeedsTrained::none)
    return undecided(text + ". Not all of these runs fail: nothing to test it on");
  const bool vanished = s.most("gradient at the start") < 0.1;
  const bool exploded = s.least("gradient at the start") > 200;
  if (vanished || exploded) return holds(text);
  const bool between = s.least("gradient at the start") >= 0.1 && s.most("gradient at the start") <= 200;
  if (between && s.most("gradient at the end") < 0.1)
    return fails(concat(text, ". Neither vanished nor exploded before the first step; vanished after the last"));
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S47",
      .statement = "The root cause of post-norm's convergence failures is vanishing or exploding gradients.",
      .source = "text 002, second paragraph (citing Liu et al. 2020, who say that it is not)",
      .expected =
          "no run trains, and the gradient ratio of bottom and top is below 0.1 in every seed, or above "
          "200, before the first step. Not decided: some of them train",
      .changed =
          "where most runs train it used to be false, and is not tested now. None trained: ratios of 7.07 before the first step "
          "and 4.45e-05 after the last (false)",
      .earlier = {"false", "with GPT-2's weights most runs train: there is hardly a failure to explain"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s47
