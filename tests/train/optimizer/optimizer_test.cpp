// Optimizers over the parameters of modules: groups, state, clipping, bits, refusals. Formulas against PyTorch: parity_test.cpp.
#include "addnorm/train/optimizer.h"

#include <cmath>
#include <limits>
#include <map>

#include "addnorm/model/language_model.h"
#include "addnorm/tensor/arena.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::kInf;
using test::kNaN;
using test::throws_saying;

constexpr OptimizerKind kKinds[] = {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::radam,
                                    OptimizerKind::adafactor};

/// Parameters of any shape and role under the names "0", "1", ...
struct Parameters final : Module {
  std::vector<Var> values;
  std::vector<Role> roles;

  void add(const Tensor& value, Role role) {
    values.emplace_back(value, true);
    roles.push_back(role);
  }
  void visit(Visitor& visitor) override {
    for (std::size_t i = 0; i < values.size(); ++i) visitor.parameter(std::to_string(i), values[i], roles[i]);
  }
  void give_gradients(std::uint64_t seed) {
    for (Var& value : values) value.grad() = test::normal_tensor(value.shape(), ++seed, value.dtype());
  }
  std::vector<float> all_values() const {
    std::vector<float> all;
    for (const Var& value : values) all.insert(all.end(), value.data<float>(), value.data<float>() + value.value().elements());
    return all;
  }
};

/// Of all the sizes at which something changes: no element, one, tails, more than a block, matrices, three axes, no axis.
const std::vector<Shape>& sizes() {
  static const std::vector<Shape> all{{1}, {17}, {7, 9}, {40000}, {0}, {300, 70}, {2, 5, 6}, {}, {1, 20000}, {3, 1}, {0, 4}};
  return all;
}
Parameters many_sizes(DType dtype = DType::f32) {
  Parameters all;
  std::uint64_t seed = 100;
  for (const Shape& shape : sizes())
    all.add(test::normal_tensor(shape, ++seed, dtype), shape.rank() == 1 ? Role::bias : Role::weight);
  return all;
}

/// Steps `first` to `last` with gradients that depend on the step.
void train(Parameters& all, Optimizer& optimizer, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t step = first; step <= last; ++step) {
    all.give_gradients(1000 * step);
    optimizer.step(0.01, 0.5);
  }
}

// Groups.

TEST(DecayGroups, HoldMatricesAndTablesAndLeaveOutNormsBiasesAndCoefficients) {
  LanguageModel model({.vocab = 11, .layers = 2, .d_model = 8, .heads = 2, .seq_len = 4, .arrangement = "dlcl-pre"});
  const auto optimizer = make_optimizer(model, {.weight_decay = 0.25});
  std::map<std::string, std::string> group_of;
  for (const ParameterGroup& group : optimizer->groups())
    for (const std::string& path : group.paths) group_of[path] = group.name;
  std::size_t coefficients = 0;
  for_each_parameter(model, [&](const Parameter& p) {
    const bool left_out =
        p.role == Role::bias || p.role == Role::norm_gain || p.role == Role::norm_bias || p.role == Role::coefficient;
    EXPECT_EQ(group_of.at(p.path), left_out ? "not decayed" : "decayed") << p.path;
    coefficients += p.role == Role::coefficient;
  });
  EXPECT_GT(coefficients, 0u) << "the arrangement has none to test with";
  EXPECT_EQ(optimizer->groups()[0].weight_decay, 0.25);
  EXPECT_EQ(optimizer->groups()[1].weight_decay, 0);
  EXPECT_EQ(optimizer->groups()[0].elements + optimizer->groups()[1].elements, count_parameters(model));
}

TEST(DecayGroups, AreDescribedInALineEach) {
  Parameters all;
  all.add(Tensor::zeros({2, 3}), Role::weight);
  all.add(Tensor::zeros({4, 3}), Role::token_embedding);
  all.add(Tensor::zeros({1}), Role::coefficient);
  EXPECT_EQ(describe(make_optimizer(all, {})->groups()),
            "decayed by 0.1: 2 tensors, 18 elements\nnot decayed: 1 tensor, 1 element\n");
  EXPECT_EQ(describe(make_optimizer(all, {.decay_all = true})->groups()), "decayed by 0.1: 3 tensors, 19 elements\n");
}

