// S62: internal covariate shift: how the distribution of what units read drifts while the network learns.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s62 {
namespace {

constexpr std::size_t kUnits = 12;
constexpr std::int64_t kEvery = 10;

/// Mean and standard deviation of each feature at each place, over one batch that stays the same.
struct Statistics {
  std::vector<std::vector<double>> mean, deviation;
};
Statistics look(const Model& model, const Batch& batch) {
  const NoGrad no_grad;
  Watch watch;
  batch_logits(model, batch, {}, {.stream = &watch});
  Statistics all;
  for (const Var& x : watch.streams) {
    const std::size_t width = x.shape().back(), rows = x.value().elements() / width;
    const std::vector<double> values = values_of(x.value());
    std::vector<double> mean(width), square(width);
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean[i % width] += values[i] / static_cast<double>(rows);
      square[i % width] += values[i] * values[i] / static_cast<double>(rows);
    }
    for (std::size_t c = 0; c < width; ++c) square[c] = std::sqrt(std::max(square[c] - mean[c] * mean[c], 0.0));
    all.mean.push_back(mean);
    all.deviation.push_back(square);
  }
  return all;
}

/// RMS over features of the change of mean and deviation, in deviations, mean over all places but the input.
double drift(const Statistics& from, const Statistics& to) {
  double sum = 0;
  for (std::size_t p = 1; p < from.mean.size(); ++p) {
    double change = 0, size = 0;
    for (std::size_t c = 0; c < from.mean[p].size(); ++c) {
      change += std::pow(to.mean[p][c] - from.mean[p][c], 2) + std::pow(to.deviation[p][c] - from.deviation[p][c], 2);
      size += std::pow(from.deviation[p][c], 2);
    }
    sum += std::sqrt(change / size) / static_cast<double>(from.mean.size() - 1);
  }
  return sum;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"residual", "without norm"}, {"post-ln", "with layer norm"}})
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = mixture_run(context, stack, kUnits);
      run.steps = context.steps(200);
      run.seed = seed;
      const Batch fixed = data_of(run, 8000)->batch(0, 128);
      Statistics last = look(*started(run.model, seed), fixed);
      double sum = 0, count = 0;
      train_small(run, context, [&](const Model& model, std::int64_t step) {
        if (step % kEvery != 0) return;
        const Statistics now = look(model, fixed);
        sum += drift(last, now);
        last = now;
        ++count;
      });
      s.add(name, sum / count);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("drift of a feature's mean and deviation per 10 steps, in deviations, over the inputs of 12 units: without norm ",
             s.text("without norm"), ", with layer norm ", s.text("with layer norm"));
  return s.most("with layer norm") < s.least("without norm") ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S62",
          .statement = "Norms mitigate internal covariate shift, the drift of activations' distribution while parameters change.",
          .source = "text 003, Layer Normalization",
          .expected = "less drift with layer norm in every seed, at the same rate and skips",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s62
