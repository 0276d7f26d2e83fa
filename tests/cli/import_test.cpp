// Checkpoints of others through the commands: what they write and measure, and what is refused with one line.
#include <gtest/gtest.h>

#include <algorithm>

#include "addnorm/data/tokenizer.h"
#include "cli/process.h"
#include "core/json.h"
#include "support/data.h"
#include "support/import_files.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyz \n";

struct ImportCommands : testing::Test {
  Ended run(const std::vector<std::string>& arguments) const { return Process(folder.path, arguments).end(); }
  std::string written(const std::vector<std::string>& arguments) const {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  /// Exit 1, one line on stderr with these words, nothing on stdout.
  void expect_refused(const std::string& model, const std::vector<std::string>& words) const {
    for (const char* command : {"generate", "xray"}) {
      const Ended ended = run({command, model});
      EXPECT_EQ(ended.code, 1) << command << ": " << ended.err;
      EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
      EXPECT_TRUE(ended.out.empty()) << ended.out;
      for (const std::string& word : words)
        EXPECT_NE(ended.err.find(word), std::string::npos) << word << " is not in: " << ended.err;
    }
  }
  /// A golden in the folder, with a tokenizer of letters beside it.
  std::string checkpoint(const std::string& name, const std::string& letters = kLetters) const {
    copy_of_golden(name, folder.path / name);
    write_text(folder.path / name / "tokenizer.json", char_tokenizer(letters, {.mask = true})->to_json());
    return name;
  }
  fs::path at(const std::string& name) const { return folder.path / name; }
  TemporaryFolder folder;
};

TEST_F(ImportCommands, Stories260KTellsTheExpectedStoryByteForByte) {
  ADDNORM_NEEDS_DATA("models/stories260K");
  const fs::path model = test_data() / "models" / "stories260K";
  const std::string expected = text_of(model / "expected_greedy_200.txt");
  EXPECT_EQ(written({"generate", model.string(), "--temperature", "0", "--max-tokens", "200"}), expected);
  EXPECT_EQ(written({"generate", (model / "stories260K.bin").string(), "--temperature", "0", "--max-tokens", "200"}), expected);
  const std::string continued =
      written({"generate", model.string(), "--prompt", "Once upon a time, there was a little girl named", "--temperature", "0",
               "--max-tokens", "5"});
  EXPECT_TRUE(expected.starts_with(continued)) << continued;
}

TEST_F(ImportCommands, GenerateAndEvalTakeAFolderOfHuggingFaceAndItsFile) {
  const std::string model = checkpoint("gpt2");
  const std::string text = written({"generate", model, "--prompt", "ab", "--temperature", "0", "--max-tokens", "5"});
  EXPECT_TRUE(text.starts_with("ab")) << text;
  EXPECT_EQ(written({"generate", model + "/model.safetensors", "--prompt", "ab", "--temperature", "0", "--max-tokens", "5"}),
            text);
  folder.write("words.txt", "some words in a row\nand some more of them\nthat is all there is\n");
  const Json measured = parsed(written({"eval", model, "--data", "words.txt", "--json"}), "stdout");
  EXPECT_GT(measured["loss"].number(), 2);
  EXPECT_GT(measured["bits_per_byte"].number(), 2);
  checkpoint("bert-masked");
  EXPECT_GT(parsed(written({"eval", "bert-masked", "--data", "words.txt", "--json"}), "stdout")["loss"].number(), 2);
}

TEST_F(ImportCommands, AnEncoderThatEndsInVectorsIsSentToTheXray) {
  checkpoint("bert");
  EXPECT_NE(run({"generate", "bert"}).err.find("which writes nothing"), std::string::npos);
  folder.write("words.txt", "some words\n");
  const Ended ended = run({"eval", "bert", "--data", "words.txt"});
  EXPECT_NE(ended.code, 0);
  EXPECT_NE(ended.err.find("addnorm xray"), std::string::npos) << ended.err;
}

TEST_F(ImportCommands, PicklesAreRefusedWithAdvice) {
  checkpoint("gpt2");
  fs::remove(at("gpt2") / "model.safetensors");
  write_text(at("gpt2") / "pytorch_model.bin", "PK\x03\x04");
  expect_refused("gpt2", {"pytorch_model.bin", "pickle", "torch.load", "save_file"});
  fs::rename(at("gpt2") / "pytorch_model.bin", at("gpt2") / "model.safetensors");
  expect_refused("gpt2", {"model.safetensors"});
}

TEST_F(ImportCommands, AFolderWithoutConfigOrWeightsOrThatIsNotThere) {
  checkpoint("bert");
  fs::remove(at("bert") / "config.json");
  expect_refused("bert", {"bert", "has no config.json"});
  fs::create_directory(at("empty"));
  expect_refused("empty", {"empty", "has no weights"});
  expect_refused("nowhere", {"nowhere"});
  checkpoint("gpt2");
  write_text(at("gpt2") / "config.json", "{");
  expect_refused("gpt2", {"config.json", "not JSON"});
}

TEST_F(ImportCommands, TruncatedShardsAndNamesThatLeadElsewhere) {
  checkpoint("llama");
  const fs::path shard = at("llama") / "model-00002-of-00003.safetensors", index = at("llama") / "model.safetensors.index.json";
  const std::string whole = text_of(shard), named = text_of(index);
  fs::resize_file(shard, fs::file_size(shard) - 64);
  expect_refused("llama", {"model-00002-of-00003.safetensors"});
  write_text(shard, "version https://git-lfs.github.com/spec/v1\n");
  expect_refused("llama", {"Git LFS"});
  write_text(shard, whole);
  replace_in(index, "\"model-00002-of-00003.safetensors\"", "\"../../etc/passwd\"");
  expect_refused("llama", {"index.json", "plain name"});
  write_text(index, std::string(100000, '['));
  expect_refused("llama", {"index.json"});
}

TEST_F(ImportCommands, ATokenizerThatDoesNotFitTheVocabulary) {
  checkpoint("gpt2", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ");
  expect_refused("gpt2", {"tokenizer.json", "has ids up to 36, the model's vocabulary is 31"});
  write_text(at("gpt2") / "tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}})");
  expect_refused("gpt2", {"tokenizer.json", "gives the id 0 twice"});
  write_text(at("gpt2") / "tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 2147483647}, "merges": []}})");
  expect_refused("gpt2", {"tokenizer.json", "2147483647"});
}

TEST_F(ImportCommands, ConfigAndWeightsThatDisagreeOnTheFinalNorm) {
  checkpoint("opt");
  replace_in(at("opt") / "config.json", "\"do_layer_norm_before\": true", "\"do_layer_norm_before\": false");
  expect_refused("opt", {"final_layer_norm", "the config says post-ln"});
}

}  // namespace
}  // namespace addnorm::test
