// What each arrangement that is a row promises: exact identities in double, and what holds on average at initialisation.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/nn/attention.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/gradients.h"
#include "support/modules.h"
#include "support/random_branches.h"
#include "support/stream_runs.h"

namespace addnorm {
namespace {

using test::double_tolerance;
using test::input;
using test::LinearBranches;
using test::Listener;
using test::normal_tensor;
using test::one_network_tolerance;
using test::row_branches;
using test::run_stack;
using test::run_units;
using test::within;

constexpr std::size_t kWidth = 6;
constexpr std::size_t kWide = 128;

StackShape shape_of(std::size_t layers, std::size_t width = kWidth) { return {.width = width, .layers = layers}; }
/// One branch per layer: what is said of depth in units holds of layers then.
StackShape ffn_only(std::size_t layers, std::size_t width = kWide) {
  return {.width = width, .layers = layers, .sub_layers = {SubLayer::ffn}};
}
const ResidualOptions kNoEps{.norm = norm_named("layernorm-noeps")};

std::unique_ptr<Residual> in_double(const char* name, const StackShape& shape, const ResidualOptions& options = {}) {
  auto residual = make_residual(name, shape, options);
  convert(*residual, DType::f64);
  return residual;
}
Var normed(const Var& x) { return layer_norm(x, Var(), Var(), {.eps = 0}); }
Var silent(const Unit&, const Var& u) { return scale(u, 0); }
void expect_same(const Var& got, const Var& want) { EXPECT_SAME_BITS(got.value().values<float>(), want.value().values<float>()); }

// 1.1 plain

TEST(Plain, HasTheProductOfItsBranchesAsJacobian) {
  const StackShape shape = shape_of(2);
  const auto residual = in_double("plain", shape);
  const LinearBranches branches(shape, DType::f64);
  const Var x(input({1, kWidth}, 1), true);
  const Tensor dy = input({1, kWidth}, 2);
  backward(run_units(*residual, x, branches), dy);
  Var product(dy);  // dy W_4 W_3 W_2 W_1
  for (std::size_t i = shape.units(); i-- > 0;) product = matmul(product, branches.weights[i].detach());
  EXPECT_NEAR_ALL(x.grad(), product.value(), double_tolerance());
  EXPECT_NEAR_ALL(run_units(*residual, x, silent).value(), Tensor::zeros({1, kWidth}, DType::f64), test::exact());
}

/// How far tokens are from being one vector: ||X - 1 mean|| / ||X||.
double spread_of_tokens(const Tensor& x) {
  const std::size_t tokens = x.shape()[1], width = x.shape()[2];
  const Tensor values = x.to(DType::f64);
  double off = 0;
  for (std::size_t c = 0; c < width; ++c) {
    double mean = 0;
    for (std::size_t t = 0; t < tokens; ++t) mean += values.values<double>()[t * width + c] / static_cast<double>(tokens);
    for (std::size_t t = 0; t < tokens; ++t) off += std::pow(values.values<double>()[t * width + c] - mean, 2);
  }
  return std::sqrt(off) / test::length(values);
}

std::vector<double> spreads_of_attention(const char* arrangement, std::size_t layers) {
  const StackShape shape{.width = 32, .layers = layers, .sub_layers = {SubLayer::self}};
  std::vector<Attention> attention;
  for (std::size_t i = 0; i < layers; ++i) {
    attention.emplace_back(MultiHeadOptions{.d_model = 32, .heads = 4});
    initialise(attention.back(), xavier_rule, 10 + i);
  }
  Listener listener;
  run_units(
      *make_residual(arrangement, shape), Var(normal_tensor({1, 16, 32}, 1)),
      [&](const Unit& unit, const Var& u) { return attention[unit.layer](u, {}, {}); }, {}, &listener);
  std::vector<double> spreads;
  for (const Var& x : listener.streams) spreads.push_back(spread_of_tokens(x.value()));
  return spreads;
}

TEST(Plain, MakesAllTokensOneWithAttentionAlone) {
  const std::vector<double> spreads = spreads_of_attention("plain", 4);  // doubly exponential: the sixth is 0
  for (std::size_t i = 1; i < spreads.size(); ++i) EXPECT_LT(spreads[i], spreads[i - 1]) << i;
  EXPECT_LT(spreads.back(), 0.01);
  EXPECT_GT(spreads_of_attention("residual", 4).back(), 0.1);  // skips prevent it
}

// 1.2 residual

TEST(ResidualSum, IsTheInputAndAllBranchesInTheirOrder) {
  const StackShape shape = shape_of(3);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  Listener listener;
  const Var y = run_stack(*make_residual("residual", shape), x, row_branches(shape), {}, &listener);
  Var sum = x;
  for (const Var& f : listener.branches) sum = add(sum, f);
  expect_same(y, sum);
}

TEST(ResidualSum, PassesOneGradientToEveryDepthWhenBranchesAreSilent) {
  Listener listener;
  listener.retain = true;
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const Var y = run_units(*make_residual("residual", shape_of(3)), x, silent, {}, &listener);
  const Tensor dy = normal_tensor(y.shape(), 9);
  backward(y, dy);
  for (const Var& s : listener.streams) EXPECT_SAME_BITS(s.grad().values<float>(), dy.values<float>());
}

TEST(ResidualSum, OfTheIdentityIsTwiceTheInputNotTheInput) {
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  const Var y = run_units(*make_residual("residual", shape_of(2)), x, [](const Unit&, const Var& u) { return u; });
  expect_same(y, scale(x, 16));  // four units
}

TEST(ResidualSum, DoublesItsVarianceWithEveryUnit) {
  const StackShape shape = ffn_only(5);
  const Var x(normal_tensor({1, 64, kWide}, 1));
  const Var y = run_units(*make_residual("residual", shape), x, LinearBranches(shape));
  EXPECT_TRUE(within(test::mean_square(y.value()) / test::mean_square(x.value()), 32, one_network_tolerance()));
}

// 1.3 post-ln

TEST(PostLn, GivesTokensOfMeanZeroAndVarianceOne) {
  const StackShape shape = shape_of(2);
  const Var y = run_stack(*in_double("post-ln", shape, kNoEps), Var(input({2, 3, kWidth}, 1)), row_branches(shape, DType::f64));
  EXPECT_NEAR_ALL(layer_norm(y, Var(), Var(), {.eps = 0}).value(), y.value(), double_tolerance());
}

TEST(PostLn, DoesNotSeeTheScaleOfSkipAndBranch) {
  const auto residual = in_double("post-ln", {.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}}, kNoEps);
  const Tensor f = input({2, 3, kWidth}, 2);
  const auto run = [&](double c) {
    return run_units(*residual, scale(Var(input({2, 3, kWidth}, 1)), c),
                     [&](const Unit&, const Var&) { return scale(Var(f), c); });
  };
  EXPECT_NEAR_ALL(run(7).value(), run(1).value(), double_tolerance());
}

TEST(PostLn, LosesTwoDirectionsOfEveryGradient) {  // of the sum: along 1, and along the sum itself
  const auto residual = in_double("post-ln", {.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}}, kNoEps);
  const Var f(input({2, 3, kWidth}, 2), true);
  const Var y = run_units(*residual, Var(input({2, 3, kWidth}, 1)), [&](const Unit&, const Var&) { return f; });
  backward(y, input(y.shape(), 9));
  for (std::size_t token = 0; token < 6; ++token) {
    double along_one = 0, along_y = 0;
    for (std::size_t i = token * kWidth; i < (token + 1) * kWidth; ++i) {
      along_one += f.grad().values<double>()[i];
      along_y += f.grad().values<double>()[i] * y.value().values<double>()[i];
    }
    EXPECT_TRUE(within(along_one, 0, double_tolerance()));
    EXPECT_TRUE(within(along_y, 0, double_tolerance()));
  }
}

