// S54: the recursive skip: the input is added again behind the first norm.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s54 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "rskip"})
    for (const std::int64_t warmup : {0, 120})
      add_run(s, concat(name, warmup == 0 ? " without" : " with"), short_run(name, warmup), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const auto told = [&](const char* name) {
    return concat(s.text(name), " (", s.text(concat(name, ", trained")), " of runs trained)");
  };
  const std::string text =
      concat("6 layers at 5e-3: without warm-up post-LN ", told("post-ln without"), ", recursive skip ", told("rskip without"),
             "; with 120 steps of it post-LN ", told("post-ln with"), ", recursive skip ", told("rskip with"));
  const bool rescued = s.mean("rskip without, trained") > s.mean("post-ln without, trained");
  const bool lower = s.most("rskip with") < s.least("post-ln with") ||
                     s.mean("rskip with") < s.mean("post-ln with") - 2 * s.spread("post-ln with");
  if (rescued && lower) return holds(text);
  if (rescued || lower) return holds_if(rescued ? "there is no warm-up; with it both are alike" : "there is a warm-up", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S54",
          .statement = "Adding the input recursively, with a norm each time, is easier to optimise than one sum and one norm.",
          .source = "text 000, reference of the paragraph behind the formula (Liu F. et al., arXiv 2105.07205)",
          .expected = "more seeds train without warm-up, and with warm-up it ends lower by more than two spreads",
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s54
