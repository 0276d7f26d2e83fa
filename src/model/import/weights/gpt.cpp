// GPT-2 (modeling_gpt2.py: Conv1D keeps its matrices as [in, out]), minGPT (the same names, Linear) and OPT (modeling_opt.py).
#include "model/import/weights/family.h"

namespace addnorm::importing {
namespace {

constexpr MatrixLayout kConv1d = MatrixLayout::in_out;

constexpr std::array kGpt2Prefixes{"transformer.", ""};
constexpr std::array kGpt2Types{"gpt2"};

constexpr std::array kGpt2Body{
    NameRow{"tokens.embedding", {"wte"}},
    NameRow{"tokens.positions", {"wpe"}},
    NameRow{"residual.layers.{}.self.*", {"h.{}.ln_1"}},
    NameRow{"layers.{}.self.qkv", {"h.{}.attn.c_attn"}, kConv1d},
    NameRow{"layers.{}.self.out", {"h.{}.attn.c_proj"}, kConv1d},
    NameRow{"residual.layers.{}.ffn.*", {"h.{}.ln_2"}},
    NameRow{"layers.{}.ffn.in", {"h.{}.mlp.c_fc"}, kConv1d},
    NameRow{"layers.{}.ffn.out", {"h.{}.mlp.c_proj"}, kConv1d},
    NameRow{"residual.exit", {"ln_f"}},
};
constexpr std::array kMinGptBody{
    NameRow{"tokens.embedding", {"wte"}},
    NameRow{"tokens.positions", {"wpe"}},
    NameRow{"residual.layers.{}.self.*", {"h.{}.ln_1"}},
    NameRow{"layers.{}.self.qkv", {"h.{}.attn.c_attn"}},
    NameRow{"layers.{}.self.out", {"h.{}.attn.c_proj"}},
    NameRow{"residual.layers.{}.ffn.*", {"h.{}.ln_2"}},
    NameRow{"layers.{}.ffn.in", {"h.{}.mlp.c_fc"}},
    NameRow{"layers.{}.ffn.out", {"h.{}.mlp.c_proj"}},
    NameRow{"residual.exit", {"ln_f"}},
};
constexpr std::array kGpt2Top{NameRow{"head", {"lm_head"}}};
constexpr std::array kGpt2Copies{CopyRow{"lm_head.weight", "tokens.embedding.weight"}};
constexpr std::array kGpt2Unused{
    UnusedRow{"h.{}.attn.bias", nullptr},         // the causal mask
    UnusedRow{"h.{}.attn.masked_bias", nullptr},  // what a score becomes where the mask hides it
};

// The norms of a layer of OPT have the same names before and after their branch; only with do_layer_norm_before there is one at
// the end.
constexpr std::array kOptTypes{"opt"};
constexpr std::array kOptPrefixes{"model.decoder.", "decoder.", ""};
constexpr std::array kOptBody{
    NameRow{"tokens.embedding", {"embed_tokens"}},
    NameRow{"tokens.positions", {"embed_positions"}},
    NameRow{"tokens.project", {"project_in"}},
    NameRow{"head.project", {"project_out"}},
    NameRow{"layers.{}.self.qkv", {"layers.{}.self_attn.q_proj", "layers.{}.self_attn.k_proj", "layers.{}.self_attn.v_proj"}},
    NameRow{"layers.{}.self.out", {"layers.{}.self_attn.out_proj"}},
    NameRow{"residual.layers.{}.self.*", {"layers.{}.self_attn_layer_norm"}},
    NameRow{"layers.{}.ffn.in", {"layers.{}.fc1"}},
    NameRow{"layers.{}.ffn.out", {"layers.{}.fc2"}},
    NameRow{"residual.layers.{}.ffn.*", {"layers.{}.final_layer_norm"}},
    NameRow{"residual.exit", {"final_layer_norm"}},
};
constexpr std::array kOptTop{NameRow{"head", {"lm_head"}}};
constexpr std::array kOptCopies{CopyRow{"lm_head.weight", "tokens.embedding.weight"}};

}  // namespace

const ImportFamily& gpt2_family() {
  static constexpr ImportFamily kFamily{"gpt2", kGpt2Types, kGpt2Prefixes, kGpt2Body, kGpt2Top, kGpt2Copies, kGpt2Unused};
  return kFamily;
}

const ImportFamily& mingpt_family() {
  static constexpr ImportFamily kFamily{"mingpt", {}, kGpt2Prefixes, kMinGptBody, kGpt2Top, kGpt2Copies, kGpt2Unused};
  return kFamily;
}

const ImportFamily& opt_family() {
  static constexpr ImportFamily kFamily{"opt", kOptTypes, kOptPrefixes, kOptBody, kOptTop, kOptCopies, {}};
  return kFamily;
}

}  // namespace addnorm::importing
