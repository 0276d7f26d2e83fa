// C19, at initialisation: how the stream's variance grows.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c19 {
namespace {

constexpr std::size_t kUnits = 48, kWidth = 64;

Samples measure(const ClaimContext& context) {
  Samples s;
  const NoGrad no_grad;
  const StackShape shape = units_of(kUnits, kWidth);
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"pre-ln", "lns", "peri-ln", "post-ln"}) {
      Watch watch;
      const LinearBranches branches(shape, seed, branch_gains(context, shape));
      run_units(*make_residual(name, shape), normed(random_var({16, kWidth}, seed)), branches, {}, &watch);
      std::vector<double> depth, logs, squares;
      for (std::size_t i = 1; i < watch.streams.size(); ++i) {
        depth.push_back(static_cast<double>(i));
        logs.push_back(std::log(static_cast<double>(i)));
        squares.push_back(std::pow(rms(watch.streams[i].value()), 2));
      }
      s.add(concat(name, ", slope"), fitted_line(depth, squares).slope);
      s.add(concat(name, ", R2 of a line"), fitted_line(depth, squares).r2);
      s.add(concat(name, ", R2 of a logarithm"), fitted_line(logs, squares).r2);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("variance of the stream over 48 units: pre-LN rises by ", s.text("pre-ln, slope"),
                                  " per unit (line: R² ", s.text("pre-ln, R2 of a line"), "), LayerNorm Scaling by ",
                                  s.text("lns, slope"), " (logarithm: R² ", s.text("lns, R2 of a logarithm"), "), Peri-LN by ",
                                  s.text("peri-ln, slope"), ", post-LN by ", s.text("post-ln, slope"));
  const bool pre = s.mean("pre-ln, R2 of a line") > 0.98 && s.mean("pre-ln, slope") > 0.5;
  const bool lns = s.mean("lns, R2 of a logarithm") > 0.95 && s.mean("lns, slope") < 0.3 * s.mean("pre-ln, slope");
  const bool peri = std::abs(s.mean("peri-ln, slope") - 1) < 0.1, post = std::abs(s.mean("post-ln, slope")) < 0.01;
  const int seen = pre + lns + peri + post;
  return seen == 4 ? holds(text) : seen > 0 ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C19",
      .statement =
          "The stream's variance grows linearly in pre-LN and Peri-LN, like a logarithm with LayerNorm Scaling, and not in "
          "post-LN "
          "(its part at initialisation).",
      .source = "Sun et al. 2025, arXiv 2502.05795; Kim et al. 2025, arXiv 2502.02732",
      .expected =
          "straight lines with R² > 0.98 (pre-LN) and slope 1 ± 0.1 (Peri-LN), logarithm with R² > 0.95 (LNS), slope 0 (post-LN)",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights the stream of pre-LN hardly grows; that of Peri-LN does, whose branches end in a norm"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c19
