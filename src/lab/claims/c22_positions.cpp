// C22, at initialisation: how long the stream remembers positions.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/position_probe.h"

namespace addnorm::lab::c22 {
namespace {

constexpr const char* kStacks[] = {"plain", "post-ln", "pre-ln"};
constexpr std::size_t kLayers = 8;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      const std::vector<double> accuracy = position_accuracy(name, kLayers, seed);
      for (const std::size_t layer : {0u, 2u, 8u}) s.add(concat(name, ", ", layer), accuracy[2 * layer]);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "positions (of 16) that a probe reads right from the embeddings, behind 2 and 8 layers:";
  for (const char* name : kStacks)
    text += concat(name == kStacks[0] ? " " : "; ", name, " ", s.text(concat(name, ", 0")), ", ", s.text(concat(name, ", 2")),
                   ", ", s.text(concat(name, ", 8")));
  const double chance = 1.0 / kProbedPositions;
  const bool lost = s.mean("plain, 2") < 2 * chance;
  const bool pre = s.mean("pre-ln, 8") > 0.5 * s.mean("pre-ln, 0");
  const bool between = s.mean("post-ln, 8") < s.mean("pre-ln, 8") && s.mean("post-ln, 2") > 2 * chance;
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
              "plain: chance (below 0.125) behind 2 layers; pre-LN: more than half of the first accuracy behind 8; post-LN "
              "between them",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c22
