// Configs of Hugging Face as people know them: the arrangement, the norm and the sizes they mean, and the parameters they have.
#include "addnorm/model/hugging_face.h"

#include <array>
#include <cmath>
#include <numeric>

#include "addnorm/model/model.h"
#include "addnorm/residual/catalogue.h"
#include "core/json/json.h"
#include "model/import/hugging_face_files.h"
#include "support/streams/small_models.h"

namespace addnorm {
namespace {

using namespace test;

bool notes(const HuggingFaceConfig& read, std::string_view part) {
  for (const std::string& note : read.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}
std::string all_notes(const HuggingFaceConfig& read) {
  std::string all;
  for (const std::string& note : read.notes) all += note + "\n";
  return all;
}

/// The sizes that a count of parameters is linear in, one by one: no array has the same one twice.
using Sizes = std::array<std::size_t, 6>;  // d_model, groups of heads, d_ff, layers, vocab, seq_len

std::ptrdiff_t counted(ModelConfig c, const Sizes& sizes) {
  const std::size_t groups = std::gcd(c.heads, c.kv_heads);
  c.d_model = sizes[0], c.heads = c.heads / groups * sizes[1], c.kv_heads = c.kv_heads / groups * sizes[1];
  c.d_ff = sizes[2], c.layers = sizes[3], c.vocab = sizes[4], c.seq_len = sizes[5];
  if (c.model == ModelKind::seq2seq) c.decoder_layers = c.layers, c.target_vocab = c.vocab;
  return static_cast<std::ptrdiff_t>(count_parameters(*make_model(c)));
}

/// The line through sizes 1 and 2, drawn to the size of the model, for one size after the other.
std::ptrdiff_t extrapolated(const ModelConfig& c, Sizes sizes, std::size_t axis) {
  if (axis == sizes.size()) return counted(c, sizes);
  const auto far = static_cast<std::ptrdiff_t>(sizes[axis]);
  sizes[axis] = 1;
  const std::ptrdiff_t one = extrapolated(c, sizes, axis + 1);
  sizes[axis] = 2;
  return one + (far - 1) * (extrapolated(c, sizes, axis + 1) - one);
}

/// How many parameters make_model(config) would have: found from 64 tiny models.
std::size_t parameters(const ModelConfig& config) {
  ModelConfig c = completed(config);
  const std::size_t transform = c.head_transform ? c.d_model * c.d_model + 3 * c.d_model : 0;  // the one part that is a square
  c.head_transform = false;
  const Sizes sizes{c.d_model, std::gcd(c.heads, c.kv_heads), c.d_ff, c.layers, c.vocab, c.seq_len};
  return static_cast<std::size_t>(extrapolated(c, sizes, 0)) + transform;
}

TEST(HuggingFace, CountsOfTinyModelsTellThoseOfLargerOnes) {
  for (const ModelKind kind : {ModelKind::lm, ModelKind::encoder}) {
    ModelConfig config = test::small(kind);
    config.kv_heads = 1;
    EXPECT_EQ(parameters(config), count_parameters(*make_model(config)));
  }
}

TEST(HuggingFace, Gpt2IsPreLnWithItsOwnInitialisation) {
  const HuggingFaceConfig read = hugging_face(kGpt2);
  const ModelConfig& c = read.config;
  EXPECT_EQ(read.model_type, "gpt2");
  EXPECT_EQ(c.model, ModelKind::lm);
  EXPECT_EQ(c.arrangement, "pre-ln");
  EXPECT_EQ(c.norm, "layernorm");
  EXPECT_EQ(c.norm_eps, 1e-5);
  EXPECT_EQ(c.activation, Activation::gelu_tanh);
  EXPECT_EQ(c.d_ff, 3072u);
  EXPECT_EQ(c.positions, PositionKind::learned);
  EXPECT_EQ(c.seq_len, 1024u);
  EXPECT_EQ(c.dropout, 0.1);
  EXPECT_TRUE(c.tied && c.bias);
  EXPECT_FALSE(read.init) << "pre-ln starts as GPT-2 does";
  EXPECT_EQ(read.notes.size(), 1u) << all_notes(read);
  EXPECT_TRUE(notes(read, "attention weights are dropped by 0.1"));
  EXPECT_EQ(parameters(c), 124439808u);
}

TEST(HuggingFace, Gpt2OfAnEmptyFileIsTheSmallOneAndSaysSo) {
  const HuggingFaceConfig read = hugging_face(R"({"model_type": "gpt2"})");
  EXPECT_EQ(to_json(read.config), to_json(hugging_face(kGpt2).config));
  EXPECT_TRUE(notes(read, "not in the file, so as gpt2 has it by default: vocab_size 50257, num_hidden_layers 12"));
}

TEST(HuggingFace, BertIsPostLnAfterANormOfTheEmbeddings) {
  const HuggingFaceConfig read = hugging_face(kBert);
  const ModelConfig& c = read.config;
  EXPECT_EQ(c.model, ModelKind::encoder);
  EXPECT_EQ(c.arrangement, "post-ln");
  EXPECT_EQ(c.embedding_norm, true);
  EXPECT_EQ(c.norm_eps, 1e-12);
  EXPECT_EQ(c.activation, Activation::gelu);
  EXPECT_TRUE(c.head && c.tied && c.head_bias && c.head_transform);
  EXPECT_EQ(c.token_types, 2u);
  EXPECT_TRUE(read.differences.empty()) << read.differences.front();
  // BertForMaskedLM has 109,514,298: BertModel's without the pooler, a matrix and a norm before the logits, and their biases.
  EXPECT_EQ(parameters(c), 109514298u);
  EXPECT_EQ(to_json(hugging_face(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"]})").config), to_json(c));
}

TEST(HuggingFace, TheClassSaysWhatStandsOnAnEncoder) {
  const auto with = [](const std::string& rest) { return hugging_face(R"({"model_type": "bert", )" + rest + "}"); };
  const HuggingFaceConfig bare = with(R"("architectures": ["BertModel"])");
  EXPECT_FALSE(bare.config.head);
  EXPECT_EQ(parameters(bare.config), 109482240u - (768 * 768 + 768));  // without the pooler
  const HuggingFaceConfig classes =
      with(R"("architectures": ["BertForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"})");
  EXPECT_EQ(classes.config.model, ModelKind::classifier);
  EXPECT_EQ(classes.config.classes, 3u);
  EXPECT_EQ(classes.config.pooling, Pooling::first);
  EXPECT_TRUE(notes(with(R"("architectures": ["BertForQuestionAnswering"])"), "head of BertForQuestionAnswering is left out"));
  EXPECT_EQ(with(R"("is_decoder": true)").config.model, ModelKind::lm);
}

TEST(HuggingFace, OwnInitIsThatOfTheFileUnderTheSameName) {
  const HuggingFaceConfig read =
      hugging_face(R"({"model_type": "bert", "initializer_range": 0.5, "vocab_size": 40, "hidden_size": 32,
      "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 16})");
  ASSERT_TRUE(read.init);
  EXPECT_EQ(arrangement_of(read.config).init.base, InitSpec::Base::xavier_uniform);
  const ModelConfig own = with_own_init(read);
  EXPECT_EQ(own.arrangement, "post-ln");
  EXPECT_EQ(completed(own).arrangement, "post-ln");
  EXPECT_EQ(to_json(model_config_from_json(to_json(own), "test")), to_json(own));
  double squares = 0, elements = 0;
  for_each_parameter(*make_model(own), [&](Parameter& p) {
    if (!is_matrix(p.role)) return;
    for (const float x : p.value.value().values<float>()) squares += static_cast<double>(x) * x, ++elements;
  });
  const double six_deviations = 6 * 0.5 / std::sqrt(2 * elements);
  EXPECT_NEAR(std::sqrt(squares / elements), 0.5, six_deviations);
  EXPECT_EQ(hugging_face(kLlama).init->rule, "bert") << "Llama does not divide by the depth";
  EXPECT_EQ(hugging_face(kGptJ).init->rule, "bert") << "nor does GPT-J, though parallel by itself does";
}

TEST(HuggingFace, InitOfZerosIsLeftToTheArrangementAndNoted) {
  const HuggingFaceConfig read = hugging_face(R"({"model_type": "bert", "initializer_range": 0})");
  EXPECT_FALSE(read.init);
  EXPECT_EQ(with_own_init(read).init, InitOptions{});
  EXPECT_TRUE(notes(read, "initializer_range is 0")) << all_notes(read);
  EXPECT_EQ(read.training.size(), 2u) << all_notes(read);
  EXPECT_TRUE(notes(hugging_face(R"({"model_type": "opt", "init_std": 0.0})"), "init_std is 0"));
  EXPECT_TRUE(throws_saying<DataError>([] { hugging_face(R"({"model_type": "bert", "initializer_range": -1})"); },
                                       {"initializer_range is -1", "0 ... 100"}));
}

TEST(HuggingFace, RobertaAndDistilbertAreReadAsBertWithTheirPositions) {
  const HuggingFaceConfig roberta =
      hugging_face(R"({"architectures": ["RobertaModel"], "layer_norm_eps": 1e-05, "model_type": "roberta",
      "max_position_embeddings": 514, "pad_token_id": 1, "type_vocab_size": 1, "vocab_size": 50265})");
  EXPECT_EQ(roberta.config.position_offset, 2u);
  EXPECT_EQ(roberta.config.seq_len, 512u);
  EXPECT_EQ(roberta.config.norm_eps, 1e-5);
  EXPECT_EQ(parameters(roberta.config), 124645632u - (768 * 768 + 768));  // without the pooler
  const HuggingFaceConfig distil =
      hugging_face(R"({"activation": "gelu", "architectures": ["DistilBertModel"], "attention_dropout": 0.1,
      "dim": 768, "dropout": 0.1, "hidden_dim": 3072, "max_position_embeddings": 512, "model_type": "distilbert", "n_heads": 12,
      "n_layers": 6, "sinusoidal_pos_embds": false, "vocab_size": 30522})");
  EXPECT_EQ(distil.config.arrangement, "post-ln");
  EXPECT_EQ(parameters(distil.config), 66362880u);
  const HuggingFaceConfig electra = hugging_face(R"({"model_type": "electra", "embedding_size": 128, "hidden_size": 256})");
  EXPECT_TRUE(notes(electra, "128 features there"));
  EXPECT_EQ(electra.config.embedding_norm, true);
}

TEST(HuggingFace, LlamaIsPreLnWithRmsNorm) {
  const HuggingFaceConfig read = hugging_face(kLlama);
  const ModelConfig& c = read.config;
  EXPECT_EQ(c.arrangement, "pre-ln");
  EXPECT_EQ(c.norm, "rmsnorm");
  EXPECT_EQ(c.norm_eps, 1e-5);
  EXPECT_EQ(c.kv_heads, 8u);
  EXPECT_EQ(c.d_head, 64u);
  EXPECT_EQ(c.activation, Activation::swiglu);
  EXPECT_EQ(c.positions, PositionKind::rotary_halves);
  EXPECT_EQ(c.rope_base, 500000);
  EXPECT_TRUE(c.tied);
  EXPECT_FALSE(c.bias);
  EXPECT_EQ(read.notes.size(), 1u) << all_notes(read);
  EXPECT_TRUE(notes(read, "rope_scaling is llama3"));
  EXPECT_EQ(parameters(c), 1235814400u);
}

TEST(HuggingFace, MistralAndQwenAreLlamasWithTheirOwnAttention) {
  const HuggingFaceConfig mistral = hugging_face(R"({"model_type": "mistral", "sliding_window": null})");
  EXPECT_EQ(mistral.config.kv_heads, 8u);
  EXPECT_FALSE(notes(mistral, "tokens back"));
  EXPECT_EQ(parameters(mistral.config), 7241732096u);
  EXPECT_TRUE(notes(hugging_face(R"({"model_type": "mistral"})"), "4096 tokens back"));
  const HuggingFaceConfig qwen2 = hugging_face(R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
      "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "max_position_embeddings": 131072,
      "rope_theta": 1000000.0, "tie_word_embeddings": true, "use_sliding_window": false, "vocab_size": 151936})");
  EXPECT_TRUE(qwen2.config.attention_bias.value() && !qwen2.config.attention_out_bias.value());
  EXPECT_EQ(parameters(qwen2.config), 494032768u);
  const HuggingFaceConfig qwen3 = hugging_face(kQwen3);
  EXPECT_EQ(qwen3.config.arrangement, "pre-ln");
  EXPECT_EQ(qwen3.config.qk_norm, "rmsnorm");
  EXPECT_EQ(qwen3.config.qk_norm_span, QkNormSpan::head);
  EXPECT_EQ(parameters(qwen3.config), 596049920u);
  EXPECT_TRUE(qwen3.notes.empty()) << all_notes(qwen3);
}

