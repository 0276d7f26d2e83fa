// Checkpoints that are broken, through every command that takes one: one line that says what is wrong (H-01 to H-10).
#include "cli/models/import_commands.h"
#include "core/json/json.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSecond = "model-00002-of-00003.safetensors";

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

// A clone without git-lfs has these in place of its large files.
TEST_F(ImportCommands, PointersOfGitLfsInPlaceOfAnyFile) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n";
  const auto expect_pointer_refused = [&](const std::string& model, const std::string& file) {
    expect_refused(model, {file + ": is a Git LFS pointer of 74 bytes that stands for 548105171 bytes", "run 'git lfs pull' in"});
  };
  for (const char* name : {"model.safetensors", "config.json", "tokenizer.json"}) {
    checkpoint("gpt2");
    write_text(at("gpt2") / name, pointer);
    expect_pointer_refused("gpt2", std::string("gpt2/") + name);
  }
  checkpoint("gpt2");
  fs::remove(at("gpt2") / "model.safetensors");
  write_text(at("gpt2") / "pytorch_model.bin", pointer);
  expect_pointer_refused("gpt2", "gpt2/pytorch_model.bin");
  expect_pointer_refused("gpt2/pytorch_model.bin", "gpt2/pytorch_model.bin");
  checkpoint("llama");
  write_text(at("llama") / kIndex, pointer);
  expect_pointer_refused("llama", std::string("llama/") + kIndex);
  fs::create_directory(at("stories"));
  write_text(at("stories") / "stories15M.bin", pointer);
  expect_pointer_refused("stories/stories15M.bin", "stories/stories15M.bin");
  expect_pointer_refused("stories", "stories/stories15M.bin");
}

