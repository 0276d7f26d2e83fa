// Configs of Hugging Face as people know them: the arrangement, the norm and the sizes they mean, and the parameters they have.
#include "addnorm/model/hugging_face.h"

#include <array>
#include <cmath>
#include <numeric>

#include "addnorm/model/model.h"
#include "addnorm/residual/catalogue.h"
#include "core/json.h"
#include "support/small_models.h"

namespace addnorm {
namespace {

using test::throws_saying;

constexpr const char* kGpt2 = R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
  "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1,
  "summary_type": "cls_index", "task_specific_params": {"text-generation": {"do_sample": true}}, "vocab_size": 50257})";
constexpr const char* kBert = R"({"architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu",
  "gradient_checkpointing": false, "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
  "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "model_type": "bert",
  "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0, "position_embedding_type": "absolute",
  "type_vocab_size": 2, "vocab_size": 30522})";
constexpr const char* kLlama = R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192,
  "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
  "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
  "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
  "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 128256})";
constexpr const char* kOpt125m = R"({"_remove_final_layer_norm": false, "activation_function": "relu",
  "architectures": ["OPTForCausalLM"], "attention_dropout": 0.0, "do_layer_norm_before": true, "dropout": 0.1, "ffn_dim": 3072,
  "hidden_size": 768, "init_std": 0.02, "layerdrop": 0.0, "max_position_embeddings": 2048, "model_type": "opt",
  "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 50272, "word_embed_proj_dim": 768})";
constexpr const char* kOpt350m = R"({"_remove_final_layer_norm": false, "activation_function": "relu",
  "architectures": ["OPTForCausalLM"], "attention_dropout": 0.0, "do_layer_norm_before": false, "dropout": 0.1, "ffn_dim": 4096,
  "hidden_size": 1024, "init_std": 0.02, "layerdrop": 0.0, "max_position_embeddings": 2048, "model_type": "opt",
  "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 50272, "word_embed_proj_dim": 512})";
constexpr const char* kNeoX20b = R"({"architectures": ["GPTNeoXForCausalLM"], "hidden_act": "gelu_fast", "hidden_size": 6144,
  "initializer_range": 0.02, "intermediate_size": 24576, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
  "model_type": "gpt_neox", "num_attention_heads": 64, "num_hidden_layers": 44, "rotary_emb_base": 10000, "rotary_pct": 0.25,
  "tie_word_embeddings": false, "vocab_size": 50432})";
constexpr const char* kPythia70m = R"({"architectures": ["GPTNeoXForCausalLM"], "hidden_act": "gelu", "hidden_size": 512,
  "intermediate_size": 2048, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "gpt_neox",
  "num_attention_heads": 8, "num_hidden_layers": 6, "rotary_pct": 0.25, "tie_word_embeddings": false,
  "use_parallel_residual": true, "vocab_size": 50304})";
constexpr const char* kGptJ = R"({"activation_function": "gelu_new", "architectures": ["GPTJForCausalLM"], "attn_pdrop": 0.0,
  "embd_pdrop": 0.0, "layer_norm_epsilon": 1e-05, "model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": null,
  "n_layer": 28, "n_positions": 2048, "resid_pdrop": 0.0, "rotary": true, "rotary_dim": 64, "tie_word_embeddings": false,
  "vocab_size": 50400})";
constexpr const char* kT5Small = R"({"architectures": ["T5ForConditionalGeneration"], "d_ff": 2048, "d_kv": 64, "d_model": 512,
  "decoder_start_token_id": 0, "dropout_rate": 0.1, "initializer_factor": 1.0, "is_encoder_decoder": true,
  "layer_norm_epsilon": 1e-06, "model_type": "t5", "n_positions": 512, "num_heads": 8, "num_layers": 6,
  "relative_attention_num_buckets": 32, "vocab_size": 32128})";
