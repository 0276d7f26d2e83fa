// S18: the layer as the text draws it: attention, Add & Norm, feed-forward, Add & Norm.
#include "addnorm/model/encoder.h"
#include "addnorm/nn/attention.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s18 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    ModelConfig config = bench_model(context, "post-ln", 1);
    config.model = ModelKind::encoder;
    config.d_model = 32;
    config.d_ff = 64;
    config.seq_len = 8;
    const auto model = started(config, seed);
    Watch watch;
    batch_logits(*model, random_batch(config, 2, seed), {}, {.stream = &watch});
    // The stream before, between and after the two units, and what each of them added.
    const Var &x0 = watch.streams[0], &x1 = watch.streams[1], &x2 = watch.streams[2];
    const Var &attention = watch.branches[0], &ffn = watch.branches[1];
    const auto add_and_norm = [](const Var& x, const Var& f) { return normed(add(x.detach(), f.detach())); };
    s.add("as drawn, attention", relative_distance(add_and_norm(x0, attention).value(), x1.value()));
    s.add("as drawn, feed-forward", relative_distance(add_and_norm(x1, ffn).value(), x2.value()));
    s.add("second skip from the layer's input", relative_distance(add_and_norm(x0, ffn).value(), x2.value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of the stream after each unit from the drawing: attention ", s.text("as drawn, attention"),
             ", feed-forward ", s.text("as drawn, feed-forward"), "; with the second skip begun at the layer's input ",
             s.text("second skip from the layer's input"));
  const bool drawn = s.most("as drawn, attention") < 1e-5 && s.most("as drawn, feed-forward") < 1e-5;
  return drawn && s.least("second skip from the layer's input") > 1e-2 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S18",
          .statement =
              "A layer is attention with Add & Norm, then feed-forward with Add & Norm, whose skip begins after the first norm.",
          .source = "text 001, diagram of a layer",
          .expected = "the original (post-LN) encoder layer computes just that: distance below 1e-5",
          .start = "Xavier's weights: the order of sums and norms is compared, which no rule changes",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s18
