// C11: on which branches the top of the stack depends.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::c11 {
namespace {

constexpr std::size_t kUnits = 24, kWidth = 64;

/// Shares beta_nj^2 of the input (j = 0) and of each branch in the normed stream after the last unit.
std::vector<double> shares(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(kUnits, kWidth);
  const auto residual = make_residual(name, shape);
  Watch watch;
  const LinearBranches branches(shape, seed, branch_gains(context, shape));
  run_units(*residual, normed(random_var({16, kWidth}, seed)), branches, {}, &watch);
  const bool post = residual->arrangement().unit.post;
  std::vector<double> squares{1};
  for (std::size_t i = 0; i < kUnits; ++i) {
    squares.push_back(variance(watch.branches[i].value()));
    if (!post) continue;
    const double sum = variance(add(watch.streams[i], watch.branches[i]).value());
    for (double& square : squares) square /= sum;
  }
  double all = 0;
  for (const double square : squares) all += square;
  for (double& square : squares) square /= all;
  return squares;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"post-ln", "pre-ln"}) {
      const std::vector<double> share = shares(context, name, seed);
      s.add(concat(name, ", newest branch"), share.back());
      s.add(concat(name, ", newest over the eighth before"), share.back() / share[kUnits - 8]);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the newest of 24 branches in the stream (even: 0.04), and over that of the eighth before: post-LN ",
             s.text("post-ln, newest branch"), " and ", s.text("post-ln, newest over the eighth before"), ", pre-LN ",
             s.text("pre-ln, newest branch"), " and ", s.text("pre-ln, newest over the eighth before"));
  const bool post = s.mean("post-ln, newest branch") > 0.4 && s.mean("post-ln, newest over the eighth before") > 50;
  const bool pre =
      s.mean("pre-ln, newest branch") < 0.08 && std::abs(std::log(s.mean("pre-ln, newest over the eighth before"))) < 0.5;
  if (post && pre) return holds(text);
  return post || pre ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C11",
          .statement = "Pre-LN spreads its dependency over all earlier branches, post-LN leans on the latest.",
          .source = "Liu et al. 2020, arXiv 2004.08249, figures on layer dependency",
          .expected = "post-LN: newest share above 0.4 and falling geometrically (50 times over 8 units); pre-LN: about 1/n each",
          .earlier = {"seen at this scale", "with GPT-2's weights post-LN spreads its dependency as evenly as pre-LN"},
          .compares = true,
          .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c11
