// Training runs of claims, done once: kept in memory and in files, which processes of one folder share.
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "addnorm/core/rng.h"
#include "addnorm/core/version.h"
#include "claims/bench/small_runs.h"
#include "core/file.h"
#include "core/json/json.h"
#include "core/system/files.h"
#include "core/system/machine.h"

namespace addnorm::lab {
namespace {

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
/// An Error where a field is missing or of another kind.
RunSummary read(const std::string& text, const SmallRun& run) {
  const Json json = parsed(text, "a training run of claims");
  const auto number = [&](const char* name) { return json[name].is_number() ? json[name].number() : std::nan(""); };
  RunSummary s{.broke_off = json["broke_off"].boolean(),
               .held_out = number("held_out"),
               .gain_moved = number("gain_moved"),
               .bias_moved = number("bias_moved"),
               .spread = number("spread"),
               .gradient_ratio = number("gradient_ratio")};
  for (const Json& loss : json["losses"].array_items()) s.losses.push_back(loss.is_number() ? loss.number() : std::nan(""));
  if (!s.broke_off && s.losses.size() < static_cast<std::size_t>(run.steps)) throw DataError("losses are missing");
  return s;
}

/// Held by the process that computes a run; released when it ends.
class KeptRunLock {
 public:
  explicit KeptRunLock(const std::filesystem::path& path) : file_(system_files::open_lock(path, true)) {
    // In a folder without locks everybody computes.
    held_ = file_.fd() < 0 || system_files::lock(file_.fd(), false) == system_files::FileLock::taken;
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

/// What was computed before, or is computed now; nothing where another process computes it.
std::optional<RunSummary> taken_or_run(const SmallRun& run, const ClaimContext& context) {
  const std::string key = key_of(run);
  if (const auto found = remembered().find(key); found != remembered().end()) return found->second;
  const auto remember = [&](RunSummary summary) { return remembered()[key] = std::move(summary); };
  if (context.runs.empty()) return remember(run_now(run, context));

  std::ostringstream name;
  name << std::hex << RandomKey(0).with(key).bits();
  const std::filesystem::path file = context.runs / (name.str() + ".json");
  const auto kept = [&]() -> std::optional<RunSummary> {
    if (!is_there(file)) return std::nullopt;
    try {
      return read(small_text(file, "a training run of claims"), run);
    } catch (const Error&) {  // half of one, or of another version: computed again
      return std::nullopt;
    }
  };
  if (const auto summary = kept()) return remember(*summary);
  const KeptRunLock lock(context.runs / (name.str() + ".lock"));
  if (!lock.held()) return std::nullopt;
  if (const auto summary = kept()) return remember(*summary);
  const RunSummary summary = run_now(run, context);
  replace_text(file, written(summary).dump());
  return remember(summary);
}

}  // namespace

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
    sleep_for(std::chrono::milliseconds(100));
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
