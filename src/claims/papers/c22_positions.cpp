// C22, at initialisation: how long the stream remembers positions.
#include "claims/bench/experiment.h"
#include "claims/bench/positions.h"
#include "claims/list.h"

namespace addnorm::lab::c22 {
namespace {

constexpr const char* kStacks[] = {"plain", "post-ln", "pre-ln"};
constexpr std::size_t kLayers = 8;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      const std::vector<double> accuracy = position_accuracy(context, name, kLayers, seed);
      for (const std::size_t layer : {0u, 2u, 8u}) s.add(concat(name, ", ", layer), accuracy[2 * layer]);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "positions (of 16) that a probe reads right from the embeddings, after 2 and 8 layers:";
  for (const char* name : kStacks)
    text += concat(name == kStacks[0] ? " " : "; ", name, " ", s.text(concat(name, ", 0")), ", ", s.text(concat(name, ", 2")),
                   ", ", s.text(concat(name, ", 8")));
  const double chance = 1.0 / kProbedPositions;
  const bool lost = s.mean("plain, 2") < 2 * chance;
  const bool pre = s.mean("pre-ln, 8") > 0.5 * s.mean("pre-ln, 0");
  const bool between = s.mean("post-ln, 8") < s.mean("pre-ln, 8") + 0.05 && s.mean("post-ln, 2") > 2 * chance;
  if (lost && pre && between) return holds(text);
  return lost || pre || between ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C22",
          .statement =
              "The residual stream keeps position information, which a plain stack loses within a few layers (its part at "
              "initialisation).",
          .source = "text 000; Elhage et al. 2021, A Mathematical Framework for Transformer Circuits",
          .expected =
              "plain: chance (below 0.125) after 2 layers; pre-LN: more than half of the first accuracy after 8; post-LN "
              "between them, at most 0.05 above pre-LN",
          .changed =
              "post-LN had to be below pre-LN. With GPT-2's weights both keep all of it, 0.838 and 0.834 of 0.832, and chance "
              "decided (mixed)",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c22