TEST(DecayGroups, DecideWhatShrinks) {
  for (const bool all_of_them : {false, true})
    for (const OptimizerKind kind : kKinds) {
      SCOPED_TRACE(name_of(kind));
      Parameters all;
      all.add(Tensor::full({20, 30}, 2), Role::weight);
      all.add(Tensor::full({30}, 2), Role::norm_gain);
      const auto optimizer = make_optimizer(all, {.kind = kind, .weight_decay = 0.5, .decay_all = all_of_them});
      for (Var& value : all.values) value.grad() = Tensor::zeros(value.shape());
      optimizer->step(0.1);
      EXPECT_LT(all.values[0].data<float>()[7], 2.0f);
      EXPECT_EQ(all.values[1].data<float>()[7] < 2.0f, all_of_them);
    }
}

// Updates.

TEST(EveryOptimizer, FollowsItsDoubleFormOverTensorsOfAllSizes) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Parameters got = many_sizes(), want = many_sizes();
    convert(want, DType::f64);
    const auto optimizer = make_optimizer(got, {.kind = kind}), exact = make_optimizer(want, {.kind = kind});
    for (std::uint64_t step = 1; step <= 5; ++step) {
      got.give_gradients(1000 * step);
      for (std::size_t i = 0; i < got.values.size(); ++i) want.values[i].grad() = got.values[i].grad().to(DType::f64);
      optimizer->step(0.01, 0.5);
      exact->step(0.01, 0.5);
    }
    for (std::size_t i = 0; i < got.values.size(); ++i)
      EXPECT_NEAR_ALL(got.values[i].value(), want.values[i].value(), test::steps_tolerance(10))
          << "shape " << got.values[i].shape();
  }
}

TEST(EveryOptimizer, HasTheSameBitsForAnyThreadCount) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    std::vector<float> first;
    test::with_every_thread_count([&] {
      Parameters all = many_sizes();
      const auto optimizer = make_optimizer(all, {.kind = kind});
      train(all, *optimizer, 1, 3);
      if (first.empty()) first = all.all_values();
      EXPECT_SAME_BITS(all.all_values(), first);
    });
  }
}

TEST(EveryOptimizer, GivesATensorTheSameBitsAloneAndAmongOthers) {
  for (const OptimizerKind kind : kKinds) {
    Parameters together = many_sizes();
    const auto optimizer = make_optimizer(together, {.kind = kind});
    train(together, *optimizer, 1, 3);
    for (std::size_t i = 0; i < together.values.size(); ++i) {
      SCOPED_TRACE(concat(name_of(kind), ", shape ", sizes()[i]));
      Parameters alone;
      alone.add(many_sizes().values[i].value(), together.roles[i]);
      const auto own = make_optimizer(alone, {.kind = kind});
      for (std::uint64_t step = 1; step <= 3; ++step) {
        alone.give_gradients(1000 * step + i);
        own->step(0.01, 0.5);
      }
      EXPECT_SAME_BITS(alone.values[0].value().values<float>(), together.values[i].value().values<float>());
    }
  }
}

