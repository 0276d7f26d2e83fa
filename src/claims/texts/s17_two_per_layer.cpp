// S17: how many residual connections a layer has.
#include <map>

#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s17 {
namespace {

/// Branches that were added in one pass, per layer; of the decoder where there are two stacks.
double per_layer(const ClaimContext& context, ModelKind kind, std::uint64_t seed) {
  ModelConfig config = bench_model(context, "post-ln", 3);
  config.model = kind;
  config.d_model = 16;
  config.d_ff = 16;
  config.seq_len = 4;
  const auto model = started(config, seed);
  Batch batch = random_batch(config, 2, seed);
  if (kind == ModelKind::seq2seq) batch.target_ids = batch.ids;
  Watch watch;
  batch_logits(*model, batch, {},
               kind == ModelKind::seq2seq ? StreamObservers{.decoder = &watch} : StreamObservers{.stream = &watch});
  return static_cast<double>(watch.branches.size()) / 3;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("encoder", per_layer(context, ModelKind::encoder, seed));
    s.add("decoder only", per_layer(context, ModelKind::lm, seed));
    s.add("decoder with cross-attention", per_layer(context, ModelKind::seq2seq, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const double cross = s.mean("decoder with cross-attention");
  const std::string text =
      concat("residual sums per layer in a pass: encoder ", s.text("encoder"), ", decoder-only ", s.text("decoder only"),
             ", decoder with cross-attention ", s.text("decoder with cross-attention"));
  const bool two = s.mean("encoder") == 2 && s.mean("decoder only") == 2;
  if (two && cross == 2) return holds(text);
  if (two) return holds_if(concat("the layer has no cross-attention; with it there are ", cross), text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S17",
          .statement = "A Transformer layer has two residual connections.",
          .source = "text 001, In Transformers",
          .expected = "two sums per layer in every kind of layer",
          .start = "Xavier's weights: sums are counted, which no rule changes",
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s17
