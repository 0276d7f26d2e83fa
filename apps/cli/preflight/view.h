// What a person sees of a preflight: a line while it goes on, then two small plots and the verdict.
#pragma once

#include <string>

#include "addnorm/lab/preflight.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// Progress on the standard error: one line that is overwritten on a terminal; nothing in a pipe or when `quiet`.
class PreflightProgress : public PreflightObserver {
 public:
  explicit PreflightProgress(bool quiet);
  void on_trial(const std::string& what, std::size_t step, std::size_t of) override;
  bool go_on() override;
  void wipe();

 private:
  bool shown_;
  bool written_ = false;
};

/// The same, and on the standard output the verdict as soon as it is settled, then each advice as it is found.
class PreflightView : public PreflightProgress {
 public:
  PreflightView(bool quiet, const Terminal& terminal) : PreflightProgress(quiet), terminal_(terminal) {}
  void on_verdict(const PreflightResult& result) override;
  void on_advice(const Advice& advice) override;
  bool has_verdict() const { return has_verdict_; }  ///< it has been printed

 private:
  Terminal terminal_;
  bool has_verdict_ = false, advised_ = false;
};

/// Profiles, verdict and reason, for a terminal of this width.
std::string verdict_text(const PreflightResult& result, const Terminal& terminal);

}  // namespace addnorm::cli
