#include "addnorm/train/memory.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/residual/arrangement.h"
#include "core/figures.h"
#include "nn/norms/norm_kind_info.h"
#include "train/model_size.h"
#include "train/optimizer/optimizer_info.h"

namespace addnorm {
namespace {

constexpr double kFloat = sizeof(float);
constexpr double kStatistics = 12;  // bytes per row and norm: mean in double, rstd in float

/// What ops keep of a token for their backward, in vectors of the width named beside each. The one place to change when an op
/// keeps more or less; tests/train/trainer/memory_test.cpp measures whether it is right.
struct KeptPerToken {
  double norm = 1;               ///< d_model: the sum; its norm is made again
  double other_norm = 2;         ///< d_model: of kinds that are not added and normed at once, the norm as well
  double qkv = 1, attended = 1;  ///< heads * d_head and the like: the input and output of attention
  double rotated = 1;            ///< q and k besides, once turned or normed by itself
  double hidden = 1;             ///< d_ff: before the activation, which is made again
  double gated_hidden = 3;       ///< d_ff: gate, value, product
  double stream = 2;             ///< d_model, with recompute: the stream and a branch that is not added yet
  double logits = 2;             ///< vocabulary: they and their gradient
  double ends = 4;               ///< d_model: table rows, position rows, their sum, the exit's norm
};
constexpr KeptPerToken kKept;

/// Vectors of d_model that backward of a layer holds at once besides what was kept, and of d_ff.
constexpr double kTemporaryModel = 3, kTemporaryHidden = 2;

/// One layer of a stack for one token, in bytes.
struct LayerBytes {
  double kept = 0, temporary = 0;
};

/// What an arrangement keeps besides, for a kind of sub-layer: the most that any of its units of that kind does.
struct Extras {
  double stream =
      0;  ///< vectors of d_model: a second norm, a norm times a number, a branch times a learned factor, a second stream
  double inner = 0;  ///< of the branch's inner width: a norm or gains there
};
Extras extras_of(const ModelConfig& c, SubLayer sub_layer) {
  const Arrangement& row = arrangement_of(c);
  if (!row.is_row()) return {.stream = 1};
  Extras most;
  const auto see = [&](const UnitSlots& slots) {
    const bool learned = slots.a.kind != CoefficientRule::Kind::fixed || slots.b.kind != CoefficientRule::Kind::fixed;
    const auto one = [](bool there) { return there ? 1.0 : 0.0; };
    most.stream =
        std::max(most.stream, one(slots.out) + one(learned) + one(slots.in && slots.post) + one(!slots.in_scale.is_one()));
    const bool gained = slots.head_gain != HeadGain::none && sub_layer != SubLayer::ffn;
    most.inner = std::max(most.inner, one(slots.mid) + one(gained));
  };
  see(row.unit);
  for (const Override& other : row.overrides)
    if (other.sub_layer.value_or(sub_layer) == sub_layer) see(other.slots);
  return most;
}

double norm_vectors(const ModelConfig& c) { return norm_kind(norm_of(c).formula).add ? kKept.norm : kKept.other_norm; }

double attention_bytes(const ModelConfig& c, bool cross) {
  const double q = static_cast<double>(c.heads * c.d_head), kv = 2 * static_cast<double>(c.kv_heads * c.d_head);
  const bool changed = !cross && (is_rotary(c.positions) || c.qk_norm != "none");
  const Extras extras = extras_of(c, cross ? SubLayer::cross : SubLayer::self);
  const double floats = (norm_vectors(c) + extras.stream) * static_cast<double>(c.d_model) + kKept.qkv * (q + kv) +
                        (kKept.attended + extras.inner) * q + (changed ? kKept.rotated * (q + kv) : 0) +
                        static_cast<double>(c.heads);
  return floats * kFloat + kStatistics;
}

double feed_forward_bytes(const ModelConfig& c) {
  const Extras extras = extras_of(c, SubLayer::ffn);
  const double hidden = (c.activation == Activation::swiglu ? kKept.gated_hidden : kKept.hidden) + extras.inner;
  const double stream = norm_vectors(c) + extras.stream;
  return (stream * static_cast<double>(c.d_model) + hidden * static_cast<double>(c.d_ff)) * kFloat + kStatistics;
}

LayerBytes layer_bytes(const ModelConfig& c, bool with_cross) {
  LayerBytes layer;
  if (c.layer != LayerKind::ffn) layer.kept += attention_bytes(c, false);
  if (with_cross) layer.kept += attention_bytes(c, true);
  if (c.layer != LayerKind::attention) layer.kept += feed_forward_bytes(c);
  const double hidden = c.layer == LayerKind::attention ? 0 : kTemporaryHidden * static_cast<double>(c.d_ff);
  layer.temporary = (kTemporaryModel * static_cast<double>(c.d_model) + hidden) * kFloat;
  return layer;
}

/// Rows that go through a stack at once.
double rows_of(const ModelConfig& c, const MemoryOptions& o) {
  const double tokens = c.model == ModelKind::mlp ? 1 : static_cast<double>(o.tokens ? o.tokens : c.seq_len);
  return static_cast<double>(o.batch_size) * tokens;
}

void add_activations(const ModelConfig& c, const MemoryOptions& o, MemoryEstimate& e) {
  const bool pair = c.model == ModelKind::seq2seq;
  const double rows = rows_of(c, o), width = static_cast<double>(c.d_model) * kFloat;
  const LayerBytes own = layer_bytes(c, false), decoder = layer_bytes(c, true);
  const double layers = static_cast<double>(c.layers), decoder_layers = pair ? static_cast<double>(c.decoder_layers) : 0;
  if (o.recompute) {
    e.activations = rows * (layers + decoder_layers) * kKept.stream * width;
    e.temporary = rows * (pair ? decoder.kept + decoder.temporary : own.kept + own.temporary);
  } else {
    e.activations = rows * (layers * own.kept + decoder_layers * decoder.kept);
    e.temporary = rows * own.temporary;
  }
  e.activations += rows * kKept.ends * width * (pair ? 2 : 1);
}

double logits_bytes(const ModelConfig& c, const MemoryOptions& o) {
  const bool one_per_sample = c.model == ModelKind::classifier || c.model == ModelKind::mlp;
  if (one_per_sample) return kKept.logits * static_cast<double>(o.batch_size) * static_cast<double>(c.classes) * kFloat;
  const std::size_t vocab = c.model == ModelKind::seq2seq ? c.target_vocab : c.vocab;
  return kKept.logits * rows_of(c, o) * static_cast<double>(vocab) * kFloat;
}

/// The gradient of the table or matrix that makes logits: often the largest of all parameters, and held twice when it is made.
double head_gradient(const ModelConfig& c) {
  if (c.model == ModelKind::classifier || c.model == ModelKind::mlp) return 0;
  return static_cast<double>(c.model == ModelKind::seq2seq ? c.target_vocab : c.vocab) * static_cast<double>(c.d_model) * kFloat;
}

bool fits(const MemoryEstimate& estimate, const MemoryLimit& available) {
  return estimate.needed() <= static_cast<double>(available.bytes);
}

/// The largest batch that fits, halving; 0: not even one sequence.
std::size_t fitting_batch(const MemoryEstimate& estimate, const MemoryLimit& available, bool recompute) {
  MemoryOptions options = estimate.options;
  options.recompute = recompute;
  for (; options.batch_size > 0; options.batch_size /= 2)
    if (fits(estimate_memory(estimate.config, options), available)) return options.batch_size;
  return 0;
}

std::string advice(const MemoryEstimate& estimate, const MemoryLimit& available, const FieldWords& words) {
  const std::size_t asked = estimate.options.batch_size;
  const std::size_t plain = fitting_batch(estimate, available, estimate.options.recompute);
  const std::size_t again = fitting_batch(estimate, available, true);
  const std::string batch = called(words, "batch_size");
  std::string text;
  if (plain > 0) text = concat("try ", batch, " ", plain);
  if (!estimate.options.recompute && again > plain)
    text += concat(text.empty() ? "try " : " or ", again < asked ? concat(batch, " ", again, " with ") : "",
                   called(words, "recompute"));
  return text.empty() ? with_fields_called("try a smaller model: fewer {layers}, a smaller {d_model} or {seq_len}", words) : text;
}

}  // namespace

MemoryEstimate estimate_memory(const ModelConfig& config, const MemoryOptions& options) {
  require(options.batch_size >= 1, "estimate_memory: batch_size is 0; at least 1");
  MemoryEstimate e{.config = completed(config), .options = options};
  const ModelSize size = size_of(e.config);
  e.parameters = size.parameters();
  e.weights = (size.parameters() + size.fixed) * kFloat;
  e.gradients = size.parameters() * kFloat;
  e.optimizer = optimizer_kind(options.optimizer).state_per_parameter * size.parameters() * kFloat;
  e.logits = logits_bytes(e.config, options);
  add_activations(e.config, options, e);
  // Gradients come while activations go. The fullest moment is where backward begins, or where it ends.
  const double head = head_gradient(e.config);
  const double begin = e.activations + e.logits + std::max(e.temporary + head, 2 * head);
  const double end = e.gradients + e.temporary + head;
  e.bytes = e.weights + e.optimizer + (options.accumulate > 1 ? e.gradients + begin : std::max(begin, end));
  return e;
}

double MemoryEstimate::needed() const {
  constexpr double kRounding = 1.125;  // of the arena: sizes are rounded up, and a freed block serves only its own size
  constexpr double kProcess = 24 << 20;
  return kRounding * bytes + kProcess;
}

std::string MemoryEstimate::text() const {
  return concat("weights ", Bytes{weights}, ", gradients ", Bytes{gradients}, ", optimizer ", Bytes{optimizer}, ", activations ",
                Bytes{activations}, ", logits ", Bytes{logits}, ", temporary ", Bytes{temporary}, ": ", Bytes{bytes}, " at once",
                data > 0 ? concat(", besides ", Bytes{data}, " of data") : "");
}

void require_fits(const MemoryEstimate& estimate, const MemoryLimit& available, const FieldWords& words) {
  if (fits(estimate, available)) return;
  throw Error(concat("training needs about ", Bytes{estimate.needed()}, ", have ", Bytes{static_cast<double>(available.bytes)},
                     " (", available.limited_by, "): ", estimate.text(), "; ", advice(estimate, available, words)));
}

}  // namespace addnorm
