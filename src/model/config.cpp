// What follows from a config, and which configs make no model.
#include "addnorm/model/config.h"

#include <array>
#include <cmath>
#include <limits>
#include <ostream>

#include "addnorm/residual/catalogue.h"
#include "nn/norms/norm_kind_info.h"

namespace addnorm {
namespace {

bool has_attention(const ModelConfig& c) { return c.layer != LayerKind::ffn; }
bool has_classes(const ModelConfig& c) { return c.model == ModelKind::classifier || c.model == ModelKind::mlp; }

// Far beyond any machine, and far below where products of two sizes overflow.
constexpr std::size_t kMostIds = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostLayers = 1000000;
constexpr std::size_t kMostWidth = std::size_t{1} << 28;

/// A field's name as a part of a message: looked up only where there is one.
struct Called {
  const char* name;
  const FieldWords& words;
  friend std::ostream& operator<<(std::ostream& out, const Called& c) { return out << addnorm::called(c.words, c.name); }
};

/// "model config: heads is 5; it must divide d_model (64)", or "--heads is 5; it must divide --d-model (64)".
class Checks {
 public:
  Checks(const ModelConfig& config, const FieldWords& words) : c(config), words_(words) {}

  void norms() const {
    named("norm", [&] { norm_named(c.norm); });
    named("qk_norm", [&] { norm_named(c.qk_norm); });
    if (c.norm_eps)
      field(std::isfinite(*c.norm_eps) && *c.norm_eps >= 0 && *c.norm_eps < 1e30, "norm_eps", *c.norm_eps,
            "be 0 or a small number above it");
    const bool has_bias = norm_kind(norm_named(c.norm).formula).bias;
    field(!c.norm_bias.value_or(false) || has_bias, "norm_bias", "true", "be false or left out: ", c.norm, " has no bias");
    ResidualOptions without_init = residual_options(c);
    without_init.init = {};
    named("arrangement", [&] { with_options(arrangement_of(c), without_init); });
  }

  void init() const {
    if (!c.init.by_arrangement()) named("init", [&] { init_rule_named(c.init.rule); });
    try {
      with_init(arrangement_of(c), c.init, words_);
    } catch (const UsageError& error) {
      throw UsageError(concat(words_ ? "" : "model config: ", error.what()));
    }
    const bool learned = has_tokens(c.model) && c.positions == PositionKind::learned;
    field(!c.init.position_std || learned, "position_std", c.init.position_std.value_or(0),
          "be left out: this model has no learned positions");
    field(!c.init.embedding_std || has_tokens(c.model), "embedding_std", c.init.embedding_std.value_or(0),
          "be left out in a model of kind ", name_of(c.model));
  }

  void vocabularies() const {
    const bool pair = c.model == ModelKind::seq2seq;
    if (has_tokens(c.model)) size("vocab", c.vocab, kMostIds);
    if (pair) size("target_vocab", c.target_vocab, kMostIds);
    if (has_classes(c)) size("classes", c.classes, kMostIds);
    if (c.model == ModelKind::mlp) size("features", c.features, kMostWidth);
    unused("target_vocab", !pair && c.target_vocab > 0, c.target_vocab);
    unused("decoder_layers", !pair && c.decoder_layers > 0, c.decoder_layers);
    unused("classes", !has_classes(c) && c.classes > 0, c.classes);
    unused("features", c.model != ModelKind::mlp && c.features > 0, c.features);
    field(!pair || !c.shared_vocab || c.target_vocab == c.vocab, "target_vocab", c.target_vocab, "equal ", called("vocab"), " (",
          c.vocab, "), because ", called("shared_vocab"), " is true");
    field(c.head || c.model == ModelKind::encoder, "head", "false", "be true in a model of kind ", name_of(c.model));
    unused("token_types", !has_tokens(c.model) && c.token_types > 0, c.token_types);
    unused("d_embedding", c.model != ModelKind::lm && c.d_embedding > 0, c.d_embedding);
    field(c.d_embedding <= kMostWidth, "d_embedding", c.d_embedding, "be at most ", kMostWidth);
    field(c.d_embedding == 0 || !c.scale_embedding, "d_embedding", c.d_embedding, "be left out with scale_embedding");
    field(c.token_types <= kMostIds, "token_types", c.token_types, "be at most ", kMostIds);
    field(!c.head_transform || ((c.model == ModelKind::encoder && c.head) || c.model == ModelKind::lm), "head_transform", "true",
          "be false except in a language model and an encoder with a head");
    field(!c.head_transform || c.activation != Activation::swiglu, "head_transform", "true",
          "be false with swiglu, which is no function of one number");
  }

