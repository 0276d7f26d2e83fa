// Numbers and enum values that no op can mean, and what the refusals say.
#include <limits>

#include "addnorm/autograd/gradcheck.h"
#include "addnorm/autograd/ops.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Var matrix(DType dtype = DType::f32) { return Var(test::normal_tensor({2, 4}, 1, dtype)); }
/// [batch, tokens, width] for attention.
Var tokens(DType dtype = DType::f32) { return Var(test::normal_tensor({1, 3, 4}, 1, dtype)); }

template <class Body>
testing::AssertionResult refused(Body&& body, std::initializer_list<std::string> parts) {
  return throws_saying<UsageError>(body, parts);
}

TEST(Scalars, AFactorMustBeFiniteAndFitTheDType) {
  for (const double bad : {kNaN, kInf, -kInf}) {
    EXPECT_TRUE(refused([&] { scale(matrix(), bad); }, {concat("scale: factor is ", bad), "finite"}));
    EXPECT_TRUE(refused([&] { scale(matrix(DType::f64), bad); }, {concat("scale: factor is ", bad), "finite"}));
  }
  EXPECT_TRUE(refused([] { scale(matrix(), -1e39); }, {"scale: factor is -1e+39", "float32"}));
  EXPECT_EQ(scale(matrix(DType::f64), 0x1p200).value().data<double>()[0], matrix(DType::f64).data<double>()[0] * 0x1p200);
}

TEST(Scalars, TheFactorsOfTheResidualSumMustBeFiniteUnlessTheyAreLearned) {
  for (const double bad : {kNaN, kInf, 1e39}) {
    const AddNormOptions bad_a{{}, {bad, {}}, {}, {}}, bad_b{{}, {}, {bad, {}}, {}};
    EXPECT_TRUE(refused([&] { add_layer_norm(matrix(), matrix(), Var(), Var(), bad_a); },
                        {concat("add_layer_norm: the factor a is ", bad), "float32"}));
    EXPECT_TRUE(refused([&] { add_rms_norm(matrix(), matrix(), Var(), bad_b); },
                        {concat("add_rms_norm: the factor b is ", bad), "float32"}));
    const AddNormOptions learned{{}, {bad, Var(Tensor::full({1}, 2.0))}, {}, {}};
    EXPECT_NO_THROW(add_layer_norm(matrix(), matrix(), Var(), Var(), learned));
  }
}

TEST(Scalars, OfAttentionMustFitTheDType) {
  for (const double bad : {kNaN, kInf, 1e39})
    EXPECT_TRUE(refused([&] { attention(tokens(), tokens(), tokens(), {.scale = bad}); },
                        {concat("attention: scale is ", bad), "float32"}));
  for (const double bad : {kNaN, kInf, -1.0, 1e39, 1e-50})  // a cap that becomes 0 would be none
    EXPECT_TRUE(refused([&] { attention(tokens(), tokens(), tokens(), {.softcap = bad}); },
                        {concat("attention: softcap is ", bad), "float32"}));
  EXPECT_NO_THROW(attention(tokens(DType::f64), tokens(DType::f64), tokens(DType::f64), {.softcap = 1e-50}));
}

