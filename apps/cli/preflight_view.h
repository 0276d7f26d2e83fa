// What a person sees of a preflight: a line while it goes on, then two small plots and the verdict.
#pragma once

#include <iosfwd>
#include <string>

#include "addnorm/lab/preflight.h"
#include "terminal.h"

namespace addnorm::cli {

/// Progress on `out`: one line that is overwritten on a terminal; nothing in a pipe or when `quiet`.
class PreflightView : public PreflightObserver {
 public:
  PreflightView(std::ostream& out, bool quiet);
  void on_trial(const std::string& what, std::size_t step, std::size_t of) override;
  bool go_on() override;
  void wipe();

 private:
  std::ostream& out_;
  bool shown_;
  bool written_ = false;
};

/// Verdict, reason, advice and profiles, for a terminal of this width.
std::string preflight_text(const PreflightResult& result, const Terminal& terminal);

}  // namespace addnorm::cli
