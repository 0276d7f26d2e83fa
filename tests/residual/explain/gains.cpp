// Initialisation and skip gain as they are printed: lines and published numbers, and what random branches show.
#include <cmath>
#include <sstream>

#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "support/streams/explained_stack.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::decoder;
using test::has;
using test::has_norm;
using test::language_model;
using test::normal_tensor;

TEST(InitLines, SayTheGainsWithTheirNumbers) {
  const auto lines = [](const char* name, const StackShape& shape) {
    std::string all;
    for (const InitLine& line : init_lines(arrangement_named(name), shape)) all += line.what + ": " + line.rule + "\n";
    return all;
  };
  EXPECT_EQ(lines("deepnorm", language_model(12)),
            "W_q, W_k, a head of its own: Xavier normal\nW_v, W_o, W_1, W_2: Xavier normal, times (8L)^−¼ = 0.3195\n"
            "embeddings: N(0, 1/d)\n");
  EXPECT_EQ(lines("pre-ln", language_model(12)),
            "W_q, W_k, W_v, W_1, embeddings, a head of its own: N(0, 0.02²)\nW_o, W_2: N(0, 0.02²), times 1/√(2L) = 0.2041\n");
  EXPECT_TRUE(has(lines("ds-init", language_model(4)), "Xavier uniform, times 1/√l = 1 in layer 1 … 0.5 in layer 4"));
  EXPECT_TRUE(
      has(lines("sub-ln", decoder(6)), "W_q, W_k, a head of its own; W_q, W_k, W_v, W_o of cross-attention: Xavier normal\n"));
  EXPECT_TRUE(has(lines("deepnorm", decoder(6)), "(12M)^−¼"));
}

TEST(InitLines, SayWhatIsOfCrossAttentionAlone) {
  std::string all;
  for (const InitLine& line : init_lines(with_init(arrangement_named("sub-ln"), {.rule = "gpt2"}), decoder(8)))
    all += line.what + ": " + line.rule + "\n";
  EXPECT_TRUE(has(all, "W_o of cross-attention: N(0, 0.02²), times 1/√(2L) = 0.25\n")) << all;
  EXPECT_TRUE(has(all, "W_v, W_o, W_1, W_2: N(0, 0.02²), times √(ln(3M)) = ")) << all;
}

TEST(InitLines, NameEveryMatrixThatAGainIsFor) {
  const auto contained = [](std::vector<Role> roles) {
    return contained_init({.name = "mine",
                           .init = {.gains = {{.roles = std::move(roles), .gain = {.constant = 0.5}}}},
                           .gains_in_formula = true},
                          {language_model(2)})
        .at(0);
  };
  EXPECT_EQ(contained({Role::head}), "a head of its own: times 0.5");
  EXPECT_EQ(contained({Role::head, Role::q}), "W_q, a head of its own: times 0.5");
  EXPECT_EQ(contained({Role::token_embedding, Role::position_embedding}), "embeddings: times 0.5");
  for (Role role = Role::q; role <= Role::weight; role = static_cast<Role>(static_cast<int>(role) + 1))
    EXPECT_GT(contained({role}).find(": times 0.5"), 0u) << role;
  Arrangement headed = arrangement_named("post-ln");
  headed.init.gains = {{.roles = {Role::head}, .gain = {.constant = 0.5}}};
  EXPECT_EQ(init_lines(headed, language_model(2)).back().what, "a head of its own");
}

TEST(SkipGains, AreThoseOfTheTable) {
  const auto gain = [](const char* name, std::size_t units, int digits) {
    std::ostringstream out;
    out.precision(digits);
    out << skip_gain(arrangement_named(name), {.width = 8, .layers = units / 2})->gain;
    return out.str();
  };
  const struct {
    const char* name;
    int digits;
    const char *at12, *at36, *at100;
  } table[] = {{"post-ln", 2, "0.016", "3.8e-06", "8.9e-16"}, {"norm-skip", 2, "0.016", "3.8e-06", "8.9e-16"},
               {"pre-ln", 3, "0.277", "0.164", "0.0995"},     {"admin-const", 4, "0.2675", "0.1575", "0.09647"},
               {"deepnorm", 3, "0.965", "0.979", "0.988"},    {"keel", 3, "0.959", "0.986", "0.995"}};
  for (const auto& row : table) {
    EXPECT_EQ(gain(row.name, 12, row.digits), row.at12) << row.name;
    EXPECT_EQ(gain(row.name, 36, row.digits), row.at36) << row.name;
    EXPECT_EQ(gain(row.name, 100, row.digits), row.at100) << row.name;
  }
}

TEST(SkipGains, OfProfiledAdminIsThatOfPreLn) {
  Arrangement admin{.name = "profiled",
                    .unit = {.a = {.kind = CoefficientRule::Kind::learned_vector, .symbol = "ω"}, .post = true}};
  admin.unit.a.profiled = true;
  const StackShape shape = language_model(9);
  EXPECT_DOUBLE_EQ(skip_gain(admin, shape)->gain, skip_gain(arrangement_named("pre-ln"), shape)->gain);
}

TEST(SkipGains, OfAnInitialisationByDepthCountWhenAsked) {
  const auto gain = skip_gain(arrangement_named("pre-ln"), language_model(12), NormalInit::with_its_gains);
  EXPECT_DOUBLE_EQ(gain->gain, std::sqrt(0.5));
}

