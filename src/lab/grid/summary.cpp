// From runs to rows: losses with their spread, what happened, whether it was predicted.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "lab/grid/changes.h"
#include "lab/outcome/confirm.h"

namespace addnorm {
namespace {

/// The cause that most of the failed runs have; of equals, that of the earlier seed.
std::optional<Cause> usual_cause(const GridResult& result, const RowResult& row) {
  std::map<CauseKind, std::size_t> counts;
  for (const std::size_t run : row.runs)
    if (const GridRun& one = result.runs[run]; one.state == RunState::done && one.cause) ++counts[one.cause->kind];
  std::optional<Cause> usual;
  for (const std::size_t run : row.runs) {
    const GridRun& one = result.runs[run];
    if (one.state == RunState::done && one.cause && (!usual || counts[one.cause->kind] > counts[usual->kind])) usual = one.cause;
  }
  return usual;
}

void count_runs(const GridResult& result, RowResult& row) {
  row.done = row.trained = row.too_short = 0;
  row.outcomes.clear();
  std::vector<double> losses;
  for (const std::size_t run : row.runs) {
    const GridRun& one = result.runs[run];
    if (one.state != RunState::done) continue;
    ++row.done;
    row.trained += one.judged.outcome == Outcome::trained;
    row.too_short += one.judged.outcome == Outcome::too_short;
    row.outcomes.emplace_back(name_of(one.judged.outcome));
    if (one.broke_off.empty() && std::isfinite(one.judged.loss)) losses.push_back(one.judged.loss);
  }
  row.loss = spread_of(losses);
  row.distance = row.loss.mean - row.baselines.floor;
}

/// A warm-up that deserves the name: who fails with it does not need one.
std::size_t real_warmup(const GridResult& result, std::size_t steps) {
  if (result.spec.with_warmup > 0) return result.spec.with_warmup;
  return std::min<std::size_t>(200, std::max<std::size_t>(1, steps / 2));
}

/// Of a row that failed.
Happened failed_how(const GridResult& result, const GridChanges& changes, std::size_t row) {
  const std::size_t real = real_warmup(result, changes.steps(row));
  bool tried = changes.warmup(row) >= real;
  for (const std::size_t other : changes.with_more_warmup(row)) {
    if (has_trained(result.rows[other])) return Happened::needs_warmup;
    tried = tried || (has_failed(result.rows[other]) && changes.warmup(other) >= real);
  }
  return tried ? Happened::will_not_train : Happened::does_not_train;
}

/// Of a row that has not failed.
Happened without_failures(const RowResult& row) {
  if (has_trained(row)) return Happened::trains;
  return row.done > 0 ? Happened::too_short : Happened::unknown;
}

bool has_seeds_of(const GridRow& one, const GridRow& other) {
  return one.first_seed <= other.first_seed && one.first_seed + one.seeds >= other.first_seed + other.seeds;
}

void note_repeated(GridResult& result, const GridChanges& changes) {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < result.rows.size(); ++i) alike[changes.all_of(i)].push_back(i);
  for (const auto& [text, rows] : alike)
    for (const std::size_t i : rows) {
      const auto tells_all = [&](std::size_t other) {
        const GridRow &row = result.rows[i].row, &one = result.rows[other].row;
        const bool later = other > i && (result.rows[other].instead_of || has_seeds_of(row, one));
        return other != i && !later && has_seeds_of(one, row);
      };
      const auto found = std::ranges::find_if(rows, tells_all);
      result.rows[i].same_as = found == rows.end() ? std::nullopt : std::optional(*found);
    }
}

bool is_decided(Happened happened) { return happened != Happened::unknown && happened != Happened::too_short; }

std::size_t class_of(Forecast forecast) { return static_cast<std::size_t>(forecast); }
std::optional<std::size_t> class_of(Happened happened) {
  if (happened == Happened::trains) return 0;
  if (happened == Happened::needs_warmup) return 1;
  if (happened == Happened::will_not_train) return 2;
  return std::nullopt;
}

template <std::size_t N>
double mean_recall(const std::size_t (&counts)[N][N]) {
  double sum = 0, classes = 0;
  for (std::size_t happened = 0; happened < N; ++happened) {
    double all = 0;
    for (std::size_t forecast = 0; forecast < N; ++forecast) all += static_cast<double>(counts[forecast][happened]);
    if (all == 0) continue;
    sum += static_cast<double>(counts[happened][happened]) / all;
    ++classes;
  }
  return classes > 0 ? sum / classes : std::nan("");
}

}  // namespace

const char* name_of(RunState state) {
  static constexpr std::array kNames{"waiting", "running", "done", "failed", "stopped"};
  return kNames.at(static_cast<std::size_t>(state));
}

const char* name_of(Happened happened) {
  static constexpr std::array kNames{"unknown",        "trains",         "needs warm-up",
                                     "will not train", "does not train", "too short to tell"};
  return kNames.at(static_cast<std::size_t>(happened));
}

std::optional<bool> RowResult::agreed() const {
  if (!prediction || !is_decided(happened)) return std::nullopt;
  if (happened == Happened::does_not_train) return prediction->forecast != Forecast::trains;
  return class_of(prediction->forecast) == class_of(happened);
}

bool RowResult::by_is_tried() const {
  const auto is_tried = [&](std::size_t one) { return std::ranges::find(tried, one, &TriedChange::row) != tried.end(); };
  return cause && !cause->by_rows.empty() && std::ranges::all_of(cause->by_rows, is_tried);
}

bool RowResult::slow() const {
  const auto slow_ones = static_cast<std::size_t>(std::ranges::count(outcomes, name_of(Outcome::slow)));
  return has_failed(*this) && slow_ones > 0 && 2 * (trained + slow_ones) > done;
}

std::string RowResult::outcome_text() const {
  if (done == 0) return "no run is done";
  std::string text;
  const auto add = [&](const char* word, std::ptrdiff_t count) {
    if (count > 0) text += concat(text.empty() ? "" : ", ", word, " ", count);
  };
  for (const char* word : {"trained", "slow", "stuck", "diverged"}) add(word, std::ranges::count(outcomes, word));
  add("too short", static_cast<std::ptrdiff_t>(too_short));
  return concat(text, " of ", done);
}

std::size_t GridResult::failed() const {
  return static_cast<std::size_t>(std::ranges::count(runs, RunState::failed, &GridRun::state));
}

void summarise(GridResult& result) {
  for (RowResult& row : result.rows) {
    count_runs(result, row);
    row.cause = has_failed(row) ? usual_cause(result, row) : std::nullopt;
  }
  for (RowResult& row : result.rows) row.happened = without_failures(row);
  const GridChanges changes(result);
  note_repeated(result, changes);
  for (std::size_t i = 0; i < result.rows.size(); ++i)
    if (has_failed(result.rows[i])) result.rows[i].happened = failed_how(result, changes, i);
}

Confusion confusion_of(const GridResult& result) {
  Confusion confusion;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (!row.prediction || !is_decided(row.happened) || result.is_repeated(i)) continue;
    const std::size_t forecast = class_of(row.prediction->forecast);
    ++confusion.two_way[forecast == 0 ? 0 : 1][row.happened == Happened::trains ? 0 : 1];
    if (const auto happened = class_of(row.happened)) ++confusion.counts[forecast][*happened];
  }
  return confusion;
}

double Confusion::balanced_accuracy() const { return mean_recall(counts); }
double Confusion::two_way_accuracy() const { return mean_recall(two_way); }
std::size_t Confusion::rows() const { return two_way[0][0] + two_way[0][1] + two_way[1][0] + two_way[1][1]; }

}  // namespace addnorm
