// Models of every kind under every arrangement: gradients, recompute, probes, thread counts, padding.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "support/modules.h"
#include "support/sanitizer.h"
#include "support/streams/every_arrangement.h"
#include "support/streams/small_models.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::AnyModel;
using test::EveryArrangement;
using test::ids;
using test::normal_tensor;
using test::small;

constexpr std::array kKinds{ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier, ModelKind::mlp};

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryArrangement, testing::ValuesIn(arrangement_names()), test::name_of_test);

/// Logits, and the gradient of every parameter for one random upstream gradient.
std::vector<Tensor> logits_and_gradients(const AnyModel& any, const Pass& pass, StreamObserver* observer = nullptr) {
  for_each_parameter(*any.model, [](Parameter& p) { p.value.clear_grad(); });
  const Var y = any(pass, observer);
  backward(y, normal_tensor(y.shape(), 9));
  std::vector<Tensor> all{y.value()};
  for_each_parameter(*any.model, [&](Parameter& p) { all.push_back(p.value.grad().clone()); });
  return all;
}

void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_SAME_BITS(got[i].values<float>(), want[i].values<float>()) << what << ", tensor " << i;
}

struct Listener : StreamObserver {
  std::size_t branches = 0, streams = 0;
  void on_branch(const Unit&, const Var&) override { ++branches; }
  void on_stream(const Unit*, const Var&) override { ++streams; }
};

TEST_P(EveryArrangement, HasTheGradientsOfFiniteDifferencesInAllItsParameters) {
  for (const ModelKind kind : {ModelKind::lm, ModelKind::seq2seq}) {
    if (test::kSanitized && kind == ModelKind::seq2seq) continue;  // the same code over again, at a minute of compute
    AnyModel any(small(kind, GetParam()));
    test::scramble(*any.model);
    const auto f = [&](const std::vector<Var>&) { return any(); };
    EXPECT_TRUE(test::gradients_hold(*any.model, f, {}, {.directions = 1})) << name_of(kind);
  }
}

TEST_P(EveryArrangement, ReachesEveryParameterOfEveryKindOfModel) {
  for (const ModelKind kind : kKinds) {
    AnyModel any(small(kind, GetParam()));
    test::scramble(*any.model);
    logits_and_gradients(any, {.train = true});
    for_each_parameter(*any.model, [&](Parameter& p) {
      const Tensor grad = p.value.grad();
      ASSERT_TRUE(grad.defined()) << name_of(kind) << " " << p.path;
      const auto values = grad.values<float>();
      EXPECT_TRUE(std::ranges::any_of(values, [](float v) { return v != 0; })) << name_of(kind) << " " << p.path;
      EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) << name_of(kind) << " " << p.path;
    });
  }
}

TEST_P(EveryArrangement, HasOneParameterPerPath) {
  for (const ModelKind kind : kKinds) {
    AnyModel any(small(kind, GetParam()));
    std::set<std::string> paths;
    for_each_parameter(*any.model,
                       [&](Parameter& p) { EXPECT_TRUE(paths.insert(p.path).second) << name_of(kind) << " " << p.path; });
  }
}

TEST_P(EveryArrangement, GivesTheSameBitsRecomputedAndWatched) {
  for (const ModelKind kind : {ModelKind::lm, ModelKind::seq2seq}) {
    ModelConfig config = small(kind, GetParam());
    config.dropout = 0.2;
    AnyModel any(config);
    test::scramble(*any.model);
    const std::vector<Tensor> want = logits_and_gradients(any, {.train = true, .step = 5});
    expect_same(logits_and_gradients(any, {.train = true, .step = 5, .recompute = true}), want, "recomputed");
    Listener listener;
    expect_same(logits_and_gradients(any, {.train = true, .step = 5}, &listener), want, "watched");
    const std::size_t units = kind == ModelKind::lm ? 4 : 6;  // two per layer; three with cross-attention
    EXPECT_EQ(listener.branches, units);
    EXPECT_EQ(listener.streams, units + 1);
  }
}

