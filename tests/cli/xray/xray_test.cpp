// addnorm xray as a process: runs, checkpoints of others, JSON, pages, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "addnorm/data/tokenizer.h"
#include "addnorm/residual/diagram.h"
#include "cli/models/word_tokenizer.h"
#include "cli/train/tiny_training.h"
#include "cli/xray/view.h"
#include "core/json/json.h"
#include "support/data.h"
#include "support/models/import_files.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

struct XrayTool : TinyTraining {
  void train(const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--steps", "20", "--out", name, "--quiet", "--no-report"});
    const Ended trained = run(tiny(more));
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  Json looked(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "xray");
    arguments.emplace_back("--json");
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? parsed(ended.out, "stdout") : Json();
  }
  /// One line on stderr, nothing on stdout.
  void expect_refused(const std::vector<std::string>& arguments, int code, const std::string& words) const {
    std::vector<std::string> all{"xray"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ended ended = run(all);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_TRUE(ended.out.empty()) << ended.out;
  }
  /// A checkpoint of the goldens, beside which lies a tokenizer of letters.
  std::string checkpoint(const std::string& name) const {
    fs::copy(import_golden(name), at(name));
    folder.write(name + "/tokenizer.json", char_tokenizer("abcdefghijklmnopqrstuvwxyz \n", {.mask = true})->to_json());
    folder.write("words.txt", "some words in a row\nand some more of them\nthat is all there is\n");
    return name;
  }
};

double sum_of(const Json& list) {
  double sum = 0;
  for (const Json& item : list.array_items()) sum += item.number();
  return sum;
}

TEST_F(XrayTool, LooksIntoARunWithItsOwnDataAndReportsInTablesAndJson) {
  train("runs/a");
  const Ended ended = run({"xray", "runs/a"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* words :
       {"a: lm, pre-ln, 2 layers", "x' = x + F(LN(x))", "the validation data of the run", "layers.1.ffn", "by-passed",
        "ended here", "block influence by layer", "The stream ", "Read as if the stack ended there"})
    EXPECT_NE(ended.out.find(words), std::string::npos) << words << "\n" << ended.out;
  EXPECT_EQ(ended.out.find('\033'), std::string::npos) << "no colours in a pipe";

  const Json json = looked({"runs/a"});
  EXPECT_EQ(json["model"]["arrangement"], Json("pre-ln"));
  EXPECT_EQ(json["measure"], Json("loss"));
  const Json& stack = json["stacks"][0];
  EXPECT_EQ(stack["lens_loss"].array_items().back(), json["loss"]);
  EXPECT_NEAR(sum_of(stack["attribution"]), json["attribution"]["whole"].number(), 1e-4) << "logits are float32";
  EXPECT_LE(json["text"]["tokens"].whole(), 1024);
  // What eval measures on the same data is the same loss.
  const Json measured =
      parsed(run({"eval", "runs/a", "--json", "--samples", concat(json["text"]["sequences"].whole())}).out, "stdout");
  EXPECT_NEAR(json["loss"].number(), measured["loss"].number(), 1e-6) << "batches of other sizes round otherwise";
}

TEST_F(XrayTool, GivesTheSameForAnyNumberOfThreads) {
  train("runs/a", {"--arrangement", "post-ln"});
  Json one = looked({"runs/a", "--threads", "1"}), three = looked({"runs/a", "--threads", "3"});
  one.erase("seconds"), three.erase("seconds");
  EXPECT_EQ(one.dump(), three.dump());
}

TEST_F(XrayTool, IsAPageThroughTheReport) {
  train("runs/a");
  const Ended ended = run({"xray", "runs/a", "--report", "page.html"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("report: file://"), std::string::npos);
  const Ended json = run({"xray", "runs/a", "--json", "-o", "other.html"});
  EXPECT_EQ(parsed(json.out, "stdout")["xray"], Json(1)) << "stdout is JSON and nothing else";
  write_text(at("looked.json"), json.out);
  const Ended report = run({"report", "looked.json", "--json"});
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(parsed(report.out, "stdout")["xrays"], Json(1));
  EXPECT_NE(text_of(at("report.html")).find("\"xrays\":[{"), std::string::npos);
  expect_refused({"runs/a", "-o", "no/such/page.html"}, 1, "no/such/page.html");  // before it looks: no tables
}

TEST_F(XrayTool, TakesTextOfOnesOwnAndSaysHowMuchOfIt) {
  folder.write("book.txt", std::string(2000, 'a') + std::string(2000, 'b'));
  train("runs/a", {"--data", "book.txt"});
  folder.write("other.txt", "abba abba\nabba");
  const Ended unknown = run({"xray", "runs/a", "--text", "other.txt"});
  EXPECT_EQ(unknown.code, 1) << "the letters are a and b";
  EXPECT_NE(unknown.err.find("other.txt: "), std::string::npos) << unknown.err;
  folder.write("other.txt", "abbaabbabaabababbababababbaaaabbbaab");
  const Json all = looked({"runs/a", "--text", "other.txt"}), some = looked({"runs/a", "--text", "other.txt", "--tokens", "16"});
  EXPECT_EQ(all["text"]["source"], Json("other.txt"));
  EXPECT_EQ(all["text"]["labels"], Json(35)) << "every token but the first";
  EXPECT_EQ(some["text"]["labels"], Json(16));
  const Json piped =
      parsed(Process(folder.path, {"xray", "runs/a", "--text", "-", "--json"}, at("other.txt").string()).end().out, "stdout");
  EXPECT_EQ(piped["loss"], all["loss"]);
}

TEST_F(XrayTool, LooksIntoEveryKindOfModel) {
  folder.write("labelled.tsv", "good\tfine day\nbad\tdull day\ngood\tfine meal\nbad\tdull meal\ngood\tfine\nbad\tdull\n");
  train("runs/encoder", {"--model", "encoder"});
  train("runs/seq2seq", {"--model", "seq2seq", "--task", "copy"});
  const auto train_plainly = [&](std::vector<std::string> more) {  // without options that these have no use for
    std::vector<std::string> all{"train", "--layers",     "2", "--d-model", "16",         "--steps",
                                 "10",    "--batch-size", "4", "--quiet",   "--no-report"};
    all.insert(all.end(), more.begin(), more.end());
    const Ended trained = run(all);
    EXPECT_EQ(trained.code, 0) << trained.err;
  };
  train_plainly(
      {"--model", "classifier", "--heads", "2", "--data", "labelled.tsv", "--validation", "0", "--out", "runs/classifier"});
  train_plainly({"--model", "mlp", "--out", "runs/mlp"});
  EXPECT_EQ(looked({"runs/encoder"})["measure"], Json("masked loss"));
  EXPECT_EQ(looked({"runs/seq2seq"})["stacks"].size(), 2);
  EXPECT_EQ(looked({"runs/classifier"})["text"]["source"], Json("the data of the run, which it has learned from"));
  EXPECT_EQ(looked({"runs/classifier", "--text", "labelled.tsv"})["text"]["sequences"], Json(6));
  EXPECT_FALSE(looked({"runs/mlp"})["stacks"].array_items().front().contains("attention_entropy"));
}

TEST_F(XrayTool, LooksIntoCheckpointsOfOthers) {
  for (const std::string name : {"gpt2", "llama", "opt-post"}) {
    const Json json = looked({checkpoint(name), "--text", "words.txt"});
    EXPECT_EQ(json["measure"], Json("loss")) << name;
    EXPECT_NEAR(sum_of(json["stacks"][0]["attribution"]), json["attribution"]["whole"].number(), 1e-4) << name;
    EXPECT_EQ(json["model"]["arrangement"], Json(name == "opt-post" ? "post-ln" : "pre-ln"));
    EXPECT_TRUE(std::ranges::any_of(json["notes"].array_items(), [](const Json& note) {
      return note.text().starts_with("the config says ");
    })) << json["notes"].dump();
  }
  const Json embedding = looked({checkpoint("bert"), "--text", "words.txt"});
  EXPECT_EQ(embedding["measure"], Json("embedding"));
  EXPECT_TRUE(embedding["loss"].is_null());
  EXPECT_EQ(embedding["text"]["sequences"], Json(6)) << "three lines of up to 21 letters, and the model takes 12";
  EXPECT_NEAR(sum_of(embedding["stacks"][0]["attribution"]), 1, 1e-4);
  // BERT's head has a norm and an activation of its own: frozen shares say nothing, computed anew they do.
  const Json masked = looked({checkpoint("bert-masked"), "--text", "words.txt"});
  EXPECT_EQ(masked["measure"], Json("masked loss"));
  EXPECT_EQ(masked["attribution"]["ln"], Json("recompute"));
  EXPECT_FALSE(looked({"bert-masked", "--text", "words.txt", "--ln", "frozen"}).contains("attribution"));
  EXPECT_EQ(looked({"gpt2/model.safetensors", "--text", "words.txt"})["model"]["name"], Json("gpt2"));
  expect_refused({"gpt2"}, 1, "no letters for the built-in sentences; give --text");  // it has no capitals
}

TEST_F(XrayTool, SharesOutLogitsThroughAProjectionBeforeTheHead) {
  const Json json = looked({checkpoint("opt-projected"), "--text", "words.txt", "--ln", "frozen"});
  EXPECT_EQ(json["attribution"]["ln"], Json("frozen"));
  EXPECT_NEAR(sum_of(json["stacks"][0]["attribution"]), json["attribution"]["whole"].number(), 1e-4);
}

// A trained one: what is known of it must show.
TEST_F(XrayTool, FindsTheShapeOfATrainedModel) {
  ADDNORM_NEEDS_DATA("models/stories260K");
  folder.write(
      "tale.txt",
      "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red "
      "ball. She wanted to play with it, but it was too high.\nLily's mom said, \"Lily, let's go to the park.\" Lily was sad "
      "and did not know what to do. She said, \"I want to play with your ball, but I can't find it.\"\n");
  const Json json = looked({(test_data() / "models/stories260K/stories260K.bin").string(), "--text", "tale.txt"});
  EXPECT_LT(json["loss"].number(), 2) << "it was trained on such tales";
  const Json& stack = json["stacks"][0];
  EXPECT_GT(stack["lens_loss"][0].number(), json["loss"].number() + 1) << "the embedding alone knows little";
  EXPECT_GT(stack["stream_rms"].array_items().back().number(), 2 * stack["stream_rms"][0].number()) << "pre-norm streams grow";
  for (const Json& change : stack["bypass_change"].array_items()) EXPECT_GT(change.number(), 0) << "every unit was trained";
}

TEST_F(XrayTool, RefusesWithOneLine) {
  train("runs/a");
  folder.write("empty.txt", "");
  folder.write("blank.txt", " \n\t\n");
  folder.write("book.txt", std::string(500, 'a'));
  train("runs/letters", {"--data", "book.txt", "--layers", "1"});
  folder.write("one.txt", "a");
  expect_refused({}, 2, "addnorm xray FOLDER");
  expect_refused({"nowhere"}, 1, "nowhere");
  expect_refused({"runs/letters", "--text", "nowhere.txt"}, 1, "nowhere.txt");
  expect_refused({"runs/letters", "--text", "empty.txt"}, 1, "empty.txt: no text in it");
  expect_refused({"runs/letters", "--text", "blank.txt"}, 1, "blank.txt: no text in it");
  expect_refused({"runs/letters", "--text", "one.txt"}, 1, "one.txt: 1 token; a window has");
  expect_refused({"runs/letters", "--text", "runs"}, 1, "is a folder");
  expect_refused({"runs/a", "--ln", "melted"}, 2, "recompute or frozen");
  expect_refused({"runs/a", "--tokens", "0"}, 2, "--tokens is 0");
  expect_refused({"runs/a", "--seq-len", "8"}, 2, "--seq-len has no effect on the data of a run");
  fs::copy(at("runs/a"), at("bare"), fs::copy_options::recursive);
  for (const char* file : {"bare/tokenizer.json", "bare/best/tokenizer.json", "bare/run.json"}) fs::remove(at(file));
  expect_refused({"bare", "--text", "book.txt", "--quiet"}, 1, "no tokenizer.json");
  train("runs/pairs", {"--model", "seq2seq", "--task", "copy"});
  fs::remove(at("runs/pairs/run.json"));
  expect_refused({"runs/pairs", "--quiet"}, 1, "give --text");
}

TEST(XrayPlacement, IsOneWarningThatSaysWhatItsFiguresAre) {
  ModelConfig config;
  config.vocab = 400;
  const std::string measure = "nats per next token";
  const std::string warning = "the config says post-ln, but the weights behave as pre-ln: 4.35 against 5.37 " + measure;
  PlacementFinding found{.configured = "post-ln", .behaves_as = "pre-ln", .agrees = false, .measure = measure};
  found.warnings = {warning};
  XrayResult result;
  cli::report_placement(config, {found, 512}, "t.txt", result);
  const std::vector<std::string> expected{
      warning + " (on 512 tokens of t.txt, where nothing counts for more than a guess costs, 5.99 nats)"};
  EXPECT_EQ(result.warnings, expected);
  EXPECT_TRUE(result.notes.empty()) << "nothing is said twice";
  XrayResult agreed;
  cli::report_placement(config,
                        {{.configured = "pre-ln", .behaves_as = "pre-ln", .ground = PlacementFinding::Ground::trials}, 512},
                        "t.txt", agreed);
  EXPECT_TRUE(agreed.warnings.empty());
  EXPECT_EQ(agreed.notes, std::vector<std::string>{"the config says pre-ln and the weights agree"});
}

TEST(TokenNames, AreTextOrThePieceOfTheVocabulary) {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", word_tokenizer());
  const auto words = read_tokenizer(folder.path / "tokenizer.json");
  const cli::TokenNames names(*words);
  EXPECT_EQ(names(2), "[CLS]");
  EXPECT_EQ(names(3), "[SEP]");
  EXPECT_EQ(names(7), "\" w7\"");
  const auto bytes = byte_tokenizer({.mask = true});
  EXPECT_EQ(cli::TokenNames(*bytes)('\n'), "\"\\n\"");
  EXPECT_EQ(cli::TokenNames(*bytes)('\x1b'), "\"\\x1b\"");
  EXPECT_EQ(cli::TokenNames(*bytes)(0xe9), "\"\\xe9\"");  // a part of a character
  EXPECT_EQ(cli::TokenNames(*bytes)(256), "<mask>");
}

/// A result with everything in it.
XrayResult made_up(std::size_t layers) {
  XrayResult r;
  r.model = "model";
  r.formula = "x' = x + F(LN(x))";
  r.text = "40 built-in sentences";
  r.config.layers = layers;
  r.loss = 2;
  StackXray s{.name = "stack", .layers = layers};
  for (std::size_t u = 0; u < 2 * layers; ++u) {
    s.units.push_back(concat("layers.", u / 2, u % 2 ? ".ffn" : ".self"));
    for (auto* list : {&s.branch_rms, &s.update_ratio, &s.branch_share, &s.cosine, &s.attention_entropy, &s.bypass_change})
      list->push_back(0.001234 * static_cast<double>(u + 1));
  }
  for (std::size_t place = 0; place <= 2 * layers; ++place) {
    s.stream_rms.push_back(static_cast<double>(place + 1));
    s.lens.push_back(9 - 0.1 * static_cast<double>(place));
    s.peaks.push_back({.value = 1, .over_median = 12});
  }
  s.attribution.assign(2 * layers + 2, 0.5);
  s.block_influence.assign(layers, 0.1);
  r.stacks = {s};
  r.norms = {{.stack = "stack", .name = "exit", .slot = "exit", .rms = 1, .least = 0.5, .most = 2}};
  r.missing = {
      {"something", "it cannot be had, for a reason that takes a few more words to tell than a line of forty columns has"}};
  return r;
}

TEST(XrayView, FitsTheTerminal) {
  for (const std::size_t columns : {40u, 60u, 80u, 132u}) {
    const std::string text = cli::xray_view(made_up(12), {.columns = columns});
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = text.find('\n', from);
      EXPECT_LE(columns_of(text.substr(from, end - from)), columns) << text.substr(from, end - from);
      from = end + 1;
    }
    EXPECT_NE(text.find("layers.11.ffn"), std::string::npos);
    const std::size_t left_out = text.find("no room for: "), table_ends = std::min(left_out, text.find("block influence"));
    EXPECT_EQ(text.find("cosine") < table_ends, columns > 80) << "what is least telling goes first";
    EXPECT_TRUE(columns > 80 || text.find("cosine", left_out) != std::string::npos) << "it is said: " << text;
    EXPECT_NE(text.find("RMS"), std::string::npos);
  }
}

TEST(XrayView, HasColoursAndBlocksOnlyWhereTheyAreWanted) {
  const std::string plain = cli::xray_view(made_up(2), {.columns = 80, .unicode = false});
  EXPECT_TRUE(std::ranges::all_of(plain, [](char c) { return static_cast<unsigned char>(c) < 0x80 || c == '\n'; })) << plain;
  EXPECT_NE(plain.find('#'), std::string::npos);
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_NE(cli::xray_view(made_up(2), {.columns = 80, .colour = true}).find("\033[36m"), std::string::npos);
}

}  // namespace
}  // namespace addnorm::test
