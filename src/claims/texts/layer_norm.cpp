// The formula of layer norm: which numbers its statistics are of, and how they are used.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab {

// ---- S34: what an instance is: a sequence, or one position of it?

namespace s34 {
namespace {

constexpr std::size_t kTokens = 8, kWidth = 32;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({1, kTokens, kWidth}, seed);
    Tensor others = x.clone();  // every token but the first is another one
    for (std::size_t i = kWidth; i < x.elements(); ++i) others.data<float>()[i] = 3 * others.data<float>()[i] + 1;
    const auto first = [](const Tensor& y) { return Tensor::of({kWidth}, y.values<float>().first(kWidth)); };
    s.add("statistics of the token", relative_distance(first(normed(Var(others)).value()), first(normed(Var(x)).value())));
    const auto whole = [](const Tensor& t) { return normed(reshape(Var(t), {1, kTokens * kWidth})).value(); };
    s.add("statistics of the sequence", relative_distance(first(whole(others)), first(whole(x))));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "change of a token's normed vector when all other tokens of its sequence change: ", s.text("statistics of the token"),
      "; it would be ", s.text("statistics of the sequence"), " if the statistics were of the sequence");
  const bool token = s.most("statistics of the token") == 0;
  if (token && s.most("statistics of the sequence") == 0) return holds(text);
  if (token) return holds_if("an instance is one position of one sequence: its features, not its neighbours", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S34",
      .statement = "In Transformers the statistics of layer norm are calculated for every instance.",
      .source = concat(kClassicalTransformer, ", first paragraph"),
      .expected = "nothing else than the instance matters; whether other tokens of the same sequence do says what an instance is",
      .start = "no weights: norms of made-up sequences",
      .measure = measure,
      .judge = judge};
}

}  // namespace s34

// ---- S35: the formula of layer norm, with the variance divided by the width.

namespace s35 {
namespace {

constexpr std::size_t kWidth = 24;

std::vector<double> by_hand(const std::vector<double>& e, const std::vector<double>& gamma, const std::vector<double>& beta,
                            double divisor) {
  double m = 0, v = 0;
  for (const double x : e) m += x / static_cast<double>(e.size());
  for (const double x : e) v += (x - m) * (x - m) / divisor;
  std::vector<double> y;
  for (std::size_t i = 0; i < e.size(); ++i) y.push_back((e[i] - m) / std::sqrt(v) * gamma[i] + beta[i]);
  return y;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const auto vector = [&](std::uint64_t which) { return random_tensor({kWidth}, seed * 10 + which, DType::f64); };
    const Tensor e = vector(1), gamma = vector(2), beta = vector(3);
    const Tensor y = layer_norm(Var(e), Var(gamma), Var(beta), {.eps = 0}).value();
    const auto off = [&](double divisor) {
      return relative_distance(Tensor::of({kWidth}, by_hand(values_of(e), values_of(gamma), values_of(beta), divisor)), y);
    };
    s.add("divided by d", off(kWidth));
    s.add("divided by d - 1", off(kWidth - 1));
    const Tensor plain = normed(Var(e), 0).value();
    s.add("mean of the output", std::abs(mean_value(plain)));
    s.add("variance of the output", variance(plain));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of the formula from layer norm in double: variance over d ", s.text("divided by d"),
                                  ", over d - 1 ", s.text("divided by d - 1"), "; with gain 1 and bias 0 the output has mean ",
                                  s.text("mean of the output"), " and variance ", s.text("variance of the output"));
  const bool formula = s.most("divided by d") < 1e-12 && s.least("divided by d - 1") > 1e-4;
  const bool unit = s.most("mean of the output") < 1e-12 && std::abs(s.mean("variance of the output") - 1) < 1e-12;
  return formula && unit ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S35",
          .statement =
              "Layer norm subtracts the mean over the features, divides by the root of their variance (divided by their number), "
              "multiplies by gamma and adds beta.",
          .source = concat(kClassicalTransformer, ", formula"),
          .expected = "the formula agrees to 1e-12 in double; dividing by d - 1 does not; output of mean 0 and variance 1",
          .start = "no weights: the norm of made-up vectors, by hand and by the op",
          .measure = measure,
          .judge = judge};
}

}  // namespace s35

// ---- S36: the formula as printed has no epsilon.

