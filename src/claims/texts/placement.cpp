// Where add and norm stand: the formulas of post-norm and pre-norm, and what a unit reads and passes on.
#include <algorithm>
#include <cmath>

#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

namespace {

/// Largest distance of a row of x from mean 0 and variance 1.
double off_from_normed(const Tensor& x) {
  const std::size_t width = x.shape().back();
  const std::vector<double> all = values_of(x);
  double most = 0;
  for (std::size_t at = 0; at < all.size(); at += width) {
    const Tensor row = Tensor::of({width}, std::span<const double>(all).subspan(at, width));
    most = std::max({most, std::abs(mean_value(row)), std::abs(variance(row) - 1)});
  }
  return most;
}

}  // namespace

// ---- S22: the formula that the text prints for pre-LN.

namespace s22 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(8, 32);
  for (const std::uint64_t seed : context.seeds) {
    const LinearBranches branches(shape, seed, 1, DType::f64);
    const Var x = random_var({6, 32}, seed, DType::f64);
    const auto stack = [&](const char* name, const Var& input) {
      const auto residual = make_residual(name, shape, {.norm = {.eps = 0}});
      convert(*residual, DType::f64);
      return run_units(*residual, input, branches).value();
    };
    const Tensor printed = stack("norm-skip", x);
    s.add("from pre-LN", relative_distance(stack("pre-ln", x), printed));
    s.add("from post-LN of the normed input", relative_distance(stack("post-ln", normed(x, 0)), printed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of 8 units LN(x) + F(LN(x)) and a final norm from 8 pre-LN units ", s.text("from pre-LN"),
             ", from 8 post-LN units with a normed input ", s.text("from post-LN of the normed input"));
  return s.most("from pre-LN") < 1e-9 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S22",
          .statement = "Pre-LN is LayerNorm(x) + SubLayer(LayerNorm(x)).",
          .source = concat(kChapter23, ", Connection to Pre-LN"),
          .expected = "the printed formula computes the same as x + SubLayer(LN(x)) with a final norm: distance below 1e-9",
          .start = "the same made-up branches in all three stacks",
          .measure = measure,
          .judge = judge};
}

}  // namespace s22

// ---- S31: question 8: which of the two norms what the sub-layer reads?

namespace s31 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 32}, seed);
    for (const char* name : {"pre-ln", "post-ln"}) {
      const auto read = [&](double factor) {  // what the sub-layer is given when the stream is so much larger
        Var seen;
        ResidualUnit(name, 32)(scale(x, factor), [&](const Var& u) { return seen = u; });
        return seen.value();
      };
      s.add(name, relative_distance(read(10), read(1)));
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("change of what the sub-layer reads when the stream grows tenfold: pre-LN ", s.text("pre-ln"),
                                  ", post-LN ", s.text("post-ln"));
  return s.most("pre-ln") < 1e-3 && s.least("post-ln") > 1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S31",
          .statement = "Question 8: of pre-LN and post-LN, pre-LN applies the norm before the sub-layer (answer B).",
          .source = concat(kChapter23, ", question 8"),
          .expected = "ten times the stream changes nothing after a norm (below 1e-3), and everything without (above 1)",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s31

// ---- S39: post-LN has its name from the order: the norm comes after the sum.

namespace s39 {
namespace {

/// Of what units pass on, over all of them.
double passed_on(const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(6, 64);
  Watch watch;
  run_units(*make_residual(name, shape), random_var({8, 64}, seed), LinearBranches(shape, seed), {}, &watch);
  double most = 0;
  for (std::size_t i = 1; i < watch.streams.size(); ++i) most = std::max(most, off_from_normed(watch.streams[i].value()));
  return most;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"post-ln", "pre-ln"}) s.add(name, passed_on(name, seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("largest distance of what a unit passes on from mean 0 and variance 1: post-LN ",
                                  s.text("post-ln"), ", pre-LN ", s.text("pre-ln"));
  return s.most("post-ln") < 1e-3 && s.least("pre-ln") > 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S39",
          .statement = "Norming after the residual sum is called post layer normalisation, from the order of the two.",
          .source = concat(kClassicalTransformer, ", second paragraph"),
          .expected = "what a post-LN unit passes on is normed (within 1e-3), what a pre-LN unit passes on is not",
          .start = "the same made-up branches in both, as strong as what they read",
          .measure = measure,
          .judge = judge};
}

}  // namespace s39

// ---- S40: pre-norm stands before the sub-layer and inside the residual connection.

namespace s40 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(scale(random_var({4, 32}, seed), 3), Var(Tensor::full({4, 32}, 1)));
    const Var w = scale(random_var({32, 32}, seed + 3), 0.2);
    Var read, f;
    const Var y = ResidualUnit("pre-ln", 32)(x, [&](const Var& u) {
      read = u;
      return f = linear(u, w);
    });
    s.add("sub-layer reads LN(x)", largest_difference(read.value(), normed(x).value()));
    s.add("skip passes x", relative_distance(sub(y, f).value(), x.value()));
    s.add("skip passes LN(x)", relative_distance(sub(y, f).value(), normed(x).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("largest difference between what the sub-layer reads and LN(x) ",
                                  s.text("sub-layer reads LN(x)"), "; distance of what came over the skip from x ",
                                  s.text("skip passes x"), ", from LN(x) ", s.text("skip passes LN(x)"));
  const bool right = s.most("sub-layer reads LN(x)") < 1e-5 && s.most("skip passes x") < 1e-5;
  return right && s.least("skip passes LN(x)") > 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S40",
          .statement = "Pre-norm norms what the sub-layer reads, inside the residual connection: the skip itself is not normed.",
          .source = concat(kClassicalTransformer, ", second paragraph"),
          .expected = "the sub-layer reads LN(x), the skip passes x: both within 1e-5",
          .start = "no rule: one made-up branch",
          .measure = measure,
          .judge = judge};
}

}  // namespace s40

