// Notes of preflight and train: what a config of Hugging Face has that cannot be said here, and how weights start.
#include <gtest/gtest.h>

#include "addnorm/core/error.h"
#include "cli/process.h"
#include "core/json/json.h"

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

TEST_F(PreflightNotes, AreOnTheErrorOutputAndInJson) {
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

TEST_F(PreflightNotes, AreOfArrangementAndInitTogetherToo) {
  const std::string options = R"({"layers": 2, "d_model": 16, "heads": 2, "seq_len": 16, "arrangement": "deepnorm"})";
  const std::string note =
      "the formula of deepnorm contains gains of W_v, W_o, W_1, W_2; those of init gpt2 on W_o, W_2 are left out";
  const Ended ended = of(options, {"--init", "gpt2", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("note: " + note + "\n"), std::string::npos) << ended.err;
  const Json notes = parsed(ended.out, "stdout")["notes"];
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].text(), note);
  const Ended quiet = of(options, {"--init", "gpt2", "--embedding-std", "0.25", "--quiet"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(quiet.out.find(", gpt2 weights, embeddings 0.25, and what the formula of deepnorm contains\n"), std::string::npos)
      << quiet.out;
  const Ended none = of(options, {});
  EXPECT_EQ(none.err.find("note: "), std::string::npos) << none.err;
}

TEST_F(PreflightNotes, AndTrainingDescribeTheStartInTheSameWords) {
  const auto expect_start = [&](const std::vector<std::string>& options, const std::string& words) {
    const std::vector<std::string> sizes{"--layers", "1",         "--d-model", "16",           "--heads",
                                         "2",        "--seq-len", "8",         "--batch-size", "2"};
    std::vector<std::string> train{"train", "--steps", "1", "--no-report"};
    std::vector<std::string> preflight{"preflight", "--seeds", "1", "--no-advice", "--seconds", "1"};
    for (auto* command : {&train, &preflight})
      for (const auto* more : {&sizes, &options}) command->insert(command->end(), more->begin(), more->end());
    const Ended trained = Process(folder.path, train).end();
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_NE(trained.err.find(concat("\nstart         ", words, "\n")), std::string::npos) << trained.err;
    const Ended tried = Process(folder.path, preflight).end();
    EXPECT_EQ(tried.code, 0) << tried.err;
    EXPECT_NE(tried.out.find(concat(" x 8, ", words, "\n")), std::string::npos) << tried.out;
  };
  expect_start({}, "gpt2 weights, embeddings 0.02");
  expect_start({"--init", "gpt2", "--branch-scale", "0.5", "--embedding-std", "0.25"},
               "gpt2 weights, W_o and W_2 times 0.5, embeddings 0.25");
  expect_start({"--arrangement", "rezero"}, "xavier weights, embeddings 0.25, and what the formula of rezero contains");
}

TEST_F(PreflightNotes, StandBeforeTrainingToo) {
  std::vector<std::string> train{"train", "--steps", "1", "--layers", "1", "--d-model", "16", "--heads", "2", "--seq-len", "8"};
  for (const char* more : {"--batch-size", "2", "--no-report", "--arrangement", "lns", "--init", "gpt2"}) train.push_back(more);
  const Ended ended = Process(folder.path, train).end();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("note: lns weakens its branches"), std::string::npos) << ended.err;
  train.push_back("--quiet");
  const Ended quiet = Process(folder.path, train).end();
  ASSERT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_EQ(quiet.err.find("note: "), std::string::npos) << quiet.err;
}

TEST_F(PreflightNotes, SayThatADeviationOfTheFileIsLeftOutUnderARuleWithoutOne) {
  const std::string bert =
      R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 16, "num_hidden_layers": 2,
          "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 16, "vocab_size": 50,
          "type_vocab_size": 2, "initializer_range": 0.03})";
  const auto left_out = [](const std::string& rule, const std::string& by) {
    return concat("note: config.json: init_std 0.03 is left out: ", rule, ", asked for by ", by,
                  ", takes its deviations from the widths of matrices\n");
  };
  for (const char* rule : {"xavier", "t-fixup"}) {
    const Ended ended = of(bert, {"--init", rule, "--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find(left_out(rule, "--init")), std::string::npos) << ended.err;
    const Json options = parsed(ended.out, "stdout")["options"];
    EXPECT_EQ(options["init"], rule);
    EXPECT_FALSE(options.contains("init_std")) << options.dump();
  }
  const Ended kept = of(bert, {"--init", "gpt2", "--json"});
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.err.find("left out"), std::string::npos) << kept.err;
  EXPECT_EQ(parsed(kept.out, "stdout")["options"]["init_std"], 0.03);
  const std::string own = R"({"layers": 2, "d_model": 16, "heads": 2, "seq_len": 16, "arrangement": "pre-ln", "init_std": 0.03})";
  const Ended placed = of(own, {"--arrangement", "post-ln", "--json"});
  ASSERT_EQ(placed.code, 0) << placed.err;
  EXPECT_NE(placed.err.find(left_out("xavier", "--arrangement")), std::string::npos) << placed.err;
}