TEST(HuggingFace, OlmoHasNormsWithoutGainsAndOlmo2NormsWhatBranchesGive) {
  const HuggingFaceConfig olmo = hugging_face(R"({"model_type": "olmo", "clip_qkv": 8.0})");
  EXPECT_EQ(olmo.config.arrangement, "pre-ln");
  EXPECT_EQ(olmo.config.norm, "layernorm-noaffine");
  EXPECT_TRUE(notes(olmo, "cut off at 8"));
  const ModelConfig c = hugging_face(kOlmo2).config;
  EXPECT_EQ(c.arrangement, "res-post");
  EXPECT_EQ(c.norm, "rmsnorm");
  EXPECT_EQ(c.qk_norm, "rmsnorm");
  EXPECT_EQ(c.qk_norm_span, QkNormSpan::projection);
  EXPECT_EQ(c.norm_eps, 1e-6);
  EXPECT_FALSE(c.tied);
  EXPECT_EQ(parameters(c), 1484916736u);
}

TEST(HuggingFace, Gemma2IsASandwichOfRmsNorms) {
  const HuggingFaceConfig read = hugging_face(kGemma2);
  const ModelConfig& c = read.config;
  EXPECT_EQ(c.arrangement, "sandwich");
  EXPECT_EQ(c.norm, "rmsnorm-1p");
  EXPECT_EQ(c.norm_eps, 1e-6);
  EXPECT_EQ(c.d_head, 256u);
  EXPECT_TRUE(c.scale_embedding && c.tied);
  EXPECT_EQ(c.activation, Activation::swiglu);
  for (const char* part : {"gates go through gelu_pytorch_tanh there", "attention scores are capped at 50",
                           "logits are capped at 30", "4096 tokens back"})
    EXPECT_TRUE(notes(read, part)) << part;
  EXPECT_EQ(parameters(c), 2614341888u);
  const ModelConfig first = hugging_face(R"({"model_type": "gemma", "hidden_act": "gelu", "hidden_activation": null})").config;
  EXPECT_EQ(first.arrangement, "pre-ln");
  EXPECT_EQ(first.norm, "rmsnorm-1p");
  const ModelConfig third = hugging_face(R"({"model_type": "gemma3_text"})").config;
  EXPECT_EQ(third.arrangement, "sandwich");
  EXPECT_EQ(third.qk_norm, "rmsnorm-1p");
  EXPECT_EQ(third.rope_base, 1e6);
}