TEST(EveryOptimizer, LeavesAParameterWithoutGradientAndItsStateAsTheyAre) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Parameters all;
    all.add(test::normal_tensor({9, 5}, 1), Role::weight);
    all.add(test::normal_tensor({9, 5}, 2), Role::weight);
    all.add(test::normal_tensor({9}, 3), Role::bias);
    const auto optimizer = make_optimizer(all, {.kind = kind});
    train(all, *optimizer, 1, 2);
    const std::vector<float> before = all.all_values();
    std::map<std::string, Tensor> state;
    optimizer->visit_state([&](const std::string& name, Tensor& value) { state[name] = value.clone(); });
    all.values[0].clear_grad();
    all.values[2].clear_grad();
    optimizer->step(0.01);
    const std::vector<float> after = all.all_values();
    EXPECT_SAME_BITS(std::span(after).first(45), std::span(before).first(45));
    EXPECT_SAME_BITS(std::span(after).last(9), std::span(before).last(9));
    EXPECT_NE(after[50], before[50]);
    optimizer->visit_state([&](const std::string& name, Tensor& value) {
      if (name.starts_with("1.")) return;
      EXPECT_SAME_BITS(value.values<float>(), state.at(name).values<float>()) << name;
    });
  }
}

TEST(EveryOptimizer, T12LeavesEveryBitAtRateZero) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Parameters all = many_sizes();
    const std::vector<float> before = all.all_values();
    const auto optimizer = make_optimizer(all, {.kind = kind});
    all.give_gradients(1);
    optimizer->step(0);
    EXPECT_SAME_BITS(all.all_values(), before);
    optimizer->step(1e-3);
    EXPECT_FALSE(test::same_bits(all.all_values(), before)) << "the test could not fail";
  }
}

TEST(EveryOptimizer, ScalesGradientsAsIfTheyHadBeenSmaller) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Parameters scaled = many_sizes(), small = many_sizes();
    const auto first = make_optimizer(scaled, {.kind = kind}), second = make_optimizer(small, {.kind = kind});
    for (std::uint64_t step = 1; step <= 3; ++step) {
      scaled.give_gradients(step);
      small.give_gradients(step);
      for (Var& value : small.values)
        for (float& g : value.grad().values<float>()) g *= 0.125f;
      first->step(0.01, 0.125);
      second->step(0.01);
    }
    EXPECT_SAME_BITS(scaled.all_values(), small.all_values());
  }
}

// State.

TEST(OptimizerState, IsAllThatAnotherOptimizerNeedsToGoOn) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Parameters straight = many_sizes(), broken = many_sizes(), resumed = many_sizes();
    const auto whole = make_optimizer(straight, {.kind = kind}), first = make_optimizer(broken, {.kind = kind});
    train(straight, *whole, 1, 6);
    train(broken, *first, 1, 3);
    const auto second = make_optimizer(resumed, {.kind = kind});
    std::map<std::string, Tensor> state;
    first->visit_state([&](const std::string& name, Tensor& value) { state[name] = value.clone(); });
    second->visit_state([&](const std::string& name, Tensor& value) { value = state.at(name); });
    second->set_steps(first->steps());
    for (std::size_t i = 0; i < resumed.values.size(); ++i) resumed.values[i].value() = broken.values[i].value().clone();
    train(resumed, *second, 4, 6);
    EXPECT_EQ(second->steps(), 6);
    EXPECT_SAME_BITS(resumed.all_values(), straight.all_values());
  }
}

std::string state_of(OptimizerKind kind, double momentum = 0.9) {
  Parameters all;
  all.add(Tensor::zeros({3, 4}), Role::weight);
  all.add(Tensor::zeros({2, 3, 4}), Role::weight);
  all.add(Tensor::zeros({4}), Role::bias);
  std::string text;
  make_optimizer(all, {.kind = kind, .momentum = momentum})->visit_state([&](const std::string& name, const Tensor& value) {
    text += concat(name, value.shape(), " ");
  });
  return text;
}

TEST(OptimizerState, HasNamesAfterThoseOfParametersAndFewNumbersForAdafactor) {
  EXPECT_EQ(state_of(OptimizerKind::adamw), "0.m[3, 4] 0.v[3, 4] 1.m[2, 3, 4] 1.v[2, 3, 4] 2.m[4] 2.v[4] ");
  EXPECT_EQ(state_of(OptimizerKind::radam), state_of(OptimizerKind::adam));
  EXPECT_EQ(state_of(OptimizerKind::sgd), "0.velocity[3, 4] 1.velocity[2, 3, 4] 2.velocity[4] ");
  EXPECT_EQ(state_of(OptimizerKind::sgd, 0), "");
  EXPECT_EQ(state_of(OptimizerKind::adafactor), "0.row[3, 1] 0.column[1, 4] 1.row[2, 3, 1] 1.column[2, 1, 4] 2.v[4] ");
}

