// What follows from a config, and which configs make no model.
#include "addnorm/model/config.h"

#include <array>
#include <cmath>
#include <limits>

#include "addnorm/residual/catalogue.h"

namespace addnorm {
namespace {

/// "model config: heads is 5; it must divide d_model (64)"
template <class T, class... Allowed>
void field(bool ok, const char* name, const T& value, const Allowed&... allowed) {
  require(ok, "model config: ", name, " is ", value, "; it must ", allowed...);
}

template <class Named>
void named(const char* name, const Named& look_up) {
  try {
    look_up();
  } catch (const UsageError& error) {
    throw UsageError(concat("model config: ", name, ": ", error.what()));
  }
}

bool has_attention(const ModelConfig& c) { return c.layer != LayerKind::ffn; }
bool has_tokens(const ModelConfig& c) { return c.model != ModelKind::mlp; }
bool has_classes(const ModelConfig& c) { return c.model == ModelKind::classifier || c.model == ModelKind::mlp; }

void check_vocabularies(const ModelConfig& c) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  const char* allowed = "be 1 ... 2147483647 (token ids are 32-bit)";
  if (has_tokens(c)) field(c.vocab >= 1 && c.vocab <= kMost, "vocab", c.vocab, allowed);
  if (c.model == ModelKind::seq2seq) {
    field(c.target_vocab <= kMost, "target_vocab", c.target_vocab, allowed);
    field(!c.shared_vocab || c.target_vocab == c.vocab, "target_vocab", c.target_vocab, "equal vocab (", c.vocab,
          "), because shared_vocab is true");
  }
  if (has_classes(c)) field(c.classes >= 1, "classes", c.classes, "be at least 1 in a ", name_of(c.model));
  if (c.model == ModelKind::mlp) field(c.features >= 1, "features", c.features, "be at least 1 in a model of kind mlp");
}

void check_sizes(const ModelConfig& c) {
  field(c.layers >= 1, "layers", c.layers, "be at least 1");
  field(c.d_model >= 1, "d_model", c.d_model, "be at least 1");
  if (c.layer != LayerKind::attention) field(c.d_ff >= 1, "d_ff", c.d_ff, "be at least 1");
  if (has_tokens(c)) field(c.seq_len >= 1, "seq_len", c.seq_len, "be at least 1");
  field(c.dropout >= 0 && c.dropout < 1, "dropout", c.dropout, "be at least 0 and below 1");
}

void check_attention(const ModelConfig& c) {
  if (!has_attention(c)) {
    field(c.qk_norm == "none", "qk_norm", c.qk_norm, "be none, because layers without attention have no queries and keys");
    field(!is_rotary(c.positions), "positions", name_of(c.positions), "not turn queries and keys: these layers have none");
    return;
  }
  field(c.heads >= 1, "heads", c.heads, "be at least 1");
  field(c.d_head >= 1 || c.d_model % c.heads == 0, "heads", c.heads, "divide d_model (", c.d_model, "), or d_head be given");
  field(c.kv_heads == 0 || c.heads % c.kv_heads == 0, "kv_heads", c.kv_heads, "divide heads (", c.heads, ")");
  field(qk_norm_of(c).formula != NormFormula::batch, "qk_norm", c.qk_norm,
        "look at one token at a time; a batch of queries has no statistics of its own");
  if (!is_rotary(c.positions)) return;
  const std::size_t d_head = c.d_head ? c.d_head : c.d_model / c.heads;
  field(d_head % 2 == 0, "d_head", d_head, "be even: rotary positions turn pairs of features");
  field(c.position_offset == 0, "position_offset", c.position_offset, "be 0 with rotary positions, which have no table");
  field(std::isfinite(c.rope_base) && c.rope_base > 0, "rope_base", c.rope_base, "be a number above 0");
}

void check_layer(const ModelConfig& c) {
  if (c.model == ModelKind::mlp) field(c.layer == LayerKind::ffn, "layer", "attention", "be ffn in a model of kind mlp");
  if (c.model == ModelKind::seq2seq)
    field(c.layer != LayerKind::ffn, "layer", "ffn",
          "have attention in a model of kind seq2seq: the decoder reads the encoder by it");
}

void check_norms(const ModelConfig& c) {
  named("norm", [&] { norm_named(c.norm); });
  named("qk_norm", [&] { norm_named(c.qk_norm); });
  if (c.norm_eps)
    field(std::isfinite(*c.norm_eps) && *c.norm_eps >= 0 && *c.norm_eps < 1e30, "norm_eps", *c.norm_eps,
          "be 0 or a small number above it");
  const NormFormula formula = norm_named(c.norm).formula;
  const bool has_bias = formula == NormFormula::layer || formula == NormFormula::batch || formula == NormFormula::dyt;
  field(!c.norm_bias.value_or(false) || has_bias, "norm_bias", "true", "be false or left out: ", c.norm, " has no bias");
  named("arrangement", [&] { with_options(arrangement_of(c), residual_options(c)); });
}

std::size_t default_d_ff(const ModelConfig& c) {
  return c.activation == Activation::swiglu ? (c.d_model * 8 / 3 + 7) / 8 * 8 : 4 * c.d_model;
}

}  // namespace

const char* name_of(ModelKind kind) {
  constexpr std::array kNames{"lm", "encoder", "seq2seq", "classifier", "mlp"};
  return kNames.at(static_cast<std::size_t>(kind));
}

NormKindOptions norm_of(const ModelConfig& config) {
  NormKindOptions norm = norm_named(config.norm);
  if (config.norm_eps) norm.eps = static_cast<float>(*config.norm_eps);
  if (config.norm_bias) norm.bias = *config.norm_bias;
  return norm;
}

NormKindOptions qk_norm_of(const ModelConfig& config) {
  NormKindOptions norm = norm_named(config.qk_norm);
  if (config.norm_eps) norm.eps = static_cast<float>(*config.norm_eps);
  return norm;
}

const Arrangement& arrangement_of(const ModelConfig& config) {
  return config.own_arrangement ? *config.own_arrangement : arrangement_named(config.arrangement);
}

ResidualOptions residual_options(const ModelConfig& config) {
  return {.norm = norm_of(config),
          .final_norm = config.final_norm,
          .embedding_norm = config.embedding_norm,
          .dropout = static_cast<float>(config.dropout),
          .choices = config.choices};
}

ModelConfig completed(ModelConfig config) {
  if (config.model == ModelKind::mlp && config.layer == LayerKind::attention_ffn) config.layer = LayerKind::ffn;
  if (config.model == ModelKind::seq2seq && config.target_vocab == 0) config.target_vocab = config.vocab;
  if (config.model == ModelKind::seq2seq && config.decoder_layers == 0) config.decoder_layers = config.layers;
  if (config.d_ff == 0) config.d_ff = default_d_ff(config);
  check_norms(config);
  check_vocabularies(config);
  check_sizes(config);
  check_layer(config);
  check_attention(config);
  if (has_attention(config) && config.kv_heads == 0) config.kv_heads = config.heads;
  if (has_attention(config) && config.d_head == 0) config.d_head = config.d_model / config.heads;
  config.arrangement = arrangement_of(config).name;
  return config;
}

}  // namespace addnorm
