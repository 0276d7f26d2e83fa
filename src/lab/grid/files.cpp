#include "lab/grid/files.h"

#include <cerrno>
#include <cmath>
#include <sstream>

#include "addnorm/core/version.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run_folder.h"
#include "core/checksum.h"
#include "core/file.h"
#include "core/json/record.h"
#include "core/system/files.h"
#include "lab/grid/plan.h"

namespace addnorm {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLogEnd = 4096;
constexpr int kRule = 6;  // of preflight: another number where the same trial would get another forecast

std::string file_text(const std::filesystem::path& file) {
  try {
    const InputFile in(file);
    std::string text(static_cast<std::size_t>(in.size()), '\0');
    in.read(0, text.data(), text.size());
    return text;
  } catch (const DataError&) {
    return "";
  }
}

/// Losses and how the run ended, from metrics.jsonl; false: it has not ended.
bool read_metrics(GridRun& run) {
  MetricsTail tail(RunFolder{run.folder}.metrics());
  tail.look();
  run.losses = tail.losses();
  run.broke_off = tail.stopped();
  const bool ended = !run.broke_off.empty() || (run.steps > 0 && run.losses.size() >= run.steps);
  return ended && tail.first_missing(run.losses.size()) == 0;
}

std::vector<ProbeRecord> probes_of(const GridRun& run) { return probe_records(file_text(run.folder / "probes.jsonl")); }

Json done_json(const GridRun& run) { return parsed_or_null(file_text(done_file(run))); }

std::size_t probes_then(const Json& done) {
  const Json* probes = done.find("probes");
  return probes && probes->is_integer() && probes->integer() > 0 ? static_cast<std::size_t>(probes->integer()) : 0;
}

void judge_run(GridRun& run, const std::vector<ProbeRecord>& records, const Baselines& baselines) {
  run.judged = judge(run.losses, baselines, !run.broke_off.empty(), run.warmup);
  run.cause = find_cause(records, run.judged);
  run.signs = signs_in(records);
  run.state = RunState::done;
  run.problem.clear();
}

}  // namespace

// The losses are read again, and judged by the rules of today: done.json only says that there is nothing left to do.
bool found_done(GridRun& run, const Baselines& baselines) {
  const Json done = done_json(run);
  const Json* key = done.find("key");
  const std::vector<ProbeRecord> records = probes_of(run);
  if (key == nullptr || *key != Json(run.key) || records.size() < probes_then(done) || !read_metrics(run)) {
    run.losses.clear();
    run.broke_off.clear();
    return false;
  }
  if (const Json* seconds = done.find("seconds"); seconds && seconds->is_number()) run.seconds = seconds->number();
  judge_run(run, records, baselines);
  run.cached = true;
  return true;
}

bool take_result(GridRun& run, const Baselines& baselines) {
  if (!read_metrics(run)) return false;
  const std::vector<ProbeRecord> records = probes_of(run);
  judge_run(run, records, baselines);
  Json done{{"key", run.key},
            {"version", version()},
            {"ended", run.broke_off.empty() ? "finished" : "not finite"},
            {"steps", run.losses.size()},
            {"probes", records.size()},
            {"outcome", name_of(run.judged.outcome)},
            {"loss", run.judged.loss},
            {"best", run.judged.best},
            {"seconds", run.seconds}};
  if (run.judged.diverged_at > 0) done["diverged_at"] = run.judged.diverged_at;
  if (!run.broke_off.empty()) done["why"] = run.broke_off;
  replace_text(done_file(run), done.dump(2) + "\n");
  return true;
}

std::string what_is_damaged(const GridRun& run) {
  const RunFolder folder{run.folder};
  try {
    if (is_there(folder.record())) read_run_record(folder);
  } catch (const DataError& error) {
    return error.what();
  }
  const CheckpointFolder checkpoints(folder.checkpoints());
  if (checkpoints.files().empty()) return "";  // it begins with step 1
  const auto newest = checkpoints.newest_file([](const std::string&) {});
  if (!newest) return "none of its checkpoints can be read";
  MetricsTail metrics(folder.metrics());
  metrics.look();
  if (const std::size_t step = metrics.first_missing(static_cast<std::size_t>(newest->step())); step > 0)
    return concat("metrics.jsonl has lost step ", step);
  const std::size_t then = probes_then(done_json(run)), now = probes_of(run).size();
  return now < then ? concat("probes.jsonl has lost ", then - now, " of ", then, " records") : "";
}

fs::path set_aside(const GridRun& run, const FieldWords& words) {
  RunLock::check_free(run.folder, words);
  fs::path away = run.folder;
  away += ".damaged";
  for (int number = 2; is_there(away); ++number) {
    away = run.folder;
    away += concat(".damaged-", number);
  }
  if (!system_files::rename(run.folder, away))
    throw DataError(
        concat(run.folder.string(), ": cannot be moved to ", away.string(), ": ", std::generic_category().message(errno)));
  return away;
}

void set_aside_other_lab(const fs::path& folder, const std::string& grid) {
  const fs::path asked = folder / "lab-grid.json", result = folder / "lab.json";
  if (!is_there(result) || file_text(asked) == grid) return;
  int number = 1;
  while (is_there(folder / concat("lab-", number, ".json"))) ++number;
  if (system_files::rename(result, folder / concat("lab-", number, ".json")))
    system_files::rename(asked, folder / concat("lab-", number, "-grid.json"));
}

std::string last_words(const std::filesystem::path& log, const std::vector<std::string>& complaints) {
  std::string text = file_text(log);
  if (text.size() > kLogEnd) text.erase(0, text.size() - kLogEnd);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (const std::string& before : complaints)  // a complaint may have several lines
    if (const std::size_t begin = text.rfind(before); begin != std::string::npos) return text.substr(begin + before.size());
  return text.substr(text.rfind('\n') + 1);
}

std::filesystem::path prediction_file(const GridResult& result, const RowResult& row) {
  std::string keys = std::to_string(kRule);
  for (const std::size_t run : row.runs) keys += result.runs[run].key;
  return result.folder / "predictions" / concat(as_hex(checksum(keys.data(), keys.size())), ".json");
}

}  // namespace addnorm