/// ||dL/dW|| of the last branch for an upstream gradient of one size.
double last_gradient(const char* name, std::size_t layers) {
  const StackShape shape = ffn_only(layers, 64);
  const LinearBranches branches(shape);
  const Var y = run_units(*make_residual(name, shape), normed(Var(normal_tensor({1, 64, 64}, 1))), branches);
  backward(y, normal_tensor(y.shape(), 9));
  return test::length(branches.weights.back().grad());
}

TEST(PostLn, HasALastGradientThatDoesNotDependOnDepth) {  // Xiong et al., theorem 1
  EXPECT_TRUE(within(last_gradient("post-ln", 32), last_gradient("post-ln", 2), one_network_tolerance()));
}

// 1.4 pre-ln

TEST(PreLn, HasALastGradientThatShrinksWithTheRootOfDepth) {
  const auto expected = [](double layers) { return 1 / std::sqrt(1 + layers); };  // 1 / the deviation before the final norm
  EXPECT_TRUE(
      within(last_gradient("pre-ln", 32) / last_gradient("pre-ln", 2), expected(32) / expected(2), one_network_tolerance()));
  EXPECT_TRUE(within(last_gradient("pre-ln-nofinal", 32), last_gradient("pre-ln-nofinal", 2), one_network_tolerance()));
}

TEST(PreLn, WithoutItsFinalNormPassesTheTopGradientToTheBottom) {
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const auto cut = [](const Unit&, const Var& u) { return u.detach(); };
  const Var y = run_units(*make_residual("pre-ln-nofinal", shape_of(3)), x, cut);
  const Tensor dy = normal_tensor(y.shape(), 9);
  backward(y, dy);
  EXPECT_SAME_BITS(x.grad().values<float>(), dy.values<float>());
}

/// E x^2 of the stream at every depth.
std::vector<double> squares(const char* name, const StackShape& shape, const ResidualOptions& options = {}) {
  Listener listener;
  run_units(*make_residual(name, shape, options), normed(Var(normal_tensor({1, 64, shape.width}, 1))), LinearBranches(shape), {},
            &listener);
  std::vector<double> all;
  for (const Var& x : listener.streams) all.push_back(test::mean_square(x.value()));
  return all;
}

TEST(PreLn, GrowsByOneBranchPerUnit) {
  const std::vector<double> at = squares("pre-ln", ffn_only(24));
  for (const std::size_t l : {6u, 12u, 24u}) EXPECT_TRUE(within(at[l], 1 + static_cast<double>(l), one_network_tolerance())) << l;
}

TEST(PreLn, DoesNotSeeACommonScaleOfInputAndOutputWeights) {
  const StackShape shape = shape_of(2);
  const auto residual = in_double("pre-ln", shape, kNoEps);
  const auto run = [&](double c) {
    return run_units(*residual, scale(Var(input({2, 3, kWidth}, 1)), c), LinearBranches(shape, DType::f64, c)).value();
  };
  EXPECT_NEAR_ALL(run(8), run(1), double_tolerance());
}

