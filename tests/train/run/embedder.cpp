// Trained models with what belongs to them, and vectors of texts, from C++ without the tool.
#include "addnorm/train/embedder.h"

#include "cli/models/word_tokenizer.h"
#include "support/models/import_files.h"
#include "support/near.h"
#include "train/run/runs.h"

namespace addnorm::test {
namespace {

struct TrainedModels : Runs {
  std::filesystem::path encoder(const WordTokenizer& wanted = {}) const {
    copy_of_golden("bert", folder.path / "bert");
    folder.write("bert/tokenizer.json", word_tokenizer(wanted));
    return folder.path / "bert";
  }
  template <class Call>
  static std::string refused(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(TrainedModels, AnEmbedderGivesAVectorForEachTextWithItsTokensFramed) {
  Embedder embed(encoder());
  EXPECT_FALSE(embed.says_pooling());
  const std::vector<std::string> texts{"w7 w8 w9", "w30"};
  const Tensor vectors = embed(texts);
  ASSERT_EQ(vectors.shape(), (Shape{2, embed.width()}));
  const ImportedModel imported = import_model(folder.path / "bert");
  const std::vector<std::int32_t> ids{2, 30, 3};
  const Tensor second = sentence_vectors(dynamic_cast<const Encoder&>(*imported.model), {.ids = ids}, {});
  EXPECT_NEAR_ALL(vectors.values<float>().subspan(embed.width()), second.values<float>(), model_logits_tolerance());
  EXPECT_EQ(embed.cut(), 0u);
}

TEST_F(TrainedModels, AnEmbedderCutsLongTextsCountsThemAndNumbersThoseItRefuses) {
  Embedder embed(encoder({.begin = false, .end = false}));
  std::string longer;
  for (std::size_t i = 0; i <= embed.most(); ++i) longer += "w5 ";
  embed(std::vector<std::string>{longer, "w6"});
  EXPECT_EQ(embed.cut(), 1u);
  const std::string message = refused([&] { embed(std::vector<std::string>{""}, "line "); });
  EXPECT_EQ(message.find("line 3: an empty text has no tokens"), 0u) << message;
}

TEST_F(TrainedModels, AnEmbedderRefusesAModelThatIsNoEncoder) {
  Watcher watcher;
  train_run(request("a", "\"steps\": 1"), watcher);
  const std::string message = refused([&] { Embedder embed(folder.path / "a"); });
  EXPECT_NE(message.find("holds a model of kind lm; vectors of texts come from an encoder"), std::string::npos) << message;
}

TEST_F(TrainedModels, ARunIsLoadedWithItsBestWeightsOrItsLast) {
  Watcher watcher;
  train_run(request("a", "\"steps\": 5"), watcher);
  const std::filesystem::path run = folder.path / "a";
  EXPECT_EQ(load_run(run).folder, RunFolder{run}.best());
  EXPECT_EQ(load_run(run).weights, RunWeights::best);
  EXPECT_EQ(load_run(run, RunWeights::last).folder, run);
  std::filesystem::remove_all(RunFolder{run}.best());
  EXPECT_FALSE(load_run(run).weights.has_value());
  const std::string message = refused([&] { load_run(run, RunWeights::best); });
  EXPECT_NE(message.find("Leave weights out"), std::string::npos) << message;
}

}  // namespace
}  // namespace addnorm::test
