#include "lab/small_runs.h"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <thread>

#include "addnorm/core/version.h"
#include "addnorm/data/language.h"
#include "addnorm/data/mixture.h"
#include "addnorm/data/tasks.h"
#include "addnorm/lab/outcome.h"
#include "addnorm/train/trainer.h"
#include "core/file.h"
#include "core/json.h"
#include "lab/experiment.h"
#include "lab/statistics.h"

namespace addnorm::lab {
namespace {

constexpr std::uint64_t kHeldOut = 1u << 20;  // seeds of data that nobody trains on

Mixture mixture() { return Mixture({.classes = 10, .dimension = 16, .spread = 0.8}); }
Task reversal() { return Task(TaskKind::reverse, {.least = 4, .most = 8, .symbols = 18}); }

/// Letters are drawn evenly, and an end follows each word: what frequencies alone tell.
double reversal_unigram() {
  const TaskOptions options = reversal().options();
  const double letters = static_cast<double>(options.least + options.most) / 2, end = 1 / (letters + 1);
  return -end * std::log(end) - (1 - end) * std::log((1 - end) / static_cast<double>(options.symbols));
}

std::string key_of(const SmallRun& run) {
  return concat(version(), " ", to_json(run.model), " ", name_of(run.optimizer), " ", run.rate, " ", run.warmup, " ", run.steps,
                " ", run.batch, " ", run.seed, " ", run.clip, " ", run.update_clip);
}

Json written(const RunSummary& s) {
  return {{"losses", s.losses},
          {"broke_off", s.broke_off},
          {"held_out", s.held_out},
          {"gain_moved", s.gain_moved},
          {"bias_moved", s.bias_moved},
          {"spread", s.spread},
          {"gradient_ratio", s.gradient_ratio}};
}
std::optional<RunSummary> read(const std::string& text) {
  const Json json = parsed_or_null(text);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&](const char* name) { return json[name].is_number() ? json[name].number() : std::nan(""); };
  RunSummary s{.broke_off = json["broke_off"].boolean(),
               .held_out = number("held_out"),
               .gain_moved = number("gain_moved"),
               .bias_moved = number("bias_moved"),
               .spread = number("spread"),
               .gradient_ratio = number("gradient_ratio")};
  for (const Json& loss : json["losses"].array_items()) s.losses.push_back(loss.is_number() ? loss.number() : std::nan(""));
  return s;
}

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

RunSummary run_one(const SmallRun& run, const ClaimContext& context) {
  TrainedModel trained = train_small(run, context);
  RunSummary summary{.losses = std::move(trained.losses), .broke_off = trained.broke_off};
  if (!trained.broke_off) look_at_end(run, *trained.model, summary);
  return summary;
}

/// Held by whoever computes a run; gone with its process.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    held_ = file_.fd() < 0 || flock(file_.fd(), LOCK_EX | LOCK_NB) == 0;  // a folder without locks: everybody computes
  }
  bool held() const { return held_; }

 private:
  FileHandle file_;
  bool held_ = false;
};

std::map<std::string, RunSummary>& remembered() {
  static std::map<std::string, RunSummary> all;
  return all;
}

/// What was computed before, or is computed now; nothing where somebody else is at it.
std::optional<RunSummary> taken_or_run(const SmallRun& run, const ClaimContext& context) {
  const std::string key = key_of(run);
  if (const auto found = remembered().find(key); found != remembered().end()) return found->second;
  const auto remember = [&](RunSummary summary) { return remembered()[key] = std::move(summary); };
  if (context.runs.empty()) return remember(run_one(run, context));

  std::ostringstream name;
  name << std::hex << RandomKey(0).with(key).bits();
  const std::filesystem::path file = context.runs / (name.str() + ".json");
  const auto kept = [&]() -> std::optional<RunSummary> {
    std::error_code none;
    if (!std::filesystem::exists(file, none)) return std::nullopt;
    return read(small_text(file, "a training run of claims"));
  };
  if (const auto summary = kept()) return remember(*summary);
  const RunLock lock(context.runs / (name.str() + ".lock"));
  if (!lock.held()) return std::nullopt;
  if (const auto summary = kept()) return remember(*summary);
  const RunSummary summary = run_one(run, context);
  replace_text(file, written(summary).dump());
  return remember(summary);
}

}  // namespace

