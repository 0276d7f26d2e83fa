// Which files of Hugging Face are read: every known type, and what is refused by the name of its field.
#include <cmath>

#include "addnorm/model/model.h"
#include "core/json/json.h"
#include "model/import/hugging_face_files.h"
#include "support/streams/small_models.h"

namespace addnorm {
namespace {

using namespace test;

TEST(HuggingFace, EveryKnownTypeMakesAModelOfItsDefaults) {
  for (const std::string& type : hugging_face_model_types()) {
    SCOPED_TRACE(type);
    HuggingFaceConfig read = hugging_face(R"({"model_type": ")" + type + "\"}");
    EXPECT_EQ(read.model_type, type);
    for (const ModelConfig& config : {read.config, with_own_init(read)}) {
      ModelConfig twin = completed(config);
      twin.vocab = 11, twin.layers = 2, twin.d_model = 8 * twin.heads / twin.kv_heads, twin.heads /= twin.kv_heads;
      twin.kv_heads = 1, twin.d_head = 8, twin.d_ff = 12, twin.seq_len = 8, twin.dropout = 0;
      if (twin.model == ModelKind::seq2seq) twin.decoder_layers = 2, twin.target_vocab = 11;
      if (twin.model == ModelKind::seq2seq) twin.shared_vocab = true;
      const Var y = test::AnyModel(twin)();
      for (const float x : y.value().values<float>()) ASSERT_TRUE(std::isfinite(x));
    }
  }
}

TEST(HuggingFace, ArchitecturesSpeakWhereTheTypeIsMissing) {
  EXPECT_EQ(hugging_face(R"({"architectures": ["GPT2LMHeadModel"]})").model_type, "gpt2");
  EXPECT_EQ(hugging_face(R"({"architectures": ["GPTNeoXForCausalLM"]})").model_type, "gpt_neox");
  EXPECT_EQ(hugging_face(R"({"architectures": ["Olmo2ForCausalLM"]})").model_type, "olmo2");
  EXPECT_EQ(hugging_face(R"({"architectures": ["MarianMTModel"]})").model_type, "marian");
  EXPECT_TRUE(
      throws_saying<DataError>([] { hugging_face(R"({"architectures": ["Qwen2MoeForCausalLM"]})"); }, {"Qwen2MoeForCausalLM"}));
}

TEST(HuggingFace, IsDistinguishedFromOurOwnFiles) {
  EXPECT_TRUE(is_hugging_face_config(kGpt2));
  EXPECT_TRUE(is_hugging_face_config(R"({"model_type": "mamba"})"));
  EXPECT_TRUE(is_hugging_face_config(R"({"architectures": ["BertModel"]})"));
  EXPECT_FALSE(is_hugging_face_config(to_config_file(test::small(ModelKind::lm))));
  EXPECT_FALSE(is_hugging_face_config(to_json(test::small(ModelKind::lm))));
  for (const char* text : {"", "{", "[1]", "7", "null"}) EXPECT_FALSE(is_hugging_face_config(text)) << text;
}

TEST(HuggingFace, NamesTheFieldThatIsWrong) {
  const auto refused = [](const std::string& text, std::initializer_list<std::string> parts) {
    return throws_saying<DataError>([&] { hugging_face(text); }, parts);
  };
  const auto gpt2 = [](const std::string& rest) { return R"({"model_type": "gpt2", )" + rest + "}"; };
  EXPECT_TRUE(refused(R"({"model_type": "gpt-nano"})", {"config.json", "\"gpt-nano\"", "known: gpt2, ", "llama", "marian"}));
  EXPECT_TRUE(refused(R"({"model_type": "lama"})", {"\"lama\"", "did you mean llama?"}));
  EXPECT_TRUE(refused(R"({"model_type": 5})", {"config.json", "model_type is 5", "a string"}));
  EXPECT_TRUE(refused(R"({"hidden_size": 64})", {"config.json", "model_type is missing", "architectures"}));
  EXPECT_TRUE(
      refused(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}})", {"text_config", "several parts"}));
  EXPECT_TRUE(refused("[]", {"config.json", "array", "an object"}));
  EXPECT_TRUE(refused("{", {"config.json", "not JSON"}));
  EXPECT_TRUE(throws_saying<DataError>([] { read_hugging_face_config("/nowhere/config.json"); }, {"/nowhere/config.json"}));
  EXPECT_TRUE(refused(gpt2(R"("n_layer": -3)"), {"config.json", "n_layer is -3", "a whole number, 1 ... 1000000"}));
  EXPECT_TRUE(refused(gpt2(R"("n_layer": 1000000000)"), {"n_layer is 1000000000", "1 ... 1000000"}));
  EXPECT_TRUE(refused(gpt2(R"("n_layer": 1e9)"), {"n_layer is 1", "a whole number"}));
  EXPECT_TRUE(refused(gpt2(R"("n_layer": "12")"), {"n_layer is \"12\"", "a whole number"}));
  EXPECT_TRUE(refused(gpt2(R"("n_layer": null)"), {"n_layer is null", "a whole number"}));
  EXPECT_TRUE(refused(gpt2(R"("n_layer": 2, "num_hidden_layers": 3)"), {"num_hidden_layers is 3, but n_layer is 2"}));
  EXPECT_TRUE(refused(gpt2(R"("n_head": 7)"), {"n_head is 7", "a divisor of the width 768"}));
  EXPECT_TRUE(refused(gpt2(R"("n_embd": 0)"), {"n_embd is 0"}));
  EXPECT_TRUE(refused(gpt2(R"("activation_function": "sine")"), {"activation_function is \"sine\"", "one of relu, gelu"}));
  EXPECT_TRUE(refused(gpt2(R"("layer_norm_epsilon": -1)"), {"layer_norm_epsilon is -1", "0 ... 1"}));
  EXPECT_TRUE(refused(gpt2(R"("resid_pdrop": 1)"), {"resid_pdrop is 1", "0 ... 0.999"}));
  EXPECT_TRUE(refused(gpt2(R"("tie_word_embeddings": "yes")"), {"tie_word_embeddings is \"yes\"", "true or false"}));
  EXPECT_TRUE(refused(gpt2(R"("add_cross_attention": true)"), {"add_cross_attention is true", "must be false"}));
  EXPECT_TRUE(refused(R"({"model_type": "llama", "num_key_value_heads": 3})", {"num_key_value_heads is 3", "the 32 heads"}));
  EXPECT_TRUE(refused(R"({"model_type": "llama", "head_dim": 3})", {"config.json", "d_head is 3", "even"}));
  EXPECT_TRUE(refused(R"({"model_type": "llama", "rope_scaling": 4})", {"rope_scaling is 4", "an object"}));
  EXPECT_TRUE(
      refused(R"({"model_type": "llama", "rope_parameters": {"rope_theta": "x"}})", {"rope_parameters.rope_theta is \"x\""}));
  EXPECT_TRUE(refused(R"({"model_type": "mpt", "attn_config": {"qk_ln": 1}})", {"attn_config.qk_ln is 1"}));
  EXPECT_TRUE(
      refused(R"({"model_type": "roberta", "max_position_embeddings": 2})", {"max_position_embeddings is 2", "more than 2"}));
  EXPECT_TRUE(refused(R"({"model_type": "bart", "decoder_ffn_dim": 8})", {"decoder_ffn_dim is 8", "4096 as encoder_ffn_dim"}));
  EXPECT_TRUE(refused(R"({"model_type": "bert", "architectures": "BertModel"})", {"architectures is \"BertModel\"", "an array"}));
}

TEST(HuggingFace, AnyValueInAnyFieldIsReadOrRefusedByName) {
  const std::vector<Json> values{nullptr,
                                 -1,
                                 0,
                                 3,
                                 std::uint64_t{1000000000},
                                 ~std::uint64_t{0},
                                 2.5,
                                 1e300,
                                 "x",
                                 "",
                                 true,
                                 Json::array(),
                                 Json::array({1, "y"}),
                                 Json::object(),
                                 Json{{"rope_type", 1}}};
  std::size_t refused = 0, read = 0;
  for (const char* text : {kGpt2, kBert, kLlama, kOpt350m, kNeoX20b, kGptJ, kT5Small, kOlmo2, kGemma2, kQwen3, kBartBase}) {
    const Json original = parsed(text, "test");
    for (const JsonField& field : original.items())
      for (const Json& value : values) {
        Json changed = original;
        changed[field.key] = value;
        SCOPED_TRACE(changed.dump());
        try {
          completed(hugging_face(changed.dump()).config);
          ++read;
        } catch (const DataError& error) {
          EXPECT_EQ(std::string_view(error.what()).find("config.json: "), 0u) << error.what();
          ++refused;
        }
      }
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(read, 500u);
}

}  // namespace
}  // namespace addnorm
