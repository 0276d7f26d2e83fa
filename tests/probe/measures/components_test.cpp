// Components of the stream add up to it, and their logits to the logits.
#include "probe/measures/components.h"

#include <gtest/gtest.h>

#include <numeric>

#include "addnorm/autograd/tape.h"
#include "addnorm/data/language.h"
#include "addnorm/residual/catalogue.h"
#include "support/modules.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

std::vector<std::string> row_names() {
  std::vector<std::string> rows;
  for (const std::string& name : arrangement_names())
    if (arrangement_named(name).is_row()) rows.push_back(name);
  return rows;
}

/// A language model with gains and biases away from their start, in double: what is left is rounding, and nothing is hidden by
/// it.
struct Scrambled {
  explicit Scrambled(const std::string& arrangement, const std::string& norm = "layernorm") {
    ModelConfig config{.layers = 3, .d_model = 12, .heads = 2, .seq_len = 8, .head_bias = true};
    config.vocab = Language().vocabulary();
    config.arrangement = arrangement;
    config.norm = norm;
    model = make_model(config);
    test::scramble(*model);
    batch = Language().dataset(8, 5)->batch(0, 3);
    const NoGrad off;
    for (int i = 0; i < 3; ++i) batch_logits(*model, batch, {.train = true});  // running statistics of their own
    convert(*model, DType::f64);
  }
  const SlotResidual& row() const { return *Components::row_of(residuals_of(*model).stream); }

  std::unique_ptr<Model> model;
  Batch batch;
};

/// Holds the components to every stream that is announced.
struct Compared : StreamObserver {
  explicit Compared(Components& c) : components(c) {}
  void on_branch(const Unit& unit, const Var& added) override { components.on_branch(unit, added); }
  void on_stream(const Unit* unit, const Var& x) override {
    components.on_stream(unit, x);
    std::vector<double> sum(x.shape().elements(), 0.0);
    for (const auto& part : components.parts())
      for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
    EXPECT_NEAR_ALL(std::span<const double>(sum), x.value().values<double>(), test::rounded_apart_tolerance())
        << (unit ? static_cast<int>(unit->index) : -1);
    ++places;
  }
  Components& components;
  std::size_t places = 0;
};

void expect_sums(const Scrambled& s) {
  const NoGrad off;
  Components components(s.row(), s.batch.lengths);
  Compared compared(components);
  const Var logits = batch_logits(*s.model, s.batch, {}, {.stream = &compared});
  EXPECT_EQ(compared.places, 7);
  ASSERT_EQ(components.parts().size(), 8);
  for (const auto& row : components.dependency())
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, test::double_tolerance().atol);

  components.take_exit();
  std::vector<double> sum(logits.shape().elements(), 0.0);
  std::size_t contributions = 0;
  for_each_contribution(*s.model, s.batch, components, [&](std::size_t, const Tensor& part) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part.data<double>()[i];
    ++contributions;
  });
  EXPECT_EQ(contributions, 9);  // the head's bias too
  EXPECT_NEAR_ALL(std::span<const double>(sum), logits.value().values<double>(), test::rounded_apart_tolerance());
  const std::vector<double> margins = logit_attribution(*s.model, s.batch, components);
  EXPECT_NEAR(std::accumulate(margins.begin(), margins.end(), 0.0), label_margins(logits.value(), s.batch.labels).value(),
              test::rounded_apart_tolerance().atol);
}

class EveryRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryRow, testing::ValuesIn(row_names()), test::name_of_test);
TEST_P(EveryRow, ComponentsAddUpToTheStreamAndToTheLogits) { expect_sums(Scrambled(GetParam())); }

std::vector<std::string> norms_that_do_something() {
  std::vector<std::string> names(norm_names().begin(), norm_names().end());
  std::erase_if(names, [](const std::string& name) { return norm_named(name).formula == NormFormula::none; });
  return names;
}
class EveryNorm : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryNorm, testing::ValuesIn(norms_that_do_something()), test::name_of_test);
TEST_P(EveryNorm, FrozenIsLinearAndGivesTheSameStream) {
  expect_sums(Scrambled("pre-ln", GetParam()));
  expect_sums(Scrambled("post-ln", GetParam()));
  expect_sums(Scrambled("norm-skip", GetParam()));
}

TEST(Components, AreThoseOfTheModelInFloatToo) {
  ModelConfig config{.layers = 3, .d_model = 16, .heads = 2, .seq_len = 8};
  config.vocab = Language().vocabulary();
  config.arrangement = "post-ln";
  const auto model = make_model(config);
  const Batch batch = Language().dataset(8, 5)->batch(0, 3);
  const NoGrad off;
  Components components(*Components::row_of(residuals_of(*model).stream), {});
  const Var logits = batch_logits(*model, batch, {}, {.stream = &components});
  components.take_exit();
  std::vector<double> sum(logits.shape().elements(), 0.0);
  for_each_contribution(*model, batch, components, [&](std::size_t, const Tensor& part) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(part.data<float>()[i]);
  });
  EXPECT_NEAR_ALL(logits.value().values<float>(), std::span<const double>(sum), test::model_logits_tolerance());
}

// With nothing but zeros written, a post-normed stream stays the embedding, and the skip has all of it.
TEST(Components, LeaveEverythingToTheSkipWhereBranchesAreZero) {
  Scrambled s("residual");
  for_each_parameter(*s.model, [&](Parameter& p) {
    if (p.role == Role::attention_out || p.role == Role::ffn_out || p.role == Role::bias)
      p.value.value() = Tensor::zeros(p.value.shape(), DType::f64);
  });
  const NoGrad off;
  Components components(s.row(), {});
  batch_logits(*s.model, s.batch, {}, {.stream = &components});
  for (const double share : components.skip_share()) EXPECT_DOUBLE_EQ(share, 1);
  for (const auto& row : components.dependency()) EXPECT_DOUBLE_EQ(row[0], 1);
}

TEST(Components, LeavePaddingOutOfWhatTheyMeasure) {
  Scrambled s("pre-ln");
  const NoGrad off;
  s.batch.lengths = {8, 5, 2};
  Components whole(s.row(), {}), within(s.row(), s.batch.lengths);
  batch_logits(*s.model, s.batch, {}, {.stream = &whole});
  batch_logits(*s.model, s.batch, {}, {.stream = &within});
  EXPECT_NE(whole.skip_share(), within.skip_share());
  for (std::size_t part = 0; part < whole.parts().size(); ++part) EXPECT_EQ(whole.parts()[part], within.parts()[part]);
}

TEST(Components, AreNotThereForClassesOfTheirOwn) {
  const auto residual = make_residual("dlcl-pre", {.width = 4, .layers = 1});
  EXPECT_EQ(Components::row_of(residual.get()), nullptr);
  EXPECT_EQ(Components::row_of(nullptr), nullptr);
}

}  // namespace
}  // namespace addnorm