double RunSummary::last() const {
  if (broke_off || losses.empty()) return std::nan("");
  const std::size_t count = std::min(kOutcomeWindow, losses.size());
  return mean_of(std::span(losses).last(count));
}

std::int64_t RunSummary::steps_to(double loss) const {
  constexpr std::size_t kSmooth = 10;
  for (std::size_t i = kSmooth; i <= losses.size(); ++i)
    if (mean_of(std::span(losses).subspan(i - kSmooth, kSmooth)) < loss) return static_cast<std::int64_t>(i);
  return static_cast<std::int64_t>(losses.size()) + 1;
}

SmallRun language_run(std::string_view arrangement, std::size_t layers) {
  return {.model = {.vocab = Language().vocabulary(),
                    .layers = layers,
                    .d_model = 64,
                    .heads = 2,
                    .seq_len = 64,
                    .arrangement = std::string(arrangement),
                    .own_arrangement = xavier_row(arrangement)}};
}

SmallRun mixture_run(std::string_view arrangement, std::size_t units) {
  return {.model = {.model = ModelKind::mlp,
                    .features = 16,
                    .classes = 10,
                    .layers = units,
                    .d_model = 32,
                    .d_ff = 32,
                    .arrangement = std::string(arrangement),
                    .own_arrangement = xavier_row(arrangement)},
          .batch = 64};
}

SmallRun short_run(std::string_view arrangement, std::int64_t warmup) {
  SmallRun run = language_run(arrangement, 6);
  run.model.seq_len = 32;
  run.rate = 5e-3;
  run.warmup = warmup;
  run.steps = 250;
  return run;
}

SmallRun deep_run(std::string_view arrangement) {
  SmallRun run = short_run(arrangement, 100);
  run.model.layers = 16;
  run.rate = 1e-3;
  return run;
}

SmallRun middle_run(std::string_view arrangement, std::int64_t warmup) {
  SmallRun run = short_run(arrangement, warmup);
  run.model.layers = 12;
  run.rate = 1e-3;
  run.steps = 300;
  return run;
}

SmallRun thin_run(std::string_view arrangement, std::size_t layers) {
  SmallRun run = language_run(arrangement, layers);
  run.model.d_model = 32;
  run.model.seq_len = 16;
  run.steps = 200;
  return run;
}

SmallRun seq2seq_run(std::string_view arrangement, std::size_t encoder_layers, std::size_t decoder_layers) {
  return {.model = {.model = ModelKind::seq2seq,
                    .vocab = reversal().tokenizer()->vocabulary(),
                    .layers = encoder_layers,
                    .decoder_layers = decoder_layers,
                    .d_model = 32,
                    .heads = 2,
                    .seq_len = 16,
                    .arrangement = std::string(arrangement),
                    .own_arrangement = xavier_row(arrangement)},
          .steps = 500,
          .batch = 16};
}

SmallRun as_published(SmallRun run) {
  run.model.own_arrangement.reset();
  return run;
}

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

void add_losses(Samples& samples, const std::string& name, const SmallRun& run, const std::vector<RunSummary>& summaries) {
  for (const RunSummary& summary : summaries) {
    samples.add(name, summary.last());
    samples.add(name + ", trained", trained(run, summary) ? 1 : 0);
  }
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

std::vector<RunSummary> run_all(const std::vector<SmallRun>& runs, const ClaimContext& context) {
  if (!context.runs.empty()) make_folder(context.runs);
  std::vector<std::optional<RunSummary>> done(runs.size());
  for (std::size_t left = runs.size(); left > 0;) {
    const std::size_t before = left;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (done[i]) continue;
      done[i] = taken_or_run(runs[i], context);
      if (done[i]) --left;
    }
    if (left < before) continue;
    context.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::vector<RunSummary> all;
  for (auto& summary : done) all.push_back(std::move(*summary));
  return all;
}

std::vector<RunSummary> run_seeds(SmallRun run, const ClaimContext& context) {
  std::vector<SmallRun> runs;
  for (const std::uint64_t seed : context.seeds) {
    run.seed = seed;
    runs.push_back(run);
  }
  return run_all(runs, context);
}

}  // namespace addnorm::lab
