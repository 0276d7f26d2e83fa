// Checkpoints that others trained, imported: recorded activations, recorded text, and back to the same bits.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "addnorm/data/tokenizer.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/generate.h"
#include "addnorm/model/import.h"
#include "addnorm/model/language_model.h"
#include "addnorm/tensor/safetensors.h"
#include "support/data.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

using Ids = std::vector<std::int32_t>;

std::filesystem::path folder(const char* model) { return test::test_data() / "models" / model; }
using test::text_of;
std::vector<std::string> split_at(const std::string& text, char separator) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// gpt-nano-sort: 3 layers, pre-LN, GELU in its tanh form, learned positions, a head of its own.

class NanoSort : public testing::Test {
 protected:
  void SetUp() override {
    ADDNORM_NEEDS_DATA("models/gpt-nano-sort");
    imported = import_model(folder("gpt-nano-sort"));
    model = dynamic_cast<LanguageModel*>(imported.model.get());
    ASSERT_TRUE(model);
    EXPECT_EQ(imported.family, "mingpt");
  }
  ImportedModel imported;
  LanguageModel* model = nullptr;
};

/// The stream after every unit; [0] is what enters the stack.
class Watch : public StreamObserver {
 public:
  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit*, const Var& x) override { stream.push_back(x.value()); }
  std::vector<Tensor> stream;
};

TEST_F(NanoSort, HasTheRecordedActivations) {
  const SafetensorsReader recorded(folder("gpt-nano-sort") / "t0-partials.safetensors");
  const auto expect = [&](const Tensor& got, const char* name) {
    EXPECT_NEAR_ALL(got, recorded.read(name), test::recorded_tolerance()) << name;
  };
  const std::vector<std::int64_t> wide = recorded.read_i64("idx");
  const Ids ids(wide.begin(), wide.end());
  Watch watch;
  const Var logits = (*model)({.ids = ids, .batch = 3}, {}, &watch);
  ASSERT_EQ(watch.stream.size(), 7u);
  expect(watch.stream[0], "x");
  expect(watch.stream[1], "attnResid");
  expect(watch.stream[2], "mlpResid");
  expect(watch.stream[4], "block1");
  expect(watch.stream[6], "block2");
  expect(logits.value(), "lm_head");

  // What the first two branches read, and the exit: the arrangement over the recorded embeddings and branches.
  const Residual& residual = model->stack().residual();
  const StackShape& shape = residual.shape();
  const Pass pass;
  const auto stream = residual.open(Var(recorded.read("x")), pass);
  expect(stream->read(shape.unit(0)).value(), "ln1");
  stream->write(shape.unit(0), Var(recorded.read("yProj")));
  expect(stream->read(shape.unit(1)).value(), "ln2");
  expect(residual.open(Var(recorded.read("block2")), pass)->close().value(), "ln_f");
}

TEST_F(NanoSort, SortsEverySequenceOfSixDigits) {
  const std::size_t count = 729;  // 3^6
  Ids prompt;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t rest = i, digit = 0; digit < 6; ++digit, rest /= 3) prompt.push_back(static_cast<std::int32_t>(rest % 3));
  const std::vector<Generated> sorted =
      generate(*model->decoding(count), prompt, {.sampling = {.temperature = 0}, .max_tokens = 6});
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = prompt.begin() + static_cast<std::ptrdiff_t>(6 * i);
    Ids want(first, first + 6);
    std::ranges::sort(want);
    ASSERT_EQ(sorted[i].tokens, want) << "sequence " << i;
  }
}

// stories260K: 5 layers, pre-RMSNorm, SwiGLU, rotary positions, grouped-query attention, tied head.

class Stories : public testing::Test {
 protected:
  void SetUp() override {
    ADDNORM_NEEDS_DATA("models/stories260K");
    imported = import_model(folder("stories260K"));
    model = dynamic_cast<LanguageModel*>(imported.model.get());
    ASSERT_TRUE(model);
    EXPECT_EQ(imported.family, "llama2c");
    tokenizer = read_tokenizer(folder("stories260K") / "tok512.bin");
    ASSERT_EQ(tokenizer->vocabulary(), model->config().vocab);
  }
  std::string story(std::size_t tokens, bool cached) const {
    const GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = tokens, .end_tokens = {1}};
    const std::string text = tokenizer->decode(generate(*model->decoding(1, cached), Ids{1}, options).front().tokens);
    return text.substr(text.starts_with(' ') ? 1 : 0);  // SentencePiece puts a space before every text
  }
  ImportedModel imported;
  LanguageModel* model = nullptr;
  std::unique_ptr<Tokenizer> tokenizer;
};

TEST_F(Stories, TellTheExpectedOneByteForByte) {
  EXPECT_EQ(story(200, true), text_of(folder("stories260K") / "expected_greedy_200.txt"));
}

TEST_F(Stories, ComeBackByteForByte) {
  const test::TemporaryFolder out;
  export_model(imported, out.path);
  for (const char* name : {"stories260K.bin", "tok512.bin"})
    EXPECT_TRUE(text_of(out.path / name) == text_of(folder("stories260K") / name)) << name;
}

