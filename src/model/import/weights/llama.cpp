// Llama: modeling_llama.py, and llama2.c's names of the same (model.py, export.py).
#include "model/import/weights/family.h"

namespace addnorm::importing {
namespace {

constexpr std::array kLlamaTypes{"llama", "mistral", "qwen2", "qwen3"};
constexpr std::array kLlamaPrefixes{"model.", ""};
constexpr std::array kLlamaBody{
    NameRow{"tokens.embedding", {"embed_tokens"}},
    NameRow{"residual.layers.{}.self.*", {"layers.{}.input_layernorm"}},
    NameRow{"layers.{}.self.qkv", {"layers.{}.self_attn.q_proj", "layers.{}.self_attn.k_proj", "layers.{}.self_attn.v_proj"}},
    NameRow{"layers.{}.self.q_norm", {"layers.{}.self_attn.q_norm"}},  // Qwen 3
    NameRow{"layers.{}.self.k_norm", {"layers.{}.self_attn.k_norm"}},
    NameRow{"layers.{}.self.out", {"layers.{}.self_attn.o_proj"}},
    NameRow{"residual.layers.{}.ffn.*", {"layers.{}.post_attention_layernorm"}},  // it stands before the feed-forward part
    NameRow{"layers.{}.ffn.in", {"layers.{}.mlp.gate_proj", "layers.{}.mlp.up_proj"}},
    NameRow{"layers.{}.ffn.out", {"layers.{}.mlp.down_proj"}},
    NameRow{"residual.exit", {"norm"}},
};
constexpr std::array kLlamaTop{NameRow{"head", {"lm_head"}}};
constexpr std::array kLlamaCopies{CopyRow{"lm_head.weight", "tokens.embedding.weight"}};
constexpr std::array kLlamaUnused{
    UnusedRow{"layers.{}.self_attn.rotary_emb.inv_freq", nullptr},
    UnusedRow{"rotary_emb.inv_freq", nullptr},
};

// modeling_olmo2.py: norms after the branches.
constexpr std::array kOlmo2Types{"olmo2"};
constexpr std::array kOlmo2Body{
    NameRow{"tokens.embedding", {"embed_tokens"}},
    NameRow{"layers.{}.self.qkv", {"layers.{}.self_attn.q_proj", "layers.{}.self_attn.k_proj", "layers.{}.self_attn.v_proj"}},
    NameRow{"layers.{}.self.q_norm", {"layers.{}.self_attn.q_norm"}},
    NameRow{"layers.{}.self.k_norm", {"layers.{}.self_attn.k_norm"}},
    NameRow{"layers.{}.self.out", {"layers.{}.self_attn.o_proj"}},
    NameRow{"residual.layers.{}.self.*", {"layers.{}.post_attention_layernorm"}},
    NameRow{"layers.{}.ffn.in", {"layers.{}.mlp.gate_proj", "layers.{}.mlp.up_proj"}},
    NameRow{"layers.{}.ffn.out", {"layers.{}.mlp.down_proj"}},
    NameRow{"residual.layers.{}.ffn.*", {"layers.{}.post_feedforward_layernorm"}},
    NameRow{"residual.exit", {"norm"}},
};

constexpr std::array kLlama2cPrefixes{""};
constexpr std::array kLlama2cBody{
    NameRow{"tokens.embedding", {"tok_embeddings"}},
    NameRow{"residual.layers.{}.self.*", {"layers.{}.attention_norm"}},
    NameRow{"layers.{}.self.qkv", {"layers.{}.attention.wq", "layers.{}.attention.wk", "layers.{}.attention.wv"}},
    NameRow{"layers.{}.self.out", {"layers.{}.attention.wo"}},
    NameRow{"residual.layers.{}.ffn.*", {"layers.{}.ffn_norm"}},
    NameRow{"layers.{}.ffn.in", {"layers.{}.feed_forward.w1", "layers.{}.feed_forward.w3"}},
    NameRow{"layers.{}.ffn.out", {"layers.{}.feed_forward.w2"}},
    NameRow{"residual.exit", {"norm"}},
};
constexpr std::array kLlama2cTop{NameRow{"head", {"output"}}};
constexpr std::array kLlama2cUnused{
    UnusedRow{"freqs_cos", nullptr},  // of the rotary angles: run.c computes them anew
    UnusedRow{"freqs_sin", nullptr},
};

}  // namespace

const ImportFamily& llama_family() {
  static constexpr ImportFamily kFamily{"llama", kLlamaTypes, kLlamaPrefixes, kLlamaBody, kLlamaTop, kLlamaCopies, kLlamaUnused};
  return kFamily;
}

const ImportFamily& olmo2_family() {
  static constexpr ImportFamily kFamily{"olmo2", kOlmo2Types, kLlamaPrefixes, kOlmo2Body, kLlamaTop, kLlamaCopies, kLlamaUnused};
  return kFamily;
}

const ImportFamily& llama2c_family() {
  static constexpr ImportFamily kFamily{"llama2c", {}, kLlama2cPrefixes, kLlama2cBody, kLlama2cTop, {}, kLlama2cUnused};
  return kFamily;
}

}  // namespace addnorm::importing