constexpr const char* kOlmo2 = R"({"architectures": ["Olmo2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 4096,
  "model_type": "olmo2", "num_attention_heads": 16, "num_hidden_layers": 16, "num_key_value_heads": 16, "rms_norm_eps": 1e-06,
  "rope_scaling": null, "rope_theta": 500000, "tie_word_embeddings": false, "vocab_size": 100352})";
constexpr const char* kGemma2 = R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
  "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2304, "initializer_range": 0.02, "intermediate_size": 9216,
  "max_position_embeddings": 8192, "model_type": "gemma2", "num_attention_heads": 8, "num_hidden_layers": 26,
  "num_key_value_heads": 4, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096,
  "vocab_size": 256000})";
constexpr const char* kQwen3 = R"({"architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072, "max_position_embeddings": 40960,
  "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8,
  "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true,
  "use_sliding_window": false, "vocab_size": 151936})";
constexpr const char* kBartBase = R"({"activation_dropout": 0.1, "activation_function": "gelu", "add_bias_logits": false,
  "add_final_layer_norm": false, "architectures": ["BartModel"], "attention_dropout": 0.1, "d_model": 768,
  "decoder_attention_heads": 12, "decoder_ffn_dim": 3072, "decoder_layerdrop": 0.0, "decoder_layers": 6, "dropout": 0.1,
  "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "encoder_layerdrop": 0.0, "encoder_layers": 6, "init_std": 0.02,
  "is_encoder_decoder": true, "max_position_embeddings": 1024, "model_type": "bart", "normalize_before": false,
  "normalize_embedding": true, "num_hidden_layers": 6, "scale_embedding": false, "vocab_size": 50265})";

HuggingFaceConfig of(std::string_view text) { return hugging_face_config(text, "config.json"); }

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

/// How many parameters make_model(config) would have: 64 tiny models tell it.
std::size_t parameters(const ModelConfig& config) {
  const ModelConfig c = completed(config);
  const Sizes sizes{c.d_model, std::gcd(c.heads, c.kv_heads), c.d_ff, c.layers, c.vocab, c.seq_len};
  return static_cast<std::size_t>(extrapolated(c, sizes, 0));
}

TEST(HuggingFace, CountsOfTinyModelsTellThoseOfLargerOnes) {
  for (const ModelKind kind : {ModelKind::lm, ModelKind::encoder}) {
    ModelConfig config = test::small(kind);
    config.kv_heads = 1;
    EXPECT_EQ(parameters(config), count_parameters(*make_model(config)));
  }
}

TEST(HuggingFace, Gpt2IsPreLnWithItsOwnInitialisation) {
  const HuggingFaceConfig read = of(kGpt2);
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
  const HuggingFaceConfig read = of(R"({"model_type": "gpt2"})");
  EXPECT_EQ(to_json(read.config), to_json(of(kGpt2).config));
  EXPECT_TRUE(notes(read, "not in the file, so as gpt2 has it by default: vocab_size 50257, num_hidden_layers 12"));
}

TEST(HuggingFace, BertIsPostLnBehindANormOfTheEmbeddings) {
  const HuggingFaceConfig read = of(kBert);
  const ModelConfig& c = read.config;
  EXPECT_EQ(c.model, ModelKind::encoder);
  EXPECT_EQ(c.arrangement, "post-ln");
  EXPECT_EQ(c.embedding_norm, true);
  EXPECT_EQ(c.norm_eps, 1e-12);
  EXPECT_EQ(c.activation, Activation::gelu);
  EXPECT_TRUE(c.head && c.tied && c.head_bias);
  EXPECT_TRUE(notes(read, "token type"));
  EXPECT_TRUE(notes(read, "the way to logits"));
  // BertModel has 109,482,240: with a pooler (768² + 768) and two vectors of token types, which are left out; ours has biases
  // of the logits.
  EXPECT_EQ(parameters(c), 109482240u - (768 * 768 + 768) - 2 * 768 + 30522);
  EXPECT_EQ(to_json(of(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"]})").config), to_json(c));
}

