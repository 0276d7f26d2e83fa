// S46: post-norm is brittle: how many settings train?
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s46 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "pre-ln"}) {
    std::vector<SmallRun> runs;
    for (const double rate : {1e-3, 3e-3, 5e-3})
      for (const std::uint64_t seed : context.seeds) {
        SmallRun run = short_run(context, name);
        run.steps = context.steps(run.steps);
        run.rate = rate;
        run.seed = seed;
        runs.push_back(run);
      }
    const std::vector<RunSummary> done = run_all(runs, context);
    for (std::size_t i = 0; i < runs.size(); ++i) s.add(concat(name, " at ", runs[i].rate), trained(runs[i], done[i]) ? 1 : 0);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "6-layer runs that train without warm-up:";
  double post = 0, pre = 0;
  for (const char* rate : {"0.001", "0.003", "0.005"}) {
    const std::string one = concat("post-ln at ", rate), other = concat("pre-ln at ", rate);
    text += concat(rate == std::string_view("0.001") ? " at " : "; at ", rate, " post-LN ", s.seeds_text(one), ", pre-LN ",
                   s.seeds_text(other));
    post += s.mean(one) / 3;
    pre += s.mean(other) / 3;
  }
  return post <= pre - 1.0 / 3 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S46",
          .statement = "Post-norm Transformers are brittle to train and fail to converge where pre-norm ones are robust.",
          .source = "text 002, second paragraph",
          .expected = "over three rates at least a third of the runs less train than with pre-norm",
          .earlier = {"true", "with GPT-2's weights seeds of post-LN disagree at the highest rate, and all train at the others"},
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s46
