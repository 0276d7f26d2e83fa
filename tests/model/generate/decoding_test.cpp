// Decoding with a key/value cache against the whole prefix run again; and what models refuse.
#include <cmath>

#include <fstream>
#include <sstream>

#include "addnorm/model/generate.h"
#include "addnorm/residual/catalogue.h"
#include "support/modules.h"
#include "support/streams/small_models.h"
#include "support/test_names.h"

#define main program_of_the_docs
#include "../examples/language_model.cpp"
#undef main

namespace addnorm {
namespace {

using test::ids;
using test::reduction_tolerance;
using test::small;
using test::throws_saying;

ModelConfig longer(ModelKind kind, const std::string& arrangement = "pre-ln") {
  ModelConfig config = small(kind, arrangement);
  config.seq_len = 16;
  return config;
}

/// Logits after each of some steps, rows selected in between.
std::vector<Tensor> steps(Decoding& decoding, std::size_t vocab) {
  std::vector<Tensor> all;
  all.push_back(decoding.append(ids(2 * 3, vocab, 1)));
  all.push_back(decoding.append(ids(2, vocab, 2)));
  decoding.select(std::vector<std::size_t>{1, 0, 1});
  all.push_back(decoding.append(ids(3, vocab, 3)));
  decoding.select(std::vector<std::size_t>{2});
  all.push_back(decoding.append(ids(2, vocab, 4)));
  EXPECT_EQ(decoding.rows(), 1u);
  EXPECT_EQ(decoding.room(), 16u - 7u);
  return all;
}

/// The largest root mean square of the stream at any depth: where nothing norms it, roundings grow with it.
struct Size : StreamObserver {
  double rms = 1;
  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit*, const Var& x) override {
    double sum = 0;
    const Tensor values = x.value();
    for (const float v : values.values<float>()) sum += static_cast<double>(v) * static_cast<double>(v);
    rms = std::max(rms, std::sqrt(sum / static_cast<double>(values.elements())));
  }
};

void expect_agree(Decoding& cached, Decoding& whole, std::size_t vocab, const std::string& what, double size = 1) {
  const std::vector<Tensor> got = steps(cached, vocab), want = steps(whole, vocab);
  const test::Tolerance tolerance{reduction_tolerance(12).atol * size, reduction_tolerance(12).rtol};
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR_ALL(got[i], want[i], tolerance) << what << ", step " << i;
}

class Cache : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, Cache, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(Cache, GivesTheLogitsOfTheWholePrefix) {
  LanguageModel lm(longer(ModelKind::lm, GetParam()));
  test::scramble(lm);
  Size of_lm, of_pair;
  const std::vector<std::int32_t> some = ids(12, 11, 1), targets = ids(12, 7, 1);
  lm({.ids = some}, {}, &of_lm);
  expect_agree(*lm.decoding(2), *lm.decoding(2, false), 11, "lm", of_lm.rms);
  EncoderDecoder pair(longer(ModelKind::seq2seq, GetParam()));
  test::scramble(pair);
  const std::vector<std::int32_t> source = ids(10, 11, 7);
  const Tokens tokens{.ids = source, .batch = 2, .lengths = {5, 3}};
  pair(tokens, {.ids = targets, .batch = 2}, {}, nullptr, &of_pair);
  expect_agree(*pair.decoding(tokens), *pair.decoding(tokens, false), 7, "seq2seq", of_pair.rms);
}

TEST_P(Cache, ChangesNoTokenOfGreedyTextOrBeams) {
  LanguageModel lm(longer(ModelKind::lm, GetParam()));
  test::scramble(lm);
  const std::vector<std::int32_t> prompt = ids(4, 11, 8);
  const GenerateOptions greedy{.sampling = {.temperature = 0}, .max_tokens = 8};
  const auto cached = generate(*lm.decoding(2), prompt, greedy), whole = generate(*lm.decoding(2, false), prompt, greedy);
  for (std::size_t row = 0; row < 2; ++row) EXPECT_EQ(cached[row].tokens, whole[row].tokens);
  const BeamOptions beams{.beams = 3, .max_tokens = 5, .end_tokens = {4}};
  const auto a = beam_search(*lm.decoding(2), prompt, beams), b = beam_search(*lm.decoding(2, false), prompt, beams);
  for (std::size_t row = 0; row < 2; ++row) EXPECT_EQ(a[row][0].tokens, b[row][0].tokens);
}

TEST(CacheOf, RotaryPositionsGroupedHeadsAndNormedQueries) {
  for (const PositionKind positions : {PositionKind::rotary, PositionKind::rotary_halves, PositionKind::sinusoidal,
                                       PositionKind::sinusoidal_halves, PositionKind::none}) {
    ModelConfig config = longer(ModelKind::lm);
    config.positions = positions;
    config.heads = 3;
    config.kv_heads = 1;
    config.qk_norm = "rmsnorm";
    config.activation = Activation::swiglu;
    LanguageModel lm(config);
    test::scramble(lm);
    expect_agree(*lm.decoding(2), *lm.decoding(2, false), 11, name_of(positions));
  }
}

TEST(LanguageModelInput, IsRefusedWithWhatWasGivenAndAllowed) {
  const LanguageModel lm(small(ModelKind::lm));
  const std::vector<std::int32_t> nine = ids(9, 11, 1), out{3, 11}, three{1, 2, 3};
  EXPECT_TRUE(throws_saying<UsageError>([&] { lm({.ids = nine}); }, {"9 tokens", "seq_len is 8"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { lm({.ids = out}); }, {"token 1 of sequence 0 is 11", "vocab is 11", "0 ... 10"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { lm({.ids = three, .batch = 2}); }, {"3 token ids", "2 sequences"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { lm({.ids = three, .lengths = {4}}); }, {"length of sequence 0 is 4", "1 ... 3"}));
  const auto decoding = lm.decoding(1);
  decoding->append(std::vector<std::int32_t>(8, 1));
  EXPECT_EQ(decoding->room(), 0u);
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { decoding->append(std::vector<std::int32_t>{1}); }, {"1 tokens after 8", "seq_len is 8"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { decoding->select(std::vector<std::size_t>{1}); }, {"row 1 of 1"}));
}

TEST(EncoderDecoderInput, IsRefusedWithWhatWasGivenAndAllowed) {
  const EncoderDecoder pair(small(ModelKind::seq2seq));
  const std::vector<std::int32_t> five{1, 2, 3, 4, 5};
  for (const bool cached : {true, false}) {
    EXPECT_TRUE(
        throws_saying<UsageError>([&] { pair.decoding({.ids = five, .batch = 2}, cached); }, {"5 token ids", "2 sequences"}));
    EXPECT_TRUE(throws_saying<UsageError>([&] { pair.decoding({.ids = five, .batch = 0}, cached); }, {"0 sequences"}));
    EXPECT_TRUE(throws_saying<UsageError>([&] { pair.decoding({.ids = five, .lengths = {0}}, cached); }, {"is 0", "1 ... 5"}));
  }
  EXPECT_TRUE(throws_saying<UsageError>([&] { pair({.ids = five}, {.ids = five, .batch = 5}); }, {"1 sources", "5 targets"}));
  const LanguageModel lm(small(ModelKind::lm));
  EXPECT_TRUE(throws_saying<UsageError>([&] { lm.decoding(0); }, {"rows is 0"}));
}

TEST(Docs, HoldTheProgramThatRunsHere) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(program_of_the_docs(), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("comes 5"), std::string::npos);
  const auto text_of = [](const std::string& path) {
    std::ifstream file(std::string(ADDNORM_SOURCE_DIR) + "/" + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string program = text_of("examples/language_model.cpp");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(text_of("docs/models.md").find("```cpp\n" + program + "```"), std::string::npos);
}

}  // namespace
}  // namespace addnorm
