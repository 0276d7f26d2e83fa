// S06: skips against vanishing and exploding gradients.
#include <algorithm>
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::s06 {
namespace {

constexpr const char* kStacks[] = {"plain", "residual", "post-ln", "pre-ln"};
constexpr double kLeast = 1e-38;  // what floats can tell from 0

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      std::vector<double> layers, logs;
      for (const std::size_t depth : {4u, 8u, 16u}) {
        context.check();
        ModelConfig config = bench_model(context, name, depth);
        config.d_model = 32;
        config.d_ff = 128;
        config.scale_embedding = true;
        const auto model = started(config, seed);
        layers.push_back(static_cast<double>(depth));
        logs.push_back(std::log10(std::max(profile_of(*model, random_batch(config, 4, seed)).gradient_ratio(), kLeast)));
      }
      s.add(name, fitted_line(layers, logs).slope * 10);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "powers of ten between the gradient at the bottom and at the top of a decoder, per ten layers:";
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(name));
  const auto even = [&](const char* name) { return std::abs(s.mean(name)) < 0.5; };
  if (!(std::abs(s.mean("plain")) >= 0.5)) return fails(text);
  if (even("residual") && even("post-ln") && even("pre-ln")) return holds(text);
  const char* bare = s.mean("residual") > 0 ? "; with a bare x + F(x) they explode" : "; with a bare x + F(x) they vanish";
  if (even("pre-ln"))
    return holds_if(concat("a norm stands inside the branch (pre-LN)", even("post-ln") ? " or after the sum" : "",
                           even("residual") ? "" : bare),
                    text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S06",
      .statement = "Gradients go past the sub-layers on the skips, so that they neither vanish nor explode.",
      .source = "text 000, paragraph after the formula",
      .expected =
          "gradient at the bottom over that at the top changes by less than 10^±0.5 per ten layers with skips, by more without; "
          "below 1e-38 it counts as that",
      .earlier = {"true only if a norm stands inside the branch (pre-LN) or after the sum; with a bare x + F(x) they explode",
                  "with GPT-2's weights the branches begin too weak to explode: a bare x + F(x) keeps its gradient as well"},
      .compares = true,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s06
