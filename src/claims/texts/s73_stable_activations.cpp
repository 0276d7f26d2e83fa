// S73: layer norm stabilises the activations.
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s73 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(24, 64);
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"residual", "post-ln"}) {
      Watch watch;
      run_units(*make_residual(name, shape), random_var({8, 64}, seed), LinearBranches(shape, seed, branch_gains(context, shape)),
                {}, &watch);
      s.add(name, rms(watch.streams.back().value()) / rms(watch.streams.front().value()));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("RMS of the stream after 24 units over that of its input: without norms ", s.text("residual"),
                                  ", with Add & Norm ", s.text("post-ln"));
  const auto stays = [&](const char* name) { return s.most(name) < 1.2 && s.least(name) > 0.8; };
  if (stays("residual") && stays("post-ln")) return undecided(text + ". It is stable without norms too: nothing to test it on");
  return s.least("residual") > 100 && stays("post-ln") ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S73",
      .statement = "Layer norm stabilises the activations.",
      .source = "text 003, section 3 and takeaways",
      .expected =
          "without norms the stream grows more than a hundredfold in 24 units, with them it stays within 20 %. Not decided: it "
          "stays so without them too",
      .changed = "with GPT-2's weights, which make branches weak, it was first false: the stream does not grow without norms",
      .earlier = {"true", "with GPT-2's weights the stream does not grow without norms either"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s73
