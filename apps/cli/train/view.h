// What a person sees of a run: what is about to happen, a line per interval, a bar on a terminal.
#pragma once

#include <chrono>
#include <iosfwd>

#include "addnorm/train/run.h"

namespace addnorm::cli {

/// Everything goes to `out` (the standard error): plain lines in a pipe, and on a terminal a bar below them.
class TrainView : public RunObserver {
 public:
  /// fma_peak: operations per second that this machine can do at most with its threads; 0: not known.
  TrainView(std::ostream& out, bool terminal, double fma_peak, std::filesystem::path folder);

  void on_data(double share) override;
  void on_memory(const MemoryEstimate& estimate) override;
  void on_plan(const RunPlan& plan) override;
  void on_step(const StepRecord& record) override;
  void on_validation(std::int64_t step, const Evaluation& result, bool best) override;
  void on_warning(const std::string& message) override;
  bool go_on() override;
  void wipe();  ///< the bar, where there is one: before anybody else writes

 private:
  using Clock = std::chrono::steady_clock;
  struct Column {
    const char* title;
    int width;
    std::string value;
  };
  std::vector<Column> columns(const StepRecord& record, double left) const;
  void finished(const RunOptions& options);
  void print(const char* what, const std::string& text);
  void row(const std::vector<Column>& columns, bool titles);
  void cell(const std::string& text, int width, bool first);
  void line(const StepRecord& record, double left);
  void bar(std::int64_t step, Clock::time_point now);
  double eta(std::int64_t step, Clock::time_point now) const;

  std::ostream& out_;
  bool terminal_;
  double fma_peak_;
  std::filesystem::path folder_;

  // Of the plan.
  std::int64_t steps_ = 0, first_ = 1, log_every_ = 1;
  double floor_ = 0, bytes_per_label_ = 0;
  bool has_floor_ = false, classes_ = false, pairs_ = false;

  // Since the last line, and since the start.
  Clock::time_point begun_{}, bar_time_{};
  double line_items_ = 0, line_flops_ = 0, line_seconds_ = 0;  // of steps alone: neither measuring nor saving
  bool bar_shown_ = false;
};

}  // namespace addnorm::cli