TEST_F(ImportCommands, NamesThatWouldCommandATerminalAreWrittenOut) {
  checkpoint("llama");
  replace_in(at("llama") / kIndex, "model.norm.weight", R"(\u001b[31mred\n)");
  expect_refused("llama", {kIndex, "tensor \\x1b[31mred\\n is to be in"});
  checkpoint("gpt2");
  change_weights(at("gpt2"), [](Stored& all) { all["\u009b2J"] = all.at("transformer.ln_f.weight"); });
  expect_refused("gpt2", {"left over: \\u009b2J [16]"});
  checkpoint("gpt2",
             "\x1b"
             "ab");
  const Ended ended = run({"generate", "gpt2", "--max-tokens", "3"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("it goes on from '\\x1b', the first token"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find('\x1b'), std::string::npos) << ended.err;
}

TEST_F(ImportCommands, ATokenizerThatDoesNotFitTheVocabulary) {
  checkpoint("gpt2", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ");
  expect_refused("gpt2", {"tokenizer.json", "has ids up to 36, the model's vocabulary is 31"});
  write_text(at("gpt2") / "tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}})");
  expect_refused("gpt2", {"tokenizer.json", "gives the id 0 twice"});
  write_text(at("gpt2") / "tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 2147483647}, "merges": []}})");
  expect_refused("gpt2", {"tokenizer.json", "2147483647"});
}

TEST_F(ImportCommands, NoTokenizerThatIsRead) {
  for (const char* name : {"gpt2", "bert-masked"}) {
    checkpoint(name);
    std::filesystem::remove(at(name) / "tokenizer.json");
    const std::string none = std::string(name) + " has no tokenizer that is read (tokenizer.json; vocab.json with merges.txt; ";
    if (std::string(name) != "gpt2") expect_refused(name, {none, "the model's tokens\n"});  // of which xray reads ids
    write_text(at(name) / "source_vocabulary.txt", "a\n");
    expect_refused(name, {none, "; source_vocabulary.txt is not read"});
    for (const char* file : {"tokenizer.model", "vocab.txt"}) {
      write_text(at(name) / file, "a\n");
      expect_refused(name, {none, std::string("; ") + file + " is not read",
                            std::string("AutoTokenizer.from_pretrained('") + name + "').save_pretrained('" + name + "')"});
    }
  }
}

TEST_F(ImportCommands, ALanguageModelWithoutTokenizerIsShownIds) {
  checkpoint("gpt2");
  std::filesystem::remove(at("gpt2") / "tokenizer.json");
  write_text(at("gpt2") / "ids.txt", "1 2 3 4\n\n30, 29,28\n7\n");
  const Json given = parsed(written({"xray", "gpt2", "--text", "gpt2/ids.txt", "--json"}), "stdout");
  EXPECT_EQ(given["text"]["labels"].number(), 5);  // three and two; one id alone predicts nothing
  EXPECT_EQ(given["text"]["sequences"].number(), 2);
  const Ended drawn = run({"xray", "gpt2", "--tokens", "20", "--json"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_NE(drawn.err.find("ids drawn at random"), std::string::npos) << drawn.err;
  EXPECT_EQ(parsed(drawn.out, "stdout")["text"]["tokens"].number(), 20);
  for (const char* wrong : {"1 31", "-1 2", "1 two"}) {
    write_text(at("gpt2") / "ids.txt", wrong);
    const Ended ended = run({"xray", "gpt2", "--text", "gpt2/ids.txt"});
    EXPECT_EQ(ended.code, 1) << wrong;
    EXPECT_NE(ended.err.find("line 1: '"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("0 ... 30 are"), std::string::npos) << ended.err;
  }
}

TEST_F(ImportCommands, AMaskedModelWhoseTokenizerHasNoMask) {
  checkpoint("bert-masked");
  write_text(at("bert-masked") / "tokenizer.json", char_tokenizer(kLetters)->to_json());
  for (const char* command : {"eval", "xray"}) {
    const Ended ended = run({command, "bert-masked", command[0] == 'e' ? "--data" : "--text", "words.txt"});
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_NE(ended.err.find("bert-masked predicts masked tokens, but its tokenizer has no mask token"), std::string::npos)
        << ended.err;
  }
}

TEST_F(ImportCommands, ConfigAndWeightsThatDisagreeOnTheFinalNorm) {
  checkpoint("opt");
  replace_in(at("opt") / "config.json", "\"do_layer_norm_before\": true", "\"do_layer_norm_before\": false");
  expect_refused("opt", {"final_layer_norm", "the config says post-ln"});
}

TEST_F(ImportCommands, ShardsThatAreMissingOrTooManyOrTwice) {
  checkpoint("llama");
  fs::remove(at("llama") / kSecond);
  expect_refused("llama", {kIndex, kSecond, "which is not there"});

  checkpoint("llama");
  fs::copy_file(at("llama") / kSecond, at("llama") / "model-00004-of-00004.safetensors");
  expect_refused("llama", {kIndex, "does not name model-00004-of-00004.safetensors"});

  checkpoint("llama");
  fs::copy_file(at("llama") / kSecond, at("llama") / "model-00001-of-00003.safetensors", fs::copy_options::overwrite_existing);
  expect_refused("llama", {std::string(kSecond) + ": tensor ", "a tensor belongs in one file"});

  checkpoint("llama");
  replace_in(at("llama") / kIndex, "\"model.norm.weight\"", "\"lm_head.weight\"");
  expect_refused("llama", {kIndex, "lm_head.weight", "twice"});
}

TEST_F(ImportCommands, TensorsThatIndexAndShardsDoNotAgreeOn) {
  checkpoint("llama");
  replace_in(at("llama") / kIndex, "\"model.norm.weight\"", "\"model.other.weight\"");
  expect_refused("llama", {kIndex, "model.other.weight", "does not have it"});

  checkpoint("llama");
  Stored shard = stored(at("llama") / kSecond);
  shard["more"] = shard.begin()->second;
  store(at("llama") / kSecond, shard);
  expect_refused("llama", {kSecond, "has the tensor more", kIndex});
}

TEST_F(ImportCommands, LinksOutOfTheFolderThatAnIndexNamesButNotThoseThatAUserNames) {
  const std::vector<std::string> greedy{"--prompt", "ab", "--temperature", "0", "--max-tokens", "5"};
  const auto story = [&](const std::string& model) {
    std::vector<std::string> asked{"generate", model};
    asked.insert(asked.end(), greedy.begin(), greedy.end());
    return written(asked);
  };
  checkpoint("llama");
  const std::string text = story("llama");
  EXPECT_TRUE(text.starts_with("ab") && text.size() > 2) << text;
  fs::create_directory_symlink(at("llama"), at("link"));
  EXPECT_EQ(story("link"), text);
  EXPECT_EQ(run({"xray", "link", "--text", "words.txt"}).code, 0);

  fs::rename(at("llama") / kSecond, at("elsewhere"));
  fs::create_symlink(at("elsewhere"), at("llama") / kSecond);
  expect_refused("llama", {kIndex, kSecond, "a link to", "outside of the folder"});
  expect_refused("link", {kIndex, kSecond, "outside of the folder"});

  // What huggingface_hub makes: snapshots of links into blobs.
  checkpoint("llama");
  fs::create_directories(at("models--tiny") / "snapshots");
  fs::create_directories(at("models--tiny") / "blobs");
  const fs::path snapshot = at("models--tiny") / "snapshots" / "0123";
  fs::rename(at("llama"), snapshot);
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(snapshot)) names.push_back(entry.path().filename());
  for (const fs::path& name : names) {
    fs::rename(snapshot / name, at("models--tiny") / "blobs" / name);
    fs::create_symlink(fs::path("../../blobs") / name, snapshot / name);
  }
  EXPECT_EQ(story("models--tiny/snapshots/0123"), text);
  EXPECT_EQ(run({"xray", "models--tiny/snapshots/0123", "--text", "words.txt"}).code, 0);
}

TEST_F(ImportCommands, ShapesThatDisagreeWithTheConfig) {
  checkpoint("gpt2");
  change_weights(at("gpt2"), [](Stored& all) {
    StoredTensor& qkv = all.at("transformer.h.0.attn.c_attn.weight");
    qkv.shape = Shape{qkv.shape[1], qkv.shape[0]};
  });
  expect_refused("gpt2", {"c_attn.weight is [48, 16] in the file, [16, 48] by the config (transposed)"});

  checkpoint("gpt2");
  replace_in(at("gpt2") / "config.json", "\"vocab_size\": 31", "\"vocab_size\": 64");
  expect_refused("gpt2", {"transformer.wte.weight is [31, 16] in the file, [64, 16] by the config"});

  checkpoint("llama-tied-biased");
  replace_in(at("llama-tied-biased") / "config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  expect_refused("llama-tied-biased", {"missing: lm_head.weight [31, 16]", "tie_word_embeddings"});

  checkpoint("gpt2-untied");
  replace_in(at("gpt2-untied") / "config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  expect_refused("gpt2-untied", {"lm_head.weight is to repeat", "differs", "tie_word_embeddings"});
}

TEST_F(ImportCommands, TruncatedFilesOfWeights) {
  for (const char* name : {"gpt2", "bert"}) {
    checkpoint(name);
    const fs::path weights = at(name) / "model.safetensors";
    const std::string whole = text_of(weights);
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{200}, whole.size() - 1}) {
      write_text(weights, whole.substr(0, size));
      expect_refused(name, {"model.safetensors"});
    }
  }
}

}  // namespace
}  // namespace addnorm::test
