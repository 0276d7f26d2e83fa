// C5: the size of the stream at initialisation, between the lines of the lemma.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/xiong_model.h"
#include "claims/list.h"

namespace addnorm::lab::c05 {
namespace {

constexpr std::size_t kLayers = 12;

Samples measure(const ClaimContext& context) {
  Samples s;
  const NoGrad no_grad;
  for (const std::uint64_t seed : context.seeds) {
    const auto watched = [&](const char* name) {
      const auto model = xiong_model(name, kLayers, seed);
      Watch watch;
      batch_logits(*model, random_batch(model->config(), 8, seed), {}, {.stream = &watch});
      return watch;
    };
    const Watch pre = watched("pre-ln"), post = watched("post-ln");
    double inside = 0, sum = 0;
    for (std::size_t l = 1; l <= kLayers; ++l) {
      const double square = std::pow(rms(pre.streams[2 * l].value()), 2) / std::pow(rms(pre.streams[0].value()), 2);
      const double depth = static_cast<double>(l);
      if (square > (1 + depth / 2) * 0.95 && square < (1 + 1.5 * depth) * 1.05) inside += 1.0 / kLayers;
      // The sum in front of the norm after the feed-forward part; its input was normed.
      sum += std::pow(rms(add(post.streams[2 * l - 1], post.branches[2 * l - 1]).value()), 2) / kLayers;
    }
    s.add("pre-LN, layers between the lines", inside);
    s.add("pre-LN, last layer", std::pow(rms(pre.streams.back().value()), 2));
    s.add("post-LN, sum before the norm", sum);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("mean square of the stream: share of 12 pre-LN layers between 1 + l/2 and 1 + 3l/2 (5 % allowed) ",
             s.text("pre-LN, layers between the lines"), ", after the last ", s.text("pre-LN, last layer"),
             "; post-LN's sum before the norm ", s.text("post-LN, sum before the norm"), " (lemma: 1.5)");
  const bool pre = s.mean("pre-LN, layers between the lines") > 0.95,
             post = std::abs(s.mean("post-LN, sum before the norm") - 1.5) < 0.1;
  if (pre && post) return holds(text);
  return pre || post ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C5",
          .statement =
              "At initialisation the square of the stream is 1.5 d before post-LN's norms, and between (1 + l/2) d and (1 + "
              "3l/2) d in "
              "layer l of pre-LN.",
          .source = "Xiong et al. 2020, arXiv 2002.04745, lemma 2",
          .expected = "every layer between the two lines; 1.5 ± 0.1 for post-LN, in the paper's simplified model",
          .start = "Gaussian Xavier weights in both, as in the paper's lemma",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c05
