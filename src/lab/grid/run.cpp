#include "addnorm/lab/grid_run.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "addnorm/core/machine.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run_folder.h"
#include "core/file.h"
#include "core/json/record.h"
#include "lab/grid/child_pool.h"
#include "lab/grid/files.h"
#include "lab/grid/plan.h"
#include "lab/outcome/confirm.h"

namespace addnorm {
namespace {

using GridClock = std::chrono::steady_clock;

double seconds_since(GridClock::time_point begun) { return std::chrono::duration<double>(GridClock::now() - begun).count(); }

class GridRunner {
 public:
  GridRunner(const GridRequest& request, GridObserver& observer)
      : request_(request),
        observer_(observer),
        cache_(request.cache.empty() ? request.folder / "cache" : request.cache),
        planner_(request.folder, cache_, [&observer] { return observer.go_on(); }) {
    result_.spec = request.spec;
    result_.folder = request.folder;
    threads_ = request.threads > 0 ? request.threads : granted_threads();
  }

  GridResult run() {
    const auto begun = GridClock::now();
    require(!request_.run || request_.program.train, "run_grid: program has no `train`; it says how a run is started");
    require(!request_.predict || request_.program.predict,
            "run_grid: program has no `predict`; it says how a prediction is started. Without predictions: predict = false");
    for (const GridRow& row : request_.spec.rows) planner_.add(row, result_);
    check_with_warmup();
    GridPlanner::label(result_);
    RunLock::check_free(request_.folder, request_.spec.words);
    const RunLock lock(request_.folder, request_.spec.words);
    if (!request_.result_file.empty()) {
      const std::string grid = to_json(request_.spec) + "\n";
      set_aside_other_lab(request_.folder, grid);
      replace_text(request_.folder / "lab-grid.json", grid);
    }
    find_done();
    observer_.on_plan(result_);
    result_.finished = (!request_.predict || predict_rows()) && (!request_.run || (run_waiting() && look_closer()));
    summarise(result_);
    note_confirmations(result_);
    note_cures(result_);
    result_.seconds = seconds_since(begun);
    write_result();
    return std::move(result_);
  }

 private:
  /// What was found is returned anyway.
  void write_result() {
    if (request_.result_file.empty()) return;
    try {
      replace_text(request_.folder / request_.result_file, to_json(result_) + "\n");
    } catch (const Error& error) {
      result_.not_written = error.what();
    }
  }

  void check_with_warmup() const {
    for (const RowResult& row : result_.rows) {
      const std::size_t steps = result_.runs[row.runs.front()].steps, warmup = request_.spec.with_warmup;
      require(warmup <= steps, row.row.place, ": with_warmup is ", warmup, " and the row has ", steps,
              " steps; it must be 0 ... ", steps, ", or the learning rate never gets as high as ",
              called(request_.spec.words, "lr"));
    }
  }

  const Baselines& baselines_of(std::size_t run) const {
    const auto asks = [&](const RowResult& row) { return std::ranges::find(row.runs, run) != row.runs.end(); };
    return std::ranges::find_if(result_.rows, asks)->baselines;
  }

  void find_done() {
    for (std::size_t i = 0; i < result_.runs.size(); ++i)
      if (GridRun& run = result_.runs[i]; run.state == RunState::waiting) found_done(run, baselines_of(i));
    summarise(result_);
  }

  PoolOptions pool() const {
    const int most = request_.at_once > 0 ? request_.at_once : std::min(threads_, planner_.fit_at_once());
    return {.program = request_.program.path, .threads = threads_, .at_once = most, .go_on = [this] {
              observer_.on_wait(result_);
              return observer_.go_on();
            }};
  }

  std::string complaint_in(const std::filesystem::path& log) const { return last_words(log, request_.program.complaints); }

  // Predictions.

  bool take_prediction(std::size_t row, const std::filesystem::path& file) {
    if (!is_there(file)) return false;
    try {
      result_.rows[row].prediction = prediction_from_json(small_text(file, "a prediction"), file.string());
    } catch (const DataError&) {  // half of one, or of another version: made again
      return false;
    }
    observer_.on_predicted(result_, row);
    return true;
  }

  bool predict_rows() {
    make_folder(request_.folder / "predictions");
    std::vector<Job> jobs;
    for (std::size_t row = 0; row < result_.rows.size(); ++row)
      if (!result_.is_repeated(row) && !take_prediction(row, prediction_file(result_, result_.rows[row])))
        jobs.push_back(prediction_job(row));
    const bool all = run_jobs(jobs, pool());
    for (RowResult& row : result_.rows)
      if (row.same_as) {
        row.prediction = result_.rows[*row.same_as].prediction;
        row.no_prediction = result_.rows[*row.same_as].no_prediction;
      }
    if (all) observer_.on_all_predicted(result_);
    return all;
  }

