// S13: a sub-layer whose weights are 0 leaves the identity.
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s13 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(scale(random_var({4, 32}, seed), 1.5), Var(Tensor::full({4, 32}, 0.3)));
    const auto off = [&](const char* name) {
      return relative_distance(ResidualUnit(name, 32)(x, [](const Var& u) { return scale(u, 0); }).value(), x.value());
    };
    s.add("x + F", off("residual"));
    s.add("x + F(LN(x))", off("pre-ln"));
    s.add("LN(x + F)", off("post-ln"));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of the output from x, over the length of x, with F = 0: x + F ", s.text("x + F"),
                                  ", x + F(LN(x)) ", s.text("x + F(LN(x))"), ", LN(x + F) ", s.text("LN(x + F)"));
  const bool sums = s.most("x + F") == 0 && s.most("x + F(LN(x))") == 0, normed_sum = s.most("LN(x + F)") < 1e-3;
  if (sums && normed_sum) return holds(text);
  if (sums) return holds_if("no norm stands after the sum: the printed unit gives LN(x)", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S13",
          .statement = "A sub-layer that has nothing to do can push its weights to zero: the skip is the identity by default.",
          .source = "text 001, Why Residuals Help, 2",
          .expected = "with F = 0 the output is x, bit for bit",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s13