TEST(SkipGains, CountWhatABaseDrawsBesidesItsGains) {
  const StackShape shape = language_model(8);
  const auto branch = [&](const Arrangement& row, std::size_t unit) { return branch_gain(row, shape, shape.unit(unit)); };
  const auto by_rule = [](const char* rule) { return with_init(arrangement_named("post-ln"), {.rule = rule}); };
  const Arrangement neox = by_rule("neox");
  for (const std::size_t unit : {0u, 1u, 14u, 15u})  // W_v of N(0, 2/(5d)) and W_o of N(0, 4/(L^2 d)), beside N(0, 1/d)
    EXPECT_DOUBLE_EQ(branch(neox, unit), std::sqrt(0.4) * 2 / 8) << unit;
  EXPECT_NEAR(skip_gain(neox, shape)->gain, std::pow(1 + 0.4 * 4 / 64, -8.0), 1e-12);
  EXPECT_DOUBLE_EQ(branch(by_rule("t5"), 0), 1);
  EXPECT_DOUBLE_EQ(branch(by_rule("mitchell"), 6), 1 / std::sqrt(2 * 4.0));
  Arrangement row = arrangement_named("post-ln");
  row.init = {.base = InitSpec::Base::fan_in_uniform};
  EXPECT_DOUBLE_EQ(branch(row, 0), 1.0 / 3) << "a deviation of 1/sqrt(3 fan_in), twice";
  row.init = {.draws = {{.roles = {Role::v}, .base = InitSpec::Base::small_normal, .sub_layer = SubLayer::self}}};
  EXPECT_DOUBLE_EQ(branch(row, 0), std::sqrt(0.4));
  EXPECT_DOUBLE_EQ(branch(row, 1), 1);
}

/// The share of the input in the output of a real stream whose branches are random matrices, of the gain that the row gives them.
SkipGain measured_gain(const Arrangement& row, std::size_t layers) {
  constexpr std::size_t kFeatures = 192, kTokens = 96;
  const StackShape shape{.width = kFeatures, .layers = layers};
  const bool normed = has_norm(row);
  const auto residual = make_residual(row, shape, {.norm = norm_named(normed ? "layernorm-noeps" : "layernorm")});
  const Var x(layer_norm(Var(normal_tensor({1, kTokens, kFeatures}, 1)), Var(), Var(), {.eps = 0}));
  const auto branch = [&](const Unit& unit, const Var& u) {
    const Var w(normal_tensor({kFeatures, kFeatures}, 10 + unit.index));
    const Var inner = Norm(residual->branch(unit).inner_norm, kFeatures)(u, {});
    const double gain = branch_gain(residual->arrangement(), shape, unit) / std::sqrt(static_cast<double>(kFeatures));
    return scale(linear(inner, w), gain);
  };
  residual->calibrate([&](StreamObserver* observer) { test::run_units(*residual, x, branch, {}, observer); });
  const Tensor y = test::run_units(*residual, x, branch).value();
  double dot = 0, square = 0;
  const std::size_t all = kFeatures * kTokens;
  for (std::size_t i = 0; i < all; ++i) {
    dot += static_cast<double>(y.data<float>()[i]) * static_cast<double>(x.value().data<float>()[i]);
    square += static_cast<double>(y.data<float>()[i]) * static_cast<double>(y.data<float>()[i]);
  }
  return {dot / static_cast<double>(all), std::sqrt(square / static_cast<double>(all))};
}

void expect_predicted(const Arrangement& row) {
  const StackShape shape{.width = 8, .layers = 3};
  const auto predicted = skip_gain(row, shape);
  if (!predicted || row.name == "sub-ln") return;  // gains inside the branch
  const SkipGain seen = measured_gain(row, shape.layers);
  EXPECT_NEAR(seen.gain, predicted->gain, test::random_branch_tolerance(predicted->deviation)) << row.name;
  EXPECT_NEAR(seen.deviation, predicted->deviation, test::random_branch_tolerance(predicted->deviation)) << row.name;
}

class EverySkipGain : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EverySkipGain, testing::ValuesIn(arrangement_names()), test::name_of_test);
TEST_P(EverySkipGain, IsWhatRandomBranchesShow) { expect_predicted(arrangement_named(GetParam())); }

TEST(SkipGains, OfRowsThatAreProfiledInPartAreWhatCalibrationGives) {
  const CoefficientRule omega{.kind = CoefficientRule::Kind::learned_vector, .symbol = "ω", .profiled = true};
  expect_predicted({.name = "attention only",
                    .unit = {.post = true},
                    .overrides = {{.sub_layer = SubLayer::self, .slots = {.a = omega, .post = true}}}});
  expect_predicted(
      {.name = "upper layers", .unit = {.a = omega, .post = true}, .overrides = {{.first_share = 0.5, .slots = {.in = true}}}});
}

TEST(SkipGains, FollowTheChoicesOfClasses) {
  expect_predicted(with_choices(arrangement_named("rskip"), {.recursions = 1}));
  expect_predicted(with_choices(arrangement_named("rskip"), {.recursions = 4}));
  expect_predicted(with_choices(arrangement_named("resi-dual"), {.stream_share = 0}));
  expect_predicted(with_choices(arrangement_named("resi-dual"), {.stream_share = 3, .second_stream_scale = 0.5}));
}

}  // namespace
}  // namespace addnorm
