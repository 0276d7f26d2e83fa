// Decoders with layer norm: GPT-2 and those after it. Classes of transformers are named where their residual stream was read.
#include <array>

#include "model/import/config/parts.h"

namespace addnorm::hugging_face {
namespace {

constexpr DropoutNames kGptDropout{{"resid_pdrop"}, {"embd_pdrop"}, {"attn_pdrop"}};

void read_gpt2_body(Fields& f, HuggingFaceConfig& out, const char* activation) {
  ModelConfig& c = out.config;
  refuse_cross_attention(f);
  read_sizes(f, c, {50257, 12, 768, 12, 1024});
  read_heads(f, c);
  c.d_ff = f.size_if_given({"n_inner"}, kMostWidth).value_or(4 * c.d_model);
  read_activation(f, c, {"activation_function"}, activation);
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-5);
  read_dropout(f, c, kGptDropout, 0.1, 0.1);
  c.tied = f.flag({"tie_word_embeddings"}, true);
  if (!f.flag({"scale_attn_weights"}, true)) f.differs("attention scores are not divided by √d_head there; here they are");
  read_init(f, out, {"initializer_range"}, 0.02, true);
  note_task(f);
}

// modeling_gpt2.py: GPT2Block; GPT2PreTrainedModel divides c_proj by √(2 n_layer) at the start.
void read_gpt2(Fields& f, HuggingFaceConfig& out) {
  read_gpt2_body(f, out, "gelu_new");
  if (f.flag({"scale_attn_by_inverse_layer_idx"}, false))
    f.differs("attention scores of layer l are divided by l there; here they are not");
}

// modeling_gpt_bigcode.py: GPTBigCodeBlock, GPT-2 with one key and value head.
void read_gpt_bigcode(Fields& f, HuggingFaceConfig& out) {
  read_gpt2_body(f, out, "gelu_pytorch_tanh");
  if (f.flag({"multi_query"}, true)) out.config.kv_heads = 1;
}

// modeling_gpt_neo.py: GPTNeoBlock, GPTNeoSelfAttention (scores are not scaled, q, k and v without bias).
void read_gpt_neo(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {50257, 24, 2048, 16, 2048});
  read_heads(f, c);
  c.d_ff = f.size_if_given({"intermediate_size"}, kMostWidth).value_or(4 * c.d_model);
  read_activation(f, c, {"activation_function"}, "gelu_new");
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-5);
  read_dropout(f, c, {{"resid_dropout"}, {"embed_dropout"}, {"attention_dropout"}}, 0, 0);
  c.tied = f.flag({"tie_word_embeddings"}, true);
  f.differs("attention scores are not divided by √d_head there; here they are");
  c.attention_bias = false;  // of q, k and v
  c.attention_out_bias = true;
  if (f.mentions("attention_types", "local", true))
    f.differs("layers of attention type local see ", f.size_if_given({"window_size"}, kMostIds).value_or(256),
              " tokens back there, all of them here");
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

// modeling_gpt_neox.py: GPTNeoXLayer, both ways of use_parallel_residual.
void read_gpt_neox(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {50432, 44, 6144, 64, 2048});
  read_heads(f, c);
  c.d_ff = f.size({"intermediate_size"}, 24576, kMostWidth);
  c.arrangement = f.flag({"use_parallel_residual"}, true) ? "parallel-2ln" : "pre-ln";
  read_activation(f, c, {"hidden_act"}, "gelu");
  read_eps(f, c, {"layer_norm_eps"}, 1e-5);
  read_dropout(f, c, {{"hidden_dropout"}, {}, {"attention_dropout"}}, 0, 0);
  set_biases(c, f.flag({"attention_bias"}, true), true);
  read_rotary(f, c, 0.25);
  c.tied = f.flag({"tie_word_embeddings"}, false);
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

// modeling_gptj.py: GPTJBlock, one norm for both branches; GPTJAttention turns neighbours and has no biases; lm_head has one.
void read_gptj(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {50400, 28, 4096, 16, 2048});
  read_heads(f, c);
  c.d_ff = f.size_if_given({"n_inner"}, kMostWidth).value_or(4 * c.d_model);
  c.arrangement = "parallel";
  read_activation(f, c, {"activation_function"}, "gelu_new");
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-5);
  read_dropout(f, c, kGptDropout, 0, 0);
  set_biases(c, false, true);
  c.positions = PositionKind::rotary;
  const std::size_t d_head = c.d_model / c.heads;
  const auto turned = f.number_or_none("rotary_dim", 64, 1, kMostWidth);
  if (turned && *turned < static_cast<double>(d_head))
    f.differs("positions turn ", *turned, " of a head's ", d_head, " features there, all of them here");
  c.tied = f.flag({"tie_word_embeddings"}, false);
  c.head_bias = true;
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

