// Options beside the arrangement: what the literature leaves open, and the norms that stand in it.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/modules.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::kWidth;
using test::normal_tensor;
using test::row_branches;
using test::run_stack;
using test::throws_saying;

const auto* const kOneThread = testing::AddGlobalTestEnvironment(new test::OneThread);

StackShape shape_of(std::size_t layers) { return {.width = kWidth, .layers = layers}; }

class Choices : public testing::Test {
 protected:
  static Var N(const Var& v) { return layer_norm(v, Var(Tensor::full({kWidth}, 1)), Var(Tensor::zeros({kWidth}))); }
  Var F(std::size_t i, const Var& v) const { return mul_row(v, w[i]); }
  Tensor through(const char* name, const ArrangementChoices& choices) const {
    return run_stack(*make_residual(name, shape, {.choices = choices}), x, w).value();
  }
  /// Four units of x' = step(i, x), and nothing at entry and exit.
  template <class Step>
  Tensor by_hand(Step step) const {
    Var s = x;
    for (std::size_t i = 0; i < 4; ++i) s = step(i, s);
    return s.value();
  }
  static void expect_same(const Tensor& got, const Tensor& want) { EXPECT_SAME_BITS(got.values<float>(), want.values<float>()); }

  const StackShape shape = shape_of(2);
  const std::vector<Var> w = row_branches(shape);
  const Var x = Var(normal_tensor({2, 3, kWidth}, 1));
};

TEST_F(Choices, SkipFactorIsTheFactorOfTheSkip) {
  const auto scaled = [&](std::size_t i, const Var& s) { return add(scale(s, 3), F(i, s)); };
  expect_same(through("xskip", {.skip_factor = 3}), by_hand(scaled));
  const auto normed = [&](std::size_t i, const Var& s) { return N(scaled(i, s)); };
  expect_same(through("xskip-ln", {.skip_factor = 3}), by_hand(normed));
  expect_same(through("deepnorm", {.skip_factor = 3}), by_hand(normed));
  expect_same(through("keel", {.skip_factor = 3}),
              by_hand([&](std::size_t i, const Var& s) { return N(add(scale(s, 3), F(i, N(s)))); }));
}

TEST_F(Choices, RskipAddsTheSkipAsOftenAsAskedFor) {
  expect_same(through("rskip", {.recursions = 1}), through("deepnorm", {.skip_factor = 1}));
  expect_same(through("rskip", {.recursions = 3}),
              by_hand([&](std::size_t i, const Var& s) { return N(add(s, N(add(s, N(add(s, F(i, s))))))); }));
  const auto parameters = [&](const ArrangementChoices& choices) {
    return count_parameters(*make_residual("rskip", shape, {.choices = choices}));
  };
  EXPECT_EQ(parameters({.recursions = 3}), 4 * 3 * 2 * kWidth);
  EXPECT_EQ(parameters({.recursions = 3, .shared_norms = true}), 4 * 2 * kWidth);
  EXPECT_EQ(with_options(arrangement_named("rskip"), {.choices = {.recursions = 2}}).text, arrangement_named("rskip").text);
  EXPECT_EQ(with_options(arrangement_named("rskip"), {.choices = {.recursions = 3, .shared_norms = true}}).text,
            "x' = N(x + N(x + N(x + F(x))))");
}

TEST_F(Choices, PostShareMovesTheSeamOfMixLn) {
  expect_same(through("mix-ln", {.post_share = 0}), through("pre-ln", {}));
  const auto half = by_hand([&](std::size_t i, const Var& s) { return i < 2 ? N(add(s, F(i, s))) : add(s, F(i, N(s))); });
  expect_same(through("mix-ln", {.post_share = 0.5}), N(Var(half)).value());
  const auto all = by_hand([&](std::size_t i, const Var& s) { return N(add(s, F(i, s))); });
  expect_same(through("mix-ln", {.post_share = 1}), N(Var(all)).value());
}

