// S25: question 2: what does the skip do to the gradient?
#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s25 {
namespace {

/// dL/dx of a unit in which only some of the paths pass gradient on.
Tensor gradient(const Tensor& x, const Var& w, const Tensor& dy, bool skip, bool branch) {
  const Var in(x, true);
  const Var f = tanh(linear(in, w));
  const Var y = add(skip ? in : in.detach(), branch ? f : f.detach());
  backward(y, dy);
  return in.grad();
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({8, 32}, seed), dy = random_tensor({8, 32}, seed + 5);
    const Var w = scale(random_var({32, 32}, seed + 1), 0.2);
    const Tensor all = gradient(x, w, dy, true, true), skip = gradient(x, w, dy, true, false),
                 branch = gradient(x, w, dy, false, true);
    s.add("sum of both parts", largest_difference(add(Var(skip), Var(branch)).value(), all));
    s.add("product of both parts", relative_distance(mul(Var(skip), Var(branch)).value(), all));
    s.add("no effect", relative_distance(branch, all));
    s.add("size", length(all) / length(branch));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("largest difference of the gradient from skip part + branch part ", s.text("sum of both parts"),
             "; distance from their product ", s.text("product of both parts"), ", from the branch part alone ",
             s.text("no effect"), "; with the skip it is ", s.text("size"), " times as long");
  const bool adds = s.most("sum of both parts") == 0,
             others = s.least("product of both parts") < 0.01 || s.least("no effect") < 0.01;
  return adds && !others && s.least("size") > 1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S25",
          .statement = "Question 2: residual connections help by adding the gradient of the skip path (answer A).",
          .source = "text 001, question 2",
          .expected = "the gradient is the sum of both parts bit for bit; it is not their product, not unchanged and not smaller",
          .start = "no rule: one made-up branch, whose gradient is taken apart",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s25