  void sizes() const {
    size("layers", c.layers, kMostLayers);
    if (c.model == ModelKind::seq2seq) size("decoder_layers", c.decoder_layers, kMostLayers);
    size("d_model", c.d_model, kMostWidth);
    if (c.layer != LayerKind::attention) size("d_ff", c.d_ff, kMostWidth);
    if (has_tokens(c.model)) size("seq_len", c.seq_len, kMostIds);
    field(c.position_offset <= kMostIds - std::min(c.seq_len, kMostIds), "position_offset", c.position_offset,
          "be at most 2147483647 together with ", called("seq_len"), " (", c.seq_len, ")");
    field(c.dropout >= 0 && static_cast<float>(c.dropout) < 1, "dropout", c.dropout, "be at least 0 and below 1");
    field(std::isfinite(c.rope_base) && c.rope_base > 0, "rope_base", c.rope_base, "be a number above 0");
  }

  void layer() const {
    if (c.model == ModelKind::mlp) field(c.layer == LayerKind::ffn, "layer", "attention", "be ffn in a model of kind mlp");
    if (c.model == ModelKind::seq2seq)
      field(c.layer != LayerKind::ffn, "layer", "ffn",
            "have attention in a model of kind seq2seq: the decoder reads the encoder by it");
  }

  void attention() const {
    if (!has_attention(c)) {
      field(c.qk_norm == "none", "qk_norm", c.qk_norm, "be none, because layers without attention have no queries and keys");
      field(!is_rotary(c.positions), "positions", name_of(c.positions), "not turn queries and keys: these layers have none");
      return;
    }
    size("heads", c.heads, kMostWidth);
    field(c.d_head <= kMostWidth / c.heads, "d_head", c.d_head, "be at most ", kMostWidth / c.heads, " with ", c.heads, " heads");
    field(c.d_head >= 1 || c.d_model % c.heads == 0, "heads", c.heads, "divide ", called("d_model"), " (", c.d_model, "), or ",
          called("d_head"), " be given");
    field(c.kv_heads == 0 || c.heads % c.kv_heads == 0, "kv_heads", c.kv_heads, "divide ", called("heads"), " (", c.heads, ")");
    field(qk_norm_of(c).formula != NormFormula::batch, "qk_norm", c.qk_norm,
          "look at one token at a time; a batch of queries has no statistics of its own");
    if (!is_rotary(c.positions)) return;
    const std::size_t d_head = c.d_head ? c.d_head : c.d_model / c.heads;
    field(d_head % 2 == 0, "d_head", d_head, "be even: rotary positions turn pairs of features");
    field(c.position_offset == 0, "position_offset", c.position_offset, "be 0 with rotary positions, which have no table");
  }

 private:
  Called called(const char* name) const { return {name, words_}; }

  template <class T, class... Allowed>
  void field(bool ok, const char* name, const T& value, const Allowed&... allowed) const {
    require(ok, words_ ? "" : "model config: ", called(name), " is ", value, "; it must ", allowed...);
  }
  template <class Named>
  void named(const char* name, const Named& look_up) const {
    try {
      look_up();
    } catch (const UsageError& error) {
      throw UsageError(concat(words_ ? "" : "model config: ", called(name), ": ", error.what()));
    }
  }
  void size(const char* name, std::size_t value, std::size_t most) const {
    field(value >= 1 && value <= most, name, value, "be 1 ... ", most);
  }
  /// A field that this kind of model has no use for.
  void unused(const char* name, bool given, std::size_t value) const {
    field(!given, name, value, "be left out in a model of kind ", name_of(c.model));
  }

  const ModelConfig& c;
  const FieldWords& words_;
};

std::size_t default_d_ff(const ModelConfig& c) {
  if (c.d_model > kMostWidth) return 1;  // refused as what it is
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
          .choices = config.choices,
          .init = config.init};
}

std::vector<std::string> init_notes(const ModelConfig& config, const FieldWords& words) {
  Arrangement row = arrangement_of(config);
  if (norm_kind(norm_of(config).formula).gives == NormSize::any) {  // it does not take the size of a branch away
    row.unit.out = false;
    for (Override& other : row.overrides) other.slots.out = false;
  }
  return init_notes(row, config.init, words);
}

ModelConfig completed(ModelConfig config, const FieldWords& words) {
  if (config.model == ModelKind::mlp && config.layer == LayerKind::attention_ffn) config.layer = LayerKind::ffn;
  if (config.model == ModelKind::seq2seq && config.target_vocab == 0) config.target_vocab = config.vocab;
  if (config.model == ModelKind::seq2seq && config.decoder_layers == 0) config.decoder_layers = config.layers;
  if (config.d_ff == 0) config.d_ff = default_d_ff(config);
  const Checks checks(config, words);
  checks.norms();
  checks.init();
  checks.vocabularies();
  checks.sizes();
  checks.layer();
  checks.attention();
  if (has_attention(config) && config.kv_heads == 0) config.kv_heads = config.heads;
  if (has_attention(config) && config.d_head == 0) config.d_head = config.d_model / config.heads;
  config.arrangement = arrangement_of(config).name;
  config.init.rule = canonical_init(config.init.rule);
  return config;
}

}  // namespace addnorm