TEST(HuggingFace, OptIsPreLnAndItsThirdOnePostLn) {
  const HuggingFaceConfig small = hugging_face(kOpt125m);
  EXPECT_EQ(small.config.arrangement, "pre-ln");
  EXPECT_EQ(small.config.activation, Activation::relu);
  EXPECT_EQ(small.config.position_offset, 2u);
  EXPECT_EQ(parameters(small.config), 125239296u);
  EXPECT_TRUE(small.notes.empty()) << all_notes(small);
  const HuggingFaceConfig third = hugging_face(kOpt350m);
  EXPECT_EQ(third.config.arrangement, "post-ln");
  EXPECT_FALSE(third.config.final_norm.value_or(false));
  EXPECT_EQ(third.config.d_embedding, 512u);
  EXPECT_EQ(parameters(third.config), 331196416u);
  EXPECT_EQ(hugging_face(R"({"model_type": "opt", "_remove_final_layer_norm": true})").config.arrangement, "pre-ln-nofinal");
}

TEST(HuggingFace, NeoXAndGptJAreParallel) {
  const HuggingFaceConfig neox = hugging_face(kNeoX20b);
  EXPECT_EQ(neox.config.arrangement, "parallel-2ln");
  EXPECT_EQ(neox.config.layers, 44u);
  EXPECT_EQ(neox.config.activation, Activation::gelu_tanh);
  EXPECT_FALSE(neox.config.tied);
  EXPECT_TRUE(notes(neox, "0.25 of a head's features"));
  EXPECT_EQ(parameters(neox.config), 20554567680u);
  EXPECT_EQ(parameters(hugging_face(kPythia70m).config), 70426624u);
  EXPECT_EQ(hugging_face(R"({"model_type": "gpt_neox", "use_parallel_residual": false})").config.arrangement, "pre-ln");
  const HuggingFaceConfig gptj = hugging_face(kGptJ);
  EXPECT_EQ(gptj.config.arrangement, "parallel");
  EXPECT_EQ(gptj.config.positions, PositionKind::rotary);
  EXPECT_EQ(gptj.config.d_ff, 16384u);
  EXPECT_TRUE(gptj.config.head_bias && gptj.config.bias);
  EXPECT_EQ(parameters(gptj.config), 6050882784u);
  EXPECT_TRUE(notes(gptj, "64 of a head's 256 features"));
  EXPECT_EQ(gptj.config.attention_bias, false);
}

