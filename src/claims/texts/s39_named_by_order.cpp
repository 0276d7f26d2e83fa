// S39: post-LN has its name from the order: the norm comes after the sum.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s39 {
namespace {

/// Largest distance of a unit's output from mean 0 and variance 1, over tokens and units.
double off_from_normed(const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(6, 64);
  Watch watch;
  run_units(*make_residual(name, shape), random_var({8, 64}, seed), LinearBranches(shape, seed), {}, &watch);
  double most = 0;
  for (std::size_t i = 1; i < watch.streams.size(); ++i) {
    const std::vector<double> all = values_of(watch.streams[i].value());
    for (std::size_t r = 0; r < 8; ++r) {
      const Tensor row = Tensor::of({64}, std::span<const double>(all).subspan(r * 64, 64));
      most = std::max({most, std::abs(mean_value(row)), std::abs(variance(row) - 1)});
    }
  }
  return most;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"post-ln", "pre-ln"}) s.add(name, off_from_normed(name, seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("largest distance of what a unit passes on from mean 0 and variance 1: post-LN ",
                                  s.text("post-ln"), ", pre-LN ", s.text("pre-ln"));
  return s.most("post-ln") < 1e-3 && s.least("pre-ln") > 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S39",
          .statement = "Norming after the residual sum is called post layer normalisation, from the order of the two.",
          .source = "text 002, second paragraph",
          .expected = "what a post-LN unit passes on is normed (within 1e-3), what a pre-LN unit passes on is not",
          .start = "the same made-up branches in both, as strong as what they read",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s39
