// S10: "the residual formula", printed as LN(x + SubLayer(x)).
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s10 {
namespace {

constexpr const char* kUnits[] = {"post-ln", "residual", "pre-ln", "res-post"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 32}, seed), w = scale(random_var({32, 32}, seed + 40), 0.2);
    const auto F = [&](const Var& u) { return gelu(linear(u, w)); };
    const Tensor printed = normed(add(x, F(x))).value();
    for (const char* name : kUnits) s.add(name, relative_distance(ResidualUnit(name, 32)(x, F).value(), printed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "distance of one unit's output from LN(x + F(x)):";
  bool all = true;
  for (const char* name : kUnits) {
    text += concat(name == kUnits[0] ? " " : ", ", name, " ", s.text(name));
    all = all && s.most(name) < 1e-5;
  }
  if (all) return holds(text);
  if (s.most("post-ln") < 1e-5)
    return holds_if("the unit is post-LN, as in 2017; the residual connection itself is x + F(x) (question 1 of the same text)",
                    text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S10",
          .statement = "The formula of a residual connection is output = LayerNorm(x + SubLayer(x)).",
          .source = "text 001, The Residual Formula",
          .expected = "units that are called residual compute it: distance below 1e-5",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s10