// The ids are those of llama2.c's encode() (run.c), without its begin token.
TEST_F(Stories, HaveTheTokensOfLlama2c) {
  const std::vector<std::pair<std::string, Ids>> cases{
      {"", {}},
      {"Once upon a time, ☃!", {403, 407, 261, 378, 432, 410, 229, 155, 134, 443}},
      {" two spaces", {410, 259, 424, 414, 262, 427, 412, 331, 419}},
      {"Zoë ☃ \t\n", {410, 469, 414, 198, 174, 410, 229, 155, 134, 410, 12, 13}},
      {"aaaaaaa----  the theater", {261, 412, 412, 412, 412, 412, 412, 464, 464, 464, 464, 410, 265, 265, 294, 285}}};
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer->encode(text), ids) << text;
    EXPECT_EQ(tokenizer->decode(ids), text.empty() ? "" : " " + text);
  }
  EXPECT_EQ(tokenizer->frame().before, Ids{1});
  EXPECT_TRUE(tokenizer->adds_space());
  const test::TemporaryFolder out;
  test::write_text(out.path / "tokenizer.json", tokenizer->to_json());
  EXPECT_EQ(read_tokenizer(out.path)->encode("Once upon a time, ☃!"), tokenizer->encode("Once upon a time, ☃!"));
}

TEST_F(Stories, AreTheSameWithoutACache) { EXPECT_EQ(story(40, false), story(40, true)); }

TEST_F(Stories, HaveTheSameLogitsWithAndWithoutACache) {
  const std::unique_ptr<Decoding> cached = model->decoding(2, true), whole = model->decoding(2, false);
  for (const Ids& tokens : {Ids{1, 403, 407, 1, 9, 12}, Ids{261, 300}, Ids{378, 7}, Ids{400, 500, 13, 14}}) {
    const Tensor want = whole->append(tokens);
    EXPECT_NEAR_ALL(cached->append(tokens), want, test::reduction_tolerance(model->config().d_ff));
  }
}

// aren-transliteration: 6 + 6 layers, pre-LN, ReLU, scaled embeddings, sinusoidal positions counted from 1.

class Transliteration : public testing::Test {
 protected:
  void SetUp() override {
    ADDNORM_NEEDS_DATA("models/aren-transliteration");
    source_words = split_at(text_of(folder("aren-transliteration") / "source_vocabulary.txt"), '\n');
    target_words = split_at(text_of(folder("aren-transliteration") / "target_vocabulary.txt"), '\n');
    imported = import_model(folder("aren-transliteration"));
    model = dynamic_cast<EncoderDecoder*>(imported.model.get());
    ASSERT_TRUE(model);
    EXPECT_EQ(imported.family, "open-nmt");
    ASSERT_EQ(model->config().vocab, source_words.size() + 1);  // the last id stands for unknown words, and has no line
    for (const std::string& line : split_at(text_of(folder("aren-transliteration") / "expected.tsv"), '\n'))
      pairs.push_back(split_at(line, '\t'));
  }
  Ids ids(const std::string& words) const {
    Ids found;
    for (const std::string& word : split_at(words, ' '))
      found.push_back(static_cast<std::int32_t>(std::ranges::find(source_words, word) - source_words.begin()));
    return found;
  }
  std::string words(const Ids& tokens) const {
    std::string joined;
    for (const std::int32_t token : tokens)
      joined += (joined.empty() ? "" : " ") + target_words.at(static_cast<std::size_t>(token));
    return joined;
  }
  static constexpr std::int32_t kBegin = 1, kEnd = 2;
  ImportedModel imported;
  EncoderDecoder* model = nullptr;
  std::vector<std::string> source_words, target_words;
  std::vector<std::vector<std::string>> pairs;
};

TEST_F(Transliteration, WritesTheExpectedLetters) {
  ASSERT_EQ(pairs.size(), 2u);
  for (const auto& pair : pairs)
    for (const bool cached : {true, false}) {
      const Ids source = ids(pair[0]);
      const auto decoding = model->decoding({.ids = source}, cached);
      const GenerateOptions greedy{.sampling = {.temperature = 0}, .end_tokens = {kEnd}};
      const Generated out = generate(*decoding, Ids{kBegin}, greedy).front();
      EXPECT_EQ(words(out.tokens), pair[1]) << "cached: " << cached;
      EXPECT_TRUE(out.ended);
    }
}

TEST_F(Transliteration, WritesTheSameInAPaddedBatchAndWithBeams) {
  const Ids first = ids(pairs[0][0]), second = ids(pairs[1][0]);
  ASSERT_GT(first.size(), second.size());
  Ids both = first;
  both.insert(both.end(), second.begin(), second.end());
  both.resize(2 * first.size(), 0);
  const Tokens source{.ids = both, .batch = 2, .lengths = {first.size(), second.size()}};
  for (const bool cached : {true, false}) {
    const GenerateOptions greedy{.sampling = {.temperature = 0}, .end_tokens = {kEnd}};
    const std::vector<Generated> rows = generate(*model->decoding(source, cached), Ids{kBegin, kBegin}, greedy);
    const auto beams = beam_search(*model->decoding(source, cached), Ids{kBegin, kBegin},
                                   {.beams = 4, .best = 4, .length_penalty = 0, .end_tokens = {kEnd}});
    for (std::size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(words(rows[row].tokens), pairs[row][1]) << "cached: " << cached;
      ASSERT_EQ(beams[row].size(), 4u);
      EXPECT_GE(beams[row][0].log_probability, rows[row].log_probability - test::recorded_tolerance().atol);
    }
  }
}

}  // namespace
}  // namespace addnorm
