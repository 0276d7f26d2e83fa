// Sequences of unequal length in one batch without padding: every token has what it has in its sequence alone.
#include <limits>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/sentence.h"
#include "addnorm/residual/catalogue.h"
#include "support/modules.h"
#include "support/streams/every_arrangement.h"
#include "support/streams/small_models.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::EveryArrangement;
using test::ids;
using test::normal_tensor;
using test::small;

const std::vector<std::size_t> kLengths{5, 1, 8, 3};
constexpr std::size_t kTokens = 17;

Tokens joined(const std::vector<std::int32_t>& all) {
  return {.ids = all, .batch = kLengths.size(), .lengths = kLengths, .joined = true};
}

/// y(tokens) of each sequence by itself, one after another.
template <class F>
std::vector<Var> each_alone(const std::vector<std::int32_t>& all, F y) {
  std::vector<Var> alone;
  std::size_t at = 0;
  for (const std::size_t length : kLengths) {
    alone.push_back(y(Tokens{.ids = std::span(all).subspan(at, length)}));
    at += length;
  }
  return alone;
}

TEST_P(EveryArrangement, GivesJoinedSequencesTheBitsTheyHaveAlone) {
  const auto all = ids(kTokens, 11, 1);
  for (const PositionKind positions : {PositionKind::learned, PositionKind::rotary}) {
    ModelConfig config = small(ModelKind::encoder, GetParam());
    config.positions = positions;
    Encoder encoder(config);
    test::scramble(encoder);
    convert(encoder, DType::f64);  // in float the bits of a product may change with the number of rows
    const NoGrad no_grad;
    const Var y = encoder.logits(joined(all));
    ASSERT_EQ(y.shape(), (Shape{1, kTokens, 11}));
    const Var alone = concat(each_alone(all, [&](const Tokens& tokens) { return encoder.logits(tokens); }), 1);
    EXPECT_NEAR_ALL(y.value(), alone.value(), test::exact());
  }
}

TEST_P(EveryArrangement, GivesThemTheBitsTheyHaveAloneInFloatWhenItsWeightsArePacked) {
  const auto all = ids(kTokens, 11, 2);
  Encoder encoder(small(ModelKind::encoder, GetParam()));
  test::scramble(encoder);
  const NoGrad no_grad;
  const Var plain = encoder(joined(all));
  pack_weights(encoder);
  const Var y = encoder(joined(all));
  EXPECT_NEAR_ALL(y.value(), plain.value(), test::model_logits_tolerance());
  const Var alone = concat(each_alone(all, [&](const Tokens& tokens) { return encoder(tokens); }), 1);
  EXPECT_SAME_BITS(y.value().values<float>(), alone.value().values<float>());
}

TEST(Joined, TokensOfALanguageModelSeeOnlyTheirOwnPast) {
  const auto all = ids(kTokens, 11, 2);
  LanguageModel model(small(ModelKind::lm));
  convert(model, DType::f64);
  const NoGrad no_grad;
  const Var alone = concat(each_alone(all, [&](const Tokens& tokens) { return model(tokens); }), 1);
  EXPECT_NEAR_ALL(model(joined(all)).value(), alone.value(), test::exact());
}

TEST(Joined, GradientsAreTheSumOverTheSequences) {
  const auto all = ids(kTokens, 11, 3);
  Encoder encoder(small(ModelKind::encoder, "post-ln"));
  test::scramble(encoder);
  convert(encoder, DType::f64);
  const Tensor dy = normal_tensor({1, kTokens, 11}, 4).to(DType::f64);
  const auto gradients = [&](const Var& y) {
    backward(y, dy);
    std::vector<Tensor> grads;
    for_each_parameter(encoder, [&](Parameter& p) {
      grads.push_back(p.value.grad().clone());
      p.value.clear_grad();
    });
    return grads;
  };
  const auto together = gradients(encoder.logits(joined(all)));
  const auto apart = gradients(concat(each_alone(all, [&](const Tokens& tokens) { return encoder.logits(tokens); }), 1));
  ASSERT_EQ(together.size(), apart.size());
  for (std::size_t i = 0; i < apart.size(); ++i) EXPECT_NEAR_ALL(together[i], apart[i], test::signed_double_sum_tolerance());
}

