// Layers of one stack compared: which of them matter, and where gradients are large.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "addnorm/train/optimizer.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

// ---- C11: on which branches the top of the stack depends.

namespace c11 {
namespace {

constexpr std::size_t kUnits = 24, kWidth = 64;

/// Shares beta_nj^2 of the input (j = 0) and of each branch in the normed stream after the last unit.
std::vector<double> shares(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(kUnits, kWidth);
  const auto residual = make_residual(name, shape);
  Watch watch;
  const LinearBranches branches(shape, seed, branch_gains(context, shape));
  run_units(*residual, normed(random_var({16, kWidth}, seed)), branches, {}, &watch);
  const bool post = residual->arrangement().unit.post;
  std::vector<double> squares{1};
  for (std::size_t i = 0; i < kUnits; ++i) {
    squares.push_back(variance(watch.branches[i].value()));
    if (!post) continue;
    const double sum = variance(add(watch.streams[i], watch.branches[i]).value());
    for (double& square : squares) square /= sum;
  }
  double all = 0;
  for (const double square : squares) all += square;
  for (double& square : squares) square /= all;
  return squares;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"post-ln", "pre-ln"}) {
      const std::vector<double> share = shares(context, name, seed);
      s.add(concat(name, ", newest branch"), share.back());
      s.add(concat(name, ", newest over the eighth before"), share.back() / share[kUnits - 8]);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the newest of 24 branches in the stream (even: 0.04), and over that of the eighth before: post-LN ",
             s.text("post-ln, newest branch"), " and ", s.text("post-ln, newest over the eighth before"), ", pre-LN ",
             s.text("pre-ln, newest branch"), " and ", s.text("pre-ln, newest over the eighth before"));
  const bool post = s.mean("post-ln, newest branch") > 0.4 && s.mean("post-ln, newest over the eighth before") > 50;
  const bool pre =
      s.mean("pre-ln, newest branch") < 0.08 && std::abs(std::log(s.mean("pre-ln, newest over the eighth before"))) < 0.5;
  if (post && pre) return holds(text);
  return post || pre ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C11",
          .statement = "Pre-LN spreads its dependency over all earlier branches, post-LN leans on the latest.",
          .source = "Liu et al. 2020, arXiv 2004.08249, figures on layer dependency",
          .expected = "post-LN: newest share above 0.4 and falling geometrically (50 times over 8 units); pre-LN: about 1/n each",
          .earlier = {"seen at this scale", "with GPT-2's weights post-LN spreads its dependency as evenly as pre-LN"},
          .compares = true,
          .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
          .measure = measure,
          .judge = judge};
}

}  // namespace c11

// ---- C18: which layers of a trained stack matter: the loss with one unit's branch at 0.

namespace c18 {
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

}  // namespace c18

// ---- C20: gradients of early and late layers of a trained pre-LN stack, and with NormFormer's extra norms.

namespace c20 {
namespace {

constexpr const char* kStacks[] = {"pre-ln", "normformer"};
constexpr std::size_t kBatches = 8;

/// Mean length of the gradient of the first layer's matrix over that of the last one's, over fresh batches.
struct FirstOverLast {
  double in = 0, out = 0;
};
FirstOverLast looked_at(Model& model, const SmallRun& run) {
  double first_in = 0, last_in = 0, first_out = 0, last_out = 0;
  const auto data = data_of(run, 6000 + run.seed);
  for (std::size_t b = 0; b < kBatches; ++b) {
    clear_gradients(model);
    profile_of(model, data->batch(b * run.batch, run.batch));
    const std::vector<Var> in = parameters_of(model, Role::ffn_in), out = parameters_of(model, Role::ffn_out);
    first_in += gradient_length(in.front());
    last_in += gradient_length(in.back());
    first_out += gradient_length(out.front());
    last_out += gradient_length(out.back());
  }
  return {first_in / last_in, first_out / last_out};
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : kStacks)
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = short_run(context, name, context.steps(50));
      run.model.layers = 12;
      run.rate = 1e-3;
      run.steps = context.steps(500);
      run.seed = seed;
      const TrainedModel done = train_small(run, context);
      const FirstOverLast ratio = done.broke_off ? FirstOverLast{std::nan(""), std::nan("")} : looked_at(*done.model, run);
      s.add(concat(name, ", W1"), ratio.in);
      s.add(concat(name, ", W2"), ratio.out);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "gradient of the first layer over that of the last, 12 layers after 500 steps: second matrix of the feed-forward part "
      "in pre-LN ",
      s.text("pre-ln, W2"), ", in NormFormer ", s.text("normformer, W2"), "; first matrix ", s.text("pre-ln, W1"), " and ",
      s.text("normformer, W1"));
  const bool uneven = s.mean("pre-ln, W2") > 2, evened = s.mean("normformer, W2") < 1.5;
  if (uneven && evened) return holds(text);
  return uneven && s.mean("normformer, W2") < s.mean("pre-ln, W2") ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C20",
      .statement =
          "Early layers of a trained pre-LN stack get larger gradients than late ones; NormFormer's norms even them out.",
      .source = "Shleifer et al. 2021, arXiv 2110.09456",
      .expected =
          "gradient of the second feed-forward matrix, first layer over last: above 2 in pre-LN, below 1.5 in NormFormer; mixed: "
          "above 2 in pre-LN, and less in NormFormer",
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c20

}  // namespace addnorm::lab
