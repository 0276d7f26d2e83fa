// OpenNMT's Transformer as CTranslate2 saves it: maps are counted, norms have gamma and beta.
#include "model/import/weights/family.h"

namespace addnorm::importing {
namespace {

constexpr std::array kOpenNmtPrefixes{""};
constexpr std::array kOpenNmtBody{
    NameRow{"source.embedding", {"encoder/embeddings"}},
    NameRow{"encoder.residual.layers.{}.self.*", {"encoder/layer_{}/self_attention/layer_norm"}},
    NameRow{"encoder.layers.{}.self.qkv", {"encoder/layer_{}/self_attention/linear_0"}},
    NameRow{"encoder.layers.{}.self.out", {"encoder/layer_{}/self_attention/linear_1"}},
    NameRow{"encoder.residual.layers.{}.ffn.*", {"encoder/layer_{}/ffn/layer_norm"}},
    NameRow{"encoder.layers.{}.ffn.in", {"encoder/layer_{}/ffn/linear_0"}},
    NameRow{"encoder.layers.{}.ffn.out", {"encoder/layer_{}/ffn/linear_1"}},
    NameRow{"encoder.residual.exit", {"encoder/layer_norm"}},
    NameRow{"target.embedding", {"decoder/embeddings"}},
    NameRow{"decoder.residual.layers.{}.self.*", {"decoder/layer_{}/self_attention/layer_norm"}},
    NameRow{"decoder.layers.{}.self.qkv", {"decoder/layer_{}/self_attention/linear_0"}},
    NameRow{"decoder.layers.{}.self.out", {"decoder/layer_{}/self_attention/linear_1"}},
    NameRow{"decoder.residual.layers.{}.cross.*", {"decoder/layer_{}/attention/layer_norm"}},
    NameRow{"decoder.layers.{}.cross.q", {"decoder/layer_{}/attention/linear_0"}},
    NameRow{"decoder.layers.{}.cross.kv", {"decoder/layer_{}/attention/linear_1"}},
    NameRow{"decoder.layers.{}.cross.out", {"decoder/layer_{}/attention/linear_2"}},
    NameRow{"decoder.residual.layers.{}.ffn.*", {"decoder/layer_{}/ffn/layer_norm"}},
    NameRow{"decoder.layers.{}.ffn.in", {"decoder/layer_{}/ffn/linear_0"}},
    NameRow{"decoder.layers.{}.ffn.out", {"decoder/layer_{}/ffn/linear_1"}},
    NameRow{"decoder.residual.exit", {"decoder/layer_norm"}},
    NameRow{"head", {"decoder/projection"}},
};

}  // namespace

const ImportFamily& open_nmt_family() {
  static constexpr ImportFamily kFamily{"open-nmt", {}, kOpenNmtPrefixes, kOpenNmtBody, {}, {}, {}};
  return kFamily;
}

}  // namespace addnorm::importing
