// Files of sentence-transformers that say what is not computed here.
#include "model/import/refusals.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::expect_refused;
using test::Refused;

TEST_F(Refused, SentenceModulesThatAreNotComputed) {
  const fs::path model = golden("bert");
  const auto modules = [&](const std::string& text) { test::write_text(model / "modules.json", text); };
  const std::string transformer = R"({"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"})";
  const std::string pooling = R"({"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})";
  const std::string dense = R"({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})";
  fs::create_directory(model / "1_Pooling");
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_cls_token": true})");
  modules("[" + transformer + "," + pooling + "]");
  const ImportedModel imported = import_model(model);
  ASSERT_TRUE(imported.sentence);
  EXPECT_EQ(imported.sentence->pooling, Pooling::first);
  EXPECT_FALSE(imported.sentence->normalize);
  modules("[" + transformer + "," + pooling + "," + dense + "]");
  expect_refused(model, {"modules.json", "Dense"});
  modules("[" + transformer + "]");
  expect_refused(model, {"modules.json"});
  modules("{}");
  expect_refused(model, {"modules.json"});
  modules("[" + transformer + R"(,{"path": "../x", "type": "Pooling"}])");
  expect_refused(model, {"modules.json", "plain name of a folder"});
  modules("[" + transformer + "," + pooling + "]");
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_max_tokens": true})");
  expect_refused(model, {"pooling_mode_max_tokens"});
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  expect_refused(model, {"pooling_mode_mean_tokens, pooling_mode_cls_token; supported is one of"});
}

TEST_F(Refused, TextsThatAreMadeLowerCaseBeforeTheTokenizer) {
  const fs::path model = golden("bert");
  test::write_text(model / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},)"
                                           R"({"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  fs::create_directory(model / "1_Pooling");
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_mean_tokens": true})");
  test::write_text(model / "sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": false})");
  EXPECT_EQ(import_model(model).sentence->max_tokens, 8u);
  test::write_text(model / "sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": true})");
  expect_refused(model, {"sentence_bert_config.json", "do_lower_case"});
}

}  // namespace
}  // namespace addnorm
