// S20: a sub-layer that is the identity.
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s20 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(random_var({4, 32}, seed), Var(Tensor::full({4, 32}, 0.5)));
    const auto identity = [](const Var& u) { return scale(u, 1); };
    const Tensor sum = ResidualUnit("residual", 32)(x, identity).value(),
                 normed_sum = ResidualUnit("post-ln", 32)(x, identity).value();
    s.add("x + F: from x", relative_distance(sum, x.value()));
    s.add("x + F: from 2x", relative_distance(sum, scale(x, 2).value()));
    s.add("LN(x + F): from x", relative_distance(normed_sum, x.value()));
    s.add("LN(x + F): from LN(x)", relative_distance(normed_sum, normed(x).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("with F(x) = x: x + F is ", s.text("x + F: from x"), " from x and ", s.text("x + F: from 2x"),
                                  " from 2x; LN(x + F) is ", s.text("LN(x + F): from x"), " from x and ",
                                  s.text("LN(x + F): from LN(x)"), " from LN(x)");
  return s.most("x + F: from x") < 1e-3 || s.most("LN(x + F): from x") < 1e-3 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S20",
          .statement = "If the sub-layer learns the identity, the output of the unit equals its input.",
          .source = "text 001, Key Insight",
          .expected = "output within 1e-3 of x; a sum would give 2x, and the output is x only where the sub-layer is zero (S13)",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s20
