#include "train/flops.h"

#include "train/model_size.h"

namespace addnorm {
namespace {

/// Two products forward and four backward, over all pairs of queries and keys.
double attention_flops(double layers, double width, double queries, double keys) {
  return 6 * 2 * layers * width * queries * keys;
}

}  // namespace

double flops_per_step(const ModelConfig& c, std::size_t sequences, std::size_t tokens) {
  const ModelSize size = size_of(c);
  const auto n = static_cast<double>(sequences), t = static_cast<double>(c.model == ModelKind::mlp ? 1 : tokens);
  const auto d = static_cast<double>(c.d_model), layers = static_cast<double>(c.layers);
  const bool tied = c.tied && (c.model == ModelKind::lm || c.model == ModelKind::seq2seq || c.model == ModelKind::encoder);
  const double head = tied && c.head ? d * static_cast<double>(c.target_vocab ? c.target_vocab : c.vocab) : size.head;
  const double head_rows = c.model == ModelKind::classifier ? n : n * t;
  double flops = 6 * (n * t * (size.encoder + size.decoder) + head_rows * head);
  if (c.model == ModelKind::mlp || c.layer == LayerKind::ffn) return flops;
  const double width = static_cast<double>(c.heads * c.d_head);
  flops += n * attention_flops(layers, width, t, t);
  if (c.model == ModelKind::seq2seq)
    flops += 2 * n * attention_flops(static_cast<double>(c.decoder_layers), width, t, t);  // self and cross
  return flops;
}

}  // namespace addnorm
