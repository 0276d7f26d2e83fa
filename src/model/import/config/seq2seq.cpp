// Encoder and decoder: T5, BART, mBART, Marian.
#include <array>

#include "model/import/config/parts.h"

namespace addnorm::hugging_face {
namespace {

bool has_class(Fields& f, std::string_view end) {
  for (const std::string& name : f.architectures())
    if (name.ends_with(end)) return true;
  return false;
}

struct T5Usual {
  std::size_t vocab, d_model, d_ff, layers, heads;
  const char* activation;
  bool tied;
};

/// "relu", "gated-gelu", ... In gates "gelu" means gelu_new (T5Config).
void read_t5_activation(Fields& f, ModelConfig& c, const char* usual) {
  const FieldNames field{"feed_forward_proj"};
  std::string name = f.text(field, usual);
  const bool gated = name.starts_with("gated-");
  if (gated) name.erase(0, 6);
  set_activation(f, c, field, gated && name == "gelu" ? "gelu_new" : name, gated);
}

// modeling_t5.py: T5LayerSelfAttention, T5LayerCrossAttention, T5LayerFF, each x + F(N(x)); T5Stack ends in a norm. T5LayerNorm
// is RMSNorm; T5Attention neither scales scores nor has biases.
void read_t5_as(Fields& f, HuggingFaceConfig& out, const T5Usual& usual) {
  ModelConfig& c = out.config;
  c.model = ModelKind::seq2seq;
  read_sizes(f, c, {usual.vocab, usual.layers, usual.d_model, usual.heads, 512});
  c.decoder_layers = f.size_if_given({"num_decoder_layers"}, kMostLayers).value_or(c.layers);
  c.d_head = f.size({"d_kv"}, 64, kMostWidth);
  c.d_ff = f.size({"d_ff"}, usual.d_ff, kMostWidth);
  c.norm = "rmsnorm";
  c.bias = false;
  read_eps(f, c, {"layer_norm_epsilon"}, 1e-6);
  read_t5_activation(f, c, usual.activation);
  read_dropout(f, c, {{"dropout_rate"}, {}, {}}, 0.1, 0);
  if (c.dropout > 0)
    f.differs_in_training("in training, attention weights are dropped by ", c.dropout, " there as well; here they are not");
  stand_in_for(f, c, "learned biases of the scores (T5)");
  c.shared_vocab = true;
  c.tied = f.flag({"tie_word_embeddings"}, usual.tied);
  f.differs("attention scores are not divided by √d_head there; here they are");
  if (c.tied) f.note("before the tied head the stream is divided by √d_model there; here it is not");
  f.differs_in_training("matrices start as N(0, 1/fan-in), token vectors as N(0, 1) there; here as pre-ln does");
  if (!has_class(f, "EncoderModel")) return;
  c.model = ModelKind::encoder;
  c.head = c.shared_vocab = false;
  c.decoder_layers = 0;
}
void read_t5(Fields& f, HuggingFaceConfig& out) { read_t5_as(f, out, {32128, 512, 2048, 6, 8, "relu", true}); }
void read_mt5(Fields& f, HuggingFaceConfig& out) { read_t5_as(f, out, {250112, 512, 1024, 8, 6, "gated-gelu", false}); }

/// Flags of early files that the classes of today do not read: what counts is the class.
void note_unread(Fields& f, const char* name, bool is) {
  if (f.flag({name}, is) != is)
    f.note(name, " is ", !is ? "true" : "false", " in the file, but transformers does not read it; taken as ",
           is ? "true" : "false");
}

/// The two stacks have one width inside and one number of heads here.
std::size_t same_in_both(Fields& f, const char* encoder, const char* decoder, std::size_t usual) {
  const std::size_t of_encoder = f.size({encoder}, usual, kMostWidth), of_decoder = f.size({decoder}, usual, kMostWidth);
  if (of_encoder != of_decoder)
    f.refuse({decoder}, concat(of_encoder, " as ", encoder, ": stacks of unlike layers cannot be expressed"));
  return of_encoder;
}

struct BartUsual {
  std::size_t vocab;
  bool before, embedding_norm, scale_embedding = false;
};

void read_bart_as(Fields& f, HuggingFaceConfig& out, const BartUsual& usual) {
  ModelConfig& c = out.config;
  c.model = ModelKind::seq2seq;
  c.vocab = f.size({"vocab_size"}, usual.vocab, kMostIds);
  c.d_model = f.size({"d_model", "hidden_size"}, 1024, kMostWidth);
  c.layers = f.size({"encoder_layers"}, 12, kMostLayers);
  c.decoder_layers = f.size({"decoder_layers"}, 12, kMostLayers);
  c.heads = same_in_both(f, "encoder_attention_heads", "decoder_attention_heads", 16);
  if (c.d_model % c.heads != 0) f.refuse({"encoder_attention_heads"}, concat("a divisor of d_model (", c.d_model, ")"));
  c.d_ff = same_in_both(f, "encoder_ffn_dim", "decoder_ffn_dim", 4096);
  c.seq_len = f.size({"max_position_embeddings"}, 1024, kMostIds);
  c.arrangement = usual.before ? "pre-ln" : "post-ln";
  c.embedding_norm = usual.embedding_norm;
  c.norm_eps = 1e-5;
  read_activation(f, c, {"activation_function"}, "gelu");
  read_dropout(f, c, {{"dropout"}, {}, {"attention_dropout"}}, 0.1, 0);
  for (const char* name : {"activation_dropout", "encoder_layerdrop", "decoder_layerdrop"})
    if (const double drop = f.number({name}, 0, 0, 1); drop > 0) f.note(name, " is ", drop, " there, 0 here");
  c.scale_embedding = f.flag({"scale_embedding"}, usual.scale_embedding);
  c.shared_vocab = true;
  c.tied = f.flag({"tie_word_embeddings"}, true);
  note_unread(f, "normalize_before", usual.before);
  note_unread(f, "add_final_layer_norm", usual.before);
  note_unread(f, "normalize_embedding", usual.embedding_norm);
  read_init(f, out, {"init_std"});
  note_task(f);
}

/// A decoder by itself, without cross-attention: BartForCausalLM.
void read_decoder_alone(Fields& f, ModelConfig& c) {
  if (!has_class(f, "ForCausalLM")) return;
  c.model = ModelKind::lm;
  c.layers = c.decoder_layers;
  c.decoder_layers = 0;
  c.target_vocab = 0;
  c.shared_vocab = false;
}

// modeling_bart.py: BartEncoderLayer, BartDecoderLayer; layernorm_embedding; BartLearnedPositionalEmbedding has two rows in
// front.
void read_bart(Fields& f, HuggingFaceConfig& out) {
  read_bart_as(f, out, {.vocab = 50265, .before = false, .embedding_norm = true});
  out.config.position_offset = 2;
  read_decoder_alone(f, out.config);
}

// modeling_mbart.py: MBartEncoderLayer and MBartDecoderLayer are pre-ln, with a last norm each; layernorm_embedding as BART.
void read_mbart(Fields& f, HuggingFaceConfig& out) {
  read_bart_as(f, out, {.vocab = 50265, .before = true, .embedding_norm = true});
  out.config.position_offset = 2;
  read_decoder_alone(f, out.config);
}

// modeling_marian.py: MarianEncoderLayer, MarianDecoderLayer; no norm of the embeddings.
void read_marian(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_bart_as(f, out, {.vocab = 58101, .before = false, .embedding_norm = false});
  c.positions = PositionKind::sinusoidal_halves;
  f.differs("sines and cosines of positions have slightly other frequencies there (10000^(-2i/d_model))");
  c.shared_vocab = f.flag({"share_encoder_decoder_embeddings"}, true);
  c.target_vocab = f.size_if_given({"decoder_vocab_size"}, kMostIds).value_or(c.vocab);
  if (c.shared_vocab && c.target_vocab != c.vocab)
    f.refuse({"decoder_vocab_size"}, concat(c.vocab, " as vocab_size, because both stacks share a table"));
  f.differs("logits have a constant bias per token there (final_logits_bias); here they have none");
  read_decoder_alone(f, c);
}

constexpr std::array kSeq2SeqFamilies{
    Family{"t5", "T5", read_t5},          Family{"mt5", "MT5", read_mt5},          Family{"bart", "Bart", read_bart},
    Family{"mbart", "MBart", read_mbart}, Family{"marian", "Marian", read_marian},
};

}  // namespace

std::span<const Family> seq2seq_families() { return kSeq2SeqFamilies; }

}  // namespace addnorm::hugging_face