  Job prediction_job(std::size_t row) {
    const std::filesystem::path out = prediction_file(result_, result_.rows[row]);
    std::filesystem::path in = out, log = out;
    in.replace_extension(".asked.json");
    log.replace_extension(".log.txt");
    const auto failed = [this, row](const std::string& why) {
      result_.rows[row].no_prediction = why;
      observer_.on_predicted(result_, row);
    };
    Job job{.log = log};
    job.arguments = [this, row, in, out](int threads) {
      write_question(in, result_.rows[row].row, cache_);
      return request_.program.predict({.question = in, .answer = out, .threads = threads});
    };
    job.done = [this, row, out, log, failed](const ChildEnd& end, bool) {
      if (end.good() && take_prediction(row, out)) return;
      const std::string words = end.signal == 0 ? complaint_in(log) : "";
      failed(words.empty() ? end.text() : words);
    };
    job.not_started = failed;
    return job;
  }

  // Runs.

  /// The longest first, so that none is left over at the end while a processor rests.
  bool run_waiting() {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < result_.runs.size(); ++i)
      if (result_.runs[i].state == RunState::waiting) waiting.push_back(i);
    std::ranges::stable_sort(waiting, std::greater<>(), [this](std::size_t run) { return result_.runs[run].work; });
    std::vector<Job> jobs;
    for (const std::size_t run : waiting) jobs.push_back(run_job(run));
    const bool all = run_jobs(jobs, pool());
    summarise(result_);
    return all;
  }

  std::vector<std::string> train_arguments(std::size_t index, int threads) {
    GridRun& run = result_.runs[index];
    if (const std::string why = what_is_damaged(run); !why.empty())
      run.redone = concat(why, "; the old folder is ", set_aside(run, request_.spec.words).string());
    make_folder(run.folder);
    for (const RowResult& row : result_.rows)
      if (const auto mine = std::ranges::find(row.runs, index); mine != row.runs.end()) {
        replace_text(options_file(run), GridPlanner::run_options(row.row, run.seed));
        break;
      }
    return request_.program.train({.options = options_file(run), .folder = run.folder, .cache = cache_, .threads = threads});
  }

  Job run_job(std::size_t index) {
    const auto tail = std::make_shared<MetricsTail>(RunFolder{result_.runs[index].folder}.metrics());
    const auto begun = std::make_shared<GridClock::time_point>();
    Job job{.log = log_file(result_.runs[index])};
    job.arguments = [this, index](int threads) { return train_arguments(index, threads); };
    job.started = [this, index, begun] {
      *begun = GridClock::now();
      result_.runs[index].state = RunState::running;
      observer_.on_run_started(result_, index);
    };
    job.look = [this, index, tail] {
      if (!tail->look()) return;
      result_.runs[index].losses = tail->losses();
      observer_.on_progress(result_, index);
    };
    job.done = [this, index, begun](const ChildEnd& end, bool asked) {
      result_.runs[index].seconds = seconds_since(*begun);
      ended(index, end, asked);
      observer_.on_run_done(result_, index);
    };
    job.not_started = [this, index](const std::string& why) {
      result_.runs[index].state = RunState::failed;
      result_.runs[index].problem = why;
      observer_.on_run_done(result_, index);
    };
    return job;
  }

  /// All steps are there, or numbers that are not finite ended it: that is a result, whatever the process said at its end.
  void ended(std::size_t index, const ChildEnd& end, bool asked) {
    GridRun& run = result_.runs[index];
    try {
      if (end.signal == 0 && take_result(run, baselines_of(index))) return;
    } catch (const Error& error) {
      run.problem = error.what();
    }
    run.state = asked ? RunState::stopped : RunState::failed;
    if (asked || !run.problem.empty()) return;
    const std::string words = end.signal == 0 ? complaint_in(log_file(run)) : "";
    if (!words.empty())
      run.problem = words;
    else if (end.good())
      run.problem = "it ended well, but its metrics.jsonl lacks steps";
    else
      run.problem = concat(end.text(), end.signal == 0 ? ", and nothing in its log: is the disk full?" : "");
  }

  // After the rows of the grid: copies of those that failed, with one thing changed.

  bool look_closer() {
    std::vector<AddedRow> added = rows_with_warmup(result_);
    double seconds = request_.confirm_seconds * threads_;
    const auto add = [&](const std::vector<AddedRow>& more) { added.insert(added.end(), more.begin(), more.end()); };
    if (request_.confirm) {
      add(rows_that_try_factors(result_, seconds, added));
      add(rows_that_would_confirm(result_, seconds, added));
    }
    for (const AddedRow& more : added) {
      try {
        planner_.add(more.row, result_);
      } catch (const Error&) {  // what cannot be planned confirms nothing
        continue;
      }
      result_.rows.back().instead_of = more.instead_of;
    }
    GridPlanner::label(result_);
    for (std::size_t row = result_.spec.rows.size(); row < result_.rows.size(); ++row) observer_.on_row_added(result_, row);
    find_done();
    return run_waiting();
  }

  const GridRequest& request_;
  GridObserver& observer_;
  std::filesystem::path cache_;
  GridPlanner planner_;
  GridResult result_;
  int threads_ = 1;
};

}  // namespace

GridResult run_grid(const GridRequest& request, GridObserver& observer) { return GridRunner(request, observer).run(); }

}  // namespace addnorm
