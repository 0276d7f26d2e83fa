// S04: the residual unit of He et al., y = x + F(x), x' = f(y).
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s04 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({3, 16}, seed), w = scale(random_var({16, 16}, seed + 50), 0.25);
    const auto F = [&](const Var& u) { return tanh(linear(u, w)); };
    const auto written = [&](const auto& f, const auto& inner) { return f(add(x, inner(x))); };
    const auto layer_normed = [](const Var& v) { return normed(v); };
    const auto itself = [](const Var& v) { return v; };
    const Var post = ResidualUnit("post-ln", 16)(x, F), pre = ResidualUnit("pre-ln", 16)(x, F);
    s.add("post-LN, f = LN", largest_difference(post.value(), written(layer_normed, F).value()));
    s.add("pre-LN, f = identity, LN inside F",
          largest_difference(pre.value(), written(itself, [&](const Var& v) { return F(normed(v)); }).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("largest difference between x' = f(x + F(x)) written out and the unit as it runs: post-LN with f = LN ",
             s.text("post-LN, f = LN"), "; pre-LN with f = identity and the norm inside F ",
             s.text("pre-LN, f = identity, LN inside F"));
  const bool post = s.most("post-LN, f = LN") < 1e-6, pre = s.most("pre-LN, f = identity, LN inside F") < 1e-6;
  if (post && pre) return holds(text);
  if (post || pre) return holds_if(post ? "the norm stands after the sum" : "the norm stands inside the branch", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S04",
          .statement = "A residual unit is x' = f(y) with y = x + F(x), f being what is done after the sum.",
          .source = "text 000, formula (He et al. 2016)",
          .expected = "both common units are of that form: difference below 1e-6",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s04
