// Checkpoints of others through the commands: what they write, measure and report.
#include <cstring>

#include "cli/models/import_commands.h"
#include "core/json/json.h"
#include "support/data.h"
#include "tensor/half.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

TEST_F(ImportCommands, Stories260KWritesTheExpectedStoryByteForByte) {
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
  const Json measured = parsed(written({"eval", model, "--data", "words.txt", "--json"}), "stdout");
  EXPECT_GT(measured["loss"].number(), 2);
  EXPECT_GT(measured["bits_per_byte"].number(), 2);
  checkpoint("bert-masked");
  EXPECT_GT(parsed(written({"eval", "bert-masked", "--data", "words.txt", "--json"}), "stdout")["loss"].number(), 2);
}

TEST_F(ImportCommands, AnEncoderThatEndsInVectorsIsSentToTheXray) {
  checkpoint("bert");
  const Ended generated = run({"generate", "bert"});
  EXPECT_EQ(generated.code, 1);
  EXPECT_NE(generated.err.find("which writes nothing"), std::string::npos) << generated.err;
  const Ended ended = run({"eval", "bert", "--data", "words.txt"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("addnorm xray"), std::string::npos) << ended.err;
}

constexpr const char* kTable = "transformer.wte.weight";
constexpr const char* kQkv = "transformer.h.0.attn.c_attn.weight";

std::vector<float> floats_of(const StoredTensor& tensor) {
  std::vector<float> values(tensor.shape.elements());
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Float32 values that a type of 16 bits has exactly, some of them subnormal in F16; and the same values in that type.
struct Halved {
  Halved(const StoredTensor& tensor, bool f16) {
    std::vector<float> values = floats_of(tensor);
    values[0] = 0x1p-24f;
    values[1] = -0x1.8p-15f;
    std::vector<std::uint16_t> halves;
    for (float& v : values) {
      halves.push_back(f16 ? to_f16(v) : to_bf16(v));
      v = f16 ? from_f16(halves.back()) : from_bf16(halves.back());
    }
    whole = {"F32", tensor.shape, bytes_of(values)};
    half = {f16 ? "F16" : "BF16", tensor.shape, bytes_of(halves)};
  }
  StoredTensor whole, half;
};

std::string without_seconds(const std::string& xray) {
  const std::size_t at = xray.find("\"seconds\":");
  EXPECT_NE(at, std::string::npos) << xray;
  return xray.substr(0, at) + xray.substr(xray.find('}', at));
}

// H-08: the same values in F32, and in F16 and BF16 beside F32, give the same text and the same xray to the last digit.
TEST_F(ImportCommands, MixedTypesAreReadExactly) {
  checkpoint("gpt2");
  const auto seen = [&] {
    return written({"generate", "gpt2", "--prompt", "ab", "--temperature", "1", "--seed", "3", "--max-tokens", "9"}) +
           without_seconds(written({"xray", "gpt2", "--json", "--text", "words.txt"})) +
           written({"eval", "gpt2", "--data", "words.txt", "--json"});
  };
  const std::string unrounded = seen();
  const Stored all = stored(at("gpt2") / "model.safetensors");
  const Halved table(all.at(kTable), true), qkv(all.at(kQkv), false);
  change_weights(at("gpt2"), [&](Stored& weights) {
    weights.at(kTable) = table.whole;
    weights.at(kQkv) = qkv.whole;
  });
  const std::string rounded = seen();
  EXPECT_NE(rounded, unrounded);  // the values count
  change_weights(at("gpt2"), [&](Stored& weights) {
    weights.at(kTable) = table.half;
    weights.at(kQkv) = qkv.half;
  });
  EXPECT_EQ(seen(), rounded);
  change_weights(at("gpt2"), [&](Stored& weights) {
    const std::uint16_t infinite = 0x7c00;
    std::memcpy(weights.at(kTable).bytes.data() + 10, &infinite, sizeof infinite);
  });
  expect_refused("gpt2", {"model.safetensors", kTable, "NaN or infinite"});
  change_weights(at("gpt2"), [&](Stored& weights) { weights.at(kTable) = {"I32", table.whole.shape, table.whole.bytes}; });
  expect_refused("gpt2", {std::string(kTable) + " is I32"});
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(ImportCommands, NotesArePrintedOnceAndNotAmongTheResults) {
  const std::string pooler = "the pooler, which makes one vector of the first token, is not computed";
  checkpoint("bert");
  for (const std::vector<std::string>& asked : all_commands("bert")) {
    if (asked[0] != "xray" && asked[0] != "embed") continue;  // the others do not take a model that ends in vectors
    const Ended ended = run(asked);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(times(ended.err, "note: " + pooler + "\n"), 1u) << asked[0] << ": " << ended.err;
    EXPECT_EQ(times(ended.err, pooler), 1u) << asked[0] << ": " << ended.err;
    EXPECT_EQ(times(ended.out, pooler), 0u) << asked[0] << ": " << ended.out;
  }
  EXPECT_EQ(run({"xray", "bert", "--text", "words.txt", "--quiet"}).err, "");
  checkpoint("gpt2");
  replace_in(at("gpt2") / "config.json", "  \"n_positions\": 12,\n", "");
  change_weights(at("gpt2"), [](Stored& all) {  // as many as GPT2Config has by itself
    StoredTensor& positions = all.at("transformer.wpe.weight");
    positions.shape = Shape{1024, 16};
    positions.bytes.resize(1024 * 16 * sizeof(float));
  });
  for (const std::vector<std::string>& asked : all_commands("gpt2")) {
    if (asked[0] == "embed") continue;  // takes encoders
    const Ended ended = run(asked);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(times(ended.err, "max_position_embeddings 1024"), 1u) << asked[0] << ": " << ended.err;
    EXPECT_EQ(times(ended.out, "max_position_embeddings"), 0u) << asked[0] << ": " << ended.out;
  }
}

// A vocabulary is often padded: to 50304 of GPT-2's 50257. What no token stands for is not written.
TEST_F(ImportCommands, TextsEndWhereTheCheckpointSaysTheyDo) {
  const std::string model = checkpoint("gpt2");
  const std::vector<std::string> ask = {"generate", model, "--prompt", "ab", "--temperature", "0", "--max-tokens", "12"};
  const std::string whole = written(ask);
  ASSERT_GT(whole.size(), 4u);
  const std::string last(1, whole[4]);  // "ab", and the third letter after it
  const auto id = char_tokenizer(kLetters, {.mask = true})->encode(last).front();
  const std::string shorter = whole.substr(0, whole.find(last, 2));
  const std::string ends = "{\"eos_token_id\": [7000, " + std::to_string(id) + "]}";
  write_text(at(model) / "generation_config.json", ends);
  EXPECT_EQ(written(ask), shorter);
  write_text(at(model) / "generation_config.json", R"({"eos_token_id": -1})");  // none: neither the config's
  EXPECT_EQ(written(ask), whole);
  write_text(at(model) / "generation_config.json", R"({"eos_token_id": 2.5})");
  EXPECT_EQ(run(ask).code, 1);
  write_text(at(model) / "generation_config.json", R"({"eos_token_id": "a"})");
  const Ended refused = run(ask);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("generation_config.json: eos_token_id"), std::string::npos) << refused.err;
}

TEST_F(ImportCommands, IdsThatTheTokenizerDoesNotHaveAreNotWritten) {
  checkpoint("gpt2");
  write_text(at("gpt2") / "tokenizer.json", char_tokenizer("ab \n")->to_json());  // four ids; the model has 31
  write_text(at("gpt2") / "generation_config.json", R"({"eos_token_id": 30})");   // one of those that are not written
  for (const char* temperature : {"0", "1", "5"}) {
    const std::string text = written({"generate", "gpt2", "--prompt", "ab", "--temperature", temperature, "--max-tokens", "60"});
    EXPECT_TRUE(text.starts_with("ab")) << text;
    EXPECT_EQ(text.size(), 62u) << text;
  }
}

TEST_F(ImportCommands, CheckpointsMayBeNamedFromTheirOwnFolder) {
  checkpoint("gpt2");
  checkpoint("llama");
  const auto story = [&](const fs::path& from, const std::string& model) {
    const Ended ended = Process(from, {"generate", model, "--prompt", "ab", "--temperature", "0", "--max-tokens", "5"}).end();
    EXPECT_EQ(ended.code, 0) << model << ": " << ended.err;
    return ended.out;
  };
  for (const char* name : {"gpt2", "llama"}) {
    const std::string text = story(folder.path, name);
    EXPECT_TRUE(text.starts_with("ab") && text.size() > 2) << text;
    for (const char* model : {".", "./"}) EXPECT_EQ(story(at(name), model), text) << model;
    EXPECT_EQ(story(at("gpt2"), std::string("../") + name), text);
  }
  const std::string text = story(folder.path, "gpt2");
  for (const char* model : {"model.safetensors", "./model.safetensors"}) EXPECT_EQ(story(at("gpt2"), model), text) << model;
}

TEST_F(ImportCommands, ALlama2cFileMayBeNamedFromItsOwnFolder) {
  ADDNORM_NEEDS_DATA("models/stories260K");
  const fs::path model = test_data() / "models" / "stories260K";
  const std::string expected = text_of(model / "expected_greedy_200.txt");
  fs::create_directory(at("own"));
  for (const char* name : {"stories260K.bin", "tok512.bin"}) fs::copy_file(model / name, at("own") / name);
  const auto story = [&](const fs::path& from, const std::string& given) {
    const Ended ended = Process(from, {"generate", given, "--temperature", "0", "--max-tokens", "200"}).end();
    EXPECT_EQ(ended.code, 0) << given << ": " << ended.err;
    return ended.out;
  };
  for (const char* given : {"stories260K.bin", "./stories260K.bin", "../own/stories260K.bin", ".", "../own/"})
    EXPECT_EQ(story(at("own"), given), expected) << given;
  EXPECT_EQ(story(folder.path, "own/stories260K.bin"), expected);
  EXPECT_EQ(Process(at("own"), {"xray", "./stories260K.bin", "--quiet"}).end().code, 0);
}

}  // namespace
}  // namespace addnorm::test
