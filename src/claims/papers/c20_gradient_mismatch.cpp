// C20: gradients of early and late layers of a trained pre-LN stack, and with NormFormer's extra norms.
#include <cmath>

#include "addnorm/train/optimizer.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::c20 {
namespace {

constexpr const char* kStacks[] = {"pre-ln", "normformer"};
constexpr std::size_t kBatches = 8;

/// Mean length of the gradient of the first layer's matrix over that of the last one's, over fresh batches.
struct FirstOverLast {
  double in = 0, out = 0;
};
FirstOverLast looked_at(Model& model, const SmallRun& run) {
  double first_in = 0, last_in = 0, first_out = 0, last_out = 0;
  const auto data = data_of(run, 6000 + run.seed);
  for (std::size_t b = 0; b < kBatches; ++b) {
    clear_gradients(model);
    profile_of(model, data->batch(b * run.batch, run.batch));
    const std::vector<Var> in = parameters_of(model, Role::ffn_in), out = parameters_of(model, Role::ffn_out);
    first_in += gradient_length(in.front());
    last_in += gradient_length(in.back());
    first_out += gradient_length(out.front());
    last_out += gradient_length(out.back());
  }
  return {first_in / last_in, first_out / last_out};
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : kStacks)
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = short_run(context, name, context.steps(50));
      run.model.layers = 12;
      run.rate = 1e-3;
      run.steps = context.steps(500);
      run.seed = seed;
      const TrainedModel done = train_small(run, context);
      const FirstOverLast ratio = done.broke_off ? FirstOverLast{std::nan(""), std::nan("")} : looked_at(*done.model, run);
      s.add(concat(name, ", W1"), ratio.in);
      s.add(concat(name, ", W2"), ratio.out);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "gradient of the first layer over that of the last, 12 layers after 500 steps: second matrix of the feed-forward part "
      "in pre-LN ",
      s.text("pre-ln, W2"), ", in NormFormer ", s.text("normformer, W2"), "; first matrix ", s.text("pre-ln, W1"), " and ",
      s.text("normformer, W1"));
  const bool uneven = s.mean("pre-ln, W2") > 2, evened = s.mean("normformer, W2") < 1.5;
  if (uneven && evened) return holds(text);
  return uneven && s.mean("normformer, W2") < s.mean("pre-ln, W2") ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C20",
      .statement =
          "Early layers of a trained pre-LN stack get larger gradients than late ones; NormFormer's norms even them out.",
      .source = "Shleifer et al. 2021, arXiv 2110.09456",
      .expected =
          "gradient of the second feed-forward matrix, first layer over last: above 2 in pre-LN, below 1.5 in NormFormer; mixed: "
          "above 2 in pre-LN, and less in NormFormer",
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c20
