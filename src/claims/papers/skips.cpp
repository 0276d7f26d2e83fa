// The skip: degradation without it, factors on it, and blocks that are trained one after another on it.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/data/mixture.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/nn/init.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/optimizer.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

// ---- C1: deeper networks without skips have the higher training error, those with skips do not.

namespace c01 {
namespace {

double gradient_at_start(const SmallRun& run) {
  const auto model = started(run.model, run.seed);
  return profile_of(*model, data_of(run, run.seed)->batch(0, run.batch)).gradient_ratio();
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"plain-ln", "plain"}, {"pre-ln", "residual"}})
    for (const std::size_t units : {20u, 56u}) {
      SmallRun run = mixture_run(context, stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) s.add(concat(name, " ", units), summary.last());
    }
  SmallRun deep = mixture_run(context, "plain-ln", 56);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    deep.seed = seed;
    s.add("gradient of plain 56", gradient_at_start(deep));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference rise = difference(s, "residual 56", "residual 20");
  const std::string text =
      concat("training loss (nats, 10 classes) of 20 and 56 normed feed-forward units: without skips ", s.text("plain 20"),
             " and ", s.text("plain 56"), "; with skips ", s.text("residual 20"), " and ", s.text("residual 56"), ", a rise of ",
             rise.text(), "; gradient at the bottom over that at the top of 56 units without skips, before the first step: ",
             s.text("gradient of plain 56"));
  if (s.least("plain 20") > std::log(10.0) - 0.1)
    return undecided(text + ". 20 units are at chance without skips already: nothing to compare");
  const bool degrades = s.least("plain 56") > s.most("plain 20");
  if (degrades && rise.no_higher()) return holds(text);
  return degrades ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C1",
          .statement = "Without skips a network of 56 units has a higher training loss than one of 20; with skips it has not.",
          .source = "He et al. 2015, arXiv 1512.03385",
          .expected =
              "without skips every seed is worse at 56 units than any at 20; with skips the mean does not rise by 0.05 nats "
              "or more, with all of the 95 % interval. Mixed: only the first. Not decided: 20 units are within 0.1 "
              "nats of chance without skips. The gradient is reported, and decides nothing",
          .changed = "with GPT-2's weights it was first not seen: without skips both 20 and 56 units stay at chance, 2.3 nats",
          .earlier = {"seen at this scale",
                      "with GPT-2's weights 20 units without skips are at chance already: nothing is left to get worse"},
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace c01

// ---- C2, at initialisation: only a factor of 1 on the skip passes the gradient through.

namespace c02 {
namespace {

constexpr double kFactors[] = {0.5, 0.9, 1, 1.1};
constexpr std::size_t kUnits = 32, kWidth = 32;

double gradient(double a, const Branch& branch, std::uint64_t seed) {
  const Var x = random_var({8, kWidth}, seed, DType::f64, true);
  const auto residual = make_residual("xskip", units_of(kUnits, kWidth), {.choices = {.skip_factor = a}});
  const Var y = run_units(*residual, x, branch);
  return gradient_passed(y, random_tensor(y.shape(), seed + 1, DType::f64), x);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const double a : kFactors) {
      const LinearBranches small(units_of(kUnits, kWidth), seed, 0.1, DType::f64);
      s.add(concat("a = ", a, ", F = 0, over a^32"), gradient(a, silent, seed) / std::pow(a, kUnits));
      s.add(concat("a = ", a, ", small branches"), gradient(a, small, seed));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "gradient at the input of 32 units a x + F(x): with F = 0 it is a^32 times";
  bool exact = true;
  for (const double a : kFactors) {
    const std::string name = concat("a = ", a, ", F = 0, over a^32");
    text += concat(a == 0.5 ? " " : ", ", s.text(name));
    exact = exact && std::abs(s.mean(name) - 1) < 1e-6;
  }
  text += "; with branches of a tenth";
  for (const double a : kFactors) text += concat(", a = ", a, ": ", s.text(concat("a = ", a, ", small branches")));
  const auto size = [&](const char* a) { return s.mean(concat("a = ", a, ", small branches")); };
  const auto lost = [&](const char* a) { return size(a) <= 1.0 / 3 || size(a) >= 3; };
  const bool only_one = size("1") > 1.0 / 3 && size("1") < 3 && lost("0.5") && lost("0.9") && lost("1.1");
  if (exact && only_one) return holds(text);
  return exact || only_one ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C2",
          .statement =
              "The identity is the best skip: a constant factor other than 1 lets gradients vanish or explode (its part at "
              "initialisation).",
          .source = "He et al. 2016, arXiv 1603.05027",
          .expected = "gradient at x_0 equal to a^L with F = 0; with small branches within a factor 3 of 1 for a = 1 only",
          .changed = "the lower end of the factor 3 was 0.3; seen before and after",
          .start = "the same made-up branches for all factors",
          .measure = measure,
          .judge = judge};
}

}  // namespace c02

// ---- C21: BoostResNet: residual blocks trained one after another, each below fixed, with a linear readout after each.

namespace c21 {
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

/// Errors with 0, 1, ... blocks on the points that they are trained on: many centres to a class, which no linear readout
/// separates.
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

}  // namespace c21

// ---- C25, gradients at initialisation: a factor on the skip, with and without a norm.

namespace c25 {
namespace {

constexpr std::size_t kUnits = 12, kWidth = 64;
constexpr double kFactors[] = {0.5, 1, 2, 3};

double gradient(const char* name, const ArrangementChoices& choices, std::uint64_t seed) {
  const StackShape shape = units_of(kUnits, kWidth);
  const Var x = Var(normed(random_var({8, kWidth}, seed)).value(), true);
  const Var y = run_units(*make_residual(name, shape, {.choices = choices}), x, LinearBranches(shape, seed, 0.1));
  return gradient_passed(y, random_tensor(y.shape(), seed + 4), x);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    for (const double factor : kFactors) {
      s.add(concat("without norm, ", factor), gradient("xskip", {.skip_factor = factor}, seed) / std::pow(factor, kUnits));
      s.add(concat("with norm, ", factor), gradient("xskip-ln", {.skip_factor = factor}, seed));
    }
    s.add("recursive", gradient("rskip", {}, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "gradient at the input of 12 units with small branches: without norm, over λ^12,";
  bool powers = true, bounded = s.mean("recursive") > 0.1 && s.mean("recursive") < 10;
  for (const double factor : kFactors) {
    const std::string without = concat("without norm, ", factor), with = concat("with norm, ", factor);
    text += concat(" λ = ", factor, ": ", s.text(without), factor == 3 ? ";" : ",");
    powers = powers && s.mean(without) > 0.5 && s.mean(without) < 2;
    bounded = bounded && s.mean(with) > 0.1 && s.mean(with) < 10;
  }
  text += " with norm,";
  for (const double factor : kFactors) text += concat(" λ = ", factor, ": ", s.text(concat("with norm, ", factor)), ",");
  text += concat(" recursive: ", s.text("recursive"));
  if (powers && bounded) return holds(text);
  return powers || bounded ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C25",
          .statement =
              "A factor other than 1 on the skip lets gradients explode or vanish; a norm repairs it, also for the recursive "
              "skip (its "
              "part at initialisation).",
          .source = "Liu F. et al. 2020, arXiv 2105.07205",
          .expected = "gradient proportional to λ^n (within a factor 2) without norm, between 0.1 and 10 with it",
          .start = "the same made-up branches for all factors",
          .measure = measure,
          .judge = judge};
}

}  // namespace c25

}  // namespace addnorm::lab
