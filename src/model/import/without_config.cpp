#include <algorithm>

#include "addnorm/core/error.h"
#include "model/import/source.h"
#include "model/import/weights/family.h"

namespace addnorm::importing {
namespace {

/// mingpt/model.py, GPT.__init__: model_type.
struct MinGptSize {
  const char* name;
  std::size_t layers, heads, width;
};
constexpr std::array kMinGptSizes{
    MinGptSize{"gpt2", 12, 12, 768},     MinGptSize{"gpt2-medium", 24, 16, 1024}, MinGptSize{"gpt2-large", 36, 20, 1280},
    MinGptSize{"gpt2-xl", 48, 25, 1600}, MinGptSize{"gopher-44m", 8, 16, 512},    MinGptSize{"gpt-mini", 6, 6, 192},
    MinGptSize{"gpt-micro", 4, 4, 128},  MinGptSize{"gpt-nano", 3, 3, 48},
};

/// Layers whose tensor is there: 0, 1, ... until one is missing.
std::size_t layers_with(const WeightSource& source, std::string_view before, std::string_view after) {
  std::size_t count = 0;
  while (source.find(concat(before, count, after))) ++count;
  return count;
}

/// The shape of a matrix that the sizes are taken from.
const Shape& matrix(const WeightSource& source, const std::string& name) {
  const SourceTensor* found = source.find(name);
  if (!found || found->shape.rank() != 2)
    throw DataError(concat(source.files().front().string(), ": has no matrix ", name, ", which gives its sizes"));
  return found->shape;
}

std::optional<GuessedConfig> mingpt(const WeightSource& source, std::size_t heads) {
  std::string prefix;
  for (const char* one : mingpt_family().prefixes)
    if (source.find(concat(one, "wte.weight")) && source.find(concat(one, "h.0.attn.c_attn.weight"))) prefix = one;
  const SourceTensor* qkv = source.find(prefix + "h.0.attn.c_attn.weight");
  if (!qkv || qkv->shape.rank() != 2 || qkv->shape[0] != 3 * qkv->shape[1]) return std::nullopt;  // GPT-2's is [d, 3 d]
  GuessedConfig out{.family = &mingpt_family(), .config = {}, .notes = {}};
  ModelConfig& c = out.config;
  const Shape& table = matrix(source, prefix + "wte.weight");
  c.vocab = table[0];
  c.d_model = table[1];
  c.seq_len = matrix(source, prefix + "wpe.weight")[0];
  c.d_ff = matrix(source, prefix + "h.0.mlp.c_fc.weight")[0];
  c.layers = layers_with(source, prefix + "h.", ".ln_1.weight");
  c.activation = Activation::gelu_tanh;  // NewGELU
  c.norm_eps = 1e-5;
  c.tied = !source.find("lm_head.weight");
  c.heads = heads;
  const auto known = std::ranges::find_if(
      kMinGptSizes, [&](const MinGptSize& size) { return size.layers == c.layers && size.width == c.d_model; });
  if (heads == 0 && known == kMinGptSizes.end())
    throw DataError(concat(source.files().front().string(), ": minGPT's names, ", c.layers, " layers of width ", c.d_model,
                           ", but nothing says how many heads there are: put a config.json beside it, or give the heads"));
  if (heads == 0) {
    c.heads = known->heads;
    out.notes.push_back(concat("no config.json: ", c.heads, " heads, as minGPT's ", known->name, " has"));
  }
  return out;
}

std::optional<GuessedConfig> open_nmt(const WeightSource& source, std::size_t heads) {
  if (!source.find("encoder/embeddings/weight") || !source.find("decoder/embeddings/weight")) return std::nullopt;
  constexpr std::size_t kUsualHeads = 8, kLongest = 512;
  GuessedConfig out{.family = &open_nmt_family(), .config = {}, .notes = {}};
  ModelConfig& c = out.config;
  c.model = ModelKind::seq2seq;
  c.vocab = matrix(source, "encoder/embeddings/weight")[0];
  c.d_model = matrix(source, "encoder/embeddings/weight")[1];
  c.target_vocab = matrix(source, "decoder/embeddings/weight")[0];
  c.layers = layers_with(source, "encoder/layer_", "/ffn/linear_0/weight");
  c.decoder_layers = layers_with(source, "decoder/layer_", "/ffn/linear_0/weight");
  c.d_ff = matrix(source, "encoder/layer_0/ffn/linear_0/weight")[0];
  c.heads = heads > 0 ? heads : kUsualHeads;
  c.seq_len = kLongest;
  c.arrangement = source.find("encoder/layer_norm/gamma") ? "pre-ln" : "post-ln";
  c.activation = Activation::relu;
  c.positions = PositionKind::sinusoidal_halves;
  c.position_offset = 1;
  c.scale_embedding = true;
  c.tied = false;
  c.head_bias = source.find("decoder/projection/bias") != nullptr;
  out.notes.push_back(concat("no config.json: ", c.heads, " heads, ReLU, token vectors times √", c.d_model,
                             ", sines counted from 1, as OpenNMT's Transformer has by default; at most ", kLongest, " tokens"));
  return out;
}

}  // namespace

std::optional<GuessedConfig> guessed_config(const WeightSource& source, std::size_t heads) {
  if (auto found = mingpt(source, heads)) return found;
  return open_nmt(source, heads);
}

}  // namespace addnorm::importing
