// all-MiniLM-L6-v2 against transformers: ids, vectors of tokens, vectors of sentences. Needs what scripts/peers installs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "addnorm/autograd/tape.h"
#include "addnorm/data/tokenizer.h"
#include "addnorm/model/import.h"
#include "addnorm/model/placement.h"
#include "addnorm/tensor/safetensors.h"
#include "core/json/json.h"
#include "support/folder.h"
#include "support/models/import_files.h"
#include "support/near.h"

namespace addnorm {
namespace {

using Ids = std::vector<std::int32_t>;

/// Six layers of float32 on both sides; vectors of tokens have values up to about 4.
constexpr test::Tolerance minilm_tolerance() { return {1e-5, 0}; }
constexpr double kLeastCosine = 0.999999;

class MiniLm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* python = std::getenv("ADDNORM_PEERS_PYTHON");
    if (python == nullptr || *python == '\0') return;
    folder = std::make_unique<test::TemporaryFolder>();
    const std::string command = concat("'", python, "' '", ADDNORM_SOURCE_DIR, "/tests/model/import/minilm_peer.py' '",
                                       folder->path.native(), "' 2>'", (folder->path / "log").native(), "'");
    const int ended = std::system(command.c_str());
    code = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  }
  static void TearDownTestSuite() { folder.reset(); }

  void SetUp() override {
    if (!folder) GTEST_SKIP() << "skipped: run scripts/peers";
    if (code == 77) GTEST_SKIP() << "skipped: " << test::text_of(folder->path / "log") << "; run scripts/peers";
    ASSERT_EQ(code, 0) << test::text_of(folder->path / "log");
    peer = std::make_unique<SafetensorsReader>(folder->path / "peer.safetensors");
    const Json written = parsed(test::text_of(folder->path / "texts.json"), "texts.json");
    for (const Json& text : written.array_items()) texts.push_back(text.text());
    const std::vector<std::int64_t> all = peer->read_i64("ids");
    auto at = all.begin();
    for (const std::int64_t count : peer->read_i64("counts")) {
      ids.emplace_back(at, at + count);
      at += count;
    }
    ASSERT_EQ(ids.size(), texts.size());
    sentences = peer->info("pooled").shape[0];
    ASSERT_EQ(sentences, 200u);
  }
  std::filesystem::path model_folder() const { return test::text_of(folder->path / "model.txt"); }

  static std::unique_ptr<test::TemporaryFolder> folder;
  static int code;
  std::unique_ptr<SafetensorsReader> peer;
  std::vector<std::string> texts;
  std::vector<Ids> ids;  // of transformers' tokenizer
  std::size_t sentences = 0;
};
std::unique_ptr<test::TemporaryFolder> MiniLm::folder;
int MiniLm::code = 0;

TEST_F(MiniLm, TextsHaveTheIdsOfTransformers) {
  const auto tokenizer = read_tokenizer(model_folder());
  const TextFrame frame = tokenizer->frame();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Ids got = frame.before;
    const Ids inner = tokenizer->encode(texts[i]);
    got.insert(got.end(), inner.begin(), inner.end());
    got.insert(got.end(), frame.after.begin(), frame.after.end());
    EXPECT_EQ(got, ids[i]) << Json(texts[i]).dump();
  }
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return ab / std::sqrt(aa * bb);
}

