#include "cli/preflight/view.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "addnorm/core/error.h"
#include "addnorm/residual/diagram.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/plot.h"
#include "cli/terminal/signals.h"
#include "cli/train/options.h"
#include "core/figures.h"

namespace addnorm::cli {
namespace {

constexpr std::size_t kLabel = 20;  // columns of the names beside plots
constexpr std::size_t kMostPlot = 48;

std::string settings(const RunOptions& o) {
  const ModelConfig& m = o.model;
  return concat(m.arrangement, ", ", m.layers, " layers, d_model ", m.d_model, ", ", name_of(o.optimizer.kind), " at ",
                rate_text(o.lr), ", ", o.warmup_steps.value_or(0), " warm-up steps, batches of ", o.batch_size * o.grad_accum,
                " x ", m.seq_len, ", ", start_words(m));
}

/// "skip gain 1.3e-05 with branches as strong as what they read, 1.1e-05 measured"
std::string skip_gain_text(const PreflightResult& r) {
  if (!r.skip_gain_predicted) return "no skip";
  std::string text = concat("skip gain ", short_figure(*r.skip_gain_predicted), " with branches as strong as what they read");
  if (r.skip_gain_measured) text += concat(", ", short_figure(*r.skip_gain_measured), " measured");
  return text;
}

struct Curve {
  std::string name;
  const std::vector<double>* values;
  double low, high;  // of the common scale, in powers of ten
};

std::pair<double, double> powers(std::initializer_list<const std::vector<double>*> all) {
  double low = 0, high = 0;
  for (const auto* values : all)
    for (const double v : *values)
      if (v > 0 && std::isfinite(v)) {
        low = std::min(low, std::log10(v));
        high = std::max(high, std::log10(v));
      }
  return {std::min(low, high - 1), high};
}

std::vector<double> relative_to_top(const std::vector<double>& norms) {
  std::vector<double> all = norms;
  for (double& v : all) v /= norms.back();
  return all;
}

std::string plots(const PreflightResult& r, const Terminal& terminal) {
  if (r.trials.empty() || r.shown().records.empty()) return "";
  const Trial& trial = r.shown();
  const StackRecord &start = trial.start().stacks[r.stack], &after = trial.after().stacks[r.stack];
  const std::string steps = concat(" after ", trial.losses.size());
  const std::vector<double> g0 = relative_to_top(start.gradient_norm), g1 = relative_to_top(after.gradient_norm);
  const auto [g_low, g_high] = powers({&g0, &g1});
  const auto [s_low, s_high] = powers({&start.spread, &after.spread});
  const auto [x_low, x_high] = powers({&start.stream_rms});
  const std::size_t room =
      terminal.columns == 0 ? kMostPlot : std::max<std::size_t>(8, terminal.columns - std::min(terminal.columns, kLabel + 24));
  const std::size_t width = std::min({kMostPlot, room, g0.size()});
  std::string text;
  for (const Curve& curve :
       {Curve{"stream RMS at start", &start.stream_rms, x_low, x_high}, Curve{"gradient at start", &g0, g_low, g_high},
        Curve{"gradient" + steps, &g1, g_low, g_high}, Curve{"spread at start", &start.spread, s_low, s_high},
        Curve{"spread" + steps, &after.spread, s_low, s_high}})
    text += concat("  ", padded(curve.name, kLabel), sparkline(*curve.values, width, curve.low, curve.high, terminal.unicode),
                   "  ", short_figure(curve.values->front()), " ... ", short_figure(curve.values->back()), "\n");
  return text + concat("  ", padded("", kLabel), padded("input", width > 8 ? width - 3 : 6), "top\n");
}

}  // namespace

PreflightProgress::PreflightProgress(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO)) {}

void PreflightProgress::on_trial(const std::string& what, std::size_t step, std::size_t of) {
  if (!shown_) return;
  std::cerr << "\r\033[K" << what << ": step " << step + 1 << " of " << of << std::flush;
  written_ = true;
}

bool PreflightProgress::go_on() { return SignalWatch::caught() == 0; }

void PreflightProgress::wipe() {
  if (written_) std::cerr << "\r\033[K" << std::flush;
  written_ = false;
}

void PreflightView::on_verdict(const PreflightResult& result) {
  wipe();
  const std::string text = verdict_text(result, terminal_);
  std::cout << (terminal_.unicode ? text : in_ascii(text)) << std::flush;
  has_verdict_ = true;
}

void PreflightView::on_advice(const Advice& advice) {
  wipe();
  if (!advised_) std::cout << "\nwhat passes the same trial:\n";
  advised_ = true;
  std::cout << "  " << padded(advice.option, 38) << padded(advice.says, 8) << advice.change << std::endl;
}

std::string verdict_text(const PreflightResult& r, const Terminal& terminal) {
  std::string text = concat(settings(r.options), "\n  ", r.formula, "    ", skip_gain_text(r), "\n");
  if (!r.twin.empty()) text += concat("  tried as a narrower twin of the same depth: ", r.twin, "\n");
  text += "\n" + plots(r, terminal) + "\n";
  const char* const to_train = r.forecast == Forecast::needs_warmup ? " to train" : "";
  const std::string verdict = concat(name_of(r.forecast), to_train, " within ", r.horizon, " steps: ", r.reason);
  const std::string by = r.second_look ? "a second look decided" : concat(r.passed, " of ", r.trials.size(), " trials pass");
  const std::string beyond = r.beyond.empty() ? "" : concat(", but none of them ", r.beyond);
  const std::string grounds =
      concat("(", by, "; such answers were right in ", fixed(100 * r.confidence, 0), " % of unseen cases", beyond, ")");
  for (const std::string& part : {verdict, grounds})
    for (const std::string& line : wrapped(part, terminal.columns)) text += line + "\n";
  return text;
}

}  // namespace addnorm::cli
