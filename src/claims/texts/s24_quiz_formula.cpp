// S24: question 1: which formula is the residual connection?
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s24 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 16}, seed), w = scale(random_var({16, 16}, seed + 1), 0.3),
              v = scale(random_var({16, 16}, seed + 2), 0.3);
    const auto F = [&](const Var& u) { return tanh(linear(u, w)); };
    const Tensor unit = ResidualUnit("residual", 16)(x, F).value();
    s.add("A", relative_distance(linear(F(x), v).value(), unit));
    s.add("B", relative_distance(add(x, F(x)).value(), unit));
    s.add("C", relative_distance(sub(F(x), x).value(), unit));
    s.add("D", relative_distance(add(normed(x), normed(F(x))).value(), unit));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of each answer from a residual unit's output: A, Layer(SubLayer(x)), ", s.text("A"),
                                  "; B, x + SubLayer(x), ", s.text("B"), "; C, SubLayer(x) - x, ", s.text("C"),
                                  "; D, LN(x) + LN(SubLayer(x)), ", s.text("D"));
  const bool no_other = s.least("A") >= 1e-5 && s.least("C") >= 1e-5 && s.least("D") >= 1e-5;
  return s.most("B") < 1e-5 && no_other ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S24",
          .statement = "Question 1: of the four formulas, x + SubLayer(x) is the residual connection (answer B).",
          .source = "text 001, question 1",
          .expected = "only B computes what the unit computes: distance below 1e-5",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s24
