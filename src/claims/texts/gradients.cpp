// Gradients: how they vanish and explode, and what skips pass on of them.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

// ---- S02: vanishing and exploding gradients in deep stacks without skips.

namespace s02 {
namespace {

/// ||dL/dx_0|| over ||dL/dx_n|| of n branches one after the other, with a slope that is not that of the identity.
double ratio(std::size_t depth, double gain, std::uint64_t seed) {
  const StackShape shape = units_of(depth, 32);
  const LinearBranches branches(shape, seed, gain);
  const Var x = random_var({16, 32}, seed, DType::f32, true);
  const Var y = run_units(*make_residual("plain", shape), x, [&](const Unit& u, const Var& v) { return tanh(branches(u, v)); });
  return gradient_passed(y, random_tensor(y.shape(), seed + 7), x);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const auto& [name, gain] : {std::pair{"weights x 0.7", 0.7}, {"weights x 1", 1.0}, {"weights x 3", 3.0}}) {
      std::vector<double> depths, logs;
      for (const std::size_t depth : {4u, 8u, 16u, 32u}) {
        depths.push_back(static_cast<double>(depth));
        logs.push_back(std::log10(ratio(depth, gain, seed)));
      }
      s.add(name, fitted_line(depths, logs).slope * 10);  // powers of ten per ten layers
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("powers of ten that the gradient gains per ten layers on its way down, by scale of the weights: 0.7: ",
             s.text("weights x 0.7"), ", 1: ", s.text("weights x 1"), ", 3: ", s.text("weights x 3"));
  const bool vanishes = s.most("weights x 0.7") < -0.5;
  const bool explodes = s.least("weights x 3") > 0.5;
  if (vanishes && explodes) return holds(text);
  if (vanishes || explodes) return holds_if(vanishes ? "gradients vanish; none explode" : "gradients explode; none vanish", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S02",
      .statement = "In a deep stack the gradient that back-propagation sends down can vanish or explode.",
      .source = concat(kBeforeStudying, ", second paragraph"),
      .expected =
          "without skips the gradient changes by a constant factor per layer: below 10^-0.5 per ten layers with small weights, "
          "above 10^0.5 with large ones",
      .start = "no rule: matrices drawn at three strengths, of which the claim is made",
      .measure = measure,
      .judge = judge};
}

}  // namespace s02

// ---- S06: skips against vanishing and exploding gradients.

namespace s06 {
namespace {

constexpr const char* kStacks[] = {"plain", "residual", "post-ln", "pre-ln"};
constexpr double kLeast = 1e-38;  // what floats can distinguish from 0

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
      .source = concat(kBeforeStudying, ", paragraph after the formula"),
      .expected =
          "gradient at the bottom over that at the top changes by less than 10^±0.5 per ten layers with skips, by more without; "
          "below 1e-38 it counts as that",
      .earlier = {"true only if a norm stands inside the branch (pre-LN) or after the sum; with a bare x + F(x) they explode",
                  "with GPT-2's weights the branches begin too weak to explode: a bare x + F(x) keeps its gradient as well"},
      .compares = true,
      .measure = measure,
      .judge = judge};
}

}  // namespace s06

// ---- S11: the "1 +" in the gradient, printed right after the unit LN(x + F(x)).