TEST(HuggingFace, TheClassSaysWhatStandsOnAnEncoder) {
  const auto with = [](const std::string& rest) { return of(R"({"model_type": "bert", )" + rest + "}"); };
  const HuggingFaceConfig bare = with(R"("architectures": ["BertModel"])");
  EXPECT_FALSE(bare.config.head);
  EXPECT_EQ(parameters(bare.config), 109482240u - (768 * 768 + 768) - 2 * 768);
  const HuggingFaceConfig classes =
      with(R"("architectures": ["BertForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"})");
  EXPECT_EQ(classes.config.model, ModelKind::classifier);
  EXPECT_EQ(classes.config.classes, 3u);
  EXPECT_EQ(classes.config.pooling, Pooling::first);
  EXPECT_TRUE(notes(with(R"("architectures": ["BertForQuestionAnswering"])"), "head of BertForQuestionAnswering is left out"));
  EXPECT_EQ(with(R"("is_decoder": true)").config.model, ModelKind::lm);
}

TEST(HuggingFace, OwnInitIsThatOfTheFileUnderTheSameName) {
  const HuggingFaceConfig read = of(R"({"model_type": "bert", "initializer_range": 0.5, "vocab_size": 40, "hidden_size": 32,
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
  EXPECT_TRUE(of(kLlama).init->gains.empty()) << "Llama does not divide by the depth";
  EXPECT_TRUE(notes(of(kGptJ), "N(0, 0.02²) there; here as parallel does"));
}

TEST(HuggingFace, RobertaAndDistilbertAreReadAsBertWithTheirPositions) {
  const HuggingFaceConfig roberta = of(R"({"architectures": ["RobertaModel"], "layer_norm_eps": 1e-05, "model_type": "roberta",
      "max_position_embeddings": 514, "pad_token_id": 1, "type_vocab_size": 1, "vocab_size": 50265})");
  EXPECT_EQ(roberta.config.position_offset, 2u);
  EXPECT_EQ(roberta.config.seq_len, 512u);
  EXPECT_EQ(roberta.config.norm_eps, 1e-5);
  EXPECT_EQ(parameters(roberta.config), 124645632u - (768 * 768 + 768) - 768);  // pooler, one token type
  const HuggingFaceConfig distil = of(R"({"activation": "gelu", "architectures": ["DistilBertModel"], "attention_dropout": 0.1,
      "dim": 768, "dropout": 0.1, "hidden_dim": 3072, "max_position_embeddings": 512, "model_type": "distilbert", "n_heads": 12,
      "n_layers": 6, "sinusoidal_pos_embds": false, "vocab_size": 30522})");
  EXPECT_EQ(distil.config.arrangement, "post-ln");
  EXPECT_EQ(parameters(distil.config), 66362880u);
  const HuggingFaceConfig electra = of(R"({"model_type": "electra", "embedding_size": 128, "hidden_size": 256})");
  EXPECT_TRUE(notes(electra, "128 features there"));
  EXPECT_EQ(electra.config.embedding_norm, true);
}

TEST(HuggingFace, LlamaIsPreLnWithRmsNorm) {
  const HuggingFaceConfig read = of(kLlama);
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
  const HuggingFaceConfig mistral = of(R"({"model_type": "mistral", "sliding_window": null})");
  EXPECT_EQ(mistral.config.kv_heads, 8u);
  EXPECT_FALSE(notes(mistral, "tokens back"));
  EXPECT_EQ(parameters(mistral.config), 7241732096u);
  EXPECT_TRUE(notes(of(R"({"model_type": "mistral"})"), "4096 tokens back"));
  const HuggingFaceConfig qwen2 = of(R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
      "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "max_position_embeddings": 131072,
      "rope_theta": 1000000.0, "tie_word_embeddings": true, "use_sliding_window": false, "vocab_size": 151936})");
  EXPECT_TRUE(notes(qwen2, "queries, keys and values have biases there"));
  EXPECT_EQ(parameters(qwen2.config), 494032768u - 24 * (896 + 2 * 128));  // those biases
  const HuggingFaceConfig qwen3 = of(kQwen3);
  EXPECT_EQ(qwen3.config.arrangement, "pre-ln");
  EXPECT_EQ(qwen3.config.qk_norm, "rmsnorm");
  EXPECT_EQ(qwen3.config.qk_norm_span, QkNormSpan::head);
  EXPECT_EQ(parameters(qwen3.config), 596049920u);
  EXPECT_TRUE(qwen3.notes.empty()) << all_notes(qwen3);
}

