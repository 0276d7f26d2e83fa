// addnorm embed with folders of sentence-transformers: the vectors are what their parts say.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/import.h"
#include "cli/models/word_tokenizer.h"
#include "cli/process.h"
#include "support/models/import_files.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Ended;

constexpr std::size_t kWidth = 16;

std::string module(const char* path, const char* kind) {
  return concat(R"({"idx": 0, "name": "0", "path": ")", path, R"(", "type": "sentence_transformers.models.)", kind, "\"}");
}

/// 1_Pooling/config.json as sentence-transformers writes it.
std::string pooling(const char* chosen) {
  std::string all = concat(R"({"word_embedding_dimension": )", kWidth);
  for (const char* name : {"pooling_mode_cls_token", "pooling_mode_mean_tokens", "pooling_mode_max_tokens",
                           "pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"})
    all += concat(", \"", name, "\": ", name == std::string_view(chosen) ? "true" : "false");
  return all + R"(, "include_prompt": true})";
}

struct SentenceFolder : testing::Test {
  /// BERT's golden as the parts of a folder: `below` is where its encoder lies, most often the folder itself.
  void make(const char* pooled_by, bool normalized, const char* below = "") const {
    fs::remove_all(model());
    fs::create_directory(model());
    test::copy_of_golden("bert", model() / "golden");
    fs::create_directories(model() / below);
    for (const char* name : {"config.json", "model.safetensors"}) fs::rename(model() / "golden" / name, model() / below / name);
    test::write_text(model() / below / "tokenizer.json", test::word_tokenizer());
    folder.write("model/1_Pooling/config.json", pooling(pooled_by));
    folder.write("model/modules.json", concat("[", module(below, "Transformer"), ", ", module("1_Pooling", "Pooling"),
                                              normalized ? ", " + module("2_Normalize", "Normalize") : "", "]"));
    if (normalized) fs::create_directory(model() / "2_Normalize");
  }
  Ended embed(std::vector<std::string> texts) const {
    texts.insert(texts.begin(), {"embed", "model"});
    return test::Process(folder.path, texts).end();
  }
  std::vector<std::vector<float>> vectors(const Ended& ended) const {
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err.find("their mean is taken"), std::string::npos) << ended.err;  // the folder says how
    std::vector<std::vector<float>> all;
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream numbers(line);
      all.emplace_back();
      for (float value = 0; numbers >> value;) all.back().push_back(value);
    }
    return all;
  }
  fs::path model() const { return folder.path / "model"; }
  test::TemporaryFolder folder;
};

/// The encoder's vectors of [CLS] ids [SEP], a row for each token.
std::vector<std::vector<double>> token_vectors(std::vector<std::int32_t> ids) {
  static const ImportedModel golden = import_model(test::import_golden("bert"));
  ids.insert(ids.begin(), 2);
  ids.push_back(3);
  const NoGrad no_grad;
  const Tensor out = dynamic_cast<const Encoder&>(*golden.model)({.ids = ids}).value();
  std::vector<std::vector<double>> rows;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const auto row = out.values<float>().subspan(t * kWidth, kWidth);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

std::vector<double> mean_of(const std::vector<std::vector<double>>& rows) {
  std::vector<double> mean(kWidth);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < kWidth; ++i) mean[i] += row[i] / static_cast<double>(rows.size());
  return mean;
}

std::vector<double> of_length_one(std::vector<double> vector) {
  double squares = 0;
  for (const double v : vector) squares += v * v;
  for (double& v : vector) v /= std::sqrt(squares);
  return vector;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& want) {
  const std::vector<float> rounded(want.begin(), want.end());
  EXPECT_NEAR_ALL(std::span<const float>(got), std::span<const float>(rounded), test::model_logits_tolerance());
}

TEST_F(SentenceFolder, PoolsAndNormalizesAsItsPartsSay) {
  const auto first = token_vectors({7, 8, 9}), second = token_vectors({30});
  for (const bool normalized : {false, true})
    for (const bool cls : {false, true})
      for (const char* below : {"", "0_Transformer"}) {
        SCOPED_TRACE(concat(cls ? "CLS" : "mean", normalized ? ", normalized" : "", *below ? ", below" : ""));
        make(cls ? "pooling_mode_cls_token" : "pooling_mode_mean_tokens", normalized, below);
        const auto got = vectors(embed({"w7 w8 w9", "w30"}));
        ASSERT_EQ(got.size(), 2u);
        const auto want = [&](const auto& rows) {
          const std::vector<double> pooled = cls ? rows.front() : mean_of(rows);
          return normalized ? of_length_one(pooled) : pooled;
        };
        expect_near(got[0], want(first));
        expect_near(got[1], want(second));
      }
}

TEST_F(SentenceFolder, CutsTextsToTheLengthItSays) {
  make("pooling_mode_mean_tokens", false);
  const auto length = [&](const char* text) { folder.write("model/sentence_bert_config.json", text); };
  length(R"({"max_seq_length": 5, "do_lower_case": false})");
  Ended ended = embed({"w7 w8 w9 w10 w11 w12", "w7 w8 w9"});
  auto got = vectors(ended);
  ASSERT_EQ(got.size(), 2u);
  expect_near(got[0], mean_of(token_vectors({7, 8, 9})));  // with [CLS] and [SEP] five
  EXPECT_EQ(got[0], got[1]);
  EXPECT_NE(ended.err.find("1 text cut to 5 tokens"), std::string::npos) << ended.err;

  for (const char* more_or_none : {R"({"max_seq_length": 500})", R"({"max_seq_length": null})", "{}"}) {
    SCOPED_TRACE(more_or_none);
    length(more_or_none);
    ended = embed({"w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16"});
    got = vectors(ended);
    ASSERT_EQ(got.size(), 1u);
    expect_near(got[0], mean_of(token_vectors({4, 5, 6, 7, 8, 9, 10, 11, 12, 13})));  // the model has twelve positions
    EXPECT_NE(ended.err.find("1 text cut to 12 tokens"), std::string::npos) << ended.err;
  }
}

TEST_F(SentenceFolder, IsRefusedInOneLineWherePartsAreMissingOrNotComputed) {
  const auto expect_refused = [&](const std::vector<std::string>& words) {
    const Ended ended = embed({"w7"});
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    for (const std::string& word : words) EXPECT_NE(ended.err.find(word), std::string::npos) << word << ": " << ended.err;
  };
  make("pooling_mode_max_tokens", true);
  expect_refused({"1_Pooling/config.json", "pooling_mode_max_tokens"});
  make("pooling_mode_none_of_them", true);
  expect_refused({"1_Pooling/config.json", "pools by nothing"});
  fs::remove(model() / "1_Pooling" / "config.json");
  expect_refused({"1_Pooling/config.json"});
  make("pooling_mode_cls_token", false);
  folder.write("model/sentence_bert_config.json", R"({"max_seq_length": "128"})");
  expect_refused({"sentence_bert_config.json", "max_seq_length"});
  folder.write("model/sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": true})");
  expect_refused({"sentence_bert_config.json", "do_lower_case"});
  make("pooling_mode_cls_token", false);
  folder.write("model/modules.json", "[");
  expect_refused({"modules.json", "not JSON"});
  make("pooling_mode_cls_token", false, "0_Transformer");
  fs::remove(model() / "0_Transformer" / "config.json");
  expect_refused({"0_Transformer", "config.json"});
}

}  // namespace
}  // namespace addnorm