// 1.6, 1.7 sandwich, peri-ln, res-post

TEST(OutputNorms, AddAVectorOfLengthRootDWhateverTheBranchSays) {
  for (const char* name : {"sandwich", "peri-ln", "res-post"}) {
    const StackShape shape = shape_of(2);
    Listener listener;
    run_units(*in_double(name, shape, kNoEps), Var(input({1, 1, kWidth}, 1)), LinearBranches(shape, DType::f64), {}, &listener);
    for (std::size_t i = 1; i < listener.streams.size(); ++i) {
      const Tensor step = sub(listener.streams[i], listener.streams[i - 1]).value();
      EXPECT_TRUE(within(test::length(step), std::sqrt(kWidth), double_tolerance())) << name << i;
    }
    const auto louder = [&](double c) {  // weights of the branch times c
      const auto run = in_double(name, shape, kNoEps);
      return run_units(*run, Var(input({1, 3, kWidth}, 1)),
                       [&](const Unit& unit, const Var& u) { return scale(LinearBranches(shape, DType::f64)(unit, u), c); })
          .value();
    };
    EXPECT_NEAR_ALL(louder(9), louder(1), double_tolerance()) << name;
  }
}

TEST(OutputNorms, LetTheStreamGrowByOnePerUnit) {
  for (const char* name : {"sandwich", "peri-ln", "res-post"}) {
    const std::vector<double> at = squares(name, ffn_only(16));
    EXPECT_TRUE(within(at[8], 9, one_network_tolerance())) << name;
    EXPECT_TRUE(within(at[16], 17, one_network_tolerance())) << name;
  }
}

TEST(OutputNorms, OfGainZeroMakeTheIdentity) {
  for (const char* name : {"sandwich", "res-post"}) {
    const auto residual = make_residual(name, shape_of(2), {.final_norm = false});
    for_each_parameter(*residual, [&](Parameter& p) {
      if (p.path.find(".out.") != std::string::npos) p.value.value() = Tensor::zeros(p.value.shape());
    });
    const Var x(normal_tensor({2, 3, kWidth}, 1));
    expect_same(run_stack(*residual, x, row_branches(residual->shape())), x);
  }
}

// 1.8, 1.9 normformer, sub-ln: norms inside the branch

FeedForward feed_forward(const BranchOptions& wanted, double in_scale) {
  FeedForward ffn({.d_model = 8, .d_ff = 16, .activation = Activation::relu, .inner_norm = wanted.inner_norm});
  initialise(ffn, xavier_rule, 1);
  for_each_parameter(ffn, [&](Parameter& p) {
    if (p.role == Role::ffn_in) p.value.value() = scale(p.value, in_scale).value();
  });
  convert(ffn, DType::f64);
  return ffn;
}
Attention self_attention(const BranchOptions& wanted, double value_scale, double gain = 1) {
  Attention attention({.d_model = 8, .heads = 2, .inner_norm = wanted.inner_norm, .head_gain = wanted.head_gain});
  initialise(attention, xavier_rule, 1);
  for_each_parameter(attention, [&](Parameter& p) {
    if (p.role == Role::coefficient) p.value.value() = Tensor::full(p.value.shape(), gain);
    for (const Part& part : p.parts)
      if (part.role == Role::v)
        for (std::size_t i = part.first * 8; i < (part.first + part.rows) * 8; ++i)
          p.value.value().data<float>()[i] *= static_cast<float>(value_scale);
  });
  convert(attention, DType::f64);
  return attention;
}

TEST(InnerNorms, HideTheScaleOfWhatIsBeforeThem) {
  for (const char* name : {"normformer", "sub-ln"}) {
    const StackShape shape = shape_of(1, 8);
    const auto residual = in_double(name, shape, kNoEps);
    const auto run = [&](double scale_of_in, double scale_of_v) {
      return run_units(*residual, Var(input({1, 4, 8}, 1)),
                       [&](const Unit& unit, const Var& u) {
                         const BranchOptions wanted = residual->branch(unit);
                         if (unit.sub_layer == SubLayer::ffn) return feed_forward(wanted, scale_of_in)(u, {});
                         return self_attention(wanted, scale_of_v)(u, {}, {});
                       })
          .value();
    };
    EXPECT_NEAR_ALL(run(8, 1), run(1, 1), double_tolerance()) << name;  // W_1, through ReLU
    EXPECT_NEAR_ALL(run(1, 8), run(1, 1), double_tolerance()) << name;  // W_v: normformer norms after W_o, sub-ln before
  }
}

TEST(Normformer, WithHeadsOfGainZeroAddsTheBiasOfItsNorm) {
  const StackShape shape{.width = 8, .layers = 1, .sub_layers = {SubLayer::self}};
  const auto residual = make_residual("normformer", shape, {.final_norm = false});
  Tensor beta = normal_tensor({8}, 5);
  for_each_parameter(*residual, [&](Parameter& p) {
    if (p.path == "layers.0.self.out.bias") p.value.value() = beta;
  });
  convert(*residual, DType::f64);
  const Var x(input({1, 4, 8}, 1));
  const Var y = run_units(*residual, x, [&](const Unit& unit, const Var& u) {
    return self_attention(residual->branch(unit), 1, /*gain=*/0)(u, {}, {});
  });
  EXPECT_NEAR_ALL(y.value(), add_bias(x, Var(beta.to(DType::f64))).value(), double_tolerance());
}