TEST(HuggingFace, OlmoHasNormsWithoutGainsAndOlmo2NormsWhatBranchesGive) {
  const HuggingFaceConfig olmo = of(R"({"model_type": "olmo", "clip_qkv": 8.0})");
  EXPECT_EQ(olmo.config.arrangement, "pre-ln");
  EXPECT_EQ(olmo.config.norm, "layernorm-noaffine");
  EXPECT_TRUE(notes(olmo, "cut off at 8"));
  const ModelConfig c = of(kOlmo2).config;
  EXPECT_EQ(c.arrangement, "res-post");
  EXPECT_EQ(c.norm, "rmsnorm");
  EXPECT_EQ(c.qk_norm, "rmsnorm");
  EXPECT_EQ(c.qk_norm_span, QkNormSpan::projection);
  EXPECT_EQ(c.norm_eps, 1e-6);
  EXPECT_FALSE(c.tied);
  EXPECT_EQ(parameters(c), 1484916736u);
}

TEST(HuggingFace, Gemma2IsASandwichOfRmsNorms) {
  const HuggingFaceConfig read = of(kGemma2);
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
  const ModelConfig first = of(R"({"model_type": "gemma", "hidden_act": "gelu", "hidden_activation": null})").config;
  EXPECT_EQ(first.arrangement, "pre-ln");
  EXPECT_EQ(first.norm, "rmsnorm-1p");
  const ModelConfig third = of(R"({"model_type": "gemma3_text"})").config;
  EXPECT_EQ(third.arrangement, "sandwich");
  EXPECT_EQ(third.qk_norm, "rmsnorm-1p");
  EXPECT_EQ(third.rope_base, 1e6);
}

TEST(HuggingFace, OptIsPreLnAndItsThirdOnePostLn) {
  const HuggingFaceConfig small = of(kOpt125m);
  EXPECT_EQ(small.config.arrangement, "pre-ln");
  EXPECT_EQ(small.config.activation, Activation::relu);
  EXPECT_EQ(small.config.position_offset, 2u);
  EXPECT_EQ(parameters(small.config), 125239296u);
  EXPECT_TRUE(small.notes.empty()) << all_notes(small);
  const HuggingFaceConfig third = of(kOpt350m);
  EXPECT_EQ(third.config.arrangement, "post-ln");
  EXPECT_FALSE(third.config.final_norm.value_or(false));
  EXPECT_TRUE(notes(third, "512 features there"));
  // OPT-350m has 331,196,416: tokens of 512 features, and a matrix into the stream and one out of it.
  EXPECT_EQ(parameters(third.config), 331196416u + 50272 * 512 - 2 * 512 * 1024);
  EXPECT_EQ(of(R"({"model_type": "opt", "_remove_final_layer_norm": true})").config.arrangement, "pre-ln-nofinal");
}

