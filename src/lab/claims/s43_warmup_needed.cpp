// S43: who needs a warm-up?
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s43 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"pre-ln", "post-ln"})
    for (const std::int64_t warmup : {0, 120})
      add_run(s, concat(name, warmup == 0 ? " without" : " with"), short_run(context, name, warmup), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("6 layers at 5e-3: pre-LN without warm-up ", run_text(s, "pre-ln without"), ", with 120 steps ",
                                  run_text(s, "pre-ln with"), "; post-LN without ", run_text(s, "post-ln without"), ", with ",
                                  run_text(s, "post-ln with"));
  const bool pre = s.mean("pre-ln without, trained") == 1;
  const bool post = s.mean("post-ln without, trained") < s.mean("post-ln with, trained");
  if (pre && post) return holds(text);
  const bool post_without = s.mean("post-ln without, trained") == 1;
  if (pre)
    return holds_if(
        concat("nothing is said of post-norm, which ", post_without ? "did without here" : "trains no more often with it"), text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S43",
          .statement = "Pre-norm does without the learning rate warm-up that post-norm needs.",
          .source = "text 002, second paragraph",
          .expected = "without warm-up all seeds of pre-norm train and fewer of post-norm than with it",
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s43
