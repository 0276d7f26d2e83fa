// Decoders whose positions are, or can be, biases of the scores: BLOOM, Falcon, MPT.
#include <array>

#include "model/import/config/parts.h"

namespace addnorm::hugging_face {
namespace {

constexpr const char* kAlibi = "biases of the scores (ALiBi)";

// modeling_bloom.py: BloomBlock; BloomModel has a norm of the embeddings.
void read_bloom(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {250880, 2, 64, 8, 2048});
  read_heads(f, c);
  c.d_ff = 4 * c.d_model;
  c.arrangement = f.flag({"apply_residual_connection_post_layernorm"}, false) ? "norm-skip" : "pre-ln";
  c.embedding_norm = true;
  c.activation = Activation::gelu_tanh;  // BloomGelu
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-5);
  read_dropout(f, c, {{"hidden_dropout"}, {}, {"attention_dropout"}}, 0, 0);
  stand_in_for(f, c, kAlibi);
  c.tied = f.flag({"tie_word_embeddings"}, true);
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

// modeling_falcon.py: FalconDecoderLayer. The new architecture is always parallel, with two norms unless it says one; the old one
// has a norm for both branches, or is serial.
const char* falcon_arrangement(Fields& f, bool newer) {
  const bool parallel = f.flag({"parallel_attn"}, true);
  if (!newer && f.flag({"apply_residual_connection_post_layernorm"}, false))
    f.refuse({"apply_residual_connection_post_layernorm"}, "false or left out: FalconConfig has no such field");
  if (!newer) return parallel ? "parallel" : "pre-ln";
  return f.size_if_given({"num_ln_in_parallel_attn"}, 2).value_or(2) == 1 ? "parallel" : "parallel-2ln";
}

void read_falcon(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {65024, 32, 4544, 71, 2048});
  read_heads(f, c);
  const bool newer = f.flag({"new_decoder_architecture"}, false);
  if (!newer) c.kv_heads = f.flag({"multi_query"}, true) ? 1 : 0;  // the field is read by the new architecture alone
  c.d_ff = f.size_if_given({"ffn_hidden_size"}, kMostWidth).value_or(4 * c.d_model);
  c.arrangement = falcon_arrangement(f, newer);
  read_activation(f, c, {"activation"}, "gelu");
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-5);
  read_dropout(f, c, {{"hidden_dropout"}, {}, {"attention_dropout"}}, 0, 0);
  c.bias = f.flag({"bias"}, false);
  if (f.flag({"alibi"}, false))
    stand_in_for(f, c, kAlibi);
  else
    read_rotary(f, c);
  c.tied = f.flag({"tie_word_embeddings"}, true);
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

// modeling_mpt.py: MptBlock, norms without bias. attn_config is an object of its own; llm-foundry's qk_ln norms whole
// projections.
void read_mpt_attention(Fields& f, ModelConfig& c) {
  const Json empty = Json::object();
  const Json* given = f.object_if_given("attn_config");
  Fields a = f.inside(given ? *given : empty, "attn_config");
  if (a.text({"attn_type"}, "multihead_attention") == "multiquery_attention") c.kv_heads = 1;
  if (const auto kv = a.size_if_given({"kv_n_heads"}, kMostWidth)) c.kv_heads = *kv;
  if (c.kv_heads > 0 && c.heads % c.kv_heads != 0) a.refuse({"kv_n_heads"}, concat("a divisor of the ", c.heads, " heads"));
  if (a.flag({"qk_ln"}, false)) {
    c.qk_norm = c.bias ? "layernorm" : "layernorm-nobias";
    c.qk_norm_span = QkNormSpan::projection;
  }
  if (const auto clip = a.number_if_given({"clip_qkv"}, 0, 1e30))
    f.differs("queries, keys and values are cut off at ", *clip, " there; here they are not");
  if (a.number_if_given({"softmax_scale"}, 0, 1e30))
    f.differs("attention scores have a scale of their own there, 1/√d_head here");
  if (a.flag({"alibi"}, true))
    stand_in_for(f, c, kAlibi);
  else if (!f.flag({"learned_pos_emb"}, true))
    c.positions = PositionKind::none;
}

void read_mpt(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {50368, 24, 2048, 16, 2048});
  read_heads(f, c);
  c.d_ff = f.size_if_given({"expansion_ratio"}, 1024).value_or(4) * c.d_model;
  const std::string norm = f.text({"norm_type"}, "low_precision_layernorm");
  if (norm != "low_precision_layernorm" && norm != "layernorm")
    f.refuse({"norm_type"}, "low_precision_layernorm or layernorm, the only ones that MptBlock has");
  c.bias = !f.flag({"no_bias"}, true);
  if (!c.bias) c.norm = "layernorm-nobias";
  c.activation = Activation::gelu;
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-5);
  read_dropout(f, c, {{"resid_pdrop"}, {"emb_pdrop"}, {}}, 0, 0);
  read_mpt_attention(f, c);
  c.tied = f.flag({"tie_word_embeddings"}, true);
  read_init(f, out, {"initializer_range"});
  note_task(f);
}

constexpr std::array kFalconFamilies{
    Family{"bloom", "Bloom", read_bloom},
    Family{"falcon", "Falcon", read_falcon},
    Family{"mpt", "Mpt", read_mpt},
};

}  // namespace

std::span<const Family> falcon_families() { return kFalconFamilies; }

}  // namespace addnorm::hugging_face