TEST(HuggingFace, OtherDecodersSayWhatTheirScoresHave) {
  const HuggingFaceConfig neo = hugging_face(R"({"model_type": "gpt_neo", "hidden_size": 768, "num_layers": 12, "num_heads": 12,
      "intermediate_size": null, "attention_types": [[["global", "local"], 6]], "window_size": 256})");
  EXPECT_EQ(neo.config.arrangement, "pre-ln");
  EXPECT_TRUE(notes(neo, "scores are not divided"));
  EXPECT_TRUE(notes(neo, "see 256 tokens back"));
  EXPECT_FALSE(notes(hugging_face(R"({"model_type": "gpt_neo", "attention_types": [[["global"], 24]]})"), "tokens back"));
  EXPECT_EQ(parameters(neo.config), 125198592u);
  const HuggingFaceConfig bloom =
      hugging_face(R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16})");
  EXPECT_EQ(bloom.config.arrangement, "pre-ln");
  EXPECT_EQ(bloom.config.embedding_norm, true);
  EXPECT_TRUE(notes(bloom, "ALiBi"));
  EXPECT_EQ(parameters(bloom.config), 559214592u);
  EXPECT_EQ(hugging_face(R"({"model_type": "bloom", "apply_residual_connection_post_layernorm": true})").config.arrangement,
            "norm-skip");
  const HuggingFaceConfig mpt =
      hugging_face(R"({"model_type": "mpt", "attn_config": {"alibi": true, "clip_qkv": 6, "qk_ln": true}})");
  EXPECT_EQ(mpt.config.norm, "layernorm-nobias");
  EXPECT_EQ(mpt.config.qk_norm, "layernorm-nobias");
  EXPECT_TRUE(notes(mpt, "cut off at 6"));
  EXPECT_EQ(
      parameters(
          hugging_face(R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432})").config),
      6649286656u);
  const ModelConfig phi = hugging_face(R"({"model_type": "phi"})").config;
  EXPECT_EQ(phi.arrangement, "parallel");
  EXPECT_EQ(parameters(phi), 1418270720u);  // phi-1 and phi-1.5
  const ModelConfig starcoder = hugging_face(R"({"model_type": "starcoder2"})").config;
  EXPECT_EQ(starcoder.kv_heads, 2u);
  EXPECT_EQ(parameters(starcoder), 3030371328u);
}

