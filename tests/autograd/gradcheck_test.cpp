// gradcheck itself: it passes right gradients and fails wrong ones (the negative controls of N-15).
#include "addnorm/autograd/gradcheck.h"

#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;

Tensor times(const Tensor& a, const Tensor& b, double factor = 1) {
  Tensor out(a.shape(), DType::f64);
  for (std::size_t i = 0; i < a.elements(); ++i) out.values<double>()[i] = factor * a.values<double>()[i] * b.values<double>()[i];
  return out;
}

/// a * b whose gradients are multiplied by `factor`, or exchanged.
Var product(const Var& a, const Var& b, double factor, bool exchanged) {
  return record("product", {a, b}, times(a.value(), b.value()),
                [=, av = a.value(), bv = b.value()](const Tensor& dy, Grads& grads) {
                  grads.give(exchanged ? 1 : 0, times(dy, bv, factor));
                  grads.give(exchanged ? 0 : 1, times(dy, av, factor));
                });
}

GradcheckResult check_product(double factor, bool exchanged) {
  return gradcheck([=](const auto& in) { return std::vector{product(in[0], in[1], factor, exchanged)}; },
                   {input({3, 4}, 1), input({3, 4}, 2)});
}

TEST(Gradcheck, PassesARightGradient) {
  const GradcheckResult result = check_product(1.0, false);
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_LE(result.worst, 1.0);
}

TEST(Gradcheck, FailsAGradientThatIsOffByOnePercentAndSaysWhere) {
  for (const double factor : {1.01, 0.99, 1.0001}) {
    const GradcheckResult result = check_product(factor, false);
    EXPECT_FALSE(result.ok);
    EXPECT_NE(result.message.find("input "), std::string::npos);
    EXPECT_NE(result.message.find("of [3, 4]"), std::string::npos);
  }
}

TEST(Gradcheck, FailsExchangedGradients) { EXPECT_FALSE(check_product(1.0, true).ok); }
TEST(Gradcheck, FailsAGradientThatIsMissing) {
  EXPECT_FALSE(
      gradcheck([](const auto& in) { return std::vector{mul(in[0], in[1].detach())}; }, {input({3}, 1), input({3}, 2)}).ok);
}
TEST(Gradcheck, FailsAGradientThatIsNaN) { EXPECT_FALSE(check_product(std::nan(""), false).ok); }

/// layer_norm without gain and bias, by hand: dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), each term optional.
Var hand_made_norm(const Var& x, bool mean_term, bool projection_term) {
  const auto [rows, n] = as_rows(x.shape());
  Tensor xhat, rstd({rows}, DType::f64);
  {
    const NoGrad no_grad;
    xhat = layer_norm(x, Var(), Var()).value();
  }
  const auto xs = x.value().values<double>();
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t far = r * n;  // any element well off the mean gives rstd = (xhat_i - xhat_j) / (x_i - x_j)
    for (std::size_t i = r * n; i < r * n + n; ++i)
      if (std::abs(xs[i] - xs[r * n]) > std::abs(xs[far] - xs[r * n])) far = i;
    rstd.values<double>()[r] = (xhat.values<double>()[far] - xhat.values<double>()[r * n]) / (xs[far] - xs[r * n]);
  }
  return record("hand_made_norm", {x}, xhat, [=, rows = rows, n = n](const Tensor& dy, Grads& grads) {
    Tensor dx(dy.shape(), DType::f64);
    const auto g = dy.values<double>(), h = xhat.values<double>();
    for (std::size_t r = 0; r < rows; ++r) {
      double mean_g = 0, mean_gh = 0;
      for (std::size_t i = r * n; i < r * n + n; ++i) {
        mean_g += mean_term ? g[i] / static_cast<double>(n) : 0.0;
        mean_gh += projection_term ? g[i] * h[i] / static_cast<double>(n) : 0.0;
      }
      for (std::size_t i = r * n; i < r * n + n; ++i)
        dx.values<double>()[i] = rstd.values<double>()[r] * (g[i] - mean_g - h[i] * mean_gh);
    }
    grads.give(0, dx);
  });
}

TEST(Gradcheck, FailsALayerNormThatForgetsOneOfItsTerms) {
  const auto check = [](bool mean_term, bool projection_term) {
    return gradcheck([=](const auto& in) { return std::vector{hand_made_norm(in[0], mean_term, projection_term)}; },
                     {input({3, 7}, 1)});
  };
  const GradcheckResult right = check(true, true);
  EXPECT_TRUE(right.ok) << right.message;
  EXPECT_FALSE(check(false, true).ok);
  EXPECT_FALSE(check(true, false).ok);
}

TEST(Gradcheck, RefusesFloat32) {
  EXPECT_TRUE(test::throws_saying<UsageError>(
      [] { gradcheck([](const auto& in) { return std::vector{mul(in[0], in[0])}; }, {test::normal_tensor({3}, 1)}); },
      {"gradcheck", "float64"}));
}

}  // namespace
}  // namespace addnorm
