// Encoders of BERT's kind: post-ln after a norm of the embeddings.
#include <array>

#include "model/import/config/parts.h"

namespace addnorm::hugging_face {
namespace {

std::size_t labels_of(Fields& f) {
  if (const auto count = f.size_if_given({"num_labels"}, kMostIds)) return *count;
  const Json* names = f.object_if_given("id2label");
  return names && names->size() > 0 ? names->size() : 2;
}

/// What stands on the encoder. Nothing said: the table of tokens, for masked language modelling.
void read_task(Fields& f, ModelConfig& c) {
  c.model = ModelKind::encoder;
  const std::vector<std::string> classes = f.architectures();
  const std::string name = classes.empty() ? "" : classes.front();
  c.tied = f.flag({"tie_word_embeddings"}, true);
  if (f.flag({"is_decoder"}, false)) {
    refuse_cross_attention(f);
    c.model = ModelKind::lm;
  } else if (name.ends_with("ForSequenceClassification")) {
    c.model = ModelKind::classifier;
    c.classes = labels_of(f);
    c.pooling = Pooling::first;
    f.differs("between the first token and the classes there is one more matrix in ", name, "; here there is none");
    return;
  } else if (!name.empty() && !name.ends_with("ForMaskedLM") && !name.ends_with("BertForPreTraining")) {
    c.head = false;
    if (!name.ends_with("Model")) f.differs("the head of ", name, " is left out: the encoder ends in vectors");
    return;
  }
  c.head_bias = c.head_transform = true;
}

/// BERT, RoBERTa and ELECTRA but for their embeddings.
void read_bert_body(Fields& f, HuggingFaceConfig& out, const UsualSizes& usual, std::size_t d_ff) {
  ModelConfig& c = out.config;
  read_sizes(f, c, usual);
  read_heads(f, c);
  c.d_ff = f.size({"intermediate_size"}, d_ff, kMostWidth);
  c.arrangement = "post-ln";
  c.embedding_norm = true;
  read_activation(f, c, {"hidden_act"}, "gelu");
  read_eps(f, c, {"layer_norm_eps"}, 1e-12);
  read_dropout(f, c, {{"hidden_dropout_prob"}, {}, {"attention_probs_dropout_prob"}}, 0.1, 0.1);
  const std::string positions = f.text({"position_embedding_type"}, "absolute");
  if (positions != "absolute") f.differs("positions are ", positions, " there, a learned table alone here");
  c.token_types = f.whole({"type_vocab_size"}, 2, kMostIds);
  read_task(f, c);
  read_init(f, out, {"initializer_range"});
}

// modeling_bert.py: BertEmbeddings, BertSelfOutput, BertOutput.
void read_bert(Fields& f, HuggingFaceConfig& out) { read_bert_body(f, out, {30522, 12, 768, 12, 512}, 3072); }

// modeling_roberta.py: RobertaEmbeddings counts positions from pad_token_id + 1 on, in a table of max_position_embeddings rows.
void read_roberta(Fields& f, HuggingFaceConfig& out) {
  read_bert_body(
      f, out, {out.model_type == "xlm-roberta" || out.model_type == "camembert" ? std::size_t{30522} : 50265, 12, 768, 12, 512},
      3072);
  ModelConfig& c = out.config;
  if (c.head_transform && c.activation != Activation::gelu)
    f.differs("before the head the activation is gelu there (RobertaLMHead), ", name_of(c.activation), " here");
  c.position_offset = f.whole({"pad_token_id"}, 1, kMostIds - 1) + 1;
  if (c.seq_len <= c.position_offset)
    f.refuse({"max_position_embeddings"}, concat("more than ", c.position_offset, ", the rows before the first token's"));
  c.seq_len -= c.position_offset;
}

// modeling_electra.py: ElectraEmbeddings, whose norm stands before the matrix into the stream where widths differ.
void read_electra(Fields& f, HuggingFaceConfig& out) {
  read_bert_body(f, out, {30522, 12, 256, 4, 512}, 1024);
  const std::size_t width = f.size_if_given({"embedding_size"}, kMostWidth).value_or(128);
  if (width != out.config.d_model)
    f.differs("embeddings and their norm have ", width, " features there and pass a matrix into the stream; here they have ",
              out.config.d_model, " and pass none");
}

// modeling_distilbert.py: TransformerBlock, Embeddings; eps is 1e-12 throughout.
void read_distilbert(Fields& f, HuggingFaceConfig& out) {
  ModelConfig& c = out.config;
  read_sizes(f, c, {30522, 6, 768, 12, 512});
  read_heads(f, c);
  c.d_ff = f.size({"hidden_dim"}, 3072, kMostWidth);
  c.arrangement = "post-ln";
  c.embedding_norm = true;
  c.norm_eps = 1e-12;
  read_activation(f, c, {"activation"}, "gelu");
  read_dropout(f, c, {{"dropout"}, {}, {"attention_dropout"}}, 0.1, 0.1);
  if (f.flag({"sinusoidal_pos_embds"}, false)) c.positions = PositionKind::sinusoidal;
  read_task(f, c);
  read_init(f, out, {"initializer_range"});
}

constexpr std::array kBertFamilies{
    Family{"bert", "Bert", read_bert},
    Family{"roberta", "Roberta", read_roberta},
    Family{"xlm-roberta", "XLMRoberta", read_roberta},
    Family{"camembert", "Camembert", read_roberta},
    Family{"distilbert", "DistilBert", read_distilbert},
    Family{"electra", "Electra", read_electra},
};

}  // namespace

std::span<const Family> bert_families() { return kBertFamilies; }

}  // namespace addnorm::hugging_face