TEST(Scalars, OfEveryOtherOpThatIsOutOfRange) {
  const std::vector<std::int32_t> targets{0, 1};
  Tensor mean = Tensor::zeros({4}), var = Tensor::full({4}, 1.0);
  for (const float bad : {-1.0f, static_cast<float>(kNaN), static_cast<float>(kInf)}) {
    const std::string said = concat("eps is ", bad);
    EXPECT_TRUE(refused([&] { layer_norm(matrix(), Var(), Var(), {.eps = bad}); }, {"layer_norm", said}));
    EXPECT_TRUE(refused([&] { rms_norm(matrix(), Var(), {.eps = bad}); }, {"rms_norm", said}));
    EXPECT_TRUE(refused([&] { l2_norm(matrix(), bad); }, {"l2_norm", said}));
    EXPECT_TRUE(refused([&] { scale_norm(matrix(), Var(Tensor::full({1}, 1.0)), bad); }, {"scale_norm", said}));
    EXPECT_TRUE(refused([&] { batch_norm(matrix(), Var(), Var(), mean, var, {.eps = bad}); }, {"batch_norm", said}));
    EXPECT_TRUE(refused([&] { batch_norm(matrix(), Var(), Var(), mean, var, {.momentum = bad}); }, {"momentum is"}));
    EXPECT_TRUE(refused([&] { dropout(matrix(), bad, RandomKey(1)); }, {"dropout: p is"}));
    EXPECT_TRUE(refused([&] { cross_entropy(matrix(), targets, {.label_smoothing = bad}); }, {"label_smoothing is"}));
    EXPECT_TRUE(refused([&] { rotary_tables(2, 4, bad); }, {"rotary_tables: base is"}));
  }
}

TEST(Scalars, OfGradcheckMustBePositiveOrForTolerancesNotNegative) {
  const GradcheckFn fn = [](const std::vector<Var>& in) { return std::vector{mul(in[0], in[0])}; };
  const std::vector<Tensor> x{test::normal_tensor({2}, 1, DType::f64)};
  for (const double bad : {0.0, -1e-5, kNaN, kInf})
    EXPECT_TRUE(refused([&] { gradcheck(fn, x, {.h = bad}); }, {concat("gradcheck: h is ", bad)}));
  for (const double bad : {-1e-5, kNaN, kInf}) {
    EXPECT_TRUE(refused([&] { gradcheck(fn, x, {.rtol = bad}); }, {concat("gradcheck: rtol is ", bad)}));
    EXPECT_TRUE(refused([&] { gradcheck(fn, x, {.atol = bad}); }, {concat("gradcheck: atol is ", bad)}));
  }
}

TEST(Enums, ValuesThatAreNoneAreRefusedWithWhatIsAllowed) {
  const std::vector<std::int32_t> ids{0, 1};
  EXPECT_TRUE(refused([] { gelu(matrix(), static_cast<GeluForm>(99)); },
                      {"gelu: form is 99; allowed are GeluForm::exact (0) and tanh (1)"}));
  EXPECT_TRUE(refused([&] { cross_entropy(matrix(), ids, {.reduction = static_cast<Reduction>(7)}); },
                      {"cross_entropy: reduction is 7; allowed are Reduction::mean (0), sum (1) and none (2)"}));
  EXPECT_TRUE(refused([&] { rotary(matrix(), rotary_tables(2, 4), std::vector{0}, static_cast<RotaryPairs>(-1)); },
                      {"rotary: pairs is -1; allowed are RotaryPairs::adjacent (0) and halves (1)"}));
  EXPECT_TRUE(refused([] { linear(matrix(), matrix(), Var(), static_cast<LinearActivation>(99)); },
                      {"linear: activation is 99; allowed are LinearActivation::none (0), relu (1)", "silu (4)"}));
  for (const int bad : {-1, 2, 99}) {
    const auto place = static_cast<EpsPlace>(bad);
    const std::string said = concat("eps_place is ", bad, "; allowed are EpsPlace::inside_root (0) and outside_root (1)");
    EXPECT_TRUE(refused([&] { rms_norm(matrix(), Var(), {.eps_place = place}); }, {"rms_norm: " + said}));
    EXPECT_TRUE(refused([&] { layer_norm(matrix(), Var(), Var(), {.eps_place = place}); }, {"layer_norm: " + said}));
  }
  EXPECT_TRUE(refused([] { rotary_tables(2, 4, 10000, static_cast<DType>(99)); }, {"DType 99"}));
}

TEST(Concat, RefusesAnAxisThatWouldOverflow) {
  const Var long_axis(Tensor(Shape{0, std::size_t{1} << 63}));
  EXPECT_TRUE(refused([&] { concat({long_axis, long_axis}, 1); }, {"concat", "axis 1", "64 bits"}));
}

}  // namespace
}  // namespace addnorm
