// Every kind of norm as a module: gradients, the fused residual step, the invariants that distinguish the kinds, names.
#include "addnorm/nn/norm.h"

#include <cmath>

#include "addnorm/autograd/tape.h"
#include "support/gradients.h"
#include "support/modules.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::input;
using test::normal_tensor;
using test::throws_saying;

constexpr Pass kEval{};
const Pass kTrain{.train = true};

class EveryNorm : public testing::TestWithParam<std::string> {
 protected:
  NormKindOptions options() const { return norm_named(GetParam()); }
  Norm scrambled(std::size_t width) const {
    Norm norm(options(), width);
    test::scramble(norm);
    return norm;
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryNorm, testing::ValuesIn(norm_names().begin(), norm_names().end()), test::name_of_test);

TEST_P(EveryNorm, HasTheGradientsOfFiniteDifferences) {
  for (const Pass& pass : {kEval, kTrain}) {
    Norm norm = scrambled(6);
    EXPECT_TRUE(test::gradients_hold(norm, [&](const std::vector<Var>& in) { return norm(in[0], pass); }, {input({2, 3, 6}, 1)}));
  }
}

TEST_P(EveryNorm, GivesTheSameBitsFusedWithTheSum) {
  const Norm norm = scrambled(48);
  const Var x(normal_tensor({3, 5, 48}, 1), true), f(normal_tensor({3, 5, 48}, 2), true);
  const Var vector(normal_tensor({48}, 3), true), number(normal_tensor({1}, 4), true);
  const DropoutSpec dropped{.p = 0.25f, .key = kTrain.key("here").bits(), .first_row = 30};
  for (const Factor& a : {Factor{}, Factor{.constant = 1.7}, Factor{.learned = vector}, Factor{.learned = number}})
    for (const Factor& b : {Factor{}, Factor{.constant = 0.3}, Factor{.learned = vector}, Factor{.learned = number}})
      for (const DropoutSpec& dropout : {DropoutSpec{}, dropped}) {
        const auto [sum, y] = norm.add(x, f, a, b, dropout, kEval);
        const Var one_by_one = residual_sum(x, f, a, b, dropout);
        EXPECT_SAME_BITS(sum.value().values<float>(), one_by_one.value().values<float>());
        EXPECT_SAME_BITS(y.value().values<float>(), norm(one_by_one, kEval).value().values<float>());
      }
}

TEST_P(EveryNorm, StartsWithGainOneAndNoBias) {
  const std::size_t width = 32;
  const Norm norm(options(), width);
  NormKindOptions bare = options();
  if (bare.formula == NormFormula::scale) return;  // its one number starts at sqrt(width): see below
  bare.gain = bare.bias = bare.gain_is_one_plus = false;
  const Var x(normal_tensor({4, width}, 1));
  EXPECT_SAME_BITS(norm(x, kEval).value().values<float>(), Norm(bare, width)(x, kEval).value().values<float>());
}

TEST_P(EveryNorm, SaysItsFormula) { EXPECT_FALSE(formula_of(options()).empty()); }

double row_mean(const Var& y, std::size_t row, int power) {
  const std::size_t n = y.shape().back();
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += std::pow(static_cast<double>(y.data<float>()[row * n + i]), power);
  return total / static_cast<double>(n);
}

TEST(LayerNorm, LeavesMeanZeroAndVarianceVOverVPlusEps) {
  const Norm norm({.eps = 0.5f}, 512);
  const Var x(normal_tensor({2, 512}, 1));
  const Var y = norm(x, kEval);
  for (std::size_t r = 0; r < 2; ++r) {
    const double v = row_mean(x, r, 2) - std::pow(row_mean(x, r, 1), 2);
    EXPECT_NEAR(row_mean(y, r, 1), 0, test::norm_tolerance().atol);
    EXPECT_NEAR(row_mean(y, r, 2), v / (v + 0.5), test::variance_tolerance().rtol);
  }
}

TEST(RmsNorm, EqualsLayerNormWhereTheMeanIsZero) {
  Tensor x = normal_tensor({3, 64}, 1);
  for (std::size_t i = 0; i < x.elements(); i += 2) x.data<float>()[i + 1] = -x.data<float>()[i];
  EXPECT_NEAR_ALL(Norm(norm_named("rmsnorm"), 64)(Var(x), kEval).value(),
                  Norm(norm_named("layernorm"), 64)(Var(x), kEval).value(), test::two_norms_tolerance());
}

TEST(ScaleNorm, StartsAsRmsNorm) {
  const Var x(normal_tensor({3, 64}, 1));
  NormKindOptions rms = norm_named("rmsnorm");
  rms.eps = 0;
  EXPECT_NEAR_ALL(Norm(norm_named("scalenorm"), 64)(x, kEval).value(), Norm(rms, 64)(x, kEval).value(),
                  test::two_norms_tolerance());
}

TEST(PartialRms, OfAllFeaturesIsTheOriginalRmsNorm) {
  NormKindOptions partial = norm_named("prmsnorm");
  const Var x(normal_tensor({3, 64}, 1));
  const Tensor whole = Norm(norm_named("rmsnorm-original"), 64)(x, kEval).value();
  EXPECT_FALSE(test::near_all(Norm(partial, 64)(x, kEval).value(), whole, test::two_norms_tolerance()));
  partial.part = 1;
  EXPECT_NEAR_ALL(Norm(partial, 64)(x, kEval).value(), whole, test::two_norms_tolerance());
}

TEST(PartialRms, MeasuresOnlyTheFirstFeatures) {
  NormKindOptions partial = norm_named("prmsnorm");
  partial.part = 0.25;
  Tensor x = normal_tensor({1, 8}, 1);
  const Tensor before = Norm(partial, 8)(Var(x), kEval).value();
  x.data<float>()[2] = 1000;  // the third of eight: not measured
  const Tensor after = Norm(partial, 8)(Var(x), kEval).value();
  EXPECT_SAME_BITS(after.values<float>().first(2), before.values<float>().first(2));
}

TEST(BatchNorm, DependsOnOtherRowsInTrainingAndNotInEval) {
  const Norm batch(norm_named("batchnorm"), 8), layer(norm_named("layernorm"), 8);
  Tensor x = normal_tensor({4, 8}, 1);
  const auto first_row = [&](const Norm& norm, const Pass& pass) {
    const Tensor y = norm(Var(x), pass).value();
    return std::vector<float>(y.data<float>(), y.data<float>() + 8);
  };
  const auto trained = first_row(batch, kTrain), layered = first_row(layer, kTrain);
  const auto evaluated = first_row(batch, kEval);
  for (std::size_t i = 8; i < 32; ++i) x.data<float>()[i] *= 3;
  EXPECT_FALSE(test::same_bits(first_row(batch, kTrain), trained));
  EXPECT_SAME_BITS(first_row(layer, kTrain), layered);
  EXPECT_FALSE(test::same_bits(first_row(batch, kEval), evaluated)) << "training has moved the running statistics";
}

TEST(BatchNorm, LeavesPaddingOut) {
  Tensor x = normal_tensor({4, 8}, 1);
  Pass padded{.train = true, .padding = {0, 0, 0, 1}};
  const auto first_rows = [&] {
    const Norm batch(norm_named("batchnorm"), 8);
    const Tensor y = batch(Var(x), padded).value();
    return std::vector<float>(y.data<float>(), y.data<float>() + 24);
  };
  const auto before = first_rows();
  x.data<float>()[24] = 1e6f;
  EXPECT_SAME_BITS(first_rows(), before);
}

TEST(NormNames, IgnoreCaseDashAndUnderscoreAndKnowAliases) {
  EXPECT_EQ(norm_named("RMS_Norm").formula, NormFormula::rms);
  EXPECT_EQ(norm_named("LayerNorm").formula, NormFormula::layer);
  EXPECT_EQ(norm_named("ln").formula, NormFormula::layer);
  EXPECT_EQ(norm_named("use_dynamic_tanh").formula, NormFormula::dyt);
  EXPECT_FALSE(norm_named("non_parametric_layernorm").gain);
  EXPECT_TRUE(
      throws_saying<UsageError>([] { norm_named("laynorm"); }, {"unknown norm 'laynorm'", "did you mean layernorm", "rmsnorm"}));
}

TEST(Norm, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(throws_saying<UsageError>([] { Norm(norm_named("layernorm"), 0); }, {"Norm", "width is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Norm({.eps = -1}, 3); }, {"Norm", "eps is -1"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Norm({.formula = NormFormula::partial_rms, .part = 0}, 3); }, {"part is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Norm({.formula = static_cast<NormFormula>(77)}, 3); },
                                        {"formula is 77", "NormFormula::none"}));
}

}  // namespace
}  // namespace addnorm