TEST(HuggingFace, FalconIsSerialParallelOrHasTwoNorms) {
  const auto with = [](const std::string& rest) { return hugging_face(R"({"model_type": "falcon")" + rest + "}").config; };
  EXPECT_EQ(with("").arrangement, "parallel");
  EXPECT_EQ(with("").kv_heads, 1u);
  EXPECT_EQ(parameters(with("")), 6921720704u);
  EXPECT_EQ(with(R"(, "parallel_attn": false)").arrangement, "pre-ln");
  const std::string newer = R"(, "new_decoder_architecture": true, "num_attention_heads": 64, "hidden_size": 4096)";
  EXPECT_EQ(with(newer + R"(, "num_kv_heads": 8)").arrangement, "parallel-2ln");
  EXPECT_EQ(with(newer + R"(, "num_kv_heads": 8)").kv_heads, 8u);
  EXPECT_EQ(with(newer + R"(, "num_ln_in_parallel_attn": 1)").arrangement, "parallel");
}

TEST(HuggingFace, T5IsPreLnWithRmsNormInBothStacks) {
  const HuggingFaceConfig read = hugging_face(kT5Small);
  const ModelConfig& c = read.config;
  EXPECT_EQ(c.model, ModelKind::seq2seq);
  EXPECT_EQ(c.arrangement, "pre-ln");
  EXPECT_EQ(c.norm, "rmsnorm");
  EXPECT_EQ(c.norm_eps, 1e-6);
  EXPECT_EQ(c.activation, Activation::relu);
  EXPECT_TRUE(c.shared_vocab && c.tied);
  EXPECT_FALSE(c.bias);
  EXPECT_TRUE(notes(read, "biases of the scores (T5)"));
  EXPECT_EQ(parameters(c), 60506624u - 2 * 32 * 8);  // those biases
  const HuggingFaceConfig newer =
      hugging_face(R"({"model_type": "t5", "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false,
      "num_layers": 4, "num_decoder_layers": 2})");
  EXPECT_EQ(newer.config.activation, Activation::swiglu);
  EXPECT_EQ(newer.config.decoder_layers, 2u);
  EXPECT_TRUE(notes(newer, "gates go through gelu_new there"));
  EXPECT_EQ(hugging_face(R"({"model_type": "t5", "architectures": ["T5EncoderModel"]})").config.model, ModelKind::encoder);
}

