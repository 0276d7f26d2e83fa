// A trial: what a model looks like at its first step, and after some twenty real optimizer steps with its warm-up squeezed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/probe/record.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

/// How the warm-up of a run is tried. Squeezed: one of W steps as one of W / kSqueeze, so that a trial of 20 steps ends at the
/// full rate for W up to 100, and at 100 / W of it for longer ones. Real: as it is.
enum class Pace : unsigned char { squeezed, real };
inline constexpr std::size_t kSqueeze = 5;
inline constexpr std::size_t kTrialSteps = 20;

/// What a trial of one seed has shown so far.
struct Trial {
  std::uint64_t seed = 0;
  std::vector<ProbeRecord> records{};  ///< of steps 1, 2, 4, 5, 10, 15, ...
  std::vector<double> losses{};        ///< of each step
  std::vector<double> norms{};         ///< of the whole gradient, before clipping, of each step
  std::string broke_off{};             ///< why it ended early: a loss or gradient that was not finite; "": it did not
  std::optional<double> skip_gain{};   ///< measured at the start, unless StartLook::none; nothing: no row, or no skip
  // The next two by StartLook::whole.
  double output_sensitivity = 0;  ///< relative change of the logits per relative change of all parameters, at the start
  double one_step_change = 0;     ///< relative change of the logits of the first batch by the first update
  double seconds = 0;

  const ProbeRecord& start() const { return records.front(); }
  const ProbeRecord& after() const { return records.back(); }
};

/// Whether a trial also measures what only describes the start: the skip gain, which costs little, or sensitivity and
/// change by the first update as well.
enum class StartLook : unsigned char { none, skip_gain, whole };

/// Steps of one model with one seed. Refers to the data, which outlives it.
class TrialRun {
 public:
  /// `options` are planned and completed for that data.
  TrialRun(const RunOptions& options, std::uint64_t seed, std::shared_ptr<const Dataset> data, StartLook start = StartLook::whole,
           Pace pace = Pace::squeezed);
  ~TrialRun();

  /// On until so many steps are done. `go_on` is asked between steps; false: it said no.
  bool advance(std::size_t steps, const std::function<bool()>& go_on = {});
  const Trial& trial() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The trainer's options for a trial: the same optimizer, batch and clipping, the warm-up at that pace and no decay after it.
TrainerOptions trial_options(const RunOptions& options, std::uint64_t seed, Pace pace = Pace::squeezed);

}  // namespace addnorm
