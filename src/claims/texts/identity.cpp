// The identity: a sub-layer of zeros is one, and how fast a block learns it with and without a skip.
#include "addnorm/autograd/tape.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/residual/unit.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/optimizer.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab {

namespace {

// ---- How fast a block learns to be the identity, with and without a skip around its layers: S14, S56 and S61.

constexpr std::size_t kTaskWidth = 16;

struct IdentityTask {
  std::size_t layers = 1;  ///< of the block, one after the other, each with its skip where there are skips
  bool linear = false;     ///< a matrix each; else a matrix, GELU, a matrix
  bool skip = true;
  double enough = 0.01;  ///< mean squared error, of a target with variance 1
  std::int64_t most = 1000;
};

struct IdentityBlock : Module {
  IdentityBlock(const ClaimContext& context, const IdentityTask& task, std::uint64_t seed) : task_(task) {
    for (std::size_t i = 0; i < task.layers; ++i) {
      if (task.linear)
        matrices_.emplace_back(kTaskWidth, kTaskWidth);
      else
        branches_.emplace_back(FeedForwardOptions{.d_model = kTaskWidth, .d_ff = 2 * kTaskWidth});
    }
    draw(*this, context, {.width = kTaskWidth, .layers = task.layers}, seed);
  }
  Var operator()(Var x) const {
    for (std::size_t i = 0; i < task_.layers; ++i) {
      const Var f = task_.linear ? matrices_[i](x) : branches_[i](x, {});
      x = task_.skip ? add(x, f) : f;
    }
    return x;
  }
  void visit(Visitor& visitor) override {
    for (std::size_t i = 0; i < matrices_.size(); ++i) visitor.child(concat("layers.", i), matrices_[i]);
    for (std::size_t i = 0; i < branches_.size(); ++i) visitor.child(concat("layers.", i), branches_[i]);
  }

 private:
  IdentityTask task_;
  std::vector<Linear> matrices_;
  std::vector<FeedForward> branches_;
};

/// Weights by the context's rule. Steps of Adam at 3e-3, 64 fresh vectors of width 16 each, until the error is below `enough`;
/// most + 1 where it never is.
std::int64_t steps_to_identity(const ClaimContext& context, const IdentityTask& task, std::uint64_t seed) {
  IdentityBlock block(context, task, seed);
  const auto optimizer = make_optimizer(block, usual_options(OptimizerKind::adam));
  for (std::int64_t step = 0; step <= task.most; ++step) {
    const ArenaScope scope;
    const Var x = random_var({64, kTaskWidth}, seed * 100003 + static_cast<std::uint64_t>(step));
    const Var off = sub(block(x), x);
    const Var loss = mean(mul(off, off));
    if (loss.value().item() < task.enough) return step;
    optimizer->clear_gradients();
    backward(loss);
    optimizer->step(3e-3);
  }
  return task.most + 1;
}

}  // namespace

// ---- S13: a sub-layer whose weights are 0 leaves the identity.

namespace s13 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(scale(random_var({4, 32}, seed), 1.5), Var(Tensor::full({4, 32}, 0.3)));
    const auto off = [&](const char* name) {
      return relative_distance(ResidualUnit(name, 32)(x, [](const Var& u) { return scale(u, 0); }).value(), x.value());
    };
    s.add("x + F", off("residual"));
    s.add("x + F(LN(x))", off("pre-ln"));
    s.add("LN(x + F)", off("post-ln"));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of the output from x, over the length of x, with F = 0: x + F ", s.text("x + F"),
                                  ", x + F(LN(x)) ", s.text("x + F(LN(x))"), ", LN(x + F) ", s.text("LN(x + F)"));
  const bool sums = s.most("x + F") == 0 && s.most("x + F(LN(x))") == 0, normed_sum = s.most("LN(x + F)") < 1e-3;
  if (sums && normed_sum) return holds(text);
  if (sums) return holds_if("no norm stands after the sum: the printed unit gives LN(x)", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S13",
          .statement = "A sub-layer that has nothing to do can push its weights to zero: the skip is the identity by default.",
          .source = concat(kChapter23, ", Why Residuals Help, 2"),
          .expected = "with F = 0 the output is x, bit for bit",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s13

// ---- S14: how fast the identity is learned.

namespace s14 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::int64_t most = context.steps(1000);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    s.add("with skip", static_cast<double>(steps_to_identity(context, {.skip = true, .most = most}, seed)));
    s.add("without", static_cast<double>(steps_to_identity(context, {.skip = false, .most = most}, seed)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("steps of Adam until a feed-forward block is the identity to a mean squared error of 0.01: with skip ",
             s.text("with skip"), ", without ", s.text("without"));
  return s.most("with skip") < s.least("without") / 1.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S14",
          .statement = "With a skip the identity is easier to learn.",
          .source = concat(kChapter23, ", Why Residuals Help, 2"),
          .expected = "in every seed at least 1.5 times fewer steps with a skip",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s14

// ---- S56: a block of several layers learns the identity with ease.

namespace s56 {
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
          .source = concat(kLecture, ", Skip Connections"),
          .expected = "in every seed at least 1.5 times fewer steps for a block of 4 layers with skips",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s56

// ---- S60: what the branch learns is the residual: the wanted output minus the input.

namespace s60 {
namespace {

constexpr std::size_t kWidth = 16;

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::int64_t steps = context.steps(400);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    FeedForward F({.d_model = kWidth, .d_ff = 4 * kWidth});
    draw(F, context, {.width = kWidth, .layers = 1}, seed);
    const Var map = scale(random_var({kWidth, kWidth}, seed + 17), 0.15);
    const auto wanted = [&](const Var& x) { return add(x, tanh(linear(x, map))); };
    const auto optimizer = make_optimizer(F, usual_options(OptimizerKind::adam));
    for (std::int64_t step = 0; step < steps; ++step) {
      const ArenaScope scope;
      const Var x = random_var({64, kWidth}, seed * 100003 + static_cast<std::uint64_t>(step));
      const Var off = sub(add(x, F(x, {})), wanted(x));
      optimizer->clear_gradients();
      backward(mean(mul(off, off)));
      optimizer->step(3e-3);
    }
    const NoGrad no_grad;
    const Var x = random_var({256, kWidth}, seed + 999);
    const Tensor f = F(x, {}).value();
    s.add("wanted output minus input", cosine(f, sub(wanted(x), x).value()));
    s.add("wanted output", cosine(f, wanted(x).value()));
    s.add("input", cosine(f, x.value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("cosine of a trained branch F(x) with the wanted output minus the input ", s.text("wanted output minus input"),
             ", with the wanted output ", s.text("wanted output"), ", with the input ", s.text("input"));
  return s.least("wanted output minus input") > 0.9 && s.most("wanted output") < 0.8 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S60",
          .statement = "In y = x + F(x) what the block learns is the residual, the difference between wanted output and input.",
          .source = concat(kLecture, ", Mathematical Formulation, and question 2"),
          .expected = "cosine above 0.9 with the difference, below 0.8 with the wanted output itself",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s60

// ---- S61: zero is easier to learn than the identity matrix.

namespace s61 {
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
          .source = concat(kLecture, ", Mathematical Formulation"),
          .expected = "in every seed at least 1.5 times fewer steps",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s61

}  // namespace addnorm::lab