TEST_P(EveryArrangement, MovesRunningStatisticsTheSameWhenWatched) {
  if (GetParam() == "plain" || GetParam() == "residual" || GetParam() == "xskip" || GetParam() == "rezero" ||
      GetParam() == "skipinit" || GetParam() == "t-fixup")
    return;  // no norm
  const auto statistics = [&](StreamObserver* observer) {
    ModelConfig config = small(ModelKind::lm, GetParam());
    config.norm = "batchnorm";
    AnyModel any(config);
    any({.train = true}, observer);
    std::vector<float> all;
    for_each_buffer(*any.model, [&](const std::string&, Tensor& value) {
      all.insert(all.end(), value.values<float>().begin(), value.values<float>().end());
    });
    return all;
  };
  Listener listener;
  const std::vector<float> alone = statistics(nullptr);
  EXPECT_FALSE(alone.empty());
  EXPECT_SAME_BITS(statistics(&listener), alone);
}

TEST_P(EveryArrangement, GivesTheSameBitsForAnyNumberOfThreads) {
  AnyModel any(small(ModelKind::seq2seq, GetParam()));
  test::scramble(*any.model);
  const std::vector<Tensor> want = logits_and_gradients(any, {.train = true});
  test::with_every_thread_count([&] { expect_same(logits_and_gradients(any, {.train = true}), want, "threads"); });
}

TEST(Models, StartTheSameForTheSameSeedAndDifferForAnother) {
  for (const ModelKind kind : kKinds) {
    AnyModel a(small(kind)), b(small(kind)), c(small(kind));
    b.model->initialise(1);
    c.model->initialise(2);
    EXPECT_SAME_BITS(a().value().values<float>(), b().value().values<float>()) << name_of(kind);
    EXPECT_FALSE(test::same_bits(a().value().values<float>(), c().value().values<float>())) << name_of(kind);
  }
}

TEST(Models, MadeBlankAreThoseOfTheSeedOnceInitialised) {
  for (const ModelKind kind : kKinds) {
    AnyModel drawn(small(kind));
    const std::unique_ptr<Model> blank = make_model(small(kind), Start::blank);
    std::size_t nonzero = 0;
    for_each_parameter(*blank, [&](Parameter& p) {
      for (const float v : p.value.value().values<float>()) nonzero += is_matrix(p.role) && v != 0;
    });
    EXPECT_EQ(nonzero, 0u) << name_of(kind);
    blank->initialise(1);
    std::vector<Tensor> got;
    for_each_parameter(*blank, [&](Parameter& p) { got.push_back(p.value.value()); });
    std::size_t at = 0;
    for_each_parameter(*drawn.model, [&](Parameter& p) {
      EXPECT_SAME_BITS(p.value.value().values<float>(), got.at(at++).values<float>()) << p.path;
    });
  }
}

TEST(Models, StartAnewWhenInitialisedAgain) {
  for (const char* arrangement : {"pre-ln", "rezero", "admin", "dlcl-pre"}) {
    ModelConfig config = small(ModelKind::lm, arrangement);
    if (arrangement != std::string("rezero")) config.norm = "batchnorm";
    AnyModel used(config), fresh(config);
    used({.train = true});
    for_each_parameter(*used.model, [](Parameter& p) {
      for (float& v : p.value.value().values<float>()) v += 0.5f;
    });
    used.model->initialise(7);
    fresh.model->initialise(7);
    EXPECT_SAME_BITS(used().value().values<float>(), fresh().value().values<float>()) << arrangement;
  }
}

TEST(Models, DrawEncoderAndDecoderDifferently) {
  EncoderDecoder model(small(ModelKind::seq2seq));
  Tensor encoder, decoder;
  for_each_parameter(model, [&](Parameter& p) {
    if (p.path == "encoder.layers.0.self.qkv.weight") encoder = p.value.value();
    if (p.path == "decoder.layers.0.self.qkv.weight") decoder = p.value.value();
  });
  ASSERT_TRUE(encoder.defined() && decoder.defined());
  EXPECT_FALSE(test::same_bits(encoder.values<float>(), decoder.values<float>()));
}

TEST(Models, DoNotSeePadding) {
  for (const ModelKind kind : {ModelKind::encoder, ModelKind::classifier, ModelKind::lm}) {
    AnyModel any(small(kind));
    const auto run = [&](std::int32_t padding) {
      const std::vector<std::int32_t> tokens{1, 2, 3, 4, 5, 6, padding, padding};
      const Tokens batch{.ids = tokens, .batch = 2, .lengths = {4, 2}};
      if (kind == ModelKind::encoder) return dynamic_cast<Encoder&>(*any.model)(batch).value();
      if (kind == ModelKind::classifier) return dynamic_cast<Classifier&>(*any.model)(batch).value();
      return dynamic_cast<LanguageModel&>(*any.model)(batch).value();
    };
    const Tensor zeros = run(0), tens = run(10);
    const std::size_t width = zeros.shape().back();
    const std::size_t real = kind == ModelKind::classifier ? 2 * width : 6 * width;  // the padding of row 1 comes last
    EXPECT_SAME_BITS(zeros.values<float>().first(real), tens.values<float>().first(real)) << name_of(kind);
  }
}