TEST(OptimizerState, OutlivesTheArenaScopeItWasMadeInAndIsNeverMadeAnew) {
  for (const OptimizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    Parameters all = many_sizes();
    std::unique_ptr<Optimizer> optimizer;
    {
      const ArenaScope step;
      optimizer = make_optimizer(all, {.kind = kind});
    }
    all.give_gradients(1);
    const std::size_t before = arena_stats().bytes_in_use;
    optimizer->step(0.01);
    optimizer->step(0.01);
    EXPECT_EQ(arena_stats().bytes_in_use, before);
  }
}

// Norm, clipping, bad values.

TEST(GradientNorm, IsThatOfAllGradientsInDoubleForAnyThreadCount) {
  Parameters all = many_sizes();
  all.give_gradients(7);
  all.values[1].clear_grad();
  double squares = 0;
  for (const Var& value : all.values)
    if (value.grad().defined())
      for (const float g : value.grad().values<float>()) squares += static_cast<double>(g) * static_cast<double>(g);
  const double want = std::sqrt(squares);
  const double first = gradient_norm(all);
  EXPECT_NEAR(first, want, test::double_sum_tolerance().rtol * want);
  const auto optimizer = make_optimizer(all, {});
  test::with_every_thread_count([&] {
    EXPECT_EQ(gradient_norm(all), first);
    EXPECT_EQ(optimizer->gradient_norm(), first);
  });
  optimizer->clear_gradients();
  EXPECT_EQ(gradient_norm(all), 0);
  EXPECT_FALSE(all.values[0].grad().defined());
  all.give_gradients(7);
  clear_gradients(all);
  EXPECT_EQ(gradient_norm(all), 0);
  EXPECT_FALSE(all.values[0].grad().defined());
}

TEST(GradientNorm, OverflowsForNoFiniteGradientsAndPassesOthersOn) {
  Parameters all = many_sizes();
  all.give_gradients(7);
  all.values[3].grad() = Tensor::full(all.values[3].shape(), 1e38);
  EXPECT_NEAR(gradient_norm(all), 200 * 1e38, 1e33);
  for (const float bad : {kNaN, kInf, -kInf}) {
    all.values[3].grad().data<float>()[39999] = bad;
    EXPECT_FALSE(std::isfinite(gradient_norm(all)));
  }
}

