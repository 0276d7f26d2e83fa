// S21: is the skip a path for gradients alone?
#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s21 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(12, 64);
  for (const std::uint64_t seed : context.seeds) {
    const LinearBranches branches(shape, seed);
    const Var x = random_var({32, 64}, seed);
    Watch watch;
    run_units(*make_residual("pre-ln", shape), x, branches, {}, &watch);
    double through = 0;
    for (std::size_t i = 0; i < shape.units(); ++i) {
      const double skip = dot(watch.streams[i].value(), watch.streams[i].value());
      through += skip / (skip + dot(watch.branches[i].value(), watch.branches[i].value())) / static_cast<double>(shape.units());
    }
    s.add("share of the skip", through);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the sum's square that comes over the skip in the forward pass, mean over 12 pre-LN units: ",
             s.text("share of the skip"));
  return s.most("share of the skip") < 0.01 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S21",
          .statement = "Residual connections provide no more than another path for gradients.",
          .source = "text 001, Key Insight",
          .expected = "then the forward pass would not depend on them: less than 1 % of a sum would come over the skip",
          .start = "no rule: made-up branches that give as much as they read",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s21