TEST(HuggingFace, BartAndMarianArePostLnAndMbartIsNot) {
  const HuggingFaceConfig bart = hugging_face(kBartBase);
  EXPECT_EQ(bart.config.model, ModelKind::seq2seq);
  EXPECT_EQ(bart.config.arrangement, "post-ln");
  EXPECT_EQ(bart.config.embedding_norm, true);
  EXPECT_EQ(bart.config.position_offset, 2u);
  EXPECT_EQ(parameters(bart.config), 139420416u);
  const HuggingFaceConfig mbart = hugging_face(R"({"model_type": "mbart", "normalize_before": true, "add_final_layer_norm": true,
      "normalize_embedding": true, "scale_embedding": true, "vocab_size": 250027})");
  EXPECT_EQ(mbart.config.arrangement, "pre-ln");
  EXPECT_EQ(parameters(mbart.config), 610851840u);
  EXPECT_EQ(mbart.config.embedding_norm, true);
  EXPECT_TRUE(mbart.config.scale_embedding);
  EXPECT_TRUE(notes(hugging_face(R"({"model_type": "bart", "normalize_before": true})"), "normalize_before is true in the file"));
  const HuggingFaceConfig marian = hugging_face(R"({"model_type": "marian", "activation_function": "swish", "d_model": 512,
      "decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "decoder_layers": 6, "encoder_attention_heads": 8,
      "encoder_ffn_dim": 2048, "encoder_layers": 6, "max_position_embeddings": 512, "normalize_before": false,
      "scale_embedding": true, "static_position_embeddings": true, "vocab_size": 58101})");
  EXPECT_EQ(marian.config.arrangement, "post-ln");
  EXPECT_EQ(marian.config.embedding_norm, false);
  EXPECT_EQ(marian.config.activation, Activation::silu);
  EXPECT_EQ(marian.config.positions, PositionKind::sinusoidal_halves);
  EXPECT_EQ(hugging_face(R"({"model_type": "bart", "architectures": ["BartForCausalLM"]})").config.model, ModelKind::lm);
}

}  // namespace
}  // namespace addnorm