TEST(ClipScale, BringsTheNormToItsMostAndLeavesSmallerOnesAlone) {
  EXPECT_EQ(clip_scale(4, 1), 0.25);
  EXPECT_EQ(clip_scale(1, 1), 1);
  EXPECT_EQ(clip_scale(0.5, 1), 1);
  EXPECT_EQ(clip_scale(0, 1), 1);
  EXPECT_EQ(clip_scale(4, 0), 1);
  const double nan = std::nan("");
  EXPECT_TRUE(throws_saying<UsageError>([&] { clip_scale(nan, 1); }, {"clip_scale", "nan"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { clip_scale(1, -2); }, {"clip_scale", "max_norm", "-2", "0: no clipping"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { clip_scale(1, nan); }, {"max_norm", "nan"}));
}

TEST(FirstBad, NamesTensorElementValueAndCount) {
  Parameters all = many_sizes();
  all.give_gradients(3);
  EXPECT_EQ(first_bad_gradient(all).path, "");
  EXPECT_EQ(describe(first_bad_gradient(all)), "all values are finite");
  all.values[5].grad().data<float>()[20999] = kNaN;
  all.values[3].grad().data<float>()[17] = -kInf;
  all.values[3].grad().data<float>()[18] = kNaN;
  const BadValue bad = first_bad_gradient(all);
  EXPECT_EQ(bad.path, "3");
  EXPECT_TRUE(bad.gradient);
  EXPECT_EQ(bad.index, 17u);
  EXPECT_EQ(bad.value, -kInf);
  EXPECT_EQ(bad.count, 2u);
  EXPECT_EQ(describe(bad), "gradient of 3: -inf at element 17, 2 of 40000 are not finite");
  EXPECT_EQ(first_bad_parameter(all).path, "");
  all.values[5].value().data<float>()[20999] = kNaN;
  EXPECT_EQ(describe(first_bad_parameter(all)), "5: nan at element 20999, 1 of 21000 is not finite");
}

// Refusals.

TEST(OptimizerOptions, AreRefusedByNameValueAndRange) {
  Parameters all = many_sizes();
  const auto refused = [&](const OptimizerOptions& options, std::initializer_list<std::string> parts) {
    EXPECT_TRUE(throws_saying<UsageError>([&] { make_optimizer(all, options); }, parts));
  };
  const double nan = std::nan("");
  refused({.kind = static_cast<OptimizerKind>(9)}, {"kind", "9", "adamw"});
  refused({.beta1 = 1}, {"beta1", "1", "below 1"});
  refused({.beta2 = -0.1}, {"beta2", "-0.1"});
  refused({.eps = 0}, {"eps", "0", "1e-37"});
  refused({.momentum = nan}, {"momentum", "nan"});
  refused({.kind = OptimizerKind::sgd, .momentum = 0, .nesterov = true}, {"nesterov", "momentum"});
  refused({.weight_decay = -1}, {"weight_decay", "-1"});
  refused({.update_clip = 0.5}, {"update_clip", "0.5"});
  refused({.beta2_power = 2}, {"beta2_power", "2"});
  refused({.eps1 = 0}, {"eps1", "0"});
  refused({.eps2 = nan}, {"eps2", "nan"});
  for (const OptimizerKind kind : kKinds) EXPECT_NO_THROW(check(usual_options(kind)));
}

TEST(OptimizerOptions, HaveKindsByName) {
  for (const OptimizerKind kind : kKinds) EXPECT_EQ(optimizer_named(name_of(kind)), kind);
  EXPECT_TRUE(
      throws_saying<UsageError>([] { optimizer_named("adanw"); }, {"unknown optimizer 'adanw'", "did you mean adamw?", "radam"}));
}

TEST(OptimizerStep, RefusesRatesStepsAndTensorsThatCannotBe) {
  Parameters all = many_sizes();
  const auto optimizer = make_optimizer(all, {});
  all.give_gradients(1);
  const std::vector<float> before = all.all_values();
  const double nan = std::nan("");
  EXPECT_TRUE(throws_saying<UsageError>([&] { optimizer->step(nan); }, {"learning rate is nan"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { optimizer->step(-1); }, {"learning rate is -1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { optimizer->step(1, nan); }, {"multiplied by nan"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { optimizer->set_steps(-1); }, {"set_steps", "-1"}));
  all.values[2].grad() = Tensor::zeros({9, 7});
  EXPECT_TRUE(throws_saying<UsageError>([&] { optimizer->step(1); }, {"gradient of 2", "[9, 7]", "[7, 9]"}));
  all.give_gradients(1);
  optimizer->visit_state([](const std::string& name, Tensor& value) {
    if (name == "1.v") value = Tensor::zeros({16});
  });
  EXPECT_TRUE(throws_saying<UsageError>([&] { optimizer->step(1); }, {"1.v must be [17] float32"}));
  EXPECT_EQ(optimizer->steps(), 0);
  EXPECT_SAME_BITS(all.all_values(), before);
  all.values[1] = Var(Tensor::zeros({17}, DType::f64));
  EXPECT_TRUE(throws_saying<UsageError>([&] { make_optimizer(all, {}); }, {"1 is float64", "0 is float32"}));
}

}  // namespace
}  // namespace addnorm
