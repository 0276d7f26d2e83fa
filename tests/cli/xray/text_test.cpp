// addnorm xray --text: how much of a large text is read, and how much of it becomes tokens.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/models/word_tokenizer.h"
#include "cli/train/tiny_training.h"
#include "core/json/json.h"
#include "support/models/import_files.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMuch = std::size_t{5} << 20;  // bytes; 4 MiB are read

/// No pre-tokenizer: a token may cross any place, so a text can be cut nowhere.
constexpr const char* kWithoutCuts =
    R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, " ": 2, "\n": 3, "ab": 4}, "merges": ["a b"]}})";
/// A word of more than a hundred letters is one token.
constexpr const char* kWords = R"({"pre_tokenizer": {"type": "BertPreTokenizer"},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "a": 1, "b": 2, "##a": 3}}})";

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  all.reserve(bytes + text.size());
  while (all.size() < bytes) all += text;
  return all;
}

struct XrayOfText : TinyTraining {
  std::string checkpoint(const std::string& name, const char* tokenizer) const {
    copy_of_golden(name, at(name));
    folder.write(name + "/tokenizer.json", tokenizer);
    return name;
  }
  Ended looked(const std::string& model, const std::string& text, const std::vector<std::string>& more = {},
               const std::string& input = "/dev/null") const {
    std::vector<std::string> all{"xray", model, "--text", text, "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return Process(folder.path, all, input).end();
  }
};

Json without_its_source(const Ended& ended) {
  EXPECT_EQ(ended.code, 0) << ended.err;
  Json json = ended.code == 0 ? parsed(ended.out, "stdout") : Json::object();
  json.erase("seconds");
  json["text"].erase("source");
  return json;
}

TEST_F(XrayOfText, TakesTheBeginningOfALargeTextThatATokenizerCannotCut) {
  const std::string model = checkpoint("gpt2", kWithoutCuts);
  folder.write("small.txt", repeated("ab ba\n", 20'000));
  folder.write("large.txt", repeated("ab ba\n", kMuch));
  const Ended large = looked(model, "large.txt");
  const Json small = without_its_source(looked(model, "small.txt"));
  EXPECT_GE(small["text"]["labels"].whole(), 1024);
  EXPECT_EQ(without_its_source(large).dump(), small.dump());
  EXPECT_EQ(large.err.find("4 MiB"), std::string::npos) << "there are tokens enough in them: " << large.err;
  EXPECT_EQ(without_its_source(looked(model, "-", {}, at("large.txt").string())).dump(), small.dump());
}

TEST_F(XrayOfText, SaysThatTheRestOfATextIsNotReadWhereItWasWanted) {
  const std::string model = checkpoint("bert", kWords);
  folder.write("short.txt", "b" + repeated("\u00e9", 200));
  folder.write("even.txt", repeated("\u00e9", kMuch));           // neither line ends nor spaces
  folder.write("odd.txt", "b" + repeated("\u00e9", kMuch));      // 4 MiB end within a letter
  folder.write("lines.txt", "b\n" + repeated("\u00e9", kMuch));  // the whole line is taken
  const Json short_one = without_its_source(looked(model, "short.txt"));
  for (const char* name : {"even.txt", "odd.txt"}) {
    const Ended ended = looked(model, name);
    EXPECT_EQ(without_its_source(ended)["text"]["tokens"], short_one["text"]["tokens"]) << name;
    EXPECT_NE(ended.err.find(concat(name, ": only its first 4 MiB are read")), std::string::npos) << ended.err;
  }
  EXPECT_EQ(without_its_source(looked(model, "lines.txt"))["text"]["tokens"], Json(1));
  const Ended piped = looked(model, "-", {}, at("odd.txt").string());
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_NE(piped.err.find("the standard input: only its first 4 MiB are read"), std::string::npos) << piped.err;
  folder.write("blank.txt", std::string(kMuch, ' '));
  EXPECT_NE(looked(model, "blank.txt").err.find("blank.txt: no text in its first 4 MiB"), std::string::npos);
}

TEST_F(XrayOfText, DoesNotWaitForTheEndOfAnInputThatHasNone) {
  const std::string model = checkpoint("gpt2", kWithoutCuts), text = repeated("ab ba\n", std::size_t{1} << 16);
  const fs::path pipe = at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int end = open(pipe.c_str(), O_RDWR | O_NONBLOCK);  // stays open until the tool has read enough
  ASSERT_GE(end, 0);
  const Process process(folder.path, {"xray", model, "--text", "-", "--json"}, pipe.string());
  bool ended = false;
  std::size_t written = 0;
  for (int i = 0; i < 12000 && !ended; ++i) {
    const ssize_t more = written < 2 * kMuch ? write(end, text.data(), text.size()) : 0;
    if (more > 0) written += static_cast<std::size_t>(more);
    if (more <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ended = process.has_ended();
  }
  EXPECT_TRUE(ended) << "it waits for more";
  if (!ended) process.send(SIGKILL);
  EXPECT_EQ(process.end().code, 0) << process.said();
  close(end);
}

TEST_F(XrayOfText, MakesNoTokensOfWhatIsNotLookedAt) {
  const std::string known = repeated("ab ba\n", 500'000);
  folder.write("flawed.txt", known + "\u00e9\n");  // no token for it
  for (const char* name : {"gpt2", "bert"}) {
    const std::string model = checkpoint(name, R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})");
    const Ended some = looked(model, "flawed.txt", {"--tokens", "64"});
    EXPECT_EQ(some.code, 0) << name << ": " << some.err;
    const Ended all = looked(model, "flawed.txt", {"--tokens", "10000000"});
    EXPECT_EQ(all.code, 1) << name << ": " << all.err;
    EXPECT_NE(all.err.find("U+00E9"), std::string::npos) << all.err;
  }
}

TEST_F(XrayOfText, ReadsAtMostSoManyTokens) {
  const std::string gpt2 = checkpoint("gpt2", kWithoutCuts), bert = checkpoint("bert", word_tokenizer().c_str());
  folder.write("ab.txt", repeated("a b ", 200));
  folder.write("words.txt", repeated("w4 w5 w6 w7 w8\n", 200));
  const auto read = [&](const std::string& model, const char* text, int tokens) {
    return without_its_source(looked(model, text, {"--tokens", std::to_string(tokens)}))["text"]["tokens"];
  };
  for (const int tokens : {1, 2, 7, 12, 13, 31, 100}) EXPECT_EQ(read(gpt2, "ab.txt", tokens), Json(tokens));
  for (const int tokens : {3, 7, 10, 14}) EXPECT_EQ(read(bert, "words.txt", tokens), Json(tokens)) << "[CLS], 1 to 5, [SEP]";
  EXPECT_EQ(read(bert, "words.txt", 8), Json(7));
  EXPECT_EQ(read(bert, "words.txt", 16), Json(14)) << "two tokens have no room for one of the text";
  const Ended few = looked(bert, "words.txt", {"--tokens", "2"});
  EXPECT_EQ(few.code, 2);
  EXPECT_NE(few.err.find("--tokens is 2; this model's tokenizer puts 2 tokens around every text, so that it must be at least 3"),
            std::string::npos)
      << few.err;
}

TEST_F(XrayOfText, SaysHowManyOfTheSentencesWereRead) {
  copy_of_golden("bert", at("bert"));
  folder.write("bert/tokenizer.json", word_tokenizer());  // every word of the sentences is unknown, one token each
  const auto source = [&](const char* tokens) {
    const Ended ended = run({"xray", "bert", "--json", "--tokens", tokens});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? parsed(ended.out, "stdout")["text"]["source"].text() : "";
  };
  EXPECT_EQ(source("5"), "the first of 40 built-in sentences");
  EXPECT_EQ(source("100000"), "40 built-in sentences");
  const std::string some = source("100");
  EXPECT_TRUE(some.starts_with("the first ") && some.ends_with(" of 40 built-in sentences")) << some;
}

TEST_F(XrayOfText, EndsAtTheFirstSignalWhileTheInputIsIdle) {
  const std::string model = checkpoint("gpt2", kWithoutCuts);
  const fs::path pipe = at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int end = open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(end, 0);
  for (const std::string text : {"-", "pipe"})
    for (const int number : {SIGINT, SIGTERM}) {
      const Process process(folder.path, {"xray", model, "--text", text}, text == "-" ? pipe.string() : "/dev/null");
      ASSERT_TRUE(process.wait_until_it_listens());
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it is at its text by now; earlier is as good
      const auto sent = std::chrono::steady_clock::now();
      process.send(number);
      const Ended ended = process.end();
      EXPECT_LT(std::chrono::steady_clock::now() - sent, kSoon);
      EXPECT_EQ(ended.code, 128 + number) << ended.err;
      EXPECT_TRUE(ended.err.starts_with("stopped by a signal; xray keeps nothing; begin again with: addnorm xray")) << ended.err;
      EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
      EXPECT_TRUE(ended.out.empty()) << ended.out;
    }
  close(end);
}

TEST_F(XrayOfText, TakesAPipeForAFile) {
  const std::string model = checkpoint("gpt2", kWithoutCuts);
  folder.write("ab.txt", "ab ba ab\n");
  const Json of_file = without_its_source(looked(model, "ab.txt"));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  const Process process(folder.path, {"xray", model, "--text", "pipe", "--json"});
  const int end = open(at("pipe").c_str(), O_WRONLY);  // as soon as the tool reads
  ASSERT_EQ(write(end, "ab ba ab\n", 9), 9);
  close(end);
  EXPECT_EQ(without_its_source(process.end()).dump(), of_file.dump());
}

TEST_F(XrayOfText, SaysThatSequencesAreShorterThanAsked) {
  const std::string model = checkpoint("gpt2", kWithoutCuts);
  folder.write("ab.txt", "ab ba ab\n");
  EXPECT_NE(looked(model, "ab.txt", {"--seq-len", "1000"}).err.find("note: --seq-len is 1000, the model has "),
            std::string::npos);
  EXPECT_EQ(looked(model, "ab.txt", {"--seq-len", "4"}).err.find("--seq-len"), std::string::npos);
}

}  // namespace
}  // namespace addnorm::test