TEST_F(PreflightNotes, SayTheSameOfTheRecordOfARun) {
  const std::vector<std::string> tiny{"train", "--steps",   "1", "--layers",     "1", "--d-model",  "16", "--heads",
                                      "2",     "--seq-len", "8", "--batch-size", "2", "--no-report"};
  const auto train = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = tiny;
    all.insert(all.end(), more.begin(), more.end());
    return Process(folder.path, all).end();
  };
  ASSERT_EQ(train({"--out", "a", "--init-std", "0.05"}).code, 0);
  const Ended again = train({"--config", "a/run.json", "--out", "b", "--init", "xavier"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("note: a/run.json: init_std 0.05 is left out: xavier, asked for by --init, takes"), std::string::npos)
      << again.err;
}

TEST_F(PreflightNotes, SayTheCanonicalNameOfAnInit) {
  const std::string options = R"({"layers": 1, "d_model": 16, "heads": 2, "seq_len": 16})";
  const Ended ended = of(options, {"--init", "Nano GPT", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("note: --init Nano GPT is gpt2\n"), std::string::npos) << ended.err;
  EXPECT_EQ(parsed(ended.out, "stdout")["options"]["init"], "gpt2");
  EXPECT_EQ(of(options, {"--init", "gpt2", "--json"}).err.find(" is gpt2"), std::string::npos);
}

TEST_F(PreflightNotes, AreNoneOfADeviationThatIsGivenBesideItsRule) {
  const std::string sizes = R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 16)";
  const auto refused = [&](const std::string& file, const std::vector<std::string>& more) {
    const Ended ended = of(concat("{", sizes, file, "}"), more);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find("--init-std is 0.03, but xavier takes its deviations from the widths"), std::string::npos)
        << ended.err;
    EXPECT_EQ(ended.err.find("left out"), std::string::npos) << ended.err;
  };
  refused(R"(, "init": "xavier", "init_std": 0.03)", {});
  refused(R"(, "init": "xavier", "init_std": 0.03)", {"--layers", "1"});
  refused("", {"--init", "xavier", "--init-std", "0.03"});
  refused(R"(, "init": "xavier")", {"--init-std", "0.03"});
}

TEST_F(PreflightNotes, AreNoneWhereAStartIsRefusedByItsOption) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& text) {
    for (const char* command : {"preflight", "train"}) {
      std::vector<std::string> all{command};
      all.insert(all.end(), arguments.begin(), arguments.end());
      const Ended ended = Process(folder.path, all).end();
      EXPECT_EQ(ended.code, 2) << ended.err;
      EXPECT_EQ(ended.err.rfind(concat("addnorm ", command, ": ", text), 0), 0u) << ended.err;
    }
  };
  refused({"--init", "gpt3"}, "--init: unknown initialisation 'gpt3'; did you mean gpt2?");
  refused({"--arrangement", "pre-lm", "--init", "gpt2"}, "unknown arrangement 'pre-lm'; did you mean pre-ln?");
  for (const char* option : {"--embedding-std", "--position-std", "--branch-scale"})
    for (const char* value : {"0", "-1"})
      refused({option, value}, concat(option, " is ", value, "; it must be a number above 0"));
  refused({"--init", "kaiming"}, "--init: unknown initialisation 'kaiming': nearest are mitchell and t5, which");
  refused({"--branch-scale", "1e-320"}, "--branch-scale is 1e-320; it must be a number above 0");
  refused({"--init", "gpt2", "--init-std", "0"}, "--init-std is 0; it must be a number above 0");
  refused({"--arrangement", "post-ln", "--init-std", "0.1"},
          "--init-std is 0.1, but xavier takes its deviations from the widths");
  refused({"--embedding-std", "much"}, "--embedding-std: 'much' is not a number");
  refused({"--arrangement", "t-fixup", "--embedding-std", "0.5"},
          "--embedding-std is 0.5, but the formula of t-fixup contains how");
  refused({"--positions", "rotary", "--position-std", "0.1"}, "--position-std is 0.1; it must be left out");
}

}  // namespace
}  // namespace addnorm::test
