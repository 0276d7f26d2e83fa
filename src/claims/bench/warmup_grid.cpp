#include "claims/bench/warmup_grid.h"

namespace addnorm::lab {

std::string grid_name(const std::string& line, double rate) { return concat(line, " at ", rate); }

void add_line(Samples& samples, const GridLine& line, const ClaimContext& context) {
  for (const double rate : kGridRates) {
    SmallRun run = seq2seq_run(context, line.arrangement, 6, 6);
    run.optimizer = line.optimizer;
    run.warmup = line.warmup;
    run.rate = rate * line.rate_factor;
    run.update_clip = line.update_clip;
    run.steps = context.steps(run.steps);
    add_losses(samples, grid_name(line.name, rate), run, run_seeds(run, context));
  }
}

std::string line_text(const Samples& samples, const std::string& line) {
  std::string text = line + ": ";
  for (const double rate : kGridRates) {
    const std::string name = grid_name(line, rate);
    text += concat(rate == kGridRates[0] ? "" : ", ", run_text(samples, name), " at ", rate);
  }
  return text;
}

}  // namespace addnorm::lab