namespace s36 {
namespace {

double bad_share(const Tensor& t) {
  double bad = 0;
  for (const double v : values_of(t)) bad += std::isfinite(v) ? 0 : 1;
  return bad / static_cast<double>(t.elements());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const double value = values_of(random_tensor({1}, seed))[0];
    const Var constant(Tensor::full({16}, value)), varied = random_var({16}, seed);
    s.add("constant vector, no eps", bad_share(normed(constant, 0).value()));
    s.add("constant vector, eps 1e-5", bad_share(normed(constant).value()));
    s.add("other vector, no eps", bad_share(normed(varied, 0).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("share of outputs that are not numbers: constant vector without eps ",
                                  s.text("constant vector, no eps"), ", with eps = 1e-5 ", s.text("constant vector, eps 1e-5"),
                                  "; other vectors without eps ", s.text("other vector, no eps"));
  if (s.most("constant vector, no eps") == 0 && s.most("other vector, no eps") == 0) return holds(text);
  if (s.most("other vector, no eps") == 0)
    return holds_if("the features differ; a constant vector needs an epsilon under the root", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S36",
          .statement = "The normed vector is (e - m) divided by the root of v alone.",
          .source = concat(kClassicalTransformer, ", formula"),
          .expected = "it gives numbers for every vector",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace s36

// ---- S37: the mean in bold type.

namespace s37 {
namespace {

constexpr std::size_t kWidth = 32;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({kWidth}, seed, DType::f64);
    const Tensor y = normed(Var(x), 0).value();
    const auto moved = [&](const Tensor& by) { return relative_distance(normed(add(Var(x), Var(by)), 0).value(), y); };
    // What a mean takes out cannot be seen: one number for all features, or a number for each.
    s.add("one number added to all", moved(Tensor::full({kWidth}, 3, DType::f64)));
    s.add("a vector added", moved(random_tensor({kWidth}, seed + 70, DType::f64)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("change of the normed vector when one number is added to all features ",
                                  s.text("one number added to all"), ", when a vector is added ", s.text("a vector added"));
  return s.most("a vector added") < 1e-9 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S37",
      .statement = "The mean that is subtracted is a vector (printed bold).",
      .source = concat(kClassicalTransformer, ", formula"),
      .expected = "then adding any vector would change nothing (below 1e-9); a scalar mean takes out one number per token only",
      .start = "no weights: norms of made-up vectors",
      .measure = measure,
      .judge = judge};
}

}  // namespace s37

// ---- S66: layer norm in three steps.

namespace s66 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const std::size_t d : {4u, 17u, 64u}) {
      const std::vector<double> x = values_of(random_tensor({d}, seed)), gamma = values_of(random_tensor({d}, seed + 1)),
                                beta = values_of(random_tensor({d}, seed + 2));
      const double n = static_cast<double>(d), eps = 1e-5;
      double mu = 0;
      for (const double v : x) mu += v / n;  // step 1
      double variance_of_x = 0;
      for (const double v : x) variance_of_x += (v - mu) * (v - mu) / n;  // step 2
      std::vector<double> y;
      for (std::size_t k = 0; k < d; ++k)
        y.push_back(gamma[k] * (x[k] - mu) / std::sqrt(variance_of_x + eps) + beta[k]);  // step 3
      const Var got = layer_norm(random_var({d}, seed), random_var({d}, seed + 1), random_var({d}, seed + 2));
      s.add("difference", largest_difference(got.value(), Tensor::of({d}, std::span<const double>(y))));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "largest difference between the three steps in double and the layer norm that models use (float): ", s.text("difference"),
      ", at most ", figure_text(s.most("difference")));
  return s.most("difference") < 1e-5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S66",
          .statement =
              "Layer norm is three steps: the mean of the features, their variance, then norm, gain and bias with epsilon under "
              "the root.",
          .source = concat(kLecture, ", Mathematical Formulation"),
          .expected = "written out step by step it agrees to 1e-5, the rounding of float",
          .start = "no weights: the norm of made-up vectors, step by step and by the op",
          .measure = measure,
          .judge = judge};
}

}  // namespace s66

// ---- S67: epsilon, and the value that the text gives as an example.

namespace s67 {
namespace {

/// Variance of the normed vector, of an x with standard deviation sd.
double output_variance(double sd, float eps, std::uint64_t seed) {
  const Var x = scale(normed(random_var({256}, seed, DType::f64), 0), sd);
  return variance(normed(x, eps).value());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("constant vector is finite", std::isfinite(length(normed(Var(Tensor::full({16}, 2)), 0.01f).value())) ? 1 : 0);
    s.add("eps 0.01, sd 0.1", output_variance(0.1, 0.01f, seed));
    s.add("eps 0.01, sd 1", output_variance(1, 0.01f, seed));
    s.add("eps 0.01, sd 10", output_variance(10, 0.01f, seed));
    s.add("eps 1e-5, sd 0.1", output_variance(0.1, 1e-5f, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const bool finite = s.least("constant vector is finite") == 1;
  const std::string text =
      concat("variance of the normed vector with eps = 0.01: ", s.text("eps 0.01, sd 0.1"), " where the input deviates by 0.1, ",
             s.text("eps 0.01, sd 1"), " by 1, ", s.text("eps 0.01, sd 10"), " by 10; with eps = 1e-5 ",
             s.text("eps 1e-5, sd 0.1"), " by 0.1. A constant vector gives ", finite ? "numbers" : "what is no number");
  const auto unit = [&](const char* name) { return std::abs(s.mean(name) - 1) < 0.005; };
  if (!finite) return fails(text);
  if (unit("eps 0.01, sd 0.1") && unit("eps 0.01, sd 1")) return holds(text);
  return holds_if("epsilon is small beside the variance, which 0.01 is not always: the output's variance is v / (v + 0.01)",
                  text);
}

}  // namespace

Claim claim() {
  return {.id = "S67",
          .statement = "A small epsilon, such as 0.01, keeps layer norm from dividing by zero.",
          .source = concat(kLecture, ", explanation of parameters"),
          .expected = "finite on constant vectors, and the output's variance still within 0.5 % of 1",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace s67

}  // namespace addnorm::lab
