#include "claims/bench/small_runs.h"

#include <algorithm>
#include <cmath>

#include "addnorm/data/language.h"
#include "addnorm/data/mixture.h"
#include "addnorm/data/tasks.h"
#include "addnorm/lab/outcome.h"
#include "claims/bench/experiment.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {
namespace {

Mixture mixture() { return Mixture({.classes = 10, .dimension = 16, .spread = 0.8}); }
Task reversal() { return Task(TaskKind::reverse, {.least = 4, .most = 8, .symbols = 18}); }

/// Letters are drawn evenly, and an end follows each word: what frequencies alone predict.
double reversal_unigram() {
  const TaskOptions options = reversal().options();
  const double letters = static_cast<double>(options.least + options.most) / 2, end = 1 / (letters + 1);
  return -end * std::log(end) - (1 - end) * std::log((1 - end) / static_cast<double>(options.symbols));
}

}  // namespace

double RunSummary::last() const {
  if (broke_off || losses.empty()) return kNotMeasured;
  const std::size_t count = std::min(kOutcomeWindow, losses.size());
  return mean_of(std::span(losses).last(count));
}

double RunSummary::steps_to(double loss) const {
  constexpr std::size_t kSmooth = 10;
  for (std::size_t i = kSmooth; i <= losses.size(); ++i)
    if (mean_of(std::span(losses).subspan(i - kSmooth, kSmooth)) < loss) return static_cast<double>(i);
  return broke_off ? kNotMeasured : static_cast<double>(losses.size()) + 1;
}

SmallRun language_run(const ClaimContext& context, std::string_view arrangement, std::size_t layers) {
  return {.model = {.vocab = Language().vocabulary(),
                    .layers = layers,
                    .d_model = 64,
                    .heads = 2,
                    .seq_len = 64,
                    .arrangement = std::string(arrangement),
                    .init = {.rule = context.init}}};
}

SmallRun mixture_run(const ClaimContext& context, std::string_view arrangement, std::size_t units) {
  return {.model = {.model = ModelKind::mlp,
                    .features = 16,
                    .classes = 10,
                    .layers = units,
                    .d_model = 32,
                    .d_ff = 32,
                    .arrangement = std::string(arrangement),
                    .init = {.rule = context.init}},
          .batch = 64};
}

SmallRun short_run(const ClaimContext& context, std::string_view arrangement, std::int64_t warmup) {
  SmallRun run = language_run(context, arrangement, 6);
  run.model.seq_len = 32;
  run.rate = 5e-3;
  run.warmup = warmup;
  run.steps = 250;
  return run;
}

SmallRun deep_run(const ClaimContext& context, std::string_view arrangement) {
  SmallRun run = short_run(context, arrangement, 100);
  run.model.layers = 16;
  run.rate = 1e-3;
  return run;
}

SmallRun middle_run(const ClaimContext& context, std::string_view arrangement, std::int64_t warmup) {
  SmallRun run = short_run(context, arrangement, warmup);
  run.model.layers = 12;
  run.rate = 1e-3;
  run.steps = 300;
  return run;
}

SmallRun thin_run(const ClaimContext& context, std::string_view arrangement, std::size_t layers) {
  SmallRun run = language_run(context, arrangement, layers);
  run.model.d_model = 32;
  run.model.seq_len = 16;
  run.steps = 200;
  return run;
}

SmallRun seq2seq_run(const ClaimContext& context, std::string_view arrangement, std::size_t encoder_layers,
                     std::size_t decoder_layers) {
  return {.model = {.model = ModelKind::seq2seq,
                    .vocab = reversal().tokenizer()->vocabulary(),
                    .layers = encoder_layers,
                    .decoder_layers = decoder_layers,
                    .d_model = 32,
                    .heads = 2,
                    .seq_len = 16,
                    .arrangement = std::string(arrangement),
                    .init = {.rule = context.init}},
          .steps = 500,
          .batch = 16};
}

SmallRun as_published(SmallRun run) {
  run.model.init = {};
  return run;
}

void add_losses(Samples& samples, const std::string& name, const SmallRun& run, const std::vector<RunSummary>& summaries) {
  for (const RunSummary& summary : summaries) {
    samples.add(name, summary.last());
    samples.add(name + ", trained", trained(run, summary) ? 1 : 0);
  }
}

std::string run_text(const Samples& samples, const std::string& name) {
  return concat(samples.text(name), " (", samples.seeds_text(name + ", trained"), " trained)");
}

std::string seeds_text(const Samples& samples, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i + 1 < names.size(); ++i)
    text += concat(i == 0 ? "" : ", ", std::ranges::count(samples.of(names[i]), 1.0));
  return concat(text, text.empty() ? "" : " and ", samples.seeds_text(names.back()));
}

void add_run(Samples& samples, const std::string& name, SmallRun run, const ClaimContext& context) {
  run.steps = context.steps(run.steps);
  add_losses(samples, name, run, run_seeds(run, context));
}

std::unique_ptr<Dataset> data_of(const SmallRun& run, std::uint64_t seed) {
  if (run.model.model == ModelKind::mlp) return mixture().dataset(seed);
  if (run.model.model == ModelKind::seq2seq) return reversal().dataset(seed);
  return Language().dataset(run.model.seq_len, seed);
}

Baselines baselines_of(const SmallRun& run) {
  if (run.model.model == ModelKind::lm) return Language().baselines(run.model.seq_len);
  if (run.model.model == ModelKind::seq2seq) {
    const double vocabulary = static_cast<double>(reversal().options().symbols + 1);
    return {.floor = 0, .uniform = std::log(vocabulary), .unigram = reversal_unigram(), .bigram = std::nan("")};
  }
  const double uniform = std::log(static_cast<double>(run.model.classes));
  static const double best = mixture().best().loss;
  return {.floor = best, .uniform = uniform, .unigram = uniform, .bigram = std::nan("")};
}

bool trained(const SmallRun& run, const RunSummary& summary) {
  return judge(summary.losses, baselines_of(run), summary.broke_off).outcome == Outcome::trained;
}

}  // namespace addnorm::lab
