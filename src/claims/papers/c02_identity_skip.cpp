// C2, at initialisation: only a factor of 1 on the skip passes the gradient through.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::c02 {
namespace {

constexpr double kFactors[] = {0.5, 0.9, 1, 1.1};
constexpr std::size_t kUnits = 32, kWidth = 32;

double gradient(double a, const Branch& branch, std::uint64_t seed) {
  const Var x = random_var({8, kWidth}, seed, DType::f64, true);
  const auto residual = make_residual("xskip", units_of(kUnits, kWidth), {.choices = {.skip_factor = a}});
  const Var y = run_units(*residual, x, branch);
  const Tensor dy = random_tensor(y.shape(), seed + 1, DType::f64);
  backward(y, dy);
  return length(x.grad()) / length(dy);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const double a : kFactors) {
      const LinearBranches small(units_of(kUnits, kWidth), seed, 0.1, DType::f64);
      s.add(concat("a = ", a, ", F = 0, over a^32"), gradient(a, silent, seed) / std::pow(a, kUnits));
      s.add(concat("a = ", a, ", small branches"), gradient(a, small, seed));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "gradient at the input of 32 units a x + F(x): with F = 0 it is a^32 times";
  bool exact = true;
  for (const double a : kFactors) {
    const std::string name = concat("a = ", a, ", F = 0, over a^32");
    text += concat(a == 0.5 ? " " : ", ", s.text(name));
    exact = exact && std::abs(s.mean(name) - 1) < 1e-6;
  }
  text += "; with branches of a tenth";
  for (const double a : kFactors) text += concat(", a = ", a, ": ", s.text(concat("a = ", a, ", small branches")));
  const auto size = [&](const char* a) { return s.mean(concat("a = ", a, ", small branches")); };
  const auto lost = [&](const char* a) { return size(a) <= 1.0 / 3 || size(a) >= 3; };
  const bool only_one = size("1") > 1.0 / 3 && size("1") < 3 && lost("0.5") && lost("0.9") && lost("1.1");
  if (exact && only_one) return holds(text);
  return exact || only_one ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C2",
          .statement =
              "The identity is the best skip: a constant factor other than 1 lets gradients vanish or explode (its part at "
              "initialisation).",
          .source = "He et al. 2016, arXiv 1603.05027",
          .expected = "gradient at x_0 equal to a^L with F = 0; with small branches within a factor 3 of 1 for a = 1 only",
          .changed = "the lower end of the factor 3 was 0.3; seen before and after",
          .start = "the same made-up branches for all factors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c02
