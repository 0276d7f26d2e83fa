// C21: BoostResNet: residual blocks trained one after another, each below fixed, with a linear readout after each.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/data/mixture.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/nn/init.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/optimizer.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c21 {
namespace {

constexpr std::size_t kWidth = 8, kHidden = 16, kPoints = 1000, kCentres = 60, kClasses = 4, kBlocks = 8;

/// x + F(x), and logits read off it. Without block: the readout of x itself.
class Stage : public Module {
 public:
  Stage(bool has_block, std::uint64_t seed) : has_block_(has_block), readout_(kWidth, kClasses) {
    if (has_block) block_ = FeedForward({.d_model = kWidth, .d_ff = kHidden, .activation = Activation::relu});
    initialise(*this, xavier_rule, seed);
  }
  Var passed(const Var& x) const { return has_block_ ? add(x, block_(x, {})) : x; }
  Var logits(const Var& x) const { return readout_(passed(x)); }
  void visit(Visitor& visitor) override {
    if (has_block_) visitor.child("block", block_);
    visitor.child("readout", readout_);
  }

 private:
  bool has_block_;
  FeedForward block_;
  Linear readout_;
};

void train(Stage& stage, const Var& x, const std::vector<std::int32_t>& labels, const ClaimContext& context) {
  const auto optimizer = make_optimizer(stage, usual_options(OptimizerKind::adam));
  const std::int64_t steps = context.steps(300);
  for (std::int64_t step = 0; step < steps; ++step) {
    context.check();
    const ArenaScope scope;
    optimizer->clear_gradients();
    backward(cross_entropy(stage.logits(x), labels));
    optimizer->step(1e-2);
  }
}

/// Share of points named wrong; half a point where there is none, so that its logarithm is a number.
double error_of(const Stage& stage, const Var& x, const std::vector<std::int32_t>& labels) {
  const NoGrad no_grad;
  const std::vector<double> logits = values_of(stage.logits(x).value());
  double wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = std::span(logits).subspan(i * kClasses, kClasses);
    wrong += std::ranges::max_element(row) - row.begin() == labels[i] ? 0 : 1;
  }
  return std::max(wrong, 0.5) / static_cast<double>(labels.size());
}

/// Errors with 0, 1, ... blocks on the points that they are trained on: many centres to a class, which no linear readout tells
/// apart.
std::vector<double> errors(std::uint64_t seed, const ClaimContext& context) {
  const Mixture mixture({.classes = kCentres, .dimension = kWidth, .spread = 0.3, .seed = seed});
  Batch batch = mixture.dataset(seed)->batch(0, kPoints);
  for (std::int32_t& label : batch.labels) label %= static_cast<std::int32_t>(kClasses);
  Tensor points({kPoints, kWidth});
  std::ranges::copy(batch.features, points.values<float>().begin());
  Var x(points);
  std::vector<double> all;
  for (std::size_t blocks = 0; blocks <= kBlocks; ++blocks) {
    Stage stage(blocks > 0, seed * 100 + blocks);
    train(stage, x, batch.labels, context);
    all.push_back(error_of(stage, x, batch.labels));
    const NoGrad no_grad;
    x = Var(stage.passed(x).value().clone());
  }
  return all;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const std::vector<double> all = errors(seed, context);
    std::vector<double> blocks, logs;
    for (std::size_t t = 0; t < all.size(); ++t) {
      blocks.push_back(static_cast<double>(t));
      logs.push_back(std::log(all[t]));
    }
    const Line line = fitted_line(blocks, logs);
    s.add("no block", all.front());
    s.add("4 blocks", all[4]);
    s.add("8 blocks", all.back());
    s.add("rank correlation with the number of blocks", spearman(blocks, all));
    s.add("factor per block", std::exp(line.slope));
    s.add("R2 of the logarithm's line", line.r2);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("training error of blocks trained one after another, read off after none of them ", s.text("no block"), ", after 4 ",
             s.text("4 blocks"), ", after 8 ", s.text("8 blocks"), ": a factor of ", s.text("factor per block"),
             " per block, straight in the logarithm with R² ", s.text("R2 of the logarithm's line"), "; rank correlation ",
             s.text("rank correlation with the number of blocks"));
  const bool falls = s.most("rank correlation with the number of blocks") < -0.9 && s.mean("8 blocks") < 0.5 * s.mean("no block");
  const bool straight = s.mean("R2 of the logarithm's line") > 0.9;
  if (falls && straight) return holds(text);
  return falls ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C21",
      .statement =
          "Residual blocks can be trained one after another, each with a readout of its own, and the training error falls "
          "geometrically with their number.",
      .source = "Huang et al. 2017 (BoostResNet), arXiv 1706.04964",
      .expected =
          "error falls in every seed (rank correlation below -0.9) to less than half with 8 blocks, and its logarithm is a line "
          "with R² > 0.9; mixed: falls, but not so",
      .see = {{"S09",
               "there the units of one stack are trained together, and a readout of it gets better with every unit: the picture "
               "of boosting fits. Here it is the way of training, each block by itself, and the later ones add nothing"}},
      .start = "Xavier's weights in every block",
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c21
