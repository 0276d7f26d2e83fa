// S56: a block of several layers learns the identity with ease.
#include "claims/bench/experiment.h"
#include "claims/bench/identity_task.h"
#include "claims/list.h"

namespace addnorm::lab::s56 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::int64_t most = context.steps(1500);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    s.add("with skips", static_cast<double>(steps_to_identity(context, {.layers = 4, .skip = true, .most = most}, seed)));
    s.add("without", static_cast<double>(steps_to_identity(context, {.layers = 4, .skip = false, .most = most}, seed)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "steps of Adam until 4 feed-forward layers together are the identity to a mean squared error of 0.01 (1501: not "
      "within 1500): with skips ",
      s.text("with skips"), ", without ", s.text("without"));
  return s.most("with skips") < s.least("without") / 1.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S56",
          .statement = "A skip connection lets a layer or a block of layers learn the identity with ease.",
          .source = "text 003, Skip Connections",
          .expected = "in every seed at least 1.5 times fewer steps for a block of 4 layers with skips",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s56