TEST_F(Choices, PostShareCountsLayersAsItIsWritten) {  // 0.29 * 100 is 28.999999999999996 in double
  const Arrangement row = with_options(arrangement_named("mix-ln"), {.choices = {.post_share = 0.29}});
  EXPECT_TRUE(row.slots(shape_of(100), shape_of(100).unit(28, 0)).post);
  EXPECT_FALSE(row.slots(shape_of(100), shape_of(100).unit(29, 0)).post);
}

TEST_F(Choices, StartsAndKindsOfCoefficientsFollow) {
  const auto coefficient = [&](const char* name, const ArrangementChoices& choices) {
    double first = -1;
    for_each_parameter(*make_residual(name, shape, {.choices = choices}), [&](Parameter& p) {
      if (p.role == Role::coefficient && first < 0) first = static_cast<double>(*p.value.data<float>());
    });
    return first;
  };
  EXPECT_FLOAT_EQ(static_cast<float>(coefficient("layerscale", {.branch_start = 0.25})), 0.25f);
  EXPECT_FLOAT_EQ(static_cast<float>(coefficient("skipinit", {.branch_start = 0.125})), 0.125f);
  EXPECT_FLOAT_EQ(static_cast<float>(coefficient("admin-const", {.output_change = OutputChange::one})), 2);  // n = 4
  EXPECT_FLOAT_EQ(static_cast<float>(coefficient("admin-const", {.output_change = OutputChange::n})), 1);
  EXPECT_EQ(std::round(coefficient("admin-const", {.output_change = OutputChange::log_n}) * 1e4), 14514);  // √(5/ln 5 − 1)
  EXPECT_EQ(coefficient("admin-const", {.learned_skip = false}), -1);
  EXPECT_FLOAT_EQ(static_cast<float>(coefficient("keel", {.learned_skip = true})), 4);
  EXPECT_FLOAT_EQ(static_cast<float>(coefficient("normformer", {.scale_ffn_skip = true})), 1);
}

TEST_F(Choices, NormformerTakesItsReleasedForm) {
  const auto residual =
      make_residual("normformer", shape, {.choices = {.scale_ffn_skip = true, .head_gain = HeadGain::after_out}});
  EXPECT_EQ(residual->branch(shape.unit(0)).head_gain, HeadGain::after_out);
  EXPECT_EQ(residual->branch(shape.unit(1)).head_gain, HeadGain::none);
  std::size_t on_ffn = 0, elsewhere = 0;
  for_each_parameter(*residual, [&](Parameter& p) {
    if (p.role == Role::coefficient) ++(p.place.sub_layer == SubLayer::ffn ? on_ffn : elsewhere);
  });
  EXPECT_EQ(on_ffn, 2u);
  EXPECT_EQ(elsewhere, 0u);
}

TEST_F(Choices, ScaledResStandsOnEitherSideOfTheNorm) {
  expect_same(through("scaled-res", {.norm_place = NormPlace::pre}), through("scaled-res", {}));
  expect_same(through("scaled-res", {.norm_place = NormPlace::post}),
              by_hand([&](std::size_t i, const Var& s) { return N(add(s, scale(F(i, s), 0.5))); }));
}

TEST_F(Choices, DsInitShrinksByThePowerChosen) {
  Var matrix(Tensor::zeros({4, 6}), true);
  const auto size = [&](double power, std::size_t layer) {
    Parameter p{"w", matrix, Role::ffn_in, {}, {.layer = layer, .sub_layer = SubLayer::ffn}};
    return make_residual("ds-init", shape_of(16), {.choices = {.depth_power = power}})->init(p, {Role::ffn_in, 0, 4})->size;
  };
  EXPECT_DOUBLE_EQ(size(0.5, 0), xavier_uniform(6, 4).size);
  EXPECT_DOUBLE_EQ(size(0.5, 15), xavier_uniform(6, 4).size / 4);
  EXPECT_DOUBLE_EQ(size(0.25, 15), xavier_uniform(6, 4).size / 2);
}