TEST(Models, DropTheSameElementsHoweverABatchIsSplit) {
  ModelConfig config = small(ModelKind::seq2seq);
  config.dropout = 0.5;
  const EncoderDecoder model(config);
  const std::vector<std::int32_t> source = ids(10, 11, 1), target = ids(6, 7, 2);
  const std::span<const std::int32_t> sources = source, targets = target;
  const Tensor both = model({.ids = source, .batch = 2}, {.ids = target, .batch = 2}, {.train = true}).value();
  const Tensor second =
      model({.ids = sources.subspan(5)}, {.ids = targets.subspan(3)}, {.train = true, .first_sequence = 1}).value();
  EXPECT_NEAR_ALL(second.values<float>(), both.values<float>().subspan(3 * 7), test::reduction_tolerance(12));
}

TEST(Models, OfTwoStacksDoNotSeePaddingInEither) {
  const EncoderDecoder model(small(ModelKind::seq2seq));
  const auto run = [&](std::int32_t padding) {
    const std::vector<std::int32_t> source{1, 2, 3, 4, 5, 6, padding, padding}, target{1, 2, 3, 4, padding, padding};
    return model({.ids = source, .batch = 2, .lengths = {4, 2}}, {.ids = target, .batch = 2, .lengths = {3, 1}}).value();
  };
  const Tensor zeros = run(0), sixes = run(6);
  EXPECT_SAME_BITS(zeros.values<float>().first(4 * 7), sixes.values<float>().first(4 * 7));
}

TEST(Models, OfAttentionAloneHaveOneUnitPerLayer) {
  ModelConfig config = small(ModelKind::lm, "plain");
  config.layer = LayerKind::attention;
  LanguageModel model(config);
  EXPECT_EQ(model.stack().residual().shape().units(), 2u);
  for_each_parameter(model, [](Parameter& p) { EXPECT_EQ(p.path.find("ffn"), std::string::npos) << p.path; });
  config = small(ModelKind::seq2seq);
  config.layer = LayerKind::attention;
  EXPECT_EQ(EncoderDecoder(config).decoder().residual().shape().units(), 4u);
}

TEST(Models, MayShareOrOwnTheirTables) {
  const auto parameters = [](const ModelConfig& config) {
    const auto model = make_model(config);
    return count_parameters(*model);
  };
  ModelConfig config = small(ModelKind::lm);
  const std::size_t tied = parameters(config);
  config.tied = false;
  EXPECT_EQ(parameters(config), tied + 11 * 12);
  config.head_bias = true;
  EXPECT_EQ(parameters(config), tied + 11 * 12 + 11);
  ModelConfig pair = small(ModelKind::seq2seq);
  pair.target_vocab = 11;
  const std::size_t two_tables = parameters(pair);
  pair.shared_vocab = true;
  EXPECT_EQ(parameters(pair), two_tables - 11 * 12);
  EXPECT_NO_THROW(AnyModel{pair}());
}

TEST(Pooled, IsTheFirstTokenOrTheMeanOfThoseThatAreNotPadding) {
  const Tensor x = normal_tensor({2, 3, 4}, 1);
  const Tensor first = pooled(Var(x), Pooling::first, {}).value(), mean = pooled(Var(x), Pooling::mean, {3, 2}).value();
  for (std::size_t j = 0; j < 4; ++j) {
    const auto at = [&](std::size_t b, std::size_t t) { return static_cast<double>(x.data<float>()[(b * 3 + t) * 4 + j]); };
    EXPECT_EQ(first.data<float>()[4 + j], x.data<float>()[12 + j]);
    EXPECT_NEAR(static_cast<double>(mean.data<float>()[j]), (at(0, 0) + at(0, 1) + at(0, 2)) / 3,
                test::reduction_tolerance(3).atol);
    EXPECT_NEAR(static_cast<double>(mean.data<float>()[4 + j]), (at(1, 0) + at(1, 1)) / 2, test::reduction_tolerance(3).atol);
  }
}

}  // namespace
}  // namespace addnorm
