// What a person sees while a grid runs: predictions, then runs, live.
#pragma once

#include <chrono>
#include <iosfwd>

#include "cli/lab/lab.h"

namespace addnorm::cli {

/// Everything goes to `out` (the standard error): lines now and then in a pipe, and on a terminal the running ones below them.
class LabView : public GridObserver {
 public:
  LabView(std::ostream& out, Terminal terminal, bool headings = true);

  void on_plan(const GridResult& so_far) override;
  void on_predicted(const GridResult& so_far, std::size_t row) override;
  void on_all_predicted(const GridResult& so_far) override;
  void on_run_started(const GridResult& so_far, std::size_t run) override;
  void on_run_done(const GridResult& so_far, std::size_t run) override;
  void on_row_added(const GridResult& so_far, std::size_t row) override;
  void on_wait(const GridResult& so_far) override;
  bool go_on() override;
  void wipe();  ///< what is live, before anybody else writes

 private:
  using Clock = std::chrono::steady_clock;
  void line(const std::string& text);
  void draw(const GridResult& so_far);
  std::string running_line(const GridResult& so_far, std::size_t run) const;
  std::string total_line(const GridResult& so_far) const;
  std::string cut(const std::string& text) const;
  double seconds_left(const GridResult& so_far) const;
  std::size_t predicted_ = 0;

  std::ostream& out_;
  Terminal terminal_;
  bool headings_;
  Clock::time_point begun_, drawn_, printed_;
  bool runs_begun_ = false;
  double work_before_ = 0;  // done when the first run of this grid began
  std::size_t live_lines_ = 0;
};

}  // namespace addnorm::cli