TEST(HuggingFace, NeoXAndGptJAreParallel) {
  const HuggingFaceConfig neox = of(kNeoX20b);
  EXPECT_EQ(neox.config.arrangement, "parallel-2ln");
  EXPECT_EQ(neox.config.layers, 44u);
  EXPECT_EQ(neox.config.activation, Activation::gelu_tanh);
  EXPECT_FALSE(neox.config.tied);
  EXPECT_TRUE(notes(neox, "0.25 of a head's features"));
  EXPECT_EQ(parameters(neox.config), 20554567680u);
  EXPECT_EQ(parameters(of(kPythia70m).config), 70426624u);
  EXPECT_EQ(of(R"({"model_type": "gpt_neox", "use_parallel_residual": false})").config.arrangement, "pre-ln");
  const HuggingFaceConfig gptj = of(kGptJ);
  EXPECT_EQ(gptj.config.arrangement, "parallel");
  EXPECT_EQ(gptj.config.positions, PositionKind::rotary);
  EXPECT_EQ(gptj.config.d_ff, 16384u);
  EXPECT_TRUE(gptj.config.head_bias && gptj.config.bias);
  EXPECT_EQ(parameters(gptj.config), 6050882784u + 28 * 4 * 4096);  // biases of attention
  EXPECT_TRUE(notes(gptj, "64 of a head's 256 features"));
  EXPECT_TRUE(notes(gptj, "only the feed-forward part has biases there"));
}

TEST(HuggingFace, OtherDecodersSayWhatTheirScoresHave) {
  const HuggingFaceConfig neo = of(R"({"model_type": "gpt_neo", "hidden_size": 768, "num_layers": 12, "num_heads": 12,
      "intermediate_size": null, "attention_types": [[["global", "local"], 6]], "window_size": 256})");
  EXPECT_EQ(neo.config.arrangement, "pre-ln");
  EXPECT_TRUE(notes(neo, "scores are not divided"));
  EXPECT_TRUE(notes(neo, "see 256 tokens back"));
  EXPECT_FALSE(notes(of(R"({"model_type": "gpt_neo", "attention_types": [[["global"], 24]]})"), "tokens back"));
  EXPECT_EQ(parameters(neo.config), 125198592u + 12 * 3 * 768);  // biases of q, k and v
  const HuggingFaceConfig bloom = of(R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16})");
  EXPECT_EQ(bloom.config.arrangement, "pre-ln");
  EXPECT_EQ(bloom.config.embedding_norm, true);
  EXPECT_TRUE(notes(bloom, "ALiBi"));
  EXPECT_EQ(parameters(bloom.config), 559214592u);
  EXPECT_EQ(of(R"({"model_type": "bloom", "apply_residual_connection_post_layernorm": true})").config.arrangement, "norm-skip");
  const HuggingFaceConfig mpt = of(R"({"model_type": "mpt", "attn_config": {"alibi": true, "clip_qkv": 6, "qk_ln": true}})");
  EXPECT_EQ(mpt.config.norm, "layernorm-nobias");
  EXPECT_EQ(mpt.config.qk_norm, "layernorm-nobias");
  EXPECT_TRUE(notes(mpt, "cut off at 6"));
  EXPECT_EQ(
      parameters(of(R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432})").config),
      6649286656u);
  const ModelConfig phi = of(R"({"model_type": "phi"})").config;
  EXPECT_EQ(phi.arrangement, "parallel");
  EXPECT_EQ(parameters(phi), 1418270720u);  // phi-1 and phi-1.5
  const ModelConfig starcoder = of(R"({"model_type": "starcoder2"})").config;
  EXPECT_EQ(starcoder.kv_heads, 2u);
  EXPECT_EQ(parameters(starcoder), 3030371328u);
}

TEST(HuggingFace, FalconIsSerialParallelOrHasTwoNorms) {
  const auto with = [](const std::string& rest) { return of(R"({"model_type": "falcon")" + rest + "}").config; };
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
  const HuggingFaceConfig read = of(kT5Small);
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
  const HuggingFaceConfig newer = of(R"({"model_type": "t5", "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false,
      "num_layers": 4, "num_decoder_layers": 2})");
  EXPECT_EQ(newer.config.activation, Activation::swiglu);
  EXPECT_EQ(newer.config.decoder_layers, 2u);
  EXPECT_TRUE(notes(newer, "gates go through gelu_new there"));
  EXPECT_EQ(of(R"({"model_type": "t5", "architectures": ["T5EncoderModel"]})").config.model, ModelKind::encoder);
}

