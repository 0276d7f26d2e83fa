// OPT: modeling_opt.py. The norms of a layer have the same names before and after their branch; only with do_layer_norm_before
// there is one at the end.
#include "model/import/weights/family.h"

namespace addnorm::importing {
namespace {

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

const ImportFamily& opt_family() {
  static constexpr ImportFamily kFamily{"opt", kOptTypes, kOptPrefixes, kOptBody, kOptTop, kOptCopies, {}};
  return kFamily;
}

}  // namespace addnorm::importing
