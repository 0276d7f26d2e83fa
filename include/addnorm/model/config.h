// ModelConfig: everything that says which model it is. One struct for all kinds, so that a file, a command line and a program
// mean the same by a name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/nn/attention.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/nn/positions.h"
#include "addnorm/residual/residual.h"

namespace addnorm {

enum class ModelKind : unsigned char {
  lm,          ///< decoder only: logits of the next token
  encoder,     ///< tokens to vectors; with a head, logits of the tokens themselves (masked language model)
  seq2seq,     ///< encoder and decoder with cross-attention
  classifier,  ///< an encoder, one vector of it, logits of classes
  mlp,         ///< numbers instead of tokens, feed-forward units only: logits of classes
};
const char* name_of(ModelKind kind);
constexpr bool has_tokens(ModelKind kind) { return kind != ModelKind::mlp; }

/// Of what a layer is made.
enum class LayerKind : unsigned char { attention_ffn, attention, ffn };
/// The vector that a classifier looks at: of token 0, or the mean over all tokens that are not padding.
enum class Pooling : unsigned char { first, mean };

/// completed() fills in zeros and empty optionals. Sizes count: d_model features, tokens, layers.
struct ModelConfig {
  ModelKind model = ModelKind::lm;

  // Sizes.
  std::size_t vocab = 0;           ///< token ids are below it; not for mlp
  std::size_t target_vocab = 0;    ///< seq2seq: of the decoder; 0: vocab
  std::size_t features = 0;        ///< mlp: numbers per sample
  std::size_t classes = 0;         ///< classifier, mlp
  std::size_t layers = 6;          ///< of the only stack, or of the encoder
  std::size_t decoder_layers = 0;  ///< seq2seq; 0: layers
  std::size_t d_model = 256;
  std::size_t heads = 4;
  std::size_t kv_heads = 0;   ///< divides heads; 0: heads
  std::size_t d_head = 0;     ///< 0: d_model / heads
  std::size_t d_ff = 0;       ///< 0: 4 d_model; with swiglu 8/3 d_model, up to the next multiple of 8
  std::size_t seq_len = 256;  ///< most tokens of a sequence

  // Residual connection and norm.
  std::string arrangement = "pre-ln";            ///< a name of the catalogue, or an alias
  std::optional<Arrangement> own_arrangement{};  ///< your own row; then `arrangement` is its name
  ArrangementChoices choices{};                  ///< what only some arrangements have
  InitOptions init{};                            ///< how weights start; nothing said: as the arrangement's source prescribes
  std::string norm = "layernorm";                ///< norm_names()
  std::optional<double> norm_eps{};              ///< nothing: what the kind of norm says
  std::optional<bool> norm_bias{};               ///< nothing: what the kind of norm says
  std::optional<bool> final_norm{};              ///< nothing: what the arrangement says
  std::optional<bool> embedding_norm{};          ///< nothing: what the arrangement says
  std::string qk_norm = "none";                  ///< a kind of norm for queries and keys
  QkNormSpan qk_norm_span = QkNormSpan::head;
  double dropout = 0;  ///< of the embeddings and of branches where they are added

  // Sub-layers.
  LayerKind layer = LayerKind::attention_ffn;
  Activation activation = Activation::gelu;
  bool bias = true;                          ///< of every matrix in the stack
  std::optional<bool> attention_bias{};      ///< of attention's four; nothing: as `bias`
  std::optional<bool> attention_out_bias{};  ///< of its last matrix; nothing: as the other three

  // Tokens and logits.
  PositionKind positions = PositionKind::learned;
  std::size_t position_offset = 0;  ///< the first token's row in the table of positions (OpenNMT-tf: 1, RoBERTa and OPT: 2)
  double rope_base = 10000;
  /// lm: features of token vectors, which pass a matrix into the stream and one from it to the head (OPT-350m); 0: d_model.
  std::size_t d_embedding = 0;
  std::size_t token_types = 0;   ///< rows of a table of vectors added to those of the tokens (BERT: 2); 0: there is none
  bool scale_embedding = false;  ///< token vectors times sqrt(d_model) (Vaswani 2017)
  bool tied = true;              ///< the head is the table of (target) tokens
  bool head_bias = false;
  bool head_transform = false;  ///< lm, encoder: a matrix, the activation and a norm before the head (BERT's masked tokens)
  bool head = true;             ///< encoder: logits; without, it ends in vectors
  bool shared_vocab = false;    ///< seq2seq: encoder and decoder have one table of tokens
  Pooling pooling = Pooling::mean;
};

/// With every size that follows from others filled in, and checked: a UsageError names the field, its value and what is allowed.
/// `words`: what fields are called in it; null: by their names here.
ModelConfig completed(ModelConfig config, const FieldWords& words = nullptr);

/// Every field that is not at its default; model_config_from_json reads it back. A DataError names the place, the field, its
/// value and what is allowed; an unknown field is answered with the nearest. The words of Hugging Face (hidden_size,
/// num_hidden_layers, num_attention_heads, intermediate_size, ...) are read as ours. What is read is not yet completed().
std::string to_json(const ModelConfig& config);
ModelConfig model_config_from_json(std::string_view text, std::string_view where);
ModelConfig read_model_config(const std::filesystem::path& path);
/// Our name of a field that others call otherwise; any other name is given back.
std::string_view field_named(std::string_view name);
std::vector<std::string> model_fields();                                   ///< our names of all fields
std::vector<std::pair<std::string, std::string>> other_names_of_fields();  ///< theirs and ours
/// What stands beside weights as config.json: "model_type": "addnorm", every field (a later program may have other defaults), and
/// under "extra" the fields of `extra`, a JSON object of the caller's own. read_model_config reads the model back.
std::string to_config_file(const ModelConfig& config, std::string_view extra = {});
std::string config_file_extra(const std::filesystem::path& path);  ///< that object as JSON; "{}" where there is none

// What the parts of a model are made from.
NormKindOptions norm_of(const ModelConfig& config);     ///< norm, norm_eps, norm_bias
NormKindOptions qk_norm_of(const ModelConfig& config);  ///< qk_norm with the same eps
const Arrangement& arrangement_of(const ModelConfig& config);
ResidualOptions residual_options(const ModelConfig& config);

/// What a user should know of its arrangement and its init together (init_notes of init_spec.h); a UsageError where a name of
/// either is unknown. A row of a grid: init_notes(run_options_from_json(row.options, row.place).options.model).
std::vector<std::string> init_notes(const ModelConfig& config, const FieldWords& words = nullptr);

}  // namespace addnorm
