// Decoders with RMSNorm and gates: Llama and those after it.
#include <array>

#include "model/import/config/parts.h"

namespace addnorm::hugging_face {
namespace {

struct LlamaUsual {
  UsualSizes sizes;
  std::size_t d_ff;
  std::size_t kv_heads = 0;
  std::size_t d_head = 0;
  double eps = 1e-6;
  bool tied = false;
  const char* activation = "silu";
  const char* activation_field = "hidden_act";  // Gemma's files may have that one too, with a value that is not used
  double rope_base = 10000;
};

/// All that Llama's kind has in common: pre-ln with RMSNorm, rotary halves, gates, no biases.
void read_llama_body(Fields& f, ModelConfig& c, const LlamaUsual& usual) {
  read_sizes(f, c, usual.sizes);
  read_heads(f, c, usual.kv_heads, usual.d_head);
  c.d_ff = f.size({"intermediate_size"}, usual.d_ff, kMostWidth);
  c.norm = "rmsnorm";
  read_eps(f, c, {"rms_norm_eps"}, usual.eps);
  read_activation(f, c, {usual.activation_field}, usual.activation, true);
  read_dropout(f, c, {{}, {}, {"attention_dropout"}}, 0, 0);
  set_biases(c, f.flag({"attention_bias"}, false), f.flag({"mlp_bias"}, false));
  read_rotary(f, c, 1, usual.rope_base);
  c.tied = f.flag({"tie_word_embeddings"}, usual.tied);
  note_task(f);
}

// modeling_llama.py: LlamaDecoderLayer; its post_attention_layernorm stands before the feed-forward part.
void read_llama(Fields& f, HuggingFaceConfig& out) {
  read_llama_body(f, out.config, {{32000, 32, 4096, 32, 2048}, 11008});
  read_init(f, out, {"initializer_range"});
}

// modeling_mistral.py: MistralDecoderLayer.
void read_mistral(Fields& f, HuggingFaceConfig& out) {
  read_llama_body(f, out.config, {{32000, 32, 4096, 32, 131072}, 14336, 8});
  note_sliding(f, out.config, f.number_or_none("sliding_window", 4096, 1, kMostIds));
  read_init(f, out, {"initializer_range"});
}

// modeling_qwen2.py: Qwen2DecoderLayer; Qwen2Attention has biases of q, k and v.
void read_qwen2(Fields& f, HuggingFaceConfig& out) {
  read_llama_body(f, out.config, {{151936, 32, 4096, 32, 32768}, 22016, 32});
  out.config.attention_bias = true;  // of q, k and v
  out.config.attention_out_bias = false;
  if (f.flag({"use_sliding_window"}, false)) note_sliding(f, out.config, f.number_or_none("sliding_window", 4096, 1, kMostIds));
  read_init(f, out, {"initializer_range"});
}

// modeling_qwen3.py: Qwen3DecoderLayer; Qwen3Attention norms queries and keys of each head.
void read_qwen3(Fields& f, HuggingFaceConfig& out) {
  read_llama_body(f, out.config, {{151936, 32, 4096, 32, 32768}, 22016, 32, 128});
  out.config.qk_norm = "rmsnorm";
  if (f.flag({"use_sliding_window"}, false)) note_sliding(f, out.config, f.number_or_none("sliding_window", 4096, 1, kMostIds));
  read_init(f, out, {"initializer_range"});
}

// modeling_phi3.py: Phi3DecoderLayer.
void read_phi3(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_llama_body(f, c, {{32064, 32, 3072, 32, 4096}, 8192, 0, 0, 1e-5});
  read_dropout(f, c, {{"resid_pdrop"}, {"embd_pdrop"}, {}}, 0, 0);
  note_sliding(f, out.config, f.number_if_given({"sliding_window"}, 1, kMostIds));
  read_init(f, out, {"initializer_range"});
}

// modeling_olmo.py: OlmoDecoderLayer; OlmoLayerNorm has neither gain nor bias, and eps 1e-5 whatever the file says.
void note_clipping(Fields& f) {
  if (const auto clip = f.number_if_given({"clip_qkv"}, 0, 1e30))
    f.differs("queries, keys and values are cut off at ", *clip, " there; here they are not");
}
void read_olmo(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_llama_body(f, c, {{50304, 32, 4096, 32, 2048}, 11008});
  c.norm = "layernorm-noaffine";
  c.norm_eps = 1e-5;
  note_clipping(f);
  read_init(f, out, {"initializer_range"});
}

// modeling_olmo2.py: Olmo2DecoderLayer norms what branches give, x + N(F(x)); Olmo2Attention norms the whole q and the whole k.
void read_olmo2(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_llama_body(f, c, {{50304, 32, 4096, 32, 2048}, 11008, 0, 0, 1e-5});
  c.arrangement = "res-post";
  c.qk_norm = "rmsnorm";
  c.qk_norm_span = QkNormSpan::projection;
  note_clipping(f);
  read_init(f, out, {"initializer_range"});
}

void note_query_scale(Fields& f, const ModelConfig& c) {
  const double scalar = f.number({"query_pre_attn_scalar"}, 256, 1e-6, 1e9);
  if (scalar != static_cast<double>(c.d_head))
    f.differs("attention scores are divided by √", scalar, " there, by √", c.d_head, " here");
}

LlamaUsual gemma_usual(LlamaUsual usual) {
  usual.d_head = 256;
  usual.tied = true;
  usual.activation = "gelu_pytorch_tanh";
  usual.activation_field = "hidden_activation";
  return usual;
}

// modeling_gemma.py: GemmaDecoderLayer; GemmaRMSNorm keeps its gain as 1 + w; GemmaModel multiplies token vectors by
// √hidden_size.
void read_gemma(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_llama_body(f, c, gemma_usual({{256000, 28, 3072, 16, 8192}, 24576, 16}));
  c.norm = "rmsnorm-1p";
  c.scale_embedding = true;
  read_init(f, out, {"initializer_range"});
}

void note_softcap(Fields& f, std::optional<double> cap, const char* what) {
  if (cap) f.differs(what, " are capped at ", *cap, " there; here they are not");
}

// modeling_gemma2.py: Gemma2DecoderLayer, a norm before and one after each branch.
void read_gemma2(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_llama_body(f, c, gemma_usual({{256000, 26, 2304, 8, 8192}, 9216, 4}));
  c.arrangement = "sandwich";
  c.norm = "rmsnorm-1p";
  c.scale_embedding = true;
  note_query_scale(f, c);
  note_sliding(f, out.config, f.number_or_none("sliding_window", 4096, 1, kMostIds));
  note_softcap(f, f.number_or_none("attn_logit_softcapping", 50, 0, 1e30), "attention scores");
  note_softcap(f, f.number_or_none("final_logit_softcapping", 30, 0, 1e30), "logits");
  read_init(f, out, {"initializer_range"});
}

// modeling_gemma3.py: Gemma3DecoderLayer as Gemma 2; Gemma3Attention norms queries and keys of each head.
void read_gemma3(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_llama_body(f, c, gemma_usual({.sizes = {262208, 26, 2304, 8, 131072}, .d_ff = 9216, .kv_heads = 4, .rope_base = 1e6}));
  c.arrangement = "sandwich";
  c.norm = c.qk_norm = "rmsnorm-1p";
  c.scale_embedding = true;
  note_query_scale(f, c);
  note_sliding(f, out.config, f.number_or_none("sliding_window", 4096, 1, kMostIds));
  f.differs("those layers turn positions by a base of their own there; here all layers are alike");
  read_init(f, out, {"initializer_range"});
}

constexpr std::array kLlamaFamilies{
    Family{"llama", "Llama", read_llama},         Family{"mistral", "Mistral", read_mistral},
    Family{"qwen2", "Qwen2", read_qwen2},         Family{"qwen3", "Qwen3", read_qwen3},
    Family{"gemma", "Gemma", read_gemma},         Family{"gemma2", "Gemma2", read_gemma2},
    Family{"gemma3_text", "Gemma3", read_gemma3}, Family{"olmo", "Olmo", read_olmo},
    Family{"olmo2", "Olmo2", read_olmo2},         Family{"phi3", "Phi3", read_phi3},
};

}  // namespace

std::span<const Family> llama_families() { return kLlamaFamilies; }

}  // namespace addnorm::hugging_face
