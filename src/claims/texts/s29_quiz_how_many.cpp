// S29: question 6: how many residual connections has a layer?
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s29 {
namespace {

/// The same count as S17's: a question is answered by it, not by the text.
Samples measure(const ClaimContext& context) { return s17::claim().measure(context); }

ClaimVerdict judge(const Samples& s) {
  const double encoder = s.mean("encoder"), decoder = s.mean("decoder only"), cross = s.mean("decoder with cross-attention");
  const std::string text = concat("residual sums per layer: encoder ", encoder, ", decoder-only ", decoder,
                                  ", decoder with cross-attention ", cross, cross == 3 ? " (answer C)" : "");
  if (encoder == 2 && decoder == 2 && cross == 2) return holds(text);
  if (encoder == 2 && decoder == 2) return holds_if("the layer is of an encoder or of a decoder without cross-attention", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S29",
          .statement = "Question 6: each Transformer layer has two residual connections (answer B).",
          .source = "text 001, question 6",
          .expected = "two sums per layer in every kind of layer",
          .start = "Xavier's weights: sums are counted, which no rule changes",
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s29