// modeling_opt.py: OPTDecoderLayer; OPTDecoder has a final norm only with do_layer_norm_before. The table of positions has two
// rows in front (OPTLearnedPositionalEmbedding). OPT-350m is the post-ln one.
void read_opt(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {50272, 12, 768, 12, 2048});
  read_heads(f, c);
  c.d_ff = f.size({"ffn_dim"}, 3072, kMostWidth);
  const bool before = f.flag({"do_layer_norm_before"}, true), ends_bare = f.flag({"_remove_final_layer_norm"}, false);
  c.arrangement = !before ? "post-ln" : ends_bare ? "pre-ln-nofinal" : "pre-ln";
  if (!f.flag({"layer_norm_elementwise_affine"}, true)) c.norm = "layernorm-noaffine";
  c.norm_eps = 1e-5;
  read_activation(f, c, {"activation_function"}, "relu");
  read_dropout(f, c, {{"dropout"}, {}, {"attention_dropout"}}, 0.1, 0);
  c.bias = f.flag({"enable_bias"}, true);
  c.position_offset = 2;
  c.tied = f.flag({"tie_word_embeddings"}, true);
  const std::size_t width = f.size_if_given({"word_embed_proj_dim"}, kMostWidth).value_or(c.d_model);
  if (width != c.d_model) c.d_embedding = width;  // project_in, project_out
  if (const double drop = f.number({"layerdrop"}, 0, 0, 1); drop > 0)
    f.differs_in_training("whole layers are left out by ", drop, " while training there; here they are not");
  read_init(f, out, {"init_std"});
  note_task(f);
}

// modeling_phi.py: PhiDecoderLayer, one norm for both branches; qk_layernorm per head.
void read_phi(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {51200, 24, 2048, 32, 2048});
  read_heads(f, c);
  c.d_ff = f.size({"intermediate_size", "n_inner"}, 8192, kMostWidth);
  c.arrangement = "parallel";
  read_activation(f, c, {"hidden_act", "activation_function"}, "gelu_new");
  read_eps(f, c, {"layer_norm_eps"}, 1e-5);
  read_dropout(f, c, {{"resid_pdrop"}, {"embd_pdrop"}, {"attention_dropout"}}, 0, 0);
  if (f.flag({"qk_layernorm"}, false)) c.qk_norm = "layernorm";
  read_rotary(f, c, 0.5);
  c.tied = f.flag({"tie_word_embeddings"}, false);
  c.head_bias = true;
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

// modeling_starcoder2.py: Starcoder2DecoderLayer.
void read_starcoder2(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {49152, 30, 3072, 24, 4096});
  read_heads(f, c, 2);
  c.d_ff = f.size({"intermediate_size"}, 12288, kMostWidth);
  read_activation(f, c, {"hidden_act"}, "gelu_pytorch_tanh");
  read_eps(f, c, {"norm_epsilon"}, 1e-5);
  read_dropout(f, c, {{"residual_dropout"}, {"embedding_dropout"}, {"attention_dropout"}}, 0, 0);
  c.bias = f.flag({"use_bias"}, true);
  read_rotary(f, c);
  note_sliding(f, out.config, f.number_if_given({"sliding_window"}, 1, kMostIds));
  c.tied = f.flag({"tie_word_embeddings"}, true);
  read_init(f, out, {"initializer_range"}, 0.018042);
  note_task(f);
}

constexpr std::array kGptFamilies{
    Family{"gpt2", "GPT2", read_gpt2},
    Family{"gpt_bigcode", "GPTBigCode", read_gpt_bigcode},
    Family{"gpt_neo", "GPTNeo", read_gpt_neo},
    Family{"gpt_neox", "GPTNeoX", read_gpt_neox},
    Family{"gptj", "GPTJ", read_gptj},
    Family{"opt", "OPT", read_opt},
    Family{"phi", "Phi", read_phi},
    Family{"starcoder2", "Starcoder2", read_starcoder2},
};

}  // namespace

std::span<const Family> gpt_families() { return kGptFamilies; }

}  // namespace addnorm::hugging_face
