// S72: does Add & Norm have the benefits of both of its parts?
#include "addnorm/autograd/tape.h"
#include "lab/claims/list.h"
#include "lab/experiment.h"

namespace addnorm::lab::s72 {
namespace {

constexpr std::size_t kWidth = 64;

/// What the skips alone pass from the bottom to the top: the gradient that is left when branches pass none.
double skip_gain(std::size_t units, std::uint64_t seed) {
  const StackShape shape = units_of(units, kWidth);
  const LinearBranches branches(shape, seed);
  const Var x = Var(normed(random_var({8, kWidth}, seed)).value(), true);
  const Var y =
      run_units(*make_residual("post-ln", shape), x, [&](const Unit& u, const Var& v) { return branches(u, v).detach(); });
  const Tensor dy = random_tensor(y.shape(), seed + 3);
  backward(y, dy);
  return length(x.grad()) / length(dy);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    for (const std::size_t units : {2u, 12u, 24u, 48u}) s.add(concat("gradient past ", units, " units"), skip_gain(units, seed));
    const StackShape shape = units_of(24, kWidth);
    const Var y =
        run_units(*make_residual("post-ln", shape), scale(random_var({8, kWidth}, seed), 3), LinearBranches(shape, seed));
    s.add("output RMS behind 24 units", rms(y.value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("gradient that the skips of Add & Norm pass by themselves: behind 2 units ", s.text("gradient past 2 units"),
             ", 12 ", s.text("gradient past 12 units"), ", 24 ", s.text("gradient past 24 units"), ", 48 ",
             s.text("gradient past 48 units"), "; output RMS ", s.text("output RMS behind 24 units"));
  const bool stable = std::abs(s.mean("output RMS behind 24 units") - 1) < 0.01;
  if (!stable) return fails(text);
  if (s.least("gradient past 48 units") > 0.1) return holds(text);
  return holds_if("the stack is shallow: activations stay stable at any depth, but each norm takes some of the skip's gradient",
                  text);
}

}  // namespace

Claim claim() {
  return {.id = "S72",
          .statement =
              "Add & Norm has both benefits: gradient flow and identity mapping of the skip, stable activations of the norm.",
          .source = "text 003, section 3",
          .expected = "output RMS within 1 % of 1, and more than a tenth of the gradient left on the skips behind 48 units",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s72
