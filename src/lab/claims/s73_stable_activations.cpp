// S73: layer norm stabilises the activations.
#include "lab/claims/list.h"
#include "lab/experiment.h"

namespace addnorm::lab::s73 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(24, 64);
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"residual", "post-ln"}) {
      Watch watch;
      run_units(*make_residual(name, shape), random_var({8, 64}, seed), LinearBranches(shape, seed), {}, &watch);
      s.add(name, rms(watch.streams.back().value()) / rms(watch.streams.front().value()));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("RMS of the stream behind 24 units over that of its input: without norms ", s.text("residual"),
                                  ", with Add & Norm ", s.text("post-ln"));
  return s.least("residual") > 100 && s.most("post-ln") < 1.2 && s.least("post-ln") > 0.8 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S73",
          .statement = "Layer norm stabilises the activations.",
          .source = "text 003, section 3 and takeaways",
          .expected = "without norms the stream grows more than a hundredfold in 24 units, with them it stays within 20 %",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s73