// ---- S41: why pre-norm has one norm more, after the stack.

namespace s41 {
namespace {

double norms_of(const char* name) {
  const auto residual = make_residual(name, {.width = 8, .layers = 6});
  double count = 0;
  for_each_parameter(*residual, [&](Parameter& p) { count += p.role == Role::norm_gain ? 1 : 0; });
  return count;
}

/// The power of depth with which the output's RMS grows.
double growth(const ClaimContext& context, const char* name, std::uint64_t seed) {
  std::vector<double> depths, sizes;
  for (const std::size_t depth : {4u, 16u, 64u}) {
    const StackShape shape = units_of(depth, 48);
    depths.push_back(static_cast<double>(depth));
    const LinearBranches branches(shape, seed, branch_gains(context, shape));
    sizes.push_back(rms(run_units(*make_residual(name, shape), random_var({8, 48}, seed), branches).value()));
  }
  return fitted_power(depths, sizes);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"pre-ln", "pre-ln-nofinal", "post-ln"}) {
      s.add(concat(name, " growth"), growth(context, name, seed));
      s.add(concat(name, " norms"), norms_of(name));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("output RMS grows like depth to the power: pre-LN without final norm ", s.text("pre-ln-nofinal growth"),
             ", with it ", s.text("pre-ln growth"), ", post-LN ", s.text("post-ln growth"), "; norms in 6 layers: pre-LN ",
             s.text("pre-ln norms"), ", post-LN ", s.text("post-ln norms"));
  const bool one_more = s.mean("pre-ln norms") == s.mean("post-ln norms") + 1;
  const bool needed = s.least("pre-ln-nofinal growth") > 0.3 && s.most("pre-ln growth") < 0.05;
  return one_more && needed ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S41",
      .statement = "Pre-norm needs one more norm, after the stack, to pass on only well-conditioned outputs.",
      .source = concat(kClassicalTransformer, ", second paragraph"),
      .expected =
          "output RMS grows like a power above 0.3 of depth without it and below 0.05 with it; one norm more than post-LN",
      .earlier = {"true",
                  "with GPT-2's weights the stream does not grow with depth, so that its output needs no norm before training"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace s41

// ---- S74: does layer norm standardise what each layer reads?

namespace s74 {
namespace {

/// Of what sub-layers read: of the first one, and of the others.
std::pair<double, double> off(const char* name, std::uint64_t seed) {
  constexpr std::size_t kWidth = 32, kRows = 8;
  const StackShape shape = units_of(6, kWidth);
  const LinearBranches branches(shape, seed);
  const Var x = add(scale(random_var({kRows, kWidth}, seed), 0.5), Var(Tensor::full({kRows, kWidth}, 0.2)));
  double first = 0, others = 0;
  run_units(*make_residual(name, shape), x, [&](const Unit& unit, const Var& u) {
    double& most = unit.index == 0 ? first : others;
    most = std::max(most, off_from_normed(u.value()));
    return branches(unit, u);
  });
  return {first, others};
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"pre-ln", "post-ln"}) {
      const auto [first, others] = off(name, seed);
      s.add(concat(name, ", first"), first);
      s.add(concat(name, ", others"), others);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("largest distance of a sub-layer's input from mean 0 and variance 1: pre-LN first ",
                                  s.text("pre-ln, first"), ", others ", s.text("pre-ln, others"), "; Add & Norm first ",
                                  s.text("post-ln, first"), ", others ", s.text("post-ln, others"));
  const bool most = s.most("pre-ln, first") < 1e-3 && s.most("pre-ln, others") < 1e-3 && s.most("post-ln, others") < 1e-3;
  if (most && s.most("post-ln, first") < 1e-3) return holds(text);
  if (most)
    return holds_if("the norm is pre-LN, or the sub-layer is not the first: that of Add & Norm reads raw embeddings", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S74",
          .statement = "Layer norm standardises the inputs of each layer, example by example.",
          .source = concat(kLecture, ", takeaways"),
          .expected = "what every sub-layer reads has mean 0 and variance 1 within 1e-3 at initialisation",
          .start = "the same made-up branches in both, as strong as what they read",
          .measure = measure,
          .judge = judge};
}

}  // namespace s74

}  // namespace addnorm::lab
