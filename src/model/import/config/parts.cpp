#include "model/import/config/parts.h"

#include <algorithm>
#include <array>

#include "addnorm/residual/catalogue.h"

namespace addnorm::hugging_face {
namespace {

constexpr FieldNames kHeads{"num_attention_heads", "n_head", "num_heads", "n_heads"};
constexpr double kMostDropout = 0.999;

/// transformers' activations.py: ACT2FN.
struct TheirActivation {
  const char* name;
  Activation ours;
  bool exact = true;
};
constexpr std::array kActivations{
    TheirActivation{"relu", Activation::relu},
    TheirActivation{"gelu", Activation::gelu},
    TheirActivation{"gelu_python", Activation::gelu},
    TheirActivation{"gelu_new", Activation::gelu_tanh},
    TheirActivation{"gelu_fast", Activation::gelu_tanh},
    TheirActivation{"gelu_pytorch_tanh", Activation::gelu_tanh},
    TheirActivation{"gelu_accurate", Activation::gelu_tanh},
    TheirActivation{"silu", Activation::silu},
    TheirActivation{"swish", Activation::silu},
    TheirActivation{"quick_gelu", Activation::gelu, false},
    TheirActivation{"gelu_10", Activation::gelu, false},
    TheirActivation{"relu2", Activation::relu, false},
    TheirActivation{"relu6", Activation::relu, false},
    TheirActivation{"leaky_relu", Activation::relu, false},
    TheirActivation{"mish", Activation::silu, false},
};

std::string known_activations() {
  Names all;
  for (const TheirActivation& known : kActivations) all.emplace_back(known.name);
  return "one of " + listed(all);
}

void note_scaling(Fields& f, const Json* scaling, const char* name) {
  if (!scaling) return;
  const std::string kind = f.inside(*scaling, name).text({"rope_type", "type"}, "default");
  if (kind != "default") f.differs(name, " is ", kind, ": rotary angles are stretched there; here they are not");
}

}  // namespace

void read_sizes(Fields& f, ModelConfig& c, const UsualSizes& usual) {
  c.vocab = f.size({"vocab_size"}, usual.vocab, kMostIds);
  c.layers = f.size({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, usual.layers, kMostLayers);
  c.d_model = f.size({"hidden_size", "n_embd", "n_embed", "d_model", "dim"}, usual.d_model, kMostWidth);
  c.heads = f.size(kHeads, usual.heads, kMostWidth);
  c.seq_len = f.size({"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}, usual.seq_len, kMostIds);
}

void read_heads(Fields& f, ModelConfig& c, std::size_t usual_kv_heads, std::size_t usual_d_head) {
  c.d_head = f.size_if_given({"head_dim"}, kMostWidth).value_or(usual_d_head);
  if (c.d_head == 0 && c.d_model % c.heads != 0) f.refuse(kHeads, concat("a divisor of the width ", c.d_model));
  const FieldNames kv{"num_key_value_heads", "num_kv_heads", "n_head_kv"};
  c.kv_heads = f.size_if_given(kv, kMostWidth).value_or(usual_kv_heads);
  if (c.kv_heads > 0 && c.heads % c.kv_heads != 0) f.refuse(kv, concat("a divisor of the ", c.heads, " heads"));
}

void set_activation(Fields& f, ModelConfig& c, FieldNames names, const std::string& name, bool gated) {
  const auto found = std::ranges::find_if(kActivations, [&](const TheirActivation& known) { return name == known.name; });
  if (found == kActivations.end()) f.refuse(names, known_activations());
  if (gated && found->ours != Activation::silu) f.differs("gates go through ", name, " there, through silu here");
  if (!gated && !found->exact) f.differs("the activation is ", name, " there, ", name_of(found->ours), " here");
  c.activation = gated ? Activation::swiglu : found->ours;
}

void read_activation(Fields& f, ModelConfig& c, FieldNames names, const char* usual, bool gated) {
  set_activation(f, c, names, f.text(names, usual), gated);
}

void read_dropout(Fields& f, ModelConfig& c, const DropoutNames& names, double usual, double usual_in_attention) {
  c.dropout = f.number(names.residual, usual, 0, kMostDropout);
  const double embedding = f.number(names.embedding, c.dropout, 0, kMostDropout);
  if (embedding != c.dropout)
    f.differs_in_training("in training, embeddings are dropped by ", embedding, " there, by ", c.dropout, " as branches here");
  const double attention = f.number(names.attention, usual_in_attention, 0, kMostDropout);
  if (attention > 0)
    f.differs_in_training("in training, attention weights are dropped by ", attention, " there; here they are not");
}

void read_eps(Fields& f, ModelConfig& c, FieldNames names, double usual) { c.norm_eps = f.number(names, usual, 0, 1); }

void set_biases(ModelConfig& c, bool attention, bool ffn) {
  c.bias = ffn;
  if (attention != ffn) c.attention_bias = attention;
}

void read_rotary(Fields& f, ModelConfig& c, double usual_share, double usual_base) {
  c.positions = PositionKind::rotary_halves;
  const FieldNames base{"rope_theta", "rotary_emb_base"}, shares{"partial_rotary_factor", "rotary_pct"};
  constexpr double kMostBase = 1e15;
  c.rope_base = f.number(base, usual_base, 1, kMostBase);
  double share = f.number(shares, usual_share, 0, 1);
  note_scaling(f, f.object_if_given("rope_scaling"), "rope_scaling");
  if (const Json* all = f.object_if_given("rope_parameters")) {  // where transformers 5 has these
    Fields inner = f.inside(*all, "rope_parameters");
    const Json* full = inner.object_if_given("full_attention");  // one set per kind of layer
    Fields own = full ? inner.inside(*full, "full_attention") : inner;
    c.rope_base = own.number(base, c.rope_base, 1, kMostBase);
    share = own.number(shares, share, 0, 1);
    note_scaling(f, full ? full : all, "rope_parameters");
  }
  if (share < 1) f.differs("positions turn ", share, " of a head's features there, all of them here");
}

void stand_in_for(Fields& f, ModelConfig& c, const char* theirs) {
  const std::size_t d_head = c.d_head > 0 ? c.d_head : c.d_model / c.heads;
  c.positions = d_head % 2 == 0 ? PositionKind::rotary_halves : PositionKind::none;
  f.differs("positions are ", theirs, " there, ", name_of(c.positions), " here; neither adds anything to the stream");
}

void note_sliding(Fields& f, const ModelConfig& c, std::optional<double> window) {
  if (window && *window < static_cast<double>(c.seq_len))
    f.differs("attention of some or all layers sees ", *window, " tokens back there, all of them here");
}

void refuse_cross_attention(Fields& f) {
  if (f.flag({"add_cross_attention"}, false))
    f.refuse({"add_cross_attention"}, "false: a third unit per layer that reads another model cannot be expressed");
}

void note_task(Fields& f) {
  for (const std::string& name : f.architectures())
    if (name.find("Classification") != std::string::npos || name.find("QuestionAnswering") != std::string::npos)
      f.differs("the head of ", name, " is left out: logits are those of the next token");
}

void read_init(Fields& f, HuggingFaceConfig& out, FieldNames names, double usual, bool by_depth) {
  constexpr double kMost = 100;
  InitOptions theirs{.rule = by_depth ? "gpt2" : "bert", .deviation = f.number(names, usual, 0, kMost)};
  const InitSpec& ours = arrangement_of(out.config).init;
  if (*theirs.deviation == 0)
    return f.differs_in_training(*names.begin(), " is 0: before training, all matrices are 0 there; here they start by ",
                                 ours.name);
  if (ours.name != theirs.rule || ours.deviation != *theirs.deviation) out.init = std::move(theirs);
}

}  // namespace addnorm::hugging_face