TEST(Joined, AClassifierLooksAtOneVectorOfEachSequence) {
  const auto all = ids(kTokens, 11, 5);
  for (const Pooling pooling : {Pooling::mean, Pooling::first}) {
    ModelConfig config = small(ModelKind::classifier);
    config.pooling = pooling;
    Classifier classifier(config);
    const NoGrad no_grad;
    const Var y = classifier(joined(all));
    ASSERT_EQ(y.shape(), (Shape{4, 3}));
    EXPECT_NEAR_ALL(y.value(), concat(each_alone(all, [&](const Tokens& tokens) { return classifier(tokens); }), 0).value(),
                    test::model_logits_tolerance());
  }
}

TEST(Joined, RefusesLengthsThatDoNotFitAndSaysWhichSequence) {
  const auto all = ids(9, 11, 1);
  const Encoder encoder(small(ModelKind::encoder));
  const auto refuses = [&](const Tokens& tokens, std::initializer_list<std::string> parts) {
    return test::throws_saying<UsageError>([&] { encoder(tokens); }, parts);
  };
  EXPECT_TRUE(refuses({.ids = all, .batch = 2, .lengths = {5}, .joined = true}, {"1 lengths for 2 joined"}));
  EXPECT_TRUE(refuses({.ids = all, .batch = 2, .lengths = {5, 3}, .joined = true}, {"leave 1 of 9"}));
  EXPECT_TRUE(refuses({.ids = all, .batch = 2, .lengths = {5, 5}, .joined = true}, {"sequence 1 has 5", "4 of 9"}));
  EXPECT_TRUE(refuses({.ids = all, .batch = 3, .lengths = {5, 4, 0}, .joined = true}, {"sequence 2 has 0"}));
  EXPECT_TRUE(refuses({.ids = all, .batch = 1, .lengths = {9}, .joined = true}, {"9 tokens", "seq_len is 8"}));
  std::vector<std::int32_t> bad = all;
  bad[6] = 11;
  EXPECT_TRUE(refuses({.ids = bad, .batch = 2, .lengths = {5, 4}, .joined = true}, {"token 1 of sequence 1 is 11", "0 ... 10"}));
}

TEST(Joined, IsRefusedWhereRowsOfTheBatchAreNeeded) {
  const auto all = ids(kTokens, 7, 1);
  struct Watcher : StreamObserver {
    void on_branch(const Unit&, const Var&) override {}
    void on_stream(const Unit*, const Var&) override {}
  } watcher;
  const Encoder encoder(small(ModelKind::encoder));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { encoder(joined(all), {}, &watcher); }, {"watched", "pad them"}));
  const EncoderDecoder pair(small(ModelKind::seq2seq));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { pair.encode(joined(all)); }, {"sources are joined", "pad them"}));
}

TEST(SentenceVectors, RefuseTypesThatAreNotOnePerToken) {
  ModelConfig config{.model = ModelKind::encoder, .vocab = 7, .layers = 1, .d_model = 8, .heads = 2, .seq_len = 8};
  config.token_types = 2;
  const auto model = make_model(config);
  const std::vector<std::int32_t> ids{1, 2, 3, 4}, types{0};
  const Tokens tokens{.ids = ids, .batch = 2, .types = types};
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { sentence_vectors(dynamic_cast<const Encoder&>(*model), tokens, {}); },
                                              {"1 token types for 4 tokens"}));
}

TEST(SentenceVectors, CosinesAreThoseOfTheirRows) {
  const Tensor vectors = Tensor::of({3, 2}, std::vector<float>{1, 0, 3, 4, 0, 0});
  const Tensor cosines = cosine_similarities(vectors);
  const std::vector<float> want{1, 0.6f, 0, 0.6f, 1, 0, 0, 0, 0};
  EXPECT_TRUE(std::ranges::equal(cosines.values<float>(), want));
  EXPECT_THROW(cosine_similarities(Tensor::zeros({3})), UsageError);
  EXPECT_THROW(cosine_similarities(Tensor::zeros({3, 2}, DType::f64)), UsageError);
}

