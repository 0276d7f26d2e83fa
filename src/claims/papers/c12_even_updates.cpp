// C12: in post-LN runs that fail, Adam's updates are even across layers although gradients are not.
#include <algorithm>

#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::c12 {
namespace {

double unevenness(const std::vector<double>& by_layer) {
  const auto [least, most] = std::ranges::minmax(by_layer);
  return most / least;
}

/// ||g|| / ||W_2|| of each layer before the first step.
double gradients(const SmallRun& run) {
  const auto model = started(run.model, run.seed);
  profile_of(*model, data_of(run, run.seed)->batch(0, run.batch));
  std::vector<double> by_layer;
  for (const Var& p : parameters_of(*model, Role::ffn_out)) by_layer.push_back(gradient_length(p) / length(p.value()));
  return unevenness(by_layer);
}

/// ||change|| / ||W_2|| of each layer by the first steps.
double updates(SmallRun run, const ClaimContext& context) {
  run.steps = 10;
  const auto before = started(run.model, run.seed);
  const TrainedModel after = train_small(run, context);
  const std::vector<Var> from = parameters_of(*before, Role::ffn_out), to = parameters_of(*after.model, Role::ffn_out);
  std::vector<double> by_layer;
  for (std::size_t i = 0; i < from.size(); ++i) by_layer.push_back(relative_distance(to[i].value(), from[i].value()));
  return unevenness(by_layer);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  SmallRun run = deep_run(context, "post-ln");
  run.model.layers = 18;
  add_run(s, "loss", run, context);
  for (const std::uint64_t seed : context.seeds) {
    run.seed = seed;
    s.add("gradients", gradients(run));
    s.add("updates", updates(run, context));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("18 post-LN layers at 1e-3 with 100 steps of warm-up end at ", run_text(s, "loss"),
                                  "; largest over smallest of all layers, relative to W_2: gradient before the first step ",
                                  s.text("gradients"), ", change by the first 10 steps of Adam ", s.text("updates"));
  const bool uneven = s.least("gradients") > 4, even = s.most("updates") < 2;
  if (!none_trains(s, "loss"))
    return undecided(text +
                     (all_train(s, "loss") ? ". It trains: nothing to test it on" : ". Seeds disagree: nothing to test it on"));
  if (even && uneven) return holds(text);
  return even ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C12",
      .statement =
          "Post-LN fails although no layer is starved of updates: Adam evens out the gradients' differences between layers.",
      .source = "Liu et al. 2020, arXiv 2004.08249",
      .expected =
          "no seed trains at 18 layers, while W_2 of all layers changes alike in the first 10 steps (largest "
          "below twice the smallest) and gradients differ by more than 4 times. Mixed: updates are even, but so are gradients. "
          "Not decided: some seeds train. "
          "It shows that starved layers are not the cause, not what is",
      .changed = "first fewer than half of the seeds; the verdicts were the same",
      .earlier = {"mixed", "with GPT-2's weights 18 layers of post-LN train: there is no failure to explain"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c12