// 1.10, 1.11 deepnorm, admin

TEST(Admin, BeforeItIsCalibratedIsPostLn) {
  const StackShape shape = shape_of(3);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  const Var post = run_stack(*make_residual("post-ln", shape), x, row_branches(shape));
  expect_same(run_stack(*make_residual("admin", shape), x, row_branches(shape)), post);
  expect_same(run_stack(*make_residual("deepnorm", shape, {.choices = {.skip_factor = 1}}), x, row_branches(shape)), post);
}

/// The learned coefficients of the skip, unit by unit.
std::vector<Var> omegas(Residual& residual) {
  std::vector<Var> all;
  for_each_parameter(residual, [&](Parameter& p) {
    if (p.role == Role::coefficient) all.push_back(p.value);
  });
  return all;
}

TEST(Admin, FillsItsCoefficientsFromOnePass) {
  const StackShape shape = ffn_only(12);
  const auto residual = make_residual("admin", shape, {.dropout = 0.1f});
  EXPECT_TRUE(residual->needs_calibration());
  const Var x = normed(Var(normal_tensor({1, 64, kWide}, 1)));
  const LinearBranches branches(shape);
  const Pass pass{.train = true};
  residual->calibrate([&](StreamObserver* observer) { run_units(*residual, x, branches, pass, observer); });
  // The same pass again, now that ω stands: the variances must be those it was computed from.
  Listener listener;
  run_units(*residual, x, branches, pass, &listener);
  double omega = 1, sum = 1;
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Tensor& filled = omegas(*residual)[i].value();
    for (const float v : filled.values<float>()) EXPECT_EQ(v, filled.values<float>()[0]);
    EXPECT_TRUE(within(static_cast<double>(filled.values<float>()[0]), omega, test::elementwise_tolerance())) << i;
    const double f = test::variance(listener.branches[i].value());
    const double next = std::sqrt(omega * omega * test::variance(listener.streams[i].value()) + f);
    EXPECT_GT(next, omega);
    omega = next;
    sum += f;
    EXPECT_TRUE(within(omega * omega, sum, one_network_tolerance())) << i;  // 1 + the variances of all branches below
  }
}

TEST(Admin, LeavesOthersAloneAndRefusesHalfAPass) {
  const auto post = make_residual("post-ln", shape_of(2));
  EXPECT_FALSE(post->needs_calibration());
  post->calibrate([](StreamObserver*) { FAIL() << "nothing to calibrate"; });
  const auto residual = make_residual("admin", shape_of(2));
  EXPECT_TRUE(test::throws_saying<UsageError>(
      [&] {
        residual->calibrate([&](StreamObserver* observer) {
          const auto stream = residual->open(Var(normal_tensor({2, 3, kWidth}, 1)), {}, observer);
          for (std::size_t i = 0; i < 2; ++i) stream->write(residual->shape().unit(i), stream->read(residual->shape().unit(i)));
        });
      },
      {"unit 2", "did not run", "4 units"}));
  for (const Var& omega : omegas(*residual)) EXPECT_EQ(*omega.data<float>(), 1.0f);
  EXPECT_TRUE(test::throws_saying<NumericsError>(
      [&] {
        residual->calibrate([&](StreamObserver* observer) {
          run_units(
              *residual, Var(normal_tensor({2, 3, kWidth}, 1)),
              [](const Unit&, const Var& u) { return Var(Tensor::full(u.shape(), NAN)); }, {}, observer);
        });
      },
      {"unit 0", "not finite"}));
}

TEST(Admin, WithTheDeviationOfEachSumIsPreLn) {
  const StackShape shape = shape_of(2);
  const LinearBranches branches(shape, DType::f64);
  const auto admin = in_double("admin", shape, kNoEps), pre = in_double("pre-ln", shape, kNoEps);
  const Var x = normed(Var(input({1, 1, kWidth}, 1)));  // one token: one number per unit is one per token
  const std::vector<Var> omega = omegas(*admin);
  Var s = x;
  double deviation = 1;
  for (std::size_t i = 0; i < shape.units(); ++i) {
    Var w = omega[i];
    w.value() = Tensor::full({kWidth}, deviation, DType::f64);
    const Var sum = add(scale(s, deviation), branches(shape.unit(i), s));
    deviation = std::sqrt(test::variance(sum.value()));
    s = normed(sum);
  }
  EXPECT_NEAR_ALL(run_units(*admin, x, branches).value(), run_units(*pre, x, branches).value(), double_tolerance());
}

TEST(Admin, CalibratedStartsNearPreLn) {
  const StackShape shape = ffn_only(12);
  const auto admin = make_residual("admin", shape), pre = make_residual("pre-ln", shape), post = make_residual("post-ln", shape);
  const LinearBranches branches(shape);
  const Var x = normed(Var(normal_tensor({1, 64, kWide}, 1)));
  admin->calibrate([&](StreamObserver* observer) { run_units(*admin, x, branches, {.train = true}, observer); });
  const Tensor want = run_units(*pre, x, branches).value();
  const auto off = [&](const Residual& residual) {
    return test::length(sub(run_units(residual, x, branches), Var(want)).value()) / test::length(want);
  };
  EXPECT_LT(off(*admin), one_network_tolerance().rtol);
  EXPECT_GT(off(*post), 5 * off(*admin));
}

