// S60: what the branch learns is the residual: the wanted output minus the input.
#include "addnorm/autograd/tape.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/optimizer.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s60 {
namespace {

constexpr std::size_t kWidth = 16;

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::int64_t steps = context.steps(400);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    FeedForward F({.d_model = kWidth, .d_ff = 4 * kWidth});
    draw(F, context, {.width = kWidth, .layers = 1}, seed);
    const Var map = scale(random_var({kWidth, kWidth}, seed + 17), 0.15);
    const auto wanted = [&](const Var& x) { return add(x, tanh(linear(x, map))); };
    const auto optimizer = make_optimizer(F, usual_options(OptimizerKind::adam));
    for (std::int64_t step = 0; step < steps; ++step) {
      const ArenaScope scope;
      const Var x = random_var({64, kWidth}, seed * 100003 + static_cast<std::uint64_t>(step));
      const Var off = sub(add(x, F(x, {})), wanted(x));
      optimizer->clear_gradients();
      backward(mean(mul(off, off)));
      optimizer->step(3e-3);
    }
    const NoGrad no_grad;
    const Var x = random_var({256, kWidth}, seed + 999);
    const Tensor f = F(x, {}).value();
    s.add("wanted output minus input", cosine(f, sub(wanted(x), x).value()));
    s.add("wanted output", cosine(f, wanted(x).value()));
    s.add("input", cosine(f, x.value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("cosine of a trained branch F(x) with the wanted output minus the input ", s.text("wanted output minus input"),
             ", with the wanted output ", s.text("wanted output"), ", with the input ", s.text("input"));
  return s.least("wanted output minus input") > 0.9 && s.most("wanted output") < 0.8 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S60",
          .statement = "In y = x + F(x) what the block learns is the residual, the difference between wanted output and input.",
          .source = "text 003, Mathematical Formulation, and question 2",
          .expected = "cosine above 0.9 with the difference, below 0.8 with the wanted output itself",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s60
