// Training runs of claims: small, the same for every claim that asks for them, and done once.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/claims/claim.h"
#include "addnorm/data/dataset.h"
#include "addnorm/model/model.h"
#include "addnorm/train/optimizer.h"

namespace addnorm::lab {

/// All that a run depends on.
struct SmallRun {
  ModelConfig model{};
  OptimizerKind optimizer = OptimizerKind::adam;
  double rate = 1e-3;  ///< constant after the warm-up
  std::int64_t warmup = 0;
  std::int64_t steps = 300;
  std::size_t batch = 8;
  std::uint64_t seed = 1;  ///< of weights and data
  double clip = 1;         ///< of the gradient's norm; 0: never
  double update_clip = 1;  ///< Adafactor's own
};
// All of these start by the rule of the context.

/// A decoder on the built-in language: d = 64, 2 heads, sequences of 64 words.
SmallRun language_run(const ClaimContext& context, std::string_view arrangement, std::size_t layers);
/// The bench that most claims about training share: 6 layers, sequences of 32 words, Adam at 5e-3, 250 steps. Post-LN fails on it
/// without warm-up, and trains with 120 steps of it.
SmallRun short_run(const ClaimContext& context, std::string_view arrangement, std::int64_t warmup = 0);
/// 16 layers at 1e-3 with 100 steps of warm-up: too deep for post-LN.
SmallRun deep_run(const ClaimContext& context, std::string_view arrangement);
/// Between the two: 12 layers at 1e-3, 300 steps.
SmallRun middle_run(const ClaimContext& context, std::string_view arrangement, std::int64_t warmup = 0);
/// For stacks of a hundred layers and more: d = 32, sequences of 16 words, 200 steps at 1e-3.
SmallRun thin_run(const ClaimContext& context, std::string_view arrangement, std::size_t layers);
/// An encoder-decoder that turns words of 4 to 8 letters (18 of them) round: d = 32, 2 heads, batches of 16.
SmallRun seq2seq_run(const ClaimContext& context, std::string_view arrangement, std::size_t encoder_layers,
                     std::size_t decoder_layers);
/// Starts as its authors say, under any rule: where a start is what is claimed.
SmallRun as_published(SmallRun run);
/// Feed-forward units of width 32 on a mixture of 10 Gaussian classes in 16 dimensions.
SmallRun mixture_run(const ClaimContext& context, std::string_view arrangement, std::size_t units);

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct RunSummary {
  std::vector<double> losses{};  ///< of each step
  bool broke_off = false;        ///< a loss or gradient was not finite

  // After the last step; NaN of a run that broke off.
  double held_out = kNotMeasured;        ///< loss on data it has not seen, without dropout
  double gain_moved = kNotMeasured;      ///< RMS of gamma - 1 over all norms
  double bias_moved = kNotMeasured;      ///< RMS of beta
  double spread = kNotMeasured;          ///< between tokens at the top (of the encoder where there is one)
  double gradient_ratio = kNotMeasured;  ///< ||dL/dx|| before the first unit over after the last

  double last() const;  ///< mean of the last 20 losses; NaN of a run that broke off
  /// First step whose mean over 10 steps is below it; steps + 1 where none is, NaN where the run broke off before.
  double steps_to(double loss) const;
};

/// The data a run sees; what they can be compared with.
std::unique_ptr<Dataset> data_of(const SmallRun& run, std::uint64_t seed);
Baselines baselines_of(const SmallRun& run);
/// By the definition of lab/outcome.h.
bool trained(const SmallRun& run, const RunSummary& summary);

/// Losses under `name`, and under `name` + ", trained" 1 or 0, one of each per summary.
void add_losses(Samples& samples, const std::string& name, const SmallRun& run, const std::vector<RunSummary>& summaries);

/// "2.04 ± 0.02 (3 of 3 seeds trained)", of what add_losses has added.
std::string run_text(const Samples& samples, const std::string& name);
/// "3, 3 and 2 of 3 seeds": of several series of 0 and 1.
std::string seeds_text(const Samples& samples, const std::vector<std::string>& names);

struct TrainedModel {
  std::unique_ptr<Model> model;
  std::vector<double> losses{};
  bool broke_off = false;
};
/// Runs it here and now: for callers that need the model itself. `each_step` is called after every step.
TrainedModel train_small(const SmallRun& run, const ClaimContext& context,
                         const std::function<void(const Model&, std::int64_t step)>& each_step = {});

/// Runs it here and now, and looks at what came out.
RunSummary run_now(const SmallRun& run, const ClaimContext& context);

/// Each of them, in their order. What another claim has run already is taken from there: claims that ask for the same runs at the
/// same time share the work.
std::vector<RunSummary> run_all(const std::vector<SmallRun>& runs, const ClaimContext& context);
/// The same run with every seed.
std::vector<RunSummary> run_seeds(SmallRun run, const ClaimContext& context);

/// Runs it with every seed, its steps as the context scales them, and adds its losses (add_losses).
void add_run(Samples& samples, const std::string& name, SmallRun run, const ClaimContext& context);

}  // namespace addnorm::lab
