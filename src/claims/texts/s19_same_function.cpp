// S19: does a residual connection leave the function as it was?
#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s19 {
namespace {

Tensor logits(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const NoGrad no_grad;
  const ModelConfig config = bench_model(context, name, 2);  // weights are a function of seed and place: the same in both
  return batch_logits(*started(config, seed), random_batch(config, 2, seed), {}).value();
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("without norms", relative_distance(logits(context, "residual", seed), logits(context, "plain", seed)));
    s.add("with norms", relative_distance(logits(context, "post-ln", seed), logits(context, "plain-ln", seed)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "distance between the outputs of a 2-layer decoder with and without skips, same weights, over the output's "
      "length: without norms ",
      s.text("without norms"), ", with norms ", s.text("with norms"));
  return s.most("without norms") < 1e-3 && s.most("with norms") < 1e-3 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S19",
          .statement = "Residual connections do not change the function that is computed.",
          .source = "text 001, Key Insight",
          .expected = "the same weights give the same outputs with and without skips: distance below 1e-3",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s19
