// Training runs of claims, run here and now.
#include <cmath>

#include "addnorm/train/trainer.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"

namespace addnorm::lab {
namespace {

constexpr std::uint64_t kHeldOut = 1u << 20;  // seeds of data that nobody trains on

void look_at_end(const SmallRun& run, Model& model, RunSummary& summary) {
  const auto moved = [&](Role role, double from) {
    double squares = 0, count = 0;
    for (const Var& p : parameters_of(model, role))
      for (const double v : values_of(p.value())) {
        squares += (v - from) * (v - from);
        ++count;
      }
    return count > 0 ? std::sqrt(squares / count) : 0;
  };
  summary.gain_moved = moved(Role::norm_gain, 1);
  summary.bias_moved = moved(Role::norm_bias, 0);
  const auto fresh = data_of(run, kHeldOut + run.seed);
  summary.held_out = evaluate(model, *fresh, 256, 32).loss;
  const Profile profile = profile_of(model, fresh->batch(0, run.batch));
  summary.spread = profile.spread.back();
  summary.gradient_ratio = profile.gradient_ratio();
}

}  // namespace

TrainedModel train_small(const SmallRun& run, const ClaimContext& context,
                         const std::function<void(const Model&, std::int64_t step)>& each_step) {
  TrainedModel trained{.model = started(run.model, run.seed)};
  const auto data = data_of(run, run.seed);
  OptimizerOptions optimizer = usual_options(run.optimizer);
  optimizer.weight_decay = 0;
  optimizer.update_clip = run.update_clip;
  Trainer trainer(*trained.model, *data,
                  {.batch_size = run.batch,
                   .clip_grad_norm = run.clip,
                   .seed = run.seed,
                   .optimizer = optimizer,
                   .schedule = {.kind = ScheduleKind::constant, .rate = run.rate, .warmup = run.warmup, .steps = run.steps}});
  try {
    trainer.calibrate();
    for (std::int64_t i = 0; i < run.steps; ++i) {
      context.check();
      trained.losses.push_back(trainer.step().loss);
      if (each_step) each_step(*trained.model, i + 1);
    }
  } catch (const NumericsError&) {
    trained.broke_off = true;
  }
  return trained;
}

RunSummary run_now(const SmallRun& run, const ClaimContext& context) {
  TrainedModel trained = train_small(run, context);
  RunSummary summary{.losses = std::move(trained.losses), .broke_off = trained.broke_off};
  if (!trained.broke_off) look_at_end(run, *trained.model, summary);
  return summary;
}

}  // namespace addnorm::lab