TEST(SentenceVectors, AreTheSameBitsPaddedJoinedAloneAndForAnyNumberOfThreads) {
  ModelConfig config = small(ModelKind::encoder, "post-ln");
  config.seq_len = 300;
  config.head = false;
  Encoder encoder(config);
  test::scramble(encoder);
  pack_weights(encoder);
  const std::vector<std::size_t> lengths{300, 2, 299, 300, 1, 300, 40};  // more than go through at once
  std::vector<std::int32_t> padded(lengths.size() * 300), together;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto text = ids(lengths[b], 11, b);
    std::ranges::copy(text, padded.begin() + static_cast<std::ptrdiff_t>(300 * b));
    together.insert(together.end(), text.begin(), text.end());
  }
  for (const SentenceOptions& options : {SentenceOptions{}, SentenceOptions{.pooling = Pooling::first, .normalize = true}}) {
    const Tokens all{.ids = together, .batch = lengths.size(), .lengths = lengths, .joined = true};
    const Tensor y = sentence_vectors(encoder, all, options);
    ASSERT_EQ(y.shape(), (Shape{7, 12}));
    EXPECT_SAME_BITS(
        sentence_vectors(encoder, {.ids = padded, .batch = lengths.size(), .lengths = lengths}, options).values<float>(),
        y.values<float>());
    test::with_every_thread_count(
        [&] { EXPECT_SAME_BITS(sentence_vectors(encoder, all, options).values<float>(), y.values<float>()); });
    std::size_t at = 0;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const Tensor one = sentence_vectors(encoder, {.ids = std::span(together).subspan(at, lengths[b])}, options);
      EXPECT_SAME_BITS(one.values<float>(), y.values<float>().subspan(12 * b, 12)) << "text " << b;
      at += lengths[b];
    }
  }
}

/// More texts than threads, each of which takes some through the whole encoder.
struct ManyTexts {
  std::vector<std::size_t> lengths = std::vector<std::size_t>(9, 150);
  std::vector<std::int32_t> texts = ids(9 * 150, 11, 1);
  Tokens tokens() const { return {.ids = texts, .batch = lengths.size(), .lengths = lengths, .joined = true}; }
};

Encoder encoder_of_long_texts() {
  ModelConfig config = small(ModelKind::encoder, "post-ln");
  config.seq_len = 150;
  config.head = false;
  return Encoder(config);
}

TEST(SentenceVectors, WithoutPackedWeightsAreTheSameBitsForAnyNumberOfThreads) {
  const Encoder encoder = encoder_of_long_texts();
  const ManyTexts many;
  const Tensor y = sentence_vectors(encoder, many.tokens(), {});
  test::with_every_thread_count(
      [&] { EXPECT_SAME_BITS(sentence_vectors(encoder, many.tokens(), {}).values<float>(), y.values<float>()); });
}

TEST(SentenceVectors, NameTheTextWithAnIdThatIsNotInTheVocabulary) {
  const Encoder encoder = encoder_of_long_texts();
  ManyTexts many;
  many.texts[5 * 150 + 7] = 4000;
  many.texts[8 * 150] = 5000;
  test::with_every_thread_count([&] {
    EXPECT_TRUE(test::throws_saying<UsageError>([&] { sentence_vectors(encoder, many.tokens(), {}); },
                                                {"sentence_vectors", "token 7 of sequence 5 is 4000"}));
  });
}

/// One text of nine has NaN in its first vector, each in turn: some of them are read by other threads than the caller's.
TEST(SentenceVectors, AreCheckedOnEveryThreadWhereTheirCallerChecks) {
  Encoder encoder = encoder_of_long_texts();
  for_each_parameter(encoder, [&](Parameter& parameter) {
    if (parameter.path == "tokens.embedding.weight")
      parameter.value.value().values<float>().back() = std::numeric_limits<float>::quiet_NaN();
  });
  for (std::size_t text = 0; text < 9; ++text) {
    ManyTexts many;
    for (std::int32_t& id : many.texts) id = std::min(id, 9);
    many.texts[text * 150] = 10;
    test::with_every_thread_count([&] {
      EXPECT_NO_THROW(sentence_vectors(encoder, many.tokens(), {}));
      const CheckFinite check;
      EXPECT_THROW(sentence_vectors(encoder, many.tokens(), {}), NumericsError) << text;
    });
  }
}

}  // namespace
}  // namespace addnorm
