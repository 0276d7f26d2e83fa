// S68: gamma and beta: learnable, as many as there are features.
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s68 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    ModelConfig config = bench_model(context, "post-ln", 2);
    config.d_model = 32;
    const auto model = started(config, seed);
    profile_of(*model, random_batch(config, 4, seed));
    for (const auto& [name, role] : {std::pair{"gamma", Role::norm_gain}, {"beta", Role::norm_bias}})
      for (const Var& p : parameters_of(*model, role)) {
        s.add(concat(name, ", numbers over width"),
              static_cast<double>(p.value().elements()) / static_cast<double>(config.d_model));
        s.add(concat(name, ", length of the gradient"), gradient_length(p));
      }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("in every norm of a 2-layer decoder: numbers over width: gamma ",
                                  s.text("gamma, numbers over width"), ", beta ", s.text("beta, numbers over width"),
                                  "; shortest gradient: gamma ", figure_text(s.least("gamma, length of the gradient")), ", beta ",
                                  figure_text(s.least("beta, length of the gradient")));
  const auto one = [&](const char* name) { return s.least(name) == 1 && s.most(name) == 1; };
  const bool sizes = one("gamma, numbers over width") && one("beta, numbers over width");
  return sizes && s.least("gamma, length of the gradient") > 0 && s.least("beta, length of the gradient") > 0 ? holds(text)
                                                                                                              : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S68",
          .statement = "Gain gamma and bias beta are learnable and have one number per feature.",
          .source = "text 003, explanation of parameters",
          .expected = "as many numbers as features, and a gradient in each",
          .start = "Xavier's weights: gains are counted, and whether a gradient reaches them, which no rule changes",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s68
