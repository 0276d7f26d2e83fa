// What families of models share, and the table of them.
#pragma once

#include <span>

#include "model/import/config/fields.h"

namespace addnorm::hugging_face {

/// A type of model. `prefix` begins the names of its classes: GPT2 for GPT2LMHeadModel.
struct Family {
  const char* model_type;
  const char* prefix;
  void (*read)(Fields& f, HuggingFaceConfig& out);  ///< out.model_type is there already
};
std::span<const Family> gpt_families();
std::span<const Family> falcon_families();
std::span<const Family> bert_families();
std::span<const Family> llama_families();
std::span<const Family> seq2seq_families();

/// What a type has where its file does not say.
struct UsualSizes {
  std::size_t vocab, layers, d_model, heads, seq_len;
};
void read_sizes(Fields& f, ModelConfig& c, const UsualSizes& usual);
/// d_head and kv_heads of grouped queries; heads must divide the width where d_head is not given.
void read_heads(Fields& f, ModelConfig& c, std::size_t usual_kv_heads = 0, std::size_t usual_d_head = 0);
/// A gated one is W_2 (act(W_g x) * W_1 x); ours knows silu there.
void read_activation(Fields& f, ModelConfig& c, FieldNames names, const char* usual, bool gated = false);
void set_activation(Fields& f, ModelConfig& c, FieldNames names, const std::string& name, bool gated);

struct DropoutNames {
  FieldNames residual, embedding, attention;
};
void read_dropout(Fields& f, ModelConfig& c, const DropoutNames& names, double usual, double usual_in_attention);
void read_eps(Fields& f, ModelConfig& c, FieldNames names, double usual);
void set_biases(ModelConfig& c, bool attention, bool ffn);

/// rope_theta, and notes of what turns differently than ours. `share` of a head's features turns.
void read_rotary(Fields& f, ModelConfig& c, double usual_share = 1, double usual_base = 10000);
/// Positions that change only the scores: rotary ones stand for them.
void stand_in_for(Fields& f, ModelConfig& c, const char* theirs);
/// Some or all layers see only a limited number of tokens back; no difference where that is all of them.
void note_sliding(Fields& f, const ModelConfig& c, std::optional<double> window);
void refuse_cross_attention(Fields& f);
/// Another head than that of a language model.
void note_task(Fields& f);

/// N(0, deviation²) for every matrix; by_depth: those that write into the stream times 1/√(2 layers) too, as GPT-2. A
/// deviation of 0 is noted and left to the arrangement.
void read_init(Fields& f, HuggingFaceConfig& out, FieldNames names, double usual = 0.02, bool by_depth = false);

}  // namespace addnorm::hugging_face