TEST_F(Choices, ResiDualScalesItsTwoStreams) {
  Var s = x, r = scale(x, 0.5);
  for (std::size_t i = 0; i < 4; ++i) {
    const Var f = F(i, s);
    r = add(r, scale(f, 0.5));
    s = N(add(s, f));
  }
  expect_same(through("resi-dual", {.stream_share = 2, .second_stream_scale = 0.5}), add(scale(s, 2), N(r)).value());
  EXPECT_EQ(with_options(arrangement_named("resi-dual"), {.choices = {.second_stream_scale = 0.5}}).text,
            "x' = N(x + F(x)), r' = r + 0.5·F(x), r₀ = 0.5·x₀; out = x + N(r)");
}

TEST_F(Choices, AreRefusedByWhoDoesNotHaveThem) {
  EXPECT_TRUE(throws_saying<UsageError>([&] { through("pre-ln", {.skip_factor = 3}); },
                                        {"'pre-ln' has no skip_factor", "the factor of the skip", "3", "xskip, xskip-ln"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { through("post-ln", {.head_gain = HeadGain::none}); },
                                        {"'post-ln' has no head_gain", "none", "normformer"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { through("mix-ln", {.post_share = 1.5}); },
                                        {"mix-ln", "post_share", "is 1.5", "from 0 to 1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { through("ds-init", {.depth_power = 0.3}); }, {"is 0.3", "0.5 or 0.25"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { through("rskip", {.recursions = 0}); }, {"recursions", "is 0", "from 1 to 1000"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { through("xskip", {.skip_factor = 0}); }, {"skip_factor", "above 0"}));
}

TEST_F(Choices, AreReadAndWrittenAsText) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"skip_factor", "0.1"},      {"learned_skip", "false"},  {"output_change", "one"},  {"recursions", "3"},
      {"shared_norms", "true"},    {"post_share", "0.25"},     {"branch_start", "1e-05"}, {"depth_power", "0.25"},
      {"scale_ffn_skip", "true"},  {"head_gain", "after_out"}, {"norm_place", "post"},    {"stream_share", "0.5"},
      {"second_stream_scale", "2"}};
  ArrangementChoices choices;
  EXPECT_TRUE(given_choices(choices).empty());
  for (const auto& [name, value] : all) set_choice(choices, name, value);
  EXPECT_EQ(given_choices(choices), all);
  EXPECT_EQ(all.size(), arrangement_choices().size());
  EXPECT_EQ(choices.head_gain, HeadGain::after_out);
  EXPECT_TRUE(throws_saying<UsageError>([&] { set_choice(choices, "skip_facter", "3"); },
                                        {"unknown choice 'skip_facter'", "did you mean skip_factor"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { set_choice(choices, "norm_place", "mid"); }, {"norm_place", "'mid'", "pre or post"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { set_choice(choices, "recursions", "-1"); }, {"recursions", "'-1'", "whole number"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { set_choice(choices, "post_share", "0.5x"); }, {"post_share", "'0.5x'"}));
}

TEST_F(Choices, HaveATableThatNamesArrangementsThatExist) {
  EXPECT_EQ(arrangement_choices().size(), 13u);
  for (const ChoiceInfo& choice : arrangement_choices())
    for (const std::string& name : choice.taken_by) EXPECT_EQ(arrangement_named(name).name, name) << choice.name;
}

// Norms: their kind, the final one and the one of the embedding, with every arrangement.

struct NormChoice {
  std::string norm;
  std::optional<bool> final_norm, embedding_norm;
};

/// Which option of these an arrangement must refuse; empty: it takes them all.
std::string refused_option(const Arrangement& row, const NormChoice& choice) {
  if (row.name == "resi-dual" && choice.final_norm == false) return "final_norm";
  if (row.name.starts_with("dlcl") && choice.final_norm == true) return "final_norm";
  const auto bare = [](const UnitSlots& s) { return !s.in && !s.mid && !s.out && !s.post; };
  const bool has_none =
      row.is_row() && bare(row.unit) && !choice.final_norm.value_or(row.exit) && !choice.embedding_norm.value_or(row.entry);
  return has_none && choice.norm != "layernorm" && choice.norm != "none" ? "norm" : "";
}

/// Forward and backward in training mode: every value and every gradient finite, and every parameter reached.
testing::AssertionResult trains(Residual& residual) {
  const CheckFinite checked;
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const std::vector<Var> w = row_branches(residual.shape());
  const Var y = run_stack(residual, x, w, {.train = true});
  backward(y, normal_tensor(y.shape(), 9));
  testing::AssertionResult result = testing::AssertionSuccess();
  for_each_parameter(residual, [&](Parameter& p) {
    if (!p.value.grad().defined()) result = testing::AssertionFailure() << p.path << " has no gradient";
  });
  return x.grad().defined() ? result : testing::AssertionFailure() << "x has no gradient";
}

/// Of six features a sixteenth would be one, whose sum over units can be exactly 0: half of them instead.
NormKindOptions kind_of(const std::string& name) {
  NormKindOptions kind = norm_named(name);
  if (kind.formula == NormFormula::partial_rms) kind.part = 0.5;
  return kind;
}

class NormsOfEvery : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Arrangement, NormsOfEvery, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(NormsOfEvery, CombineOrSayWhyNot) {
  const Arrangement& row = arrangement_named(GetParam());
  for (const std::string& norm : norm_names())
    for (const std::optional<bool> final_norm : {std::optional<bool>(), std::optional(true), std::optional(false)})
      for (const std::optional<bool> embedding_norm : {std::optional(true), std::optional(false)}) {
        const NormChoice choice{norm, final_norm, embedding_norm};
        const auto make = [&] {
          return make_residual(row, shape_of(2),
                               {.norm = kind_of(norm), .final_norm = final_norm, .embedding_norm = embedding_norm});
        };
        SCOPED_TRACE(concat(norm, " final ", final_norm.value_or(false), " embedding ", embedding_norm.value_or(false)));
        const std::string refused = refused_option(row, choice);
        if (refused.empty())
          EXPECT_TRUE(trains(*make()));
        else
          EXPECT_TRUE(throws_saying<UsageError>(make, {"'" + row.name + "'", refused}));
      }
}

TEST_P(NormsOfEvery, AreThoseOfTheRowThatRuns) {
  const auto residual = make_residual(GetParam(), shape_of(2), {.embedding_norm = true});
  EXPECT_TRUE(residual->arrangement().entry);
  bool entry = false;
  for_each_parameter(*residual, [&](Parameter& p) { entry = entry || p.path == "entry.weight"; });
  EXPECT_TRUE(entry);
}

TEST_P(NormsOfEvery, RefuseAnEpsThatIsNegative) {
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] { make_residual(GetParam(), shape_of(2), {.norm = {.eps = -1}, .embedding_norm = true}); }, {"eps is -1", "negative"}));
}

TEST(NormOptions, OfAnArrangementWithoutNormsAreRefusedWithTheWayOut) {
  EXPECT_TRUE(throws_saying<UsageError>([] { make_residual("rezero", shape_of(2), {.norm = norm_named("rmsnorm")}); },
                                        {"'rezero' has no norm", "mean x²", "final_norm"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { make_residual("dlcl-pre", shape_of(2), {.final_norm = true}); },
                                        {"dlcl-pre", "takes the place of the final norm"}));
}

TEST(Dropout, OutOfRangeIsRefused) {
  EXPECT_TRUE(throws_saying<UsageError>([] { make_residual("pre-ln", shape_of(2), {.dropout = 1}); },
                                        {"pre-ln", "dropout is 1", "below 1"}));
}

}  // namespace
}  // namespace addnorm
