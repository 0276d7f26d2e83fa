// gradcheck itself: it passes right gradients and fails wrong ones (the negative controls of N-15).
#include "addnorm/autograd/gradcheck.h"

#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/norms/hand_made_norm.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::throws_saying;

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

TEST(Gradcheck, APassSaysHowManyDerivativesAgreedAndWhichWasWorst) {
  const GradcheckResult result = check_product(1.0, false);
  EXPECT_EQ(result.compared, 24u);
  EXPECT_TRUE(result.message.starts_with("24 of 24 derivatives agree; the worst: input ")) << result.message;
  EXPECT_NE(result.message.find("of [3, 4]: analytic "), std::string::npos) << result.message;
}

TEST(Gradcheck, RefusesToPassWhenNothingWasCompared) {
  const auto itself = [](const auto& in) { return in; };
  EXPECT_TRUE(throws_saying<UsageError>([&] { gradcheck(itself, {}); }, {"gradcheck", "nothing to compare", "0 results"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { gradcheck(itself, {Tensor({0, 3}, DType::f64)}); }, {"nothing to compare"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { gradcheck([](const auto&) { return std::vector<Var>(); }, {input({3}, 1)}); },
                                        {"nothing to compare", "0 results"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [] { gradcheck([](const auto& in) { return std::vector{sum(in[0])}; }, {Tensor({0}, DType::f64)}); },
      {"nothing to compare", "1 inputs"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { gradcheck([](const auto&) { return std::vector<Var>(1); }, {input({3}, 1)}); },
                                        {"gradcheck", "result 0", "undefined"}));
}

TEST(Gradcheck, RefusesAFunctionThatGivesOtherResultsWhenRunAgain) {
  std::size_t calls = 0;
  const auto more = [&calls](const auto& in) { return std::vector<Var>(1 + calls++, mul(in[0], in[0])); };
  EXPECT_TRUE(throws_saying<UsageError>([&] { gradcheck(more, {input({3}, 1)}); }, {"gradcheck", "gave 1 results, and 2"}));
  const auto wider = [&calls](const auto& in) { return std::vector{concat(std::vector<Var>(++calls, in[0]), 0)}; };
  calls = 0;
  EXPECT_TRUE(throws_saying<UsageError>([&] { gradcheck(wider, {input({3}, 1)}); }, {"result 0 is [3], and [6]"}));
}

TEST(Gradcheck, DirectionsPassRightGradientsAndFailWrongOnesAtLargeShapes) {
  const auto check = [](double factor, bool exchanged) {
    return gradcheck([=](const auto& in) { return std::vector{product(in[0], in[1], factor, exchanged)}; },
                     {input({100, 30}, 1), input({100, 30}, 2)}, {.directions = 3});
  };
  const GradcheckResult right = check(1.0, false);
  EXPECT_TRUE(right.ok) << right.message;
  EXPECT_EQ(right.compared, 6u);
  EXPECT_NE(right.message.find(" direction "), std::string::npos) << right.message;
  EXPECT_FALSE(check(1.0001, false).ok);
  EXPECT_FALSE(check(1.0, true).ok);
  EXPECT_FALSE(check(std::nan(""), false).ok);
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

TEST(Gradcheck, FailsALayerNormThatForgetsOneOfItsTerms) {
  const auto check = [](bool mean_term, bool projection_term) {
    return gradcheck([=](const auto& in) { return std::vector{test::hand_made_norm(in[0], mean_term, projection_term)}; },
                     {input({3, 7}, 1)});
  };
  const GradcheckResult right = check(true, true);
  EXPECT_TRUE(right.ok) << right.message;
  EXPECT_FALSE(check(false, true).ok);
  EXPECT_FALSE(check(true, false).ok);
}

TEST(Gradcheck, ExactAgreementPassesWithoutAnyAllowance) {
  // The second input is not read: both its derivatives are exactly 0.
  const auto square = [](const auto& in) { return std::vector{mul(in[0], in[0])}; };
  const GradcheckResult result = gradcheck(square, {input({3}, 1), input({2}, 2)}, {.atol = 0});
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_FALSE(std::isnan(result.worst));
  EXPECT_FALSE(gradcheck(square, {input({3}, 1)}, {.rtol = 0, .atol = 0}).ok) << "differences are never exact here";
}

TEST(Gradcheck, FailsEqualInfinities) {
  // y jumps from 0 to infinity at x = 0, and its gradient says so with the sign that the difference has.
  const auto jump = [](const auto& in) {
    const double y = in[0].value().item() > 0 ? HUGE_VAL : 0.0;
    return std::vector{record("jump", {in[0]}, Tensor::full({1}, y, DType::f64), [](const Tensor& dy, Grads& grads) {
      grads.give(0, Tensor::full({1}, std::copysign(HUGE_VAL, dy.item()), DType::f64));
    })};
  };
  const GradcheckResult result = gradcheck(jump, {Tensor::zeros({1}, DType::f64)});
  EXPECT_FALSE(result.ok) << result.message;
  EXPECT_NE(result.message.find("inf, numeric "), std::string::npos) << result.message;
}

TEST(Gradcheck, RefusesFloat32) {
  EXPECT_TRUE(throws_saying<UsageError>(
      [] { gradcheck([](const auto& in) { return std::vector{mul(in[0], in[0])}; }, {test::normal_tensor({3}, 1)}); },
      {"gradcheck", "float64"}));
}

}  // namespace
}  // namespace addnorm
