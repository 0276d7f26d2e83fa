#include "cli/lab/lab.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "addnorm/residual/diagram.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/plot.h"
#include "cli/terminal/signals.h"
#include "core/figures.h"

namespace addnorm::cli {
namespace {

constexpr std::size_t kSpark = 16;
constexpr double kDrawEvery = 0.2, kPrintEvery = 15;

double since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

const RowResult& row_of(const GridResult& result, std::size_t run) {
  return *std::ranges::find_if(result.rows,
                               [&](const RowResult& row) { return std::ranges::find(row.runs, run) != row.runs.end(); });
}

bool is_over(const GridRun& run) { return run.state != RunState::waiting && run.state != RunState::running; }

/// Of all runs, and what of it is done.
std::pair<double, double> work(const GridResult& result) {
  double all = 0, done = 0;
  for (const GridRun& run : result.runs) {
    const double share = static_cast<double>(run.losses.size()) / static_cast<double>(std::max<std::size_t>(run.steps, 1));
    all += run.work;
    done += is_over(run) ? run.work : run.work * share;
  }
  return {all, done};
}

double recent_loss(const std::vector<double>& losses) {
  const std::size_t count = std::min<std::size_t>(10, losses.size());
  double sum = 0;
  for (std::size_t i = losses.size() - count; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

}  // namespace

std::string loss_line(const std::vector<double>& losses, const Baselines& baselines, std::size_t columns, bool unicode) {
  if (losses.empty()) return "";
  double low = baselines.floor, high = baselines.uniform;
  if (!std::isfinite(low)) low = *std::ranges::min_element(losses);
  if (!std::isfinite(high)) high = *std::ranges::max_element(losses);
  std::string text;
  const std::size_t count = std::min(columns, losses.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * losses.size() / count, end = (i + 1) * losses.size() / count;
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += losses[k];
    text += block((sum / static_cast<double>(end - begin) - low) / std::max(high - low, 1e-9), unicode);
  }
  return text;
}

LabView::LabView(std::ostream& out, Terminal terminal, bool headings)
    : out_(out), terminal_(terminal), headings_(headings), begun_(Clock::now()), drawn_(begun_), printed_(begun_) {}

void LabView::line(const std::string& text) {
  wipe();
  out_ << text << '\n' << std::flush;
}

void LabView::wipe() {
  if (live_lines_ > 0) out_ << "\x1b[" << live_lines_ << "A\r\x1b[J";
  live_lines_ = 0;
}

std::string LabView::cut(const std::string& text) const {
  if (terminal_.columns == 0 || columns_of(text) < terminal_.columns) return text;
  return wrapped(text, terminal_.columns - 1).front();
}

void LabView::on_plan(const GridResult& so_far) {
  begun_ = Clock::now();  // one view may see several grids: depth has one for every few depths
  runs_begun_ = false;
  predicted_ = 0;
  const auto done = static_cast<std::size_t>(std::ranges::count(so_far.runs, RunState::done, &GridRun::state));
  if (!headings_) return;
  std::string text = concat(counted(so_far.rows.size(), "row"), ", ", counted(so_far.runs.size(), "run"));
  if (done > 0) text += concat(", ", done, done == 1 ? " of them is" : " of them are", " done already");
  line(text + ", in " + so_far.folder.string());
}

void LabView::on_predicted(const GridResult& so_far, std::size_t /*row*/) {
  ++predicted_;
  if (terminal_.columns == 0) return;
  wipe();
  if (predicted_ < so_far.rows.size()) {
    out_ << "preflight: " << predicted_ << " of " << so_far.rows.size() << " rows predicted\n" << std::flush;
    live_lines_ = 1;
  }
}

void LabView::on_all_predicted(const GridResult& so_far) {
  if (!headings_) return;
  line(concat("\nPredicted, in ", duration(since(begun_)), ":"));
  out_ << prediction_table(so_far, terminal_) << '\n' << std::flush;
}

void LabView::on_run_started(const GridResult& so_far, std::size_t /*run*/) {
  if (runs_begun_) return;
  runs_begun_ = true;
  begun_ = Clock::now();
  work_before_ = work(so_far).second;
}

void LabView::on_run_done(const GridResult& so_far, std::size_t index) {
  const GridRun& run = so_far.runs[index];
  const RowResult& row = row_of(so_far, index);
  const auto over = std::ranges::count_if(so_far.runs, is_over);
  std::string text = concat("[", over, "/", so_far.runs.size(), "] ", row.label, ", seed ", run.seed, ": ");
  if (run.state == RunState::done)
    text += concat(run.judged.text(), "  ", loss_line(run.losses, row.baselines, kSpark, terminal_.unicode), "  ",
                   fixed(run.seconds, 1), " s");
  else if (run.state == RunState::stopped)
    text += concat("stopped after step ", run.losses.size(), "; the next call goes on");
  else
    text += concat("failed: ", run.problem);
  if (!run.redone.empty()) text += concat("\n    run anew: ", run.redone);
  line(text);
}

void LabView::on_row_added(const GridResult& so_far, std::size_t index) {
  const RowResult& row = so_far.rows[index];
  line(concat("to see whether it is that: ", row.label, ", in place of ", so_far.rows[row.instead_of.value_or(index)].label));
}

double LabView::seconds_left(const GridResult& so_far) const {
  const auto [all, done] = work(so_far);
  const double past = since(begun_);
  if (done - work_before_ <= 0 || past < 0.5) return std::nan("");
  return (all - done) * past / (done - work_before_);
}

std::string LabView::running_line(const GridResult& so_far, std::size_t index) const {
  const GridRun& run = so_far.runs[index];
  const RowResult& row = row_of(so_far, index);
  const std::string spark = loss_line(run.losses, row.baselines, kSpark, terminal_.unicode);
  std::string text = concat("  ", padded(spark, kSpark), " ", run.losses.size(), "/", run.steps);
  if (!run.losses.empty()) text += concat("  loss ", figure(recent_loss(run.losses), 2));
  return concat(text, "  ", row.label, ", seed ", run.seed);
}

std::string LabView::total_line(const GridResult& so_far) const {
  const auto over = std::ranges::count_if(so_far.runs, is_over);
  const auto [all, done] = work(so_far);
  constexpr double kWidth = 24;
  const auto full = static_cast<std::size_t>(all > 0 ? kWidth * done / all : 0);
  const double left = seconds_left(so_far);
  return concat("[", std::string(full, '#'), std::string(static_cast<std::size_t>(kWidth) - full, '-'), "] ", over, " of ",
                so_far.runs.size(), " runs", std::isfinite(left) ? ", " + duration(left) + " left" : "");
}

void LabView::draw(const GridResult& so_far) {
  wipe();
  for (std::size_t i = 0; i < so_far.runs.size(); ++i)
    if (so_far.runs[i].state == RunState::running) {
      out_ << cut(running_line(so_far, i)) << '\n';
      ++live_lines_;
    }
  out_ << cut(total_line(so_far)) << '\n' << std::flush;
  ++live_lines_;
}

void LabView::on_wait(const GridResult& so_far) {
  if (!runs_begun_) return;
  if (terminal_.columns > 0) {
    if (since(drawn_) < kDrawEvery) return;
    drawn_ = Clock::now();
    return draw(so_far);
  }
  if (since(printed_) < kPrintEvery) return;
  printed_ = Clock::now();
  out_ << total_line(so_far) << '\n' << std::flush;
}

bool LabView::go_on() { return SignalWatch::caught() == 0; }

}  // namespace addnorm::cli
