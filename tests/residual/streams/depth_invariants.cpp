// What arrangements promise about depth: Admin's profiling, rules of initialisation, the skip's share, published numbers.
#include "addnorm/nn/feed_forward.h"
#include "addnorm/residual/explain.h"
#include "support/streams/invariants.h"

namespace addnorm {
namespace {

using namespace test;  // the words that invariants are written in

// 1.10, 1.11 deepnorm, admin

TEST(Admin, BeforeItIsCalibratedIsPostLn) {
  const StackShape shape = shape_of(3);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  const Var post = run_stack(*make_residual("post-ln", shape), x, row_branches(shape));
  expect_same(run_stack(*make_residual("admin", shape), x, row_branches(shape)), post);
  expect_same(run_stack(*make_residual("deepnorm", shape, {.choices = {.skip_factor = 1}}), x, row_branches(shape)), post);
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
    const Tensor& filled = coefficients(*residual)[i].value();
    for (const float v : filled.values<float>()) EXPECT_EQ(v, filled.values<float>()[0]);
    EXPECT_TRUE(within(static_cast<double>(filled.values<float>()[0]), omega, elementwise_tolerance())) << i;
    const double f = variance(listener.branches[i].value());
    const double next = std::sqrt(omega * omega * variance(listener.streams[i].value()) + f);
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
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        residual->calibrate([&](StreamObserver* observer) {
          const auto stream = residual->open(Var(normal_tensor({2, 3, kWidth}, 1)), {}, observer);
          for (std::size_t i = 0; i < 2; ++i) stream->write(residual->shape().unit(i), stream->read(residual->shape().unit(i)));
        });
      },
      {"unit 2", "did not run", "4 units"}));
  for (const Var& omega : coefficients(*residual)) EXPECT_EQ(*omega.data<float>(), 1.0f);
  std::size_t ran = 0;
  EXPECT_TRUE(throws_saying<NumericsError>(
      [&] {
        residual->calibrate([&](StreamObserver* observer) {
          run_units(
              *residual, Var(normal_tensor({2, 3, kWidth}, 1)),
              [&](const Unit&, const Var& u) {
                ++ran;
                return Var(Tensor::full(u.shape(), NAN));
              },
              {}, observer);
        });
      },
      {"unit 0", "not finite"}));
  EXPECT_EQ(ran, 4u);  // the pass itself is not torn
  for (const Var& omega : coefficients(*residual)) EXPECT_EQ(*omega.data<float>(), 1.0f);
}

TEST(Admin, WithTheDeviationOfEachSumIsPreLn) {
  const StackShape shape = shape_of(2);
  const LinearBranches branches(shape, DType::f64);
  const auto admin = in_double("admin", shape, kNoEps), pre = in_double("pre-ln", shape, kNoEps);
  const Var x = normed(Var(input({1, 1, kWidth}, 1)));  // one token: one number per unit is one per token
  const std::vector<Var> omega = coefficients(*admin);
  Var s = x;
  double deviation = 1;
  for (std::size_t i = 0; i < shape.units(); ++i) {
    Var w = omega[i];
    w.value() = Tensor::full({kWidth}, deviation, DType::f64);
    const Var sum = add(scale(s, deviation), branches(shape.unit(i), s));
    deviation = std::sqrt(variance(sum.value()));
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
    return length(sub(run_units(residual, x, branches), Var(want)).value()) / length(want);
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
  scramble(*admin);
  for_each_parameter(*admin, [&](Parameter& p) {
    if (is_norm(p)) from.push_back(p.value);
  });
  for_each_parameter(*post, [&](Parameter& p) { into.push_back(p.value); });
  const std::vector<Var> omega = coefficients(*admin), w = row_branches(shape, DType::f64);
  std::vector<Var> folded = w;
  ASSERT_EQ(from.size(), into.size());
  for (std::size_t norm = 0; norm <= shape.units();
       ++norm)  // the norm before unit i takes ω_i; the last one has no unit after it
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
  return mean_square(change) / 1e-4;
}

TEST(Admin, MovesWithTheLogarithmOfDepthWherePostLnMovesWithDepth) {
  const auto growth = [](const char* name) { return output_change(name, 32) / output_change(name, 4); };
  EXPECT_GT(growth("post-ln"), 6);  // 32 / 4
  EXPECT_LT(growth("admin"), 3);    // ln 33 / ln 5 = 2.2
  EXPECT_LT(growth("admin-const"), 3);
  EXPECT_LT(growth("deepnorm"), 1);
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
  return length(sub(run_units(*residual, x, branches), y).value()) / length(y.value());
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
  const auto size = [&](std::size_t layer) { return variance(branches(residual->shape().unit(layer), x).value()); };
  EXPECT_TRUE(within(size(0) / size(1), 4, one_network_tolerance()));
  EXPECT_TRUE(within(size(0) / size(7), 64, one_network_tolerance()));
  // With branches of variance 1/l² the skip keeps a share however deep: sqrt(pi / sinh(pi)).
  double gain = 1;
  for (double l = 1; l <= 1e5; ++l) gain /= std::sqrt(1 + 1 / (l * l));
  EXPECT_EQ(std::round(gain * 1e3), std::round(std::sqrt(M_PI / std::sinh(M_PI)) * 1e3));
  EXPECT_EQ(std::round(gain * 100), 52);
}

// 0.4 (9): the share of the skip that is left after n units

TEST(SkipGain, IsWhatIsLeftOfTheInput) {
  const std::size_t units = 12;
  const StackShape shape = ffn_only(units, 512);
  const Var x = normed(Var(normal_tensor({1, 16, 512}, 1)));
  const auto left = [&](const char* name) {  // branches that have nothing in common with x
    const Var y = run_units(*make_residual(name, shape), x,
                            [](const Unit& unit, const Var& u) { return Var(normal_tensor(u.shape(), 1000 + unit.index)); });
    return cosine(x.value(), y.value());
  };
  EXPECT_TRUE(within(left("keel"), skip_gain(arrangement_named("keel"), shape)->gain, one_network_tolerance()));
  EXPECT_TRUE(within(left("admin-const"), skip_gain(arrangement_named("admin-const"), shape)->gain, one_network_tolerance()));
  EXPECT_TRUE(within(left("pre-ln"), skip_gain(arrangement_named("pre-ln"), shape)->gain, one_network_tolerance()));
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
