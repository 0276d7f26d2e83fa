// S61: zero is easier to learn than the identity matrix.
#include "claims/bench/experiment.h"
#include "claims/bench/identity_task.h"
#include "claims/list.h"

namespace addnorm::lab::s61 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::int64_t most = context.steps(1500);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    s.add("F = 0", static_cast<double>(steps_to_identity(context, {.linear = true, .skip = true, .most = most}, seed)));
    s.add("identity matrix",
          static_cast<double>(steps_to_identity(context, {.linear = true, .skip = false, .most = most}, seed)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("steps of Adam until one matrix does it to a mean squared error of 0.01: to zero, beside a skip, ", s.text("F = 0"),
             "; to the identity matrix, without, ", s.text("identity matrix"));
  return s.most("F = 0") < s.least("identity matrix") / 1.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S61",
          .statement = "Making F(x) about zero is much easier for a layer than approximating the identity matrix.",
          .source = "text 003, Mathematical Formulation",
          .expected = "in every seed at least 1.5 times fewer steps",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s61
