// Configs of Hugging Face in preflight: what they have that cannot be said here.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "core/json.h"

namespace addnorm::test {
namespace {

struct PreflightNotes : testing::Test {
  Ended of(const std::string& config, const std::vector<std::string>& more) {
    folder.write("config.json", config);
    std::vector<std::string> all{"preflight", "config.json", "--seeds", "1", "--no-advice", "--lr", "1e-4", "--seconds", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return Process(folder.path, all).end();
  }
  TemporaryFolder folder;
};

struct KnownConfig {
  const char *type, *config, *note;
};
// Small ones, in the words of each family.
const KnownConfig kConfigs[] = {
    {"gpt2",
     R"({"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 32, "vocab_size": 100, "attn_pdrop": 0.1})",
     "in training, attention weights are dropped by 0.1 there; here they are not"},
    {"bert",
     R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 32, "vocab_size": 100, "type_vocab_size": 2})",
     "in training, attention weights are dropped by 0.1 there; here they are not"},
    {"llama",
     R"({"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64,
         "max_position_embeddings": 32, "vocab_size": 100, "rope_scaling": {"rope_type": "linear", "factor": 2.0}})",
     "rotary angles are stretched there; here they are not"},
    {"opt",
     R"({"model_type": "opt", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 64,
         "max_position_embeddings": 32, "vocab_size": 100, "word_embed_proj_dim": 32, "layerdrop": 0.1})",
     "whole layers are left out by 0.1 while training there; here they are not"},
};

TEST_F(PreflightNotes, AreToldOnTheErrorOutputAndInJson) {
  for (const KnownConfig& known : kConfigs) {
    SCOPED_TRACE(known.type);
    const Ended ended = of(known.config, {"--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("note: config.json: "), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find(known.note), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("the vocabulary is that of the data here, 100 there"), std::string::npos) << ended.err;
    const Json json = parsed(ended.out, "stdout");
    bool there = false;
    for (const Json& note : json["notes"].array_items()) there = there || note.text().find(known.note) != std::string::npos;
    EXPECT_TRUE(there) << json["notes"].dump();
  }
}

TEST_F(PreflightNotes, StandBesideTheSizesOfTheFileAlsoWhereTheseAreOurDefaults) {
  const Ended ended = of(
      R"({"model_type": "gpt2", "n_embd": 256, "n_layer": 6, "n_head": 4, "n_positions": 256, "vocab_size": 100})", {"--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json options = parsed(ended.out, "stdout")["options"];
  EXPECT_EQ(options["layers"], 6);
  EXPECT_EQ(options["d_model"], 256);
  EXPECT_EQ(options["heads"], 4);
  EXPECT_EQ(options["seq_len"], 256);
}

TEST_F(PreflightNotes, AreNoneForOptionsOfOurOwnAndQuietWhenAsked) {
  const Ended own = of(R"({"layers": 2, "d_model": 32, "heads": 2, "seq_len": 16})", {"--json"});
  ASSERT_EQ(own.code, 0) << own.err;
  EXPECT_EQ(own.err.find("note: "), std::string::npos) << own.err;
  EXPECT_EQ(parsed(own.out, "stdout")["notes"].size(), 0u);
  const Ended quiet = of(kConfigs[0].config, {"--json", "--quiet"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_GT(parsed(quiet.out, "stdout")["notes"].size(), 0u);
}

}  // namespace
}  // namespace addnorm::test