namespace s11 {
namespace {

constexpr std::size_t kWidth = 12;

/// How far a unit's Jacobian is from I + J_F, by finite differences in double.
double off_from_one_plus(const Tensor& unit, const Tensor& branch) {
  Tensor claimed = branch.clone();
  for (std::size_t i = 0; i < kWidth; ++i) claimed.data<double>()[i * kWidth + i] += 1;
  return relative_distance(unit, claimed);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({kWidth}, seed, DType::f64);
    const Var w = scale(random_var({kWidth, kWidth}, seed + 100, DType::f64), 0.3);
    const auto F = [&](const Var& u) { return tanh(linear(u, w)); };
    const Tensor branch = jacobian(F, x);
    s.add("x + F", off_from_one_plus(jacobian([&](const Var& u) { return add(u, F(u)); }, x), branch));
    s.add("LN(x + F)", off_from_one_plus(jacobian([&](const Var& u) { return normed(add(u, F(u))); }, x), branch));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of the unit's Jacobian from I + J_F: x + F ", s.text("x + F"), ", LN(x + F) ", s.text("LN(x + F)"));
  const bool sum = s.most("x + F") < 1e-6, normed_sum = s.most("LN(x + F)") < 1e-6;
  if (sum && normed_sum) return holds(text);
  if (sum)
    return holds_if("the unit is x + F(x) and 1 is read as the identity matrix; after a norm J_LN stands before the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S11",
          .statement =
              "The gradient at a residual unit's input is the gradient at its output times (1 + derivative of the sub-layer).",
          .source = concat(kChapter23, ", Why Residuals Help, 1"),
          .expected = "Jacobian equal to I + J_F to 1e-6 for x + F; far from it for the unit LN(x + F) that the text prints",
          .start = "no rule: one made-up branch, which both units share",
          .measure = measure,
          .judge = judge};
}

}  // namespace s11

// ---- S12: does the "1" keep the gradient alive when the sub-layers pass none?

namespace s12 {
namespace {

constexpr std::size_t kUnits = 24, kWidth = 64;

/// What is left at the input of a gradient of length 1 at the output, when no branch passes any on.
double left(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(kUnits, kWidth);
  const LinearBranches branches(shape, seed, branch_gains(context, shape));
  const Var x = Var(normed(random_var({16, kWidth}, seed)).value(), true);
  const auto residual = make_residual(name, shape);
  const Var y = run_units(*residual, x, [&](const Unit& unit, const Var& u) { return branches(unit, u).detach(); });
  return gradient_passed(y, random_tensor(y.shape(), seed + 9), x);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"residual", "pre-ln-nofinal", "post-ln"}) s.add(name, left(context, name, seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("gradient left after 24 units whose branches pass none: x + F(x) ", s.text("residual"),
                                  ", x + F(LN(x)) ", s.text("pre-ln-nofinal"), ", LN(x + F(x)) ", s.text("post-ln"));
  const bool sums = s.least("residual") > 0.99 && s.least("pre-ln-nofinal") > 0.99, normed_sum = s.least("post-ln") > 0.5;
  if (sums && normed_sum) return holds(text);
  if (sums)
    return holds_if("no norm stands on the skip; each one of the printed LN(x + F(x)) divides it by the spread of the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S12",
      .statement = "The 1 of the skip makes sure that gradient flows even where the layer's own gradient is small.",
      .source = concat(kChapter23, ", Why Residuals Help, 1"),
      .expected = "with branches that pass no gradient all of it arrives: above 0.99 for sums, above 0.5 for the printed unit",
      .earlier =
          {"true only if no norm stands on the skip; each one of the printed LN(x + F(x)) divides it by the spread of the sum",
           "with GPT-2's weights the sum is hardly larger than x, and a norm of it divides by little more than 1"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace s12

// ---- S21: is the skip a path for gradients alone?

namespace s21 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(12, 64);
  for (const std::uint64_t seed : context.seeds) {
    const LinearBranches branches(shape, seed);
    const Var x = random_var({32, 64}, seed);
    Watch watch;
    run_units(*make_residual("pre-ln", shape), x, branches, {}, &watch);
    double through = 0;
    for (std::size_t i = 0; i < shape.units(); ++i) {
      const double skip = dot(watch.streams[i].value(), watch.streams[i].value());
      through += skip / (skip + dot(watch.branches[i].value(), watch.branches[i].value())) / static_cast<double>(shape.units());
    }
    s.add("share of the skip", through);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the sum's square that comes over the skip in the forward pass, mean over 12 pre-LN units: ",
             s.text("share of the skip"));
  return s.most("share of the skip") < 0.01 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S21",
          .statement = "Residual connections provide no more than another path for gradients.",
          .source = concat(kChapter23, ", Key Insight"),
          .expected = "then the forward pass would not depend on them: less than 1 % of a sum would come over the skip",
          .start = "no rule: made-up branches that give as much as they read",
          .measure = measure,
          .judge = judge};
}

}  // namespace s21

// ---- S25: question 2: what does the skip do to the gradient?

namespace s25 {
namespace {

/// dL/dx of a unit in which only some of the paths pass gradient on.
Tensor gradient(const Tensor& x, const Var& w, const Tensor& dy, bool skip, bool branch) {
  const Var in(x, true);
  const Var f = tanh(linear(in, w));
  const Var y = add(skip ? in : in.detach(), branch ? f : f.detach());
  backward(y, dy);
  return in.grad();
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({8, 32}, seed), dy = random_tensor({8, 32}, seed + 5);
    const Var w = scale(random_var({32, 32}, seed + 1), 0.2);
    const Tensor all = gradient(x, w, dy, true, true), skip = gradient(x, w, dy, true, false),
                 branch = gradient(x, w, dy, false, true);
    s.add("sum of both parts", largest_difference(add(Var(skip), Var(branch)).value(), all));
    s.add("product of both parts", relative_distance(mul(Var(skip), Var(branch)).value(), all));
    s.add("no effect", relative_distance(branch, all));
    s.add("size", length(all) / length(branch));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("largest difference of the gradient from skip part + branch part ", s.text("sum of both parts"),
             "; distance from their product ", s.text("product of both parts"), ", from the branch part alone ",
             s.text("no effect"), "; with the skip it is ", s.text("size"), " times as long");
  const bool adds = s.most("sum of both parts") == 0,
             others = s.least("product of both parts") < 0.01 || s.least("no effect") < 0.01;
  return adds && !others && s.least("size") > 1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S25",
          .statement = "Question 2: residual connections help by adding the gradient of the skip path (answer A).",
          .source = concat(kChapter23, ", question 2"),
          .expected = "the gradient is the sum of both parts bit for bit; it is not their product, not unchanged and not smaller",
          .start = "no rule: one made-up branch, whose gradient is taken apart",
          .measure = measure,
          .judge = judge};
}

}  // namespace s25

}  // namespace addnorm::lab