TEST(Admin, FoldsIntoPostLn) {
  const StackShape shape = shape_of(2);
  const auto admin = in_double("admin", shape, {.embedding_norm = true});
  const auto post = in_double("post-ln", shape, {.embedding_norm = true});
  const auto is_norm = [](const Parameter& p) { return p.role == Role::norm_gain || p.role == Role::norm_bias; };
  std::vector<Var> from, into;
  test::scramble(*admin);
  for_each_parameter(*admin, [&](Parameter& p) {
    if (is_norm(p)) from.push_back(p.value);
  });
  for_each_parameter(*post, [&](Parameter& p) { into.push_back(p.value); });
  const std::vector<Var> omega = omegas(*admin), w = row_branches(shape, DType::f64);
  std::vector<Var> folded = w;
  ASSERT_EQ(from.size(), into.size());
  for (std::size_t norm = 0; norm <= shape.units();
       ++norm)  // the norm before unit i takes ω_i; the last one has no unit behind it
    for (std::size_t k = 0; k < 2; ++k)
      into[2 * norm + k].value() = norm < shape.units() ? mul(from[2 * norm + k].detach(), omega[norm].detach()).value()
                                                        : from[2 * norm + k].value().clone();
  for (std::size_t i = 0; i < shape.units(); ++i) {
    Tensor divided = w[i].value().clone();
    for (std::size_t c = 0; c < kWidth; ++c) divided.data<double>()[c] /= omega[i].value().values<double>()[c];
    folded[i] = Var(divided);
  }
  const Var x(input({2, 3, kWidth}, 1));
  EXPECT_NEAR_ALL(run_stack(*post, x, folded).value(), run_stack(*admin, x, w).value(), double_tolerance());
}

/// How much of the output moves when every weight moves by a hundredth of its size.
double output_change(const char* name, std::size_t layers) {
  const StackShape shape = ffn_only(layers, 64);
  const auto residual = make_residual(name, shape);
  const double beta = std::string_view(name) == "deepnorm" ? value_of(depth_rule_named("deepnorm-beta"), shape, {}) : 1;
  const Var x = normed(Var(normal_tensor({1, 32, 64}, 1)));
  const LinearBranches branches(shape, DType::f32, beta * beta);  // two matrices with a gain of β each
  const LinearBranches noise(shape, DType::f32, 0.01 * beta * beta, 900);
  if (residual->needs_calibration())
    residual->calibrate([&](StreamObserver* observer) { run_units(*residual, x, branches, {}, observer); });
  const Var before = run_units(*residual, x, branches);
  const Var after =
      run_units(*residual, x, [&](const Unit& unit, const Var& u) { return add(branches(unit, u), noise(unit, u)); });
  const Tensor change = sub(after, before).value();
  return test::mean_square(change) / 1e-4;
}

TEST(Admin, MovesWithTheLogarithmOfDepthWherePostLnMovesWithDepth) {
  const auto growth = [](const char* name) { return output_change(name, 64) / output_change(name, 4); };
  EXPECT_TRUE(within(growth("post-ln"), 64.0 / 4, one_network_tolerance()));
  EXPECT_LT(growth("admin"), 4);  // ln 65 / ln 5 = 2.6
  EXPECT_LT(growth("admin-const"), 4);
  EXPECT_LT(growth("deepnorm"), 1);
}

// 1.12, 1.13 rezero, skipinit

TEST(ZeroStart, IsTheIdentityAndPassesEveryGradientAsItIs) {
  for (const char* name : {"rezero", "skipinit"}) {
    const StackShape shape = shape_of(50);
    const auto residual = make_residual(name, shape);
    const std::vector<Var> w = row_branches(shape);
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const Var y = run_stack(*residual, x, w);
    expect_same(y, x);
    const Tensor dy = normal_tensor(y.shape(), 9);
    backward(y, dy);
    EXPECT_SAME_BITS(x.grad().values<float>(), dy.values<float>());  // all singular values are 1
    for (const Var& each : w)
      for (const float g : each.grad().values<float>()) EXPECT_EQ(g, 0.0f);
  }
}

TEST(ZeroStart, MovesOnlyItsFactorsInTheFirstStep) {
  const StackShape shape = shape_of(2);
  const std::vector<Var> w = row_branches(shape, DType::f64);
  const Tensor x = input({2, 3, kWidth}, 1), dy = input({2, 3, kWidth}, 9);
  for (const char* name : {"rezero", "skipinit"}) {
    const auto residual = in_double(name, shape);
    backward(run_stack(*residual, Var(x), w), dy);
    const std::vector<Var> alphas = omegas(*residual);
    const std::size_t units_each = shape.units() / alphas.size();  // rezero: a layer shares one
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      double want = 0;
      for (std::size_t i = k * units_each; i < (k + 1) * units_each; ++i) want += test::dot(dy, mul_row(Var(x), w[i]).value());
      EXPECT_TRUE(within(alphas[k].grad().values<double>()[0], want, double_tolerance())) << name << k;
    }
  }
}

// 1.14 layerscale

TEST(LayerScale, StartsWithinEpsilonOfTheIdentity) {
  const StackShape shape = shape_of(1);
  const auto residual = in_double("layerscale", shape, {.final_norm = false, .choices = {.branch_start = 1e-3}});
  const LinearBranches branches(shape, DType::f64);
  Listener listener;
  std::vector<double> lengths;  // of F
  run_units(
      *residual, Var(input({1, 3, kWidth}, 1)),
      [&](const Unit& unit, const Var& u) {
        const Var f = branches(unit, u);
        lengths.push_back(test::length(f.value()));
        return f;
      },
      {}, &listener);
  for (std::size_t i = 0; i < 2; ++i) {
    const double step = test::length(sub(listener.streams[i + 1], listener.streams[i]).value());
    EXPECT_TRUE(within(step, 1e-3 * lengths[i], test::reduction_tolerance(kWidth))) << i;  // λ was rounded to float once
  }
}

