// C25, gradients at initialisation: a factor on the skip, with and without a norm.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::c25 {
namespace {

constexpr std::size_t kUnits = 12, kWidth = 64;
constexpr double kFactors[] = {0.5, 1, 2, 3};

double gradient(const char* name, const ArrangementChoices& choices, std::uint64_t seed) {
  const StackShape shape = units_of(kUnits, kWidth);
  const Var x = Var(normed(random_var({8, kWidth}, seed)).value(), true);
  const Var y = run_units(*make_residual(name, shape, {.choices = choices}), x, LinearBranches(shape, seed, 0.1));
  const Tensor dy = random_tensor(y.shape(), seed + 4);
  backward(y, dy);
  return length(x.grad()) / length(dy);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    for (const double factor : kFactors) {
      s.add(concat("without norm, ", factor), gradient("xskip", {.skip_factor = factor}, seed) / std::pow(factor, kUnits));
      s.add(concat("with norm, ", factor), gradient("xskip-ln", {.skip_factor = factor}, seed));
    }
    s.add("recursive", gradient("rskip", {}, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "gradient at the input of 12 units with small branches: without norm, over λ^12,";
  bool powers = true, bounded = s.mean("recursive") > 0.1 && s.mean("recursive") < 10;
  for (const double factor : kFactors) {
    const std::string without = concat("without norm, ", factor), with = concat("with norm, ", factor);
    text += concat(" λ = ", factor, ": ", s.text(without), factor == 3 ? ";" : ",");
    powers = powers && s.mean(without) > 0.5 && s.mean(without) < 2;
    bounded = bounded && s.mean(with) > 0.1 && s.mean(with) < 10;
  }
  text += " with norm,";
  for (const double factor : kFactors) text += concat(" λ = ", factor, ": ", s.text(concat("with norm, ", factor)), ",");
  text += concat(" recursive: ", s.text("recursive"));
  if (powers && bounded) return holds(text);
  return powers || bounded ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C25",
          .statement =
              "A factor other than 1 on the skip lets gradients explode or vanish; a norm repairs it, also for the recursive "
              "skip (its "
              "part at initialisation).",
          .source = "Liu F. et al. 2020, arXiv 2105.07205",
          .expected = "gradient proportional to λ^n (within a factor 2) without norm, between 0.1 and 10 with it",
          .start = "the same made-up branches for all factors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c25
