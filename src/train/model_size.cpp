#include "train/model_size.h"

namespace addnorm {
namespace {

double linear(double in, double out, bool bias) { return in * out + (bias ? out : 0); }

double attention(const ModelConfig& c) {  // self or cross: the same maps
  const auto d = static_cast<double>(c.d_model), q = static_cast<double>(c.heads) * static_cast<double>(c.d_head);
  const double kv = static_cast<double>(c.kv_heads) * static_cast<double>(c.d_head);
  const bool bias = c.attention_bias.value_or(c.bias);
  return linear(d, q + 2 * kv, bias) + linear(q, d, c.attention_out_bias.value_or(bias));
}

double feed_forward(const ModelConfig& c) {
  const auto d = static_cast<double>(c.d_model), inner = static_cast<double>(c.d_ff);
  return linear(d, inner * (c.activation == Activation::swiglu ? 2 : 1), c.bias) + linear(inner, d, c.bias);
}

double stack(const ModelConfig& c, std::size_t layers, bool with_cross) {
  double layer = with_cross ? attention(c) : 0;
  if (c.layer != LayerKind::ffn) layer += attention(c);
  if (c.layer != LayerKind::attention) layer += feed_forward(c);
  return static_cast<double>(layers) * layer;
}

double units_per_layer(const ModelConfig& c) { return c.layer == LayerKind::attention_ffn ? 2 : 1; }

/// Two products forward and four backward, over all pairs of queries and keys.
double attention_flops(double layers, double width, double queries, double keys) {
  return 6 * 2 * layers * width * queries * keys;
}

}  // namespace

ModelSize size_of(const ModelConfig& c) {
  const auto d = static_cast<double>(c.d_model), positions = static_cast<double>(c.seq_len + c.position_offset);
  const bool pair = c.model == ModelKind::seq2seq, numbers = c.model == ModelKind::mlp;
  const double token_inputs = numbers ? 0 : pair ? 2 : 1;
  ModelSize size;
  const double width = c.d_embedding > 0 ? static_cast<double>(c.d_embedding) : d;
  if (!numbers) size.tables = static_cast<double>(c.vocab) * width;
  if (c.d_embedding > 0) size.tables += 2 * width * d;  // into the stream and from it
  if (pair && !c.shared_vocab) size.tables += static_cast<double>(c.target_vocab) * d;
  if (c.positions == PositionKind::learned) size.tables += token_inputs * positions * d;
  size.tables += token_inputs * static_cast<double>(c.token_types) * d;
  if (is_rotary(c.positions))  // a stack has one table of angles, in float and in double
    size.fixed = token_inputs * 3 * static_cast<double>(c.seq_len) * static_cast<double>(c.d_head);
  else if (c.positions != PositionKind::learned && c.positions != PositionKind::none)
    size.fixed = token_inputs * positions * d;
  size.encoder = stack(c, c.layers, false);
  if (pair) size.decoder = stack(c, c.decoder_layers, true);
  if (numbers) size.head = linear(static_cast<double>(c.features), d, true) + linear(d, static_cast<double>(c.classes), true);
  if (c.model == ModelKind::classifier) size.head = linear(d, static_cast<double>(c.classes), true);
  const bool logits = c.model == ModelKind::lm || pair || (c.model == ModelKind::encoder && c.head);
  if (logits && !c.tied) size.head = linear(width, static_cast<double>(pair ? c.target_vocab : c.vocab), c.head_bias);
  if (logits && c.head_transform) size.head += linear(d, d, true);
  const double units = units_per_layer(c) * static_cast<double>(c.layers) +
                       (pair ? (units_per_layer(c) + 1) * static_cast<double>(c.decoder_layers) : 0);
  size.norms = 2 * 2 * d * units;
  return size;
}

StepShape shape_of(const Batch& batch) {
  const std::size_t n = batch.sequences;
  return {n, n > 0 ? batch.ids.size() / n : 0, n > 0 ? batch.target_ids.size() / n : 0};
}

double flops_per_step(const ModelConfig& c, const StepShape& shape) {
  const ModelSize size = size_of(c);
  const bool pairs = c.model == ModelKind::seq2seq, numbers = c.model == ModelKind::mlp;
  const auto n = static_cast<double>(shape.sequences), s = static_cast<double>(numbers ? 1 : shape.tokens);
  const double t = pairs ? static_cast<double>(shape.target_tokens) : s;
  const auto d = static_cast<double>(c.d_model), layers = static_cast<double>(c.layers);
  const auto decoder_layers = static_cast<double>(c.decoder_layers);
  const bool tied = c.tied && (c.model == ModelKind::lm || pairs || c.model == ModelKind::encoder);
  const double head = tied && c.head ? d * static_cast<double>(c.target_vocab ? c.target_vocab : c.vocab) : size.head;
  const double head_rows = c.model == ModelKind::classifier ? n : n * t;
  // Keys and values of cross-attention are made of the source.
  const double cross = pairs ? decoder_layers * 2 * d * static_cast<double>(c.kv_heads * c.d_head) : 0;
  double flops = 6 * (n * s * (size.encoder + cross) + n * t * (size.decoder - cross) + head_rows * head);
  if (numbers || c.layer == LayerKind::ffn) return flops;
  const double width = static_cast<double>(c.heads * c.d_head);
  flops += n * attention_flops(layers, width, s, s);
  if (pairs) flops += n * (attention_flops(decoder_layers, width, t, t) + attention_flops(decoder_layers, width, t, s));
  return flops;
}

}  // namespace addnorm