TEST(LayerScale, OfOneIsPreLnAndScalesTheGradientOfItsBranch) {
  const StackShape shape{.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}};
  const auto run = [&](const char* name, const ResidualOptions& options) {
    const std::vector<Var> w = row_branches(shape);
    const Var y = run_stack(*make_residual(name, shape, options), Var(normal_tensor({2, 3, kWidth}, 1)), w);
    backward(y, normal_tensor(y.shape(), 9));
    return std::pair(y, w[0].grad());
  };
  expect_same(run("layerscale", {.choices = {.branch_start = 1}}).first, run("pre-ln", {}).first);
  const auto gradient = [&](double start) {
    return run("layerscale", {.final_norm = false, .choices = {.branch_start = start}}).second;
  };
  EXPECT_SAME_BITS(gradient(0.25).values<float>(), scale(Var(gradient(1)), 0.25).value().values<float>());
}

// 1.15, 1.16 rules of initialisation over residual and post-ln

/// A sub-layer of two matrices, drawn as the arrangement says; how its parameters are found in a stack.
struct DrawnBranches : Module {
  StackShape shape;
  std::vector<FeedForward> ffn;
  DrawnBranches(const Residual& residual, Activation activation = Activation::relu) : shape(residual.shape()) {
    for (std::size_t i = 0; i < shape.units(); ++i)
      ffn.emplace_back(FeedForwardOptions{.d_model = shape.width, .d_ff = shape.width, .activation = activation});
    initialise(
        *this, [&](const Parameter& p, const Part& part) { return residual.init(p, part); }, 1);
  }
  void visit(Visitor& visitor) override {
    for (std::size_t i = 0; i < ffn.size(); ++i)
      visitor.child(concat("layers.", shape.unit(i).layer), ffn[i], {.layer = shape.unit(i).layer, .sub_layer = SubLayer::ffn});
  }
  Var operator()(const Unit& unit, const Var& u) const { return ffn[unit.index](u, {}); }
};

/// ||y' - y|| / ||y|| after a step of `rate` along the sign of every gradient: Adam's first.
double first_step(const char* name, std::size_t layers) {
  const auto residual = make_residual(name, ffn_only(layers, 32));
  DrawnBranches branches(*residual);
  const Var x(normal_tensor({1, 32, 32}, 1));
  const Var y = run_units(*residual, x, branches);
  backward(y, normal_tensor(y.shape(), 9));
  for_each_parameter(branches, [](Parameter& p) {
    const float rate = 1e-5f;
    for (std::size_t i = 0; i < p.value.value().elements(); ++i) {
      const float g = p.value.grad().values<float>()[i];
      p.value.value().data<float>()[i] -= g > 0 ? rate : g < 0 ? -rate : 0;
    }
  });
  return test::length(sub(run_units(*residual, x, branches), y).value()) / test::length(y.value());
}

// Between 8 and 64 layers of two matrices each: some depth^0.8 against depth^1.1 of plain Xavier.
TEST(TFixup, MovesLessThanInProportionToDepthInOneStepOfAdam) {
  EXPECT_LT(first_step("t-fixup", 64) / first_step("t-fixup", 8), 8);
  EXPECT_GT(first_step("residual", 64) / first_step("residual", 8), 8);
  EXPECT_LT(first_step("t-fixup", 8), first_step("residual", 8));
}

TEST(DsInit, LetsBranchesShrinkWithTheSquareOfTheLayer) {
  const auto residual = make_residual("ds-init", ffn_only(8));
  const DrawnBranches branches(*residual);
  const Var x(normal_tensor({1, 64, kWide}, 1));
  const auto size = [&](std::size_t layer) { return test::variance(branches(residual->shape().unit(layer), x).value()); };
  EXPECT_TRUE(within(size(0) / size(1), 4, one_network_tolerance()));
  EXPECT_TRUE(within(size(0) / size(7), 64, one_network_tolerance()));
  // With branches of variance 1/l² the skip keeps a share however deep: sqrt(pi / sinh(pi)).
  double gain = 1;
  for (double l = 1; l <= 1e5; ++l) gain /= std::sqrt(1 + 1 / (l * l));
  EXPECT_EQ(std::round(gain * 1e3), std::round(std::sqrt(M_PI / std::sinh(M_PI)) * 1e3));
  EXPECT_EQ(std::round(gain * 100), 52);
}

// 1.21 xskip

TEST(Xskip, MultipliesValueAndGradientByLambdaPerUnit) {
  for (const double lambda : {0.5, 2.0}) {
    const auto residual = make_residual("xskip", shape_of(5), {.choices = {.skip_factor = lambda}});
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const Var y = run_units(*residual, x, silent);
    expect_same(y, scale(x, std::pow(lambda, 10)));
    const Tensor dy = normal_tensor(y.shape(), 9);
    backward(y, dy);
    EXPECT_SAME_BITS(x.grad().values<float>(), scale(Var(dy), std::pow(lambda, 10)).value().values<float>());
  }
}

// 1.23, 1.24 mix-ln, lns

