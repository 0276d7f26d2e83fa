// S74: does layer norm standardise what each layer reads?
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s74 {
namespace {

/// Largest distance from mean 0 and variance 1 of what sub-layers read, over tokens: of the first one, and of the others.
std::pair<double, double> off(const char* name, std::uint64_t seed) {
  constexpr std::size_t kWidth = 32, kRows = 8;
  const StackShape shape = units_of(6, kWidth);
  const LinearBranches branches(shape, seed);
  const Var x = add(scale(random_var({kRows, kWidth}, seed), 0.5), Var(Tensor::full({kRows, kWidth}, 0.2)));
  double first = 0, others = 0;
  run_units(*make_residual(name, shape), x, [&](const Unit& unit, const Var& u) {
    const std::vector<double> all = values_of(u.value());
    for (std::size_t r = 0; r < kRows; ++r) {
      const Tensor row = Tensor::of({kWidth}, std::span<const double>(all).subspan(r * kWidth, kWidth));
      double& most = unit.index == 0 ? first : others;
      most = std::max({most, std::abs(mean_value(row)), std::abs(variance(row) - 1)});
    }
    return branches(unit, u);
  });
  return {first, others};
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"pre-ln", "post-ln"}) {
      const auto [first, others] = off(name, seed);
      s.add(concat(name, ", first"), first);
      s.add(concat(name, ", others"), others);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("largest distance of a sub-layer's input from mean 0 and variance 1: pre-LN first ",
                                  s.text("pre-ln, first"), ", others ", s.text("pre-ln, others"), "; Add & Norm first ",
                                  s.text("post-ln, first"), ", others ", s.text("post-ln, others"));
  const bool most = s.most("pre-ln, first") < 1e-3 && s.most("pre-ln, others") < 1e-3 && s.most("post-ln, others") < 1e-3;
  if (most && s.most("post-ln, first") < 1e-3) return holds(text);
  if (most)
    return holds_if("the norm is pre-LN, or the sub-layer is not the first: that of Add & Norm reads raw embeddings", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S74",
          .statement = "Layer norm standardises the inputs of each layer, example by example.",
          .source = "text 003, takeaways",
          .expected = "what every sub-layer reads has mean 0 and variance 1 within 1e-3 at initialisation",
          .start = "the same made-up branches in both, as strong as what they read",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s74
