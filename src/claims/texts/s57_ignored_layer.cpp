// S57: a layer that is ignored by making its output zero.
#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s57 {
namespace {

/// How far the stream after layer 1 is from that before it, when the last matrices of its sub-layers are 0.
double change(const ClaimContext& context, const char* name, std::uint64_t seed) {
  ModelConfig config = bench_model(context, name, 3);
  config.d_model = 32;
  config.scale_embedding = true;
  const auto model = started(config, seed);
  for_each_parameter(*model, [](Parameter& p) {
    const bool last = p.role == Role::attention_out || p.role == Role::ffn_out;
    if (last && p.place.layer == std::size_t{1}) p.value.value() = Tensor::zeros(p.value.shape());
  });
  Watch watch;
  const NoGrad no_grad;
  batch_logits(*model, random_batch(config, 2, seed), {}, {.stream = &watch});
  return relative_distance(watch.streams[4].value(), watch.streams[2].value());
}

/// The same of the first unit, whose input is no norm's output.
double first_change(const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(1, 32);
  const Var x = scale(random_var({8, 32}, seed), 2);
  Watch watch;
  run_units(*make_residual(name, shape), x, silent, {}, &watch);
  return relative_distance(watch.streams[1].value(), x.value());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("pre-LN", change(context, "pre-ln", seed));
    s.add("post-LN", change(context, "post-ln", seed));
    s.add("pre-LN, first unit", first_change("pre-ln", seed));
    s.add("post-LN, first unit", first_change("post-ln", seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("change of the stream by a layer with zero output: x + F(LN(x)) ", s.text("pre-LN"), ", Add & Norm ",
             s.text("post-LN"), "; by such a unit at the bottom, where x is not normed yet: ", s.text("pre-LN, first unit"),
             " and ", s.text("post-LN, first unit"));
  const bool sum = s.most("pre-LN") == 0 && s.most("pre-LN, first unit") == 0;
  const bool inner = s.most("post-LN") < 1e-3, first = s.most("post-LN, first unit") < 1e-3;
  if (sum && inner && first) return holds(text);
  if (sum && inner)
    return holds_if(
        "no norm stands after the sum, or the input is already normed and the norm has no gain yet: Add & Norm gives LN(x)",
        text);
  if (sum) return holds_if("no norm stands after the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S57",
          .statement = "A layer can be ignored by making its output zero: the skip then passes the input on unchanged.",
          .source = "text 003, Skip Connections, core idea",
          .expected = "stream unchanged, bit for bit without a norm and within 1e-3 with Add & Norm",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s57