TEST(MixLn, HasAStreamOfLengthRootDAtItsSeam) {
  const StackShape shape = ffn_only(8);
  const std::vector<double> at = squares("mix-ln", shape, kNoEps);
  EXPECT_TRUE(within(at[2], 1, test::variance_tolerance()));  // after the last of the post-ln layers
  EXPECT_TRUE(within(at[3], 2, one_network_tolerance()));     // then it grows
}

TEST(Lns, OfOneLayerIsPreLn) {
  const StackShape shape = shape_of(1);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  expect_same(run_stack(*make_residual("lns", shape), x, row_branches(shape)),
              run_stack(*make_residual("pre-ln", shape), x, row_branches(shape)));
}

TEST(Lns, GrowsWithTheLogarithmOfDepth) {
  const StackShape shape{.width = kWide, .layers = 16, .sub_layers = {SubLayer::ffn, SubLayer::ffn}};
  double harmonic = 0;
  for (double l = 1; l <= 16; ++l) harmonic += 1 / l;
  EXPECT_TRUE(within(squares("lns", shape).back(), 1 + 2 * harmonic, one_network_tolerance()));
}

// 1.28 keel

TEST(Keel, OfFactorOneStartsAsPostLn) {
  const StackShape shape = shape_of(2);
  const auto keel = in_double("keel", shape, {.norm = kNoEps.norm, .choices = {.skip_factor = 1}});
  const Var x = normed(Var(input({2, 3, kWidth}, 1)));
  const std::vector<Var> w = row_branches(shape, DType::f64);
  EXPECT_NEAR_ALL(run_stack(*keel, x, w).value(), run_stack(*in_double("post-ln", shape, kNoEps), x, w).value(),
                  double_tolerance());
}

TEST(Keel, TurnsTheStreamByOneBranchInN) {
  const StackShape shape = ffn_only(8);
  Listener listener;
  run_units(*make_residual("keel", shape), normed(Var(normal_tensor({1, 64, kWide}, 1))), LinearBranches(shape), {}, &listener);
  for (std::size_t i = 1; i < listener.streams.size(); ++i) {
    const double cos = test::cosine(listener.streams[i - 1].value(), listener.streams[i].value());
    EXPECT_TRUE(within(std::sqrt(1 / (cos * cos) - 1), 1.0 / 8, one_network_tolerance())) << i;  // the tangent: σ / α
  }
}

// 1.34 scaled-res

TEST(ScaledRes, StaysBelowETimesItsInputAtAnyDepth) {
  for (const std::size_t layers : {4u, 16u, 64u}) {
    const StackShape shape = ffn_only(layers, 64);
    const LinearBranches branches(shape);
    const Var x(normal_tensor({1, 32, 64}, 1));
    Arrangement row = arrangement_named("scaled-res");  // branches that read the stream itself
    row.unit.in = row.exit = false;
    const double grown =
        test::mean_square(run_units(*make_residual(row, shape), x, branches).value()) / test::mean_square(x.value());
    const double n = static_cast<double>(layers);
    EXPECT_TRUE(within(grown, std::pow(1 + 1 / n, n), one_network_tolerance())) << layers;
  }
}

TEST(ScaledRes, KeepsTokensApartHoweverDeep) { EXPECT_GT(spreads_of_attention("scaled-res", 64).back(), 0.5); }

// 0.4 (7): what norms do not see

TEST(Norms, HideShiftAndScaleAsTheirFormulasSay) {
  const Var x(input({3, kWidth}, 1));
  const Var moved = add_bias(scale(x, 3), Var(Tensor::full({kWidth}, 2, DType::f64)));
  const auto norm = [](const char* name, const Var& v) {
    NormKindOptions kind = norm_named(name);
    kind.eps = 0;
    Norm module(kind, kWidth);
    convert(module, DType::f64);
    return module(v, {}).value();
  };
  const auto same = [](const Tensor& a, const Tensor& b) { return static_cast<bool>(test::near_all(a, b, double_tolerance())); };
  EXPECT_TRUE(same(norm("layernorm", moved), norm("layernorm", x)));
  EXPECT_TRUE(same(norm("layernorm", Var(norm("layernorm", x))), norm("layernorm", x)));
  for (const char* name : {"rmsnorm", "scalenorm"}) {
    EXPECT_TRUE(same(norm(name, scale(x, 3)), norm(name, x))) << name;
    EXPECT_FALSE(same(norm(name, moved), norm(name, x))) << name;
  }
  EXPECT_FALSE(same(norm("dyt", scale(x, 3)), norm("dyt", x)));
}

// 0.4 (9): the share of the skip that is left after n units

/// The product of a / sqrt(a^2 + σ^2) over post-normed units, with the row's own a.
double skip_gain(const char* name, std::size_t units, double branch_variance) {
  const StackShape shape = ffn_only(units);
  double gain = 1;
  for (std::size_t i = 0; i < units; ++i) {
    const double a = value_of(arrangement_named(name).slots(shape, shape.unit(i)).a.start, shape, shape.unit(i));
    gain *= a / std::sqrt(a * a + branch_variance);
  }
  return gain;
}

