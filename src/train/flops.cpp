#include "train/flops.h"

#include "train/model_size.h"

namespace addnorm {
namespace {

/// Two products forward and four backward, over all pairs of queries and keys.
double attention_flops(double layers, double width, double queries, double keys) {
  return 6 * 2 * layers * width * queries * keys;
}

}  // namespace

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
