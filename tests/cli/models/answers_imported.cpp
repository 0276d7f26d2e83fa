// Answers of a checkpoint of pairs whose vocabulary is larger than that of its tokenizer.
#include <cstring>

#include "addnorm/core/rng.h"
#include "cli/models/import_commands.h"

namespace addnorm::test {
namespace {

constexpr std::size_t kWidth = 16, kInner = 24, kVocabulary = 31,
                      kPadding = 20;  // an id without a text, which is the most probable

/// OpenNMT's names, one layer in each stack.
class OpenNmtWeights {
 public:
  OpenNmtWeights() {
    for (const std::string stack : {"encoder/", "decoder/"}) {
      add(stack + "embeddings/weight", {kVocabulary, kWidth});
      add_norm(stack + "layer_norm");
      const std::string layer = stack + "layer_0/";
      add_norm(layer + "self_attention/layer_norm");
      add_linear(layer + "self_attention/linear_0", 3 * kWidth, kWidth);
      add_linear(layer + "self_attention/linear_1", kWidth, kWidth);
      add_norm(layer + "ffn/layer_norm");
      add_linear(layer + "ffn/linear_0", kInner, kWidth);
      add_linear(layer + "ffn/linear_1", kWidth, kInner);
    }
    add_norm("decoder/layer_0/attention/layer_norm");
    add_linear("decoder/layer_0/attention/linear_0", kWidth, kWidth);
    add_linear("decoder/layer_0/attention/linear_1", 2 * kWidth, kWidth);
    add_linear("decoder/layer_0/attention/linear_2", kWidth, kWidth);
    add_linear("decoder/projection", kVocabulary, kWidth);
    const float large = 10;
    std::memcpy(all.at("decoder/projection/bias").bytes.data() + kPadding * sizeof large, &large, sizeof large);
  }
  Stored all;

 private:
  void add(const std::string& name, const Shape& shape) {
    std::vector<std::byte> bytes(shape.elements() * sizeof(float));
    for (std::size_t i = 0; i < shape.elements(); ++i) {
      const float value = 0.1f * normal_at(RandomKey(1).with(name), i);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    all[name] = {"F32", shape, bytes};
  }
  void add_linear(const std::string& name, std::size_t out, std::size_t in) {
    add(name + "/weight", {out, in});
    add(name + "/bias", {out});
  }
  void add_norm(const std::string& name) {
    add(name + "/gamma", {kWidth});
    add(name + "/beta", {kWidth});
  }
};

TEST_F(ImportCommands, AnswersHaveNoIdsThatTheTokenizerDoesNotHave) {
  std::filesystem::create_directory(at("pairs"));
  store(at("pairs") / "model.safetensors", OpenNmtWeights().all);
  write_text(at("pairs") / "tokenizer.json", char_tokenizer("ab", {.begin_end = true})->to_json());
  for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{
           {"--beams", "4", "--n", "4"}, {"--beams", "1"}, {}, {"--temperature", "2", "--n", "3", "--seed", "5"}}) {
    std::vector<std::string> asked{"generate", "pairs", "--source", "abba", "--max-tokens", "6"};
    asked.insert(asked.end(), how.begin(), how.end());
    const std::string text = written(asked);
    EXPECT_EQ(text.find_first_not_of("ab\n"), std::string::npos) << text;
    EXPECT_GE(text.size(), 1u);
  }
}

}  // namespace
}  // namespace addnorm::test