TEST(HuggingFace, BartAndMarianArePostLnAndMbartIsNot) {
  const HuggingFaceConfig bart = of(kBartBase);
  EXPECT_EQ(bart.config.model, ModelKind::seq2seq);
  EXPECT_EQ(bart.config.arrangement, "post-ln");
  EXPECT_EQ(bart.config.embedding_norm, true);
  EXPECT_EQ(bart.config.position_offset, 2u);
  EXPECT_EQ(parameters(bart.config), 139420416u);
  const HuggingFaceConfig mbart = of(R"({"model_type": "mbart", "normalize_before": true, "add_final_layer_norm": true,
      "normalize_embedding": true, "scale_embedding": true, "vocab_size": 250027})");
  EXPECT_EQ(mbart.config.arrangement, "pre-ln");
  EXPECT_EQ(parameters(mbart.config), 610851840u);
  EXPECT_EQ(mbart.config.embedding_norm, true);
  EXPECT_TRUE(mbart.config.scale_embedding);
  EXPECT_TRUE(notes(of(R"({"model_type": "bart", "normalize_before": true})"), "normalize_before is true in the file"));
  const HuggingFaceConfig marian = of(R"({"model_type": "marian", "activation_function": "swish", "d_model": 512,
      "decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "decoder_layers": 6, "encoder_attention_heads": 8,
      "encoder_ffn_dim": 2048, "encoder_layers": 6, "max_position_embeddings": 512, "normalize_before": false,
      "scale_embedding": true, "static_position_embeddings": true, "vocab_size": 58101})");
  EXPECT_EQ(marian.config.arrangement, "post-ln");
  EXPECT_EQ(marian.config.embedding_norm, false);
  EXPECT_EQ(marian.config.activation, Activation::silu);
  EXPECT_EQ(marian.config.positions, PositionKind::sinusoidal_halves);
  EXPECT_EQ(of(R"({"model_type": "bart", "architectures": ["BartForCausalLM"]})").config.model, ModelKind::lm);
}

TEST(HuggingFace, EveryKnownTypeMakesAModelOfItsDefaults) {
  for (const std::string& type : hugging_face_model_types()) {
    SCOPED_TRACE(type);
    HuggingFaceConfig read = of(R"({"model_type": ")" + type + "\"}");
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
  EXPECT_EQ(of(R"({"architectures": ["GPT2LMHeadModel"]})").model_type, "gpt2");
  EXPECT_EQ(of(R"({"architectures": ["GPTNeoXForCausalLM"]})").model_type, "gpt_neox");
  EXPECT_EQ(of(R"({"architectures": ["Olmo2ForCausalLM"]})").model_type, "olmo2");
  EXPECT_EQ(of(R"({"architectures": ["MarianMTModel"]})").model_type, "marian");
  EXPECT_TRUE(throws_saying<DataError>([] { of(R"({"architectures": ["Qwen2MoeForCausalLM"]})"); }, {"Qwen2MoeForCausalLM"}));
}

TEST(HuggingFace, IsToldFromOurOwnFiles) {
  EXPECT_TRUE(is_hugging_face_config(kGpt2));
  EXPECT_TRUE(is_hugging_face_config(R"({"model_type": "mamba"})"));
  EXPECT_TRUE(is_hugging_face_config(R"({"architectures": ["BertModel"]})"));
  EXPECT_FALSE(is_hugging_face_config(to_config_file(test::small(ModelKind::lm))));
  EXPECT_FALSE(is_hugging_face_config(to_json(test::small(ModelKind::lm))));
  for (const char* text : {"", "{", "[1]", "7", "null"}) EXPECT_FALSE(is_hugging_face_config(text)) << text;
}

TEST(HuggingFace, NamesTheFieldThatIsWrong) {
  const auto refused = [](const std::string& text, std::initializer_list<std::string> parts) {
    return throws_saying<DataError>([&] { of(text); }, parts);
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
          completed(of(changed.dump()).config);
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
