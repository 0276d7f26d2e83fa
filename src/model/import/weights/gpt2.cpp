// GPT-2 (modeling_gpt2.py: Conv1D keeps its matrices as [in, out]) and minGPT (the same names, Linear).
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

}  // namespace

const ImportFamily& gpt2_family() {
  static constexpr ImportFamily kFamily{"gpt2", kGpt2Types, kGpt2Prefixes, kGpt2Body, kGpt2Top, kGpt2Copies, kGpt2Unused};
  return kFamily;
}

const ImportFamily& mingpt_family() {
  static constexpr ImportFamily kFamily{"mingpt", {}, kGpt2Prefixes, kMinGptBody, kGpt2Top, kGpt2Copies, kGpt2Unused};
  return kFamily;
}

}  // namespace addnorm::importing
