// Preflight: will it train? Some twenty real steps of the real optimizer, seconds instead of hours, and what they show.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/lab/outcome.h"
#include "addnorm/lab/trial.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

enum class Forecast : unsigned char { trains, needs_warmup, will_not_train };
const char* name_of(Forecast forecast);  ///< "trains", "needs warm-up", "will not train"

/// What a forecast is about: the first so many steps of a run. "Trained" (outcome.h) was held against whole runs of this length.
inline constexpr std::size_t kForecastSteps = 300;

/// A change that has passed the same trial.
struct Advice {
  std::string option;    ///< "warmup_steps 150", in the words of the options
  std::string says;      ///< "trains": most seeds passed
  std::string change;    ///< what that is: "a longer warm-up"
  RunOptions options{};  ///< with that change
};

struct PreflightResult;

inline constexpr double kMostSeconds = 3600;  ///< that a request may give to its trials

struct PreflightRequest {
  GivenOptions given{};   ///< the run to be judged; what is not said is planned as `addnorm train` plans it
  std::size_t seeds = 3;  ///< trials, with seeds from given.options.seed on
  bool advice = true;     ///< look for changes that pass, where it does not train
  bool brief = false;     ///< only the verdict: no trial more than settles it, and of warm-ups the longest alone
  double seconds = 10;    ///< for the trials of the verdict, roughly: a model too large for that is tried as a narrower twin
  std::filesystem::path cache{};  ///< of tokenised text
};

/// Called while preflight runs; must not throw.
class PreflightObserver {
 public:
  virtual ~PreflightObserver() = default;
  virtual void on_trial(const std::string& /*what*/, std::size_t /*step*/, std::size_t /*of*/) {}  ///< a step of some trial
  /// The verdict is settled, and so is all else but the advice and `seconds`: before changes are looked for, which takes longer.
  virtual void on_verdict(const PreflightResult& /*result*/) {}
  virtual void on_advice(const Advice& /*advice*/) {}  ///< after on_verdict
  virtual bool go_on() { return true; }                ///< between steps; false: what is known so far is returned
};

struct PreflightResult {
  Forecast forecast = Forecast::trains;
  double confidence = 0;  ///< how often this kind of answer was right where it was measured (docs/preflight.md)
  std::string beyond{};   ///< how this run differs from those, to follow "none of them": "was wider than 88"; "": nothing
  bool clear = false;     ///< the first look settled it, with all seeds
  std::string reason{};   ///< one sentence that names the unit
  std::vector<Advice> advice{};
  std::vector<Trial> trials{};                  ///< of the first look, one per seed
  std::optional<Trial> second_look{};           ///< at the run's own pace; decided, where the first look did not settle it
  std::size_t passed = 0;                       ///< trials of the first look that did
  std::size_t typical = 0;                      ///< of the first look's trials the one that speaks for them
  std::size_t stack = 0;                        ///< of the records' stacks the one that the verdict speaks of: the worse one
  std::optional<double> skip_gain_predicted{};  ///< by the closed form; nothing: there is no skip
  std::optional<double> skip_gain_measured{};   ///< of the first trial's model
  std::string formula{};                        ///< of the units
  std::string twin{};                    ///< what was tried in place of the model that was asked for; "": that model itself
  std::size_t horizon = kForecastSteps;  ///< steps that the verdict is for
  RunOptions options{};                  ///< as asked for, planned
  std::optional<Baselines> baselines{};
  bool stopped = false;              ///< go_on() said no
  std::vector<std::string> notes{};  ///< of arrangement and init together; a caller adds those of the config that it has read
  double seconds = 0;

  /// The trial that the reason is about.
  const Trial& shown() const { return second_look ? *second_look : trials[typical]; }
};

/// UsageError and DataError as train_run: before anything is tried.
PreflightResult preflight(const PreflightRequest& request, PreflightObserver* observer = nullptr);
std::string to_json(const PreflightResult& result);

struct RateFound {
  double rate = 0;
  bool larger_fails = true;  ///< false: it is a hundred times the asked one, and nothing above was tried
};
/// The largest rate between a hundredth and a hundred times the asked one, within a quarter of itself, and the shortest warm-up,
/// within a quarter of itself, that pass; nothing: none does. By bisection: passing is taken to be monotonous.
std::optional<RateFound> largest_rate(const PreflightRequest& request, PreflightObserver* observer = nullptr);
std::optional<std::size_t> shortest_warmup(const PreflightRequest& request, PreflightObserver* observer = nullptr);

}  // namespace addnorm
