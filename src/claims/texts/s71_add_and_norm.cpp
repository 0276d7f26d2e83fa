// S71: Add & Norm: first the sum, then the norm, after each sub-layer.
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s71 {
namespace {

double norms_per_layer(const char* name) {
  const auto residual = make_residual(name, {.width = 8, .layers = 4});
  double norms = 0;
  for (std::size_t i = 0; i < residual->shape().units(); ++i)
    norms += residual->arrangement().slots(residual->shape(), residual->shape().unit(i)).post ? 1 : 0;
  return norms / 4;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 32}, seed), w = scale(random_var({32, 32}, seed + 8), 0.2);
    const auto F = [&](const Var& u) { return gelu(linear(u, w)); };
    const Tensor unit = ResidualUnit("add-norm", 32)(x, F).value();
    s.add("add, then norm", relative_distance(normed(add(x, F(x))).value(), unit));
    s.add("norm, then add", relative_distance(add(x, normed(F(x))).value(), unit));
    s.add("norms after sums per layer", norms_per_layer("add-norm"));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of Add & Norm from LN(x + F(x)) ", s.text("add, then norm"), ", from x + LN(F(x)) ",
             s.text("norm, then add"), "; norms after sums per layer ", s.text("norms after sums per layer"));
  const bool order = s.most("add, then norm") < 1e-5 && s.least("norm, then add") > 1e-2;
  return order && s.mean("norms after sums per layer") == 2 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S71",
          .statement = "Add & Norm adds a sub-layer's output to its input, then norms the sum, after each main sub-layer.",
          .source = "text 003, section 3, and question 5",
          .expected = "LN(x + F(x)) to 1e-5, and twice per layer",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s71