TEST_F(MiniLm, VectorsAreThoseOfTransformersInPaddedBatchesToo) {
  const ImportedModel imported = import_model(model_folder());
  EXPECT_EQ(imported.family, "bert");
  EXPECT_EQ(imported.model->config().arrangement, "post-ln");
  ASSERT_TRUE(imported.sentence);
  EXPECT_EQ(imported.sentence->pooling, Pooling::mean);
  EXPECT_TRUE(imported.sentence->normalize);
  EXPECT_EQ(imported.sentence->max_tokens, 256u);
  const auto& encoder = dynamic_cast<const Encoder&>(*imported.model);
  const Tensor want = peer->read("vectors"), want_pooled = peer->read("pooled");
  const std::size_t width = encoder.config().d_model;
  const NoGrad no_grad;
  std::size_t row = 0;
  double least = 1;
  for (std::size_t first = 0; first < sentences; first += 8) {
    const std::size_t batch = std::min<std::size_t>(8, sentences - first);
    const test::Padded padded(
        {ids.begin() + static_cast<std::ptrdiff_t>(first), ids.begin() + static_cast<std::ptrdiff_t>(first + batch)});
    const Tokens tokens = padded.tokens();
    const std::vector<std::size_t>& lengths = padded.lengths;
    const std::size_t longest = tokens.tokens();
    const Tensor got = encoder(tokens).value(), got_pooled = sentence_vectors(encoder, tokens, *imported.sentence);
    for (std::size_t b = 0; b < batch; ++b) {
      const auto part = [&](const Tensor& all, std::size_t from, std::size_t rows) {
        return Tensor::of({rows, width}, all.values<float>().subspan(from * width, rows * width));
      };
      EXPECT_NEAR_ALL(part(got, b * longest, lengths[b]), part(want, row, lengths[b]), minilm_tolerance())
          << "sentence " << first + b;
      const Tensor ours = part(got_pooled, b, 1), theirs = part(want_pooled, first + b, 1);
      EXPECT_NEAR_ALL(ours, theirs, minilm_tolerance()) << "sentence " << first + b;
      least = std::min(least, cosine(ours.values<float>(), theirs.values<float>()));
      row += lengths[b];
    }
  }
  EXPECT_GT(least, kLeastCosine);

  pack_weights(*imported.model);  // as addnorm embed has it: joined, products with packed weights
  std::vector<std::int32_t> all;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < sentences; ++i) {
    all.insert(all.end(), ids[i].begin(), ids[i].end());
    lengths.push_back(ids[i].size());
  }
  const Tensor packed =
      sentence_vectors(encoder, {.ids = all, .batch = sentences, .lengths = lengths, .joined = true}, *imported.sentence);
  for (std::size_t i = 0; i < sentences; ++i) {
    const auto ours = packed.values<float>().subspan(i * width, width),
               theirs = want_pooled.values<float>().subspan(i * width, width);
    EXPECT_NEAR_ALL(ours, theirs, minilm_tolerance()) << "sentence " << i;
    EXPECT_GT(cosine(ours, theirs), kLeastCosine) << "sentence " << i;
  }
}

/// Sentences with a beginning and an end that belong together.
constexpr std::array kSentences{
    "The cat sat on the warm windowsill and watched the birds outside.",
    "Scientists discovered a new species of deep sea fish last year.",
    "The stock market fell sharply after the announcement of higher interest rates.",
    "She baked a chocolate cake for her grandmother's birthday party.",
    "The train to Berlin leaves at seven in the morning from platform nine.",
    "Heavy rain flooded the streets and many houses lost electricity.",
    "He learned to play the violin when he was only five years old.",
    "The recipe needs two cups of flour, one egg and a pinch of salt.",
    "Football fans celebrated in the city centre until late at night.",
    "Our solar system has eight planets that orbit the sun.",
    "The lawyer explained the contract to her client in simple words.",
    "Doctors recommend drinking enough water on hot summer days.",
};

TEST_F(MiniLm, IsPostLnWhateverItsLabel) {
  const auto tokenizer = read_tokenizer(model_folder());
  const TextFrame frame = tokenizer->frame();
  std::vector<Ids> rows;
  for (const char* sentence : kSentences) {
    Ids& row = rows.emplace_back(frame.before);
    const Ids inner = tokenizer->encode(sentence);
    row.insert(row.end(), inner.begin(), inner.end());
    row.insert(row.end(), frame.after.begin(), frame.after.end());
  }
  const test::Padded sample(rows);
  for (const char* label : {"post-ln", "pre-ln", "norm-skip", "res-post"}) {
    const ImportedModel imported = import_model(model_folder(), {.arrangement = label, .final_norm = false});
    const PlacementFinding found = detect_placement(*imported.model, sample.tokens());
    EXPECT_EQ(found.behaves_as, "post-ln") << label << "\n" << concat(found.evidence.back());
    EXPECT_EQ(found.ground, PlacementFinding::Ground::trials) << label << "\n" << found.evidence.back();
    EXPECT_EQ(found.agrees, std::string_view(label) == "post-ln");
  }
}

TEST_F(MiniLm, ComesBackBitForBit) {
  const ImportedModel imported = import_model(model_folder());
  const test::TemporaryFolder out;
  export_model(imported, out.path);
  const test::Stored a = test::stored(model_folder() / "model.safetensors"), b = test::stored(out.path / "model.safetensors");
  EXPECT_EQ(a.size(), b.size());
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(import_model(out.path).sentence);
}

}  // namespace
}  // namespace addnorm
