// S05: information passes by the sub-layer.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/bench/linear_probe.h"
#include "claims/list.h"

namespace addnorm::lab::s05 {
namespace {

constexpr std::size_t kWidth = 16, kRows = 400;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({kRows, kWidth}, seed);
    // A sub-layer that lets only two directions through.
    const Var down = random_var({2, kWidth}, seed + 1), up = random_var({kWidth, 2}, seed + 2);
    const auto F = [&](const Var& u) { return scale(tanh(linear(linear(u, down), up)), 0.5); };
    const auto kept = [&](const Var& y) { return explained_share(y.value(), x.value()); };
    s.add("F(x)", kept(F(x)));
    s.add("x + F(x)", kept(add(x, F(x))));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the input's variance that a linear map finds again after a sub-layer that forgets most of it: F(x) ",
             s.text("F(x)"), ", x + F(x) ", s.text("x + F(x)"));
  return s.least("x + F(x)") > 0.9 && s.most("F(x)") < 0.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S05",
          .statement = "The skip exposes the input to the output: information can go past the sub-layer, whatever that does.",
          .source = "text 000, formula and the paragraph after it",
          .expected = "input found again from x + F(x): above 90 %; from F(x) alone: below 50 %",
          .start = "no rule: a made-up sub-layer, the same with and without the skip",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s05
