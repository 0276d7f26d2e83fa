// S26: question 3: what comes out if the sub-layer is the identity?
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s26 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(scale(random_var({4, 32}, seed), 1.3), Var(Tensor::full({4, 32}, 0.4)));
    for (const char* unit : {"residual", "post-ln"}) {
      const Tensor y = ResidualUnit(unit, 32)(x, [](const Var& u) { return scale(u, 1); }).value();
      const auto from = [&](const Tensor& answer) { return length(sub(Var(y), Var(answer)).value()) / length(y); };
      s.add(concat(unit, " A"), from(Tensor::zeros(x.shape())));
      s.add(concat(unit, " B"), from(normed(x).value()));
      s.add(concat(unit, " C"), from(x.value()));
      s.add(concat(unit, " D"), from(normed(scale(x, 0)).value()));
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "distance of the output from each answer, over its length:";
  for (const char* unit : {"residual", "post-ln"}) {
    text += unit == std::string_view("residual") ? " x + F:" : "; LN(x + F):";
    for (const char* answer : {"A", "B", "C", "D"}) text += concat(" ", answer, " ", s.text(concat(unit, " ", answer)));
  }
  const bool sum = s.most("residual C") < 1e-3, normed_sum = s.most("post-ln C") < 1e-3;
  if (sum || normed_sum) return holds(text);
  return fails(concat(text, ". A sum gives 2x, which is not among the answers",
                      s.most("post-ln B") < 1e-3 ? "; the unit that the text prints gives B, LN(x)" : ""));
}

}  // namespace

Claim claim() {
  return {.id = "S26",
          .statement = "Question 3: if the sub-layer learns the identity, the output is approximately x (answer C).",
          .source = "text 001, question 3",
          .expected = "output within 1e-3 of x for the sum or for the printed unit",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s26
