#include "addnorm/lab/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"
#include "addnorm/core/rng.h"
#include "addnorm/probe/probe.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures/components.h"
#include "tensor/numbers.h"

namespace addnorm {
namespace {

constexpr std::int64_t kProbeEvery = 5;
constexpr double kNudge = 1e-3;  // of every parameter, relative to the RMS of its tensor
constexpr std::size_t kNudgesPerBlock = 2048;

Tensor logits_of(const Model& model, const Batch& batch) {
  const NoGrad values_only;
  return batch_logits(model, batch, {.train = false}).value().clone();
}

/// ||f(x; W + d) - f(x; W)|| / ||f(x; W)|| / kNudge for one draw of d = kNudge * RMS(W) * N(0, 1); all is as before then.
double sensitivity(Model& model, const Batch& batch, std::uint64_t seed) {
  const Tensor before = logits_of(model, batch);
  std::vector<Tensor> weights;
  for_each_parameter(model, [&](Parameter& p) {
    Tensor& w = p.value.value();
    weights.push_back(w.clone());
    double squares = 0;
    for (const float v : w.values<float>()) squares += static_cast<double>(v) * static_cast<double>(v);
    const double size = kNudge * std::sqrt(squares / static_cast<double>(w.elements()));
    const RandomKey key = RandomKey(seed).with("nudge").with(p.path);
    float* values = w.data<float>();
    parallel_ranges(w.elements(), kNudgesPerBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] += static_cast<float>(size) * normal_at(key, i);
    });
  });
  const Tensor after = logits_of(model, batch);
  std::size_t at = 0;
  for_each_parameter(model, [&](Parameter& p) {
    const auto kept = weights[at++].values<float>();
    std::copy(kept.begin(), kept.end(), p.value.value().values<float>().begin());
  });
  return relative_distance(after, before) / kNudge;
}

constexpr std::size_t kSequencesSeen = 2, kTokensSeen = 16;

double sum_of_squares(const auto& values) {
  double sum = 0;
  for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

/// The skip gain of a model as it is initialised, to stand beside the closed form: how much of a standard normal input is left at
/// the output of the (first) stack on the skip path alone, with the norms' scales as they are in that pass: RMS of the
/// embedding's component after the exit over that of the input. Nothing for arrangements that are more than a row. A forward pass
/// over 32 tokens, and as many passes over its streams as there are units.
std::optional<double> measured_skip_gain(Model& model, std::uint64_t seed) {
  const std::vector<Stack*> stacks = model.stacks();
  const SlotResidual* row = stacks.empty() ? nullptr : Components::row_of(&stacks.front()->residual());
  if (!row) return std::nullopt;
  const NoGrad values_only;
  const ArenaScope scope;
  Tensor x({kSequencesSeen, std::min(kTokensSeen, model.config().seq_len), model.config().d_model});
  const RandomKey key = RandomKey(seed).with("skip gain");
  for (std::size_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = normal_at(key, i);
  Components components(*row, {});
  (*stacks.front())(Var(x), {.observer = &components}, {.train = false});
  components.take_exit();
  return std::sqrt(sum_of_squares(components.parts().front()) / sum_of_squares(x.values<float>()));
}

}  // namespace

TrainerOptions trial_options(const RunOptions& options, std::uint64_t seed, Pace pace) {
  TrainerOptions o = trainer_options(options);
  o.seed = seed;
  o.on_nan = OnNan::stop;
  o.spike_threshold = 0;
  o.recompute = false;
  // The rate of a decaying schedule is hardly below its highest within a trial. Without a warm-up inverse-sqrt falls at once.
  const bool falls_at_once = o.schedule.kind == ScheduleKind::inverse_sqrt && o.schedule.warmup == 0;
  if (!falls_at_once) o.schedule.kind = ScheduleKind::constant;
  const auto asked = static_cast<std::size_t>(o.schedule.warmup);
  if (pace == Pace::squeezed) o.schedule.warmup = static_cast<std::int64_t>((asked + kSqueeze - 1) / kSqueeze);
  return o;
}

struct TrialRun::Impl {
  Impl(const RunOptions& o, std::uint64_t seed, std::shared_ptr<const Dataset> d, StartLook look, Pace pace)
      : data(std::move(d)),
        start(look),
        model(make_model(o.model, Start::blank)),
        probe({.level = ProbeLevel::on, .every = kProbeEvery}, [this](const ProbeRecord& r) { trial.records.push_back(r); }) {
    trial.seed = seed;
    model->initialise(seed);
    trainer = std::make_unique<Trainer>(*model, *data, trial_options(o, seed, pace));
    trainer->observe(&probe);
    trainer->calibrate();
    if (start == StartLook::none) return;
    const ArenaScope scope;
    trial.skip_gain = measured_skip_gain(*model, seed);
    if (start == StartLook::skip_gain) return;
    batch = data->batch(0, o.batch_size);
    trial.output_sensitivity = sensitivity(*model, batch, seed);
  }

  void step() {
    const bool first = start == StartLook::whole && trainer->steps() == 0;
    const ArenaScope scope;
    const Tensor before = first ? logits_of(*model, batch) : Tensor();
    const StepRecord record = trainer->step();
    trial.losses.push_back(record.loss);
    trial.norms.push_back(record.gradient_norm);
    if (first) trial.one_step_change = relative_distance(logits_of(*model, batch), before);
  }

  std::shared_ptr<const Dataset> data;
  StartLook start;
  std::unique_ptr<Model> model;
  Trial trial;
  Probe probe;
  std::unique_ptr<Trainer> trainer;
  Batch batch;
};

TrialRun::TrialRun(const RunOptions& options, std::uint64_t seed, std::shared_ptr<const Dataset> data, StartLook start, Pace pace)
    : impl_(std::make_unique<Impl>(options, seed, std::move(data), start, pace)) {}
TrialRun::~TrialRun() = default;

bool TrialRun::advance(std::size_t steps, const std::function<bool()>& go_on) {
  Impl& i = *impl_;
  const auto begin = std::chrono::steady_clock::now();
  bool all = true;
  try {
    while (i.trial.broke_off.empty() && static_cast<std::size_t>(i.trainer->steps()) < steps && (all = !go_on || go_on()))
      i.step();
  } catch (const NumericsError& error) {
    i.trial.broke_off = error.what();
  }
  i.trial.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return all;
}

const Trial& TrialRun::trial() const { return impl_->trial; }

}  // namespace addnorm