TEST(SkipGain, IsThePublishedOne) {
  const auto three = [](double v) { return std::round(v * 1e3); };
  EXPECT_EQ(std::round(skip_gain("post-ln", 12, 1) * 1e4), 156);
  EXPECT_EQ(std::round(skip_gain("post-ln", 36, 1) * 1e7), 38);
  EXPECT_EQ(std::round(skip_gain("admin-const", 12, 1) * 1e2), 27);
  EXPECT_EQ(std::round(skip_gain("admin-const", 36, 1) * 1e2), 16);
  EXPECT_EQ(std::round(skip_gain("admin-const", 100, 1) * 1e4), 965);
  EXPECT_EQ(three(skip_gain("keel", 12, 1)), 959);
  EXPECT_EQ(three(skip_gain("keel", 36, 1)), 986);
  EXPECT_EQ(three(skip_gain("keel", 100, 1)), 995);
  // deepnorm counts layers of two units: a stack of n / 2 layers, and branches of variance β⁴.
  for (const auto& [units, want] : {std::pair(12u, 965.0), std::pair(36u, 979.0), std::pair(100u, 988.0)}) {
    const StackShape shape = shape_of(units / 2);
    const double a = value_of(depth_rule_named("deepnorm-alpha"), shape, shape.unit(0));
    const double beta = value_of(depth_rule_named("deepnorm-beta"), shape, shape.unit(0));
    EXPECT_EQ(three(std::pow(1 / std::sqrt(1 + std::pow(beta, 4) / (a * a)), units)), want) << units;
  }
}

TEST(SkipGain, IsWhatIsLeftOfTheInput) {
  const std::size_t units = 12;
  const StackShape shape = ffn_only(units, 512);
  const Var x = normed(Var(normal_tensor({1, 64, 512}, 1)));
  const auto left = [&](const char* name) {  // branches that have nothing in common with x
    const Var y = run_units(*make_residual(name, shape), x,
                            [](const Unit& unit, const Var& u) { return Var(normal_tensor(u.shape(), 1000 + unit.index)); });
    return test::cosine(x.value(), y.value());
  };
  EXPECT_TRUE(within(left("keel"), skip_gain("keel", units, 1), one_network_tolerance()));
  EXPECT_TRUE(within(left("admin-const"), skip_gain("admin-const", units, 1), one_network_tolerance()));
  EXPECT_TRUE(within(left("pre-ln"), 1 / std::sqrt(1.0 + units), one_network_tolerance()));
}

// Numbers that follow from depth

TEST(DepthRules, HaveTheValuesOfTheirSources) {
  const auto value = [](const char* rule, std::size_t layers, StackKind kind, std::size_t other = 0) {
    const StackShape shape{.width = 8, .layers = layers, .kind = kind, .other_layers = other};
    return value_of(depth_rule_named(rule), shape, shape.unit(0));
  };
  const auto four = [](double v) { return std::round(v * 1e4); };
  const auto three = [](double v) { return std::round(v * 1e3); };
  EXPECT_EQ(four(value("deepnorm-alpha", 100, StackKind::encoder_only)), 37606);
  EXPECT_EQ(four(value("deepnorm-beta", 100, StackKind::encoder_only)), 1880);
  EXPECT_EQ(four(value("deepnorm-alpha", 12, StackKind::decoder_only)), 22134);
  EXPECT_EQ(three(value("sub-ln-gamma", 6, StackKind::encoder, 6)), 1547);
  EXPECT_EQ(three(value("sub-ln-gamma", 6, StackKind::decoder, 6)), 1700);
  EXPECT_EQ(three(value("admin-const", 100, StackKind::encoder_only)), 6075);  // n = 200
  EXPECT_EQ(three(value("t-fixup", 6, StackKind::encoder, 6)), 428);
  EXPECT_EQ(three(value("t-fixup", 6, StackKind::decoder, 6)), 369);
  EXPECT_EQ(value("layerscale", 18, StackKind::encoder_only), 0.1);
  EXPECT_EQ(value("layerscale", 24, StackKind::encoder_only), 1e-5);
  EXPECT_EQ(value("layerscale", 36, StackKind::encoder_only), 1e-6);
}

TEST(DepthRules, ReachTheWeightsTheyAreFor) {
  const auto size = [](const char* name, Role role, SubLayer at, const StackShape& shape) {
    Var matrix(Tensor::zeros({8, 8}), true);
    const Parameter p{"w", matrix, role, {}, {.layer = 0, .sub_layer = at}};
    return make_residual(name, shape)->init(p, {role, 0, 8})->deviation() / std::sqrt(1.0 / 8);  // of Xavier
  };
  const StackShape decoder{.width = 8,
                           .layers = 6,
                           .sub_layers = {SubLayer::self, SubLayer::cross, SubLayer::ffn},
                           .kind = StackKind::decoder,
                           .other_layers = 6};
  for (const Role role : {Role::v, Role::attention_out}) {
    EXPECT_EQ(std::round(size("sub-ln", role, SubLayer::self, decoder) * 1e3), 1700);
    EXPECT_EQ(std::round(size("sub-ln", role, SubLayer::cross, decoder) * 1e3), 1000);  // left as it is
    EXPECT_EQ(std::round(size("deepnorm", role, SubLayer::cross, decoder) * 1e4), std::round(std::pow(72, -0.25) * 1e4));
    EXPECT_EQ(std::round(size("t-fixup", role, SubLayer::cross, decoder) * 1e3), 369);
  }
  for (const char* name : {"sub-ln", "deepnorm", "t-fixup"})
    for (const Role role : {Role::q, Role::k})
      EXPECT_EQ(std::round(size(name, role, SubLayer::self, decoder) * 1e3), 1000) << name;
}

}  // namespace
}  // namespace addnorm
