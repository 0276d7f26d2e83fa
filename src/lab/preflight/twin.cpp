#include "lab/preflight/candidate.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "train/model_size.h"

namespace addnorm {
namespace {

constexpr std::size_t kLeastWidth = 32;

/// Half as wide: heads keep their width where there are several, and everything else its proportion.
void halve_width(ModelConfig& m) {
  const std::size_t d_head = m.d_head ? m.d_head : m.d_model / m.heads;
  m.d_model /= 2;
  m.d_ff = std::max<std::size_t>(1, m.d_ff / 2);
  if (m.heads % 2 == 0 && m.kv_heads % 2 == 0) {
    m.heads /= 2;
    m.kv_heads /= 2;
    m.d_head = d_head;
  } else if (m.heads % 2 == 0 && m.kv_heads == 1) {
    m.heads /= 2;
    m.d_head = d_head;
  } else {
    m.d_head = std::max<std::size_t>(2, d_head / 2);
  }
}

/// Weights of one deviation for all widths (GPT-2's kind) are drawn larger in a narrower stream, so that branches stay as strong:
/// deviation^2 * width is kept. So it is for embeddings, whether a rule or an option says how large they are; but not for those
/// of a rule that draws them alike at any width (t5, pytorch).
void keep_strengths(ModelConfig& m, std::size_t asked_width) {
  const double wider = std::sqrt(static_cast<double>(asked_width) / static_cast<double>(m.d_model));
  const InitSpec spec = with_init(arrangement_of(m), m.init).init,
                 rule = with_init(arrangement_of(m), {.rule = m.init.rule}).init;
  if (spec.base == InitSpec::Base::normal) m.init.deviation = spec.deviation * wider;
  const InitSpec::Draw* tokens = rule.draw_of(Role::token_embedding, std::nullopt);
  if (tokens && tokens->base == InitSpec::Base::normal) return;
  if (m.init.embedding_std) *m.init.embedding_std *= wider;
  if (m.init.position_std) *m.init.position_std *= wider;
}

/// A step of Adam moves every weight by some lr, so what a matrix gives moves by lr * width of what it had; Adafactor's steps are
/// as large as RMS(W) ~ 1 / sqrt(width). A step of SGD is as small as the gradient, which falls with the width.
double rate_ratio(OptimizerKind kind, double widths) {
  if (kind == OptimizerKind::sgd) return 1;
  return kind == OptimizerKind::adafactor ? std::sqrt(widths) : widths;
}

}  // namespace

double step_flops(const RunOptions& o) {
  return flops_per_step(o.model,
                        {.sequences = o.batch_size * o.grad_accum, .tokens = o.model.seq_len, .target_tokens = o.model.seq_len});
}

Twin twin_within(const RunOptions& options, double most, bool may_shorten, const BatchLimits& limits) {
  Twin twin{.options = options};
  RunOptions& o = twin.options;
  const auto large = [&] { return step_flops(o) > most; };
  if (may_shorten) o.model.seq_len = std::min(o.model.seq_len, limits.tokens_each);
  const std::size_t each = o.model.model == ModelKind::mlp ? 1 : o.model.seq_len;
  o.batch_size = std::min(o.batch_size * o.grad_accum, std::max(limits.sequences, limits.tokens / each));
  o.grad_accum = 1;
  while (large() && o.model.d_model % 2 == 0 && o.model.d_model / 2 >= kLeastWidth) halve_width(o.model);
  if (o.model.d_model != options.model.d_model) {
    keep_strengths(o.model, options.model.d_model);
    const double widths = static_cast<double>(options.model.d_model) / static_cast<double>(o.model.d_model);
    const double faster = rate_ratio(o.optimizer.kind, widths);
    o.lr *= faster;
    twin.summary = concat("d_model ", o.model.d_model, " (of ", options.model.d_model, ")");
    if (faster > 1) twin.summary += concat(" at ", short_figure(faster), " times the rate");
  }
  return twin;
}

}  // namespace addnorm
