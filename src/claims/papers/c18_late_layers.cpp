// C18: which layers of a trained stack matter: the loss with one unit's branch at 0.
#include <algorithm>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c18 {
namespace {

constexpr const char* kStacks[] = {"pre-ln", "post-ln", "mix-ln", "lns", "peri-ln"};
constexpr std::size_t kLayers = 12;

/// By layer: what the loss rises by without its attention, and without its feed-forward part, together.
std::vector<double> costs(const Model& model, const Batch& batch) {
  const NoGrad no_grad;
  const double whole = batch_loss(model, batch, {}).value().item();
  std::vector<double> all(kLayers);
  for (std::size_t unit = 0; unit < 2 * kLayers; ++unit) {
    const Pass pass{.cut = Cut{.stack = "stack", .bypassed = {unit}}};
    all[unit / 2] += batch_loss(model, batch, pass).value().item() - whole;
  }
  return all;
}

/// What the upper half has of all that layers are worth; a layer that does harm is worth nothing.
double upper_share(const std::vector<double>& costs) {
  double upper = 0, all = 0;
  for (std::size_t l = 0; l < costs.size(); ++l) {
    const double cost = std::max(costs[l], 0.0);
    all += cost;
    if (l >= costs.size() / 2) upper += cost;
  }
  return upper / all;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  std::vector<double> depth;  // without the last layer, which papers except
  for (std::size_t l = 0; l + 1 < kLayers; ++l) depth.push_back(static_cast<double>(l));
  for (const char* name : kStacks)
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = short_run(context, name, context.steps(150));
      run.model.layers = kLayers;
      run.rate = 1e-3;
      run.steps = context.steps(500);
      run.seed = seed;
      const TrainedModel done = train_small(run, context);
      const std::vector<double> cost = costs(*done.model, data_of(run, 6000 + seed)->batch(0, 64));
      s.add(concat(name, ", trained"), trained(run, {.losses = done.losses, .broke_off = done.broke_off}) ? 1 : 0);
      s.add(concat(name, ", rank correlation"), spearman(depth, std::span(cost).first(depth.size())));
      s.add(concat(name, ", upper half"), upper_share(cost));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "12 layers after 500 steps; rank correlation of a layer's worth with its depth, share of the upper half, seeds "
      "that trained:";
  for (const char* name : kStacks)
    text += concat(name == kStacks[0] ? " " : "; ", name, " ", s.text(concat(name, ", rank correlation")), ", ",
                   s.text(concat(name, ", upper half")), ", ", s.seeds_text(concat(name, ", trained")));
  const auto all_trained = [&](const char* name) { return all_train(s, name); };
  const auto more_above = [&](const char* name) {
    return all_trained(name) && difference(s, concat(name, ", upper half"), "pre-ln, upper half").above();
  };
  const bool pre = all_trained("pre-ln") && s.mean("pre-ln, rank correlation") < -0.5;
  const bool post = all_trained("post-ln") && s.mean("post-ln, rank correlation") > 0.5;
  const bool flatter = more_above("mix-ln") && more_above("lns");
  const int seen = pre + post + flatter;
  return seen == 3 ? holds(text) : seen > 0 ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C18",
          .statement =
              "In a trained pre-LN stack late layers matter less than early ones, in post-LN it is the reverse, and Mix-LN and "
              "LayerNorm Scaling make late layers matter more than pre-LN does.",
          .source = "Gromov et al. 2024, arXiv 2403.17887; Li et al. 2024, arXiv 2412.13795; Sun et al. 2025, arXiv 2502.05795",
          .expected =
              "rank correlation of the loss that a layer's two branches at 0 cost with depth (last layer left out): pre-LN below "
              "-0.5, post-LN above 0.5; the upper half's share of Mix-LN and LNS above pre-LN's, with all of the 95 % interval; "
              "mixed: some of the three",
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c18
