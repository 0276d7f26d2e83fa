// S65: the same of a whole model: does a sequence's output depend on what else is in the batch?
#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s65 {
namespace {

double change(const ClaimContext& context, const char* norm, std::uint64_t seed) {
  ModelConfig config = bench_model(context, "pre-ln", 2);
  config.d_model = 32;
  config.norm = norm;
  const auto model = started(config, seed);
  const NoGrad no_grad;
  Batch all = random_batch(config, 8, seed), one = all;
  one.sequences = 1;
  one.ids.resize(config.seq_len);
  one.labels.resize(config.seq_len);
  const Tensor together = batch_logits(*model, all, {.train = true}).value(),
               alone = batch_logits(*model, one, {.train = true}).value();
  return relative_distance(Tensor::of(alone.shape(), together.values<float>().first(alone.elements())), alone);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* norm : {"layernorm", "batchnorm"}) s.add(norm, change(context, norm, seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("change of a sequence's logits in training when seven others join its batch: layer norm ",
                                  s.text("layernorm"), ", batch norm ", s.text("batchnorm"));
  return s.most("layernorm") < 1e-5 && s.least("batchnorm") > 0.01 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S65",
          .statement = "Layer norm works within a single training example and is independent of the batch size.",
          .source = "text 003, Layer Normalization",
          .expected =
              "logits of a 2-layer decoder change by less than 1e-5 (rounding of products) with layer norm, more than 1 % with "
              "batch norm",
          .start = "Xavier's weights, the same with both norms",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s65
