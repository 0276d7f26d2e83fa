// C4: the gradient from layer to layer at initialisation.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/bench/xiong_model.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c04 {
namespace {

/// Slope of ln ||dL/dW_1|| against the layer, times the layers: what the gradient gains from bottom to top.
double rise(const char* name, std::size_t layers, std::uint64_t seed) {
  const auto model = xiong_model(name, layers, seed);
  profile_of(*model, random_batch(model->config(), 4, seed));
  std::vector<double> place, logs;
  for (const Var& w : parameters_of(*model, Role::ffn_in)) {
    place.push_back(static_cast<double>(place.size()));
    logs.push_back(std::log(gradient_length(w)));
  }
  return fitted_line(place, logs).slope * static_cast<double>(layers);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const std::size_t layers : {6u, 24u})
      for (const char* name : {"post-ln", "pre-ln"}) {
        context.check();
        s.add(concat(name, ", ", layers, " layers"), rise(name, layers, seed));
      }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("slope of ln(gradient of W_1) over the layers, times their number, 6 and 24 layers: post-LN ",
                                  s.text("post-ln, 6 layers"), " and ", s.text("post-ln, 24 layers"), ", pre-LN ",
                                  s.text("pre-ln, 6 layers"), " and ", s.text("pre-ln, 24 layers"));
  const int grows = (s.mean("post-ln, 6 layers") > 0.2) + (s.mean("post-ln, 24 layers") > 0.7);
  const int level = (std::abs(s.mean("pre-ln, 6 layers")) < 0.7) + (std::abs(s.mean("pre-ln, 24 layers")) < 0.7);
  if (grows == 2 && level == 2) return holds(text);
  return grows > 0 && level > 0 ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C4",
          .statement = "At initialisation gradients grow with the layer index in post-LN and are level in pre-LN.",
          .source = "Xiong et al. 2020, arXiv 2002.04745, figure 3",
          .expected = "slope times layers above 0.2 (6 layers) and 0.7 (24) in post-LN, within ±0.7 in pre-LN",
          .changed =
              "first both depths of either arrangement had to fit for mixed (not seen); now one depth of each does. The head "
              "became a tenth as large at the same time",
          .start = "Gaussian Xavier weights in both, as in the paper's theorem",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c04
