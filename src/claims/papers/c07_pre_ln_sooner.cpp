// C7: pre-LN reaches a loss in fewer steps than post-LN, each at its best rate.
#include "addnorm/lab/outcome.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/list.h"

namespace addnorm::lab::c07 {
namespace {

constexpr double kRates[] = {5e-4, 1e-3, 2e-3, 4e-3};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, warmup] : {std::pair{"post-ln", 100}, {"pre-ln", 0}})
    for (const double rate : kRates) {
      SmallRun run = middle_run(context, stack, warmup);
      run.rate = rate;
      run.steps = context.steps(run.steps);
      const double line = trained_line(baselines_of(run));
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(at_rate(stack, rate), summary.steps_to(line));
        s.add(at_rate(stack, rate, ", trained"), trained(run, summary) ? 1 : 0);
      }
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  // A run that never gets there counts one step more than it had: enough to choose a rate, not to be compared.
  const std::string post = at_rate("post-ln", best_rate(s, "post-ln", kRates));
  const std::string pre = at_rate("pre-ln", best_rate(s, "pre-ln", kRates));
  const double ratio = s.mean(pre) / s.mean(post);
  std::string text = concat(
      "steps of 12 layers to a loss three quarters of the way from unigram to bigram, each at the best of four rates: ", pre,
      " without warm-up ", s.text(pre), ", ", post, " with 100 steps of warm-up ", s.text(post), ", ratio ", figure_text(ratio),
      "; trained at 5e-4, 1e-3, 2e-3, 4e-3:");
  for (const char* stack : {"pre-ln", "post-ln"}) {
    std::vector<std::string> names;
    for (const double rate : kRates) names.push_back(at_rate(stack, rate, ", trained"));
    text += concat(stack[1] == 'r' ? " " : ", ", stack, " ", seeds_text(s, names));
  }
  if (!all_train(s, pre)) return fails(text);
  if (!all_train(s, post))
    return mixed(text + "; not every seed of post-LN trains at its best rate, so the ratio does not count");
  const bool sooner = s.most(pre) < s.least(post);
  if (sooner && ratio < 0.8) return holds(text);
  return sooner ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C7",
      .statement = "Pre-LN without warm-up reaches a given loss in clearly fewer steps than post-LN with the warm-up it needs.",
      .source = "Xiong et al. 2020, arXiv 2002.04745 (BERT there, a decoder of 12 layers here)",
      .expected =
          "each at the best of the rates 5e-4, 1e-3, 2e-3, 4e-3: steps of pre-LN over those of post-LN below 0.8, every seed "
          "sooner than any of post-LN, both trained in every seed. Mixed: sooner in every seed, but not by so much; or not "
          "every seed of post-LN trains. Not seen: not sooner, or pre-LN does not train",
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c07
