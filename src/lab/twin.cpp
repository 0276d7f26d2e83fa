#include "lab/twin.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "train/flops.h"

namespace addnorm {
namespace {

constexpr std::size_t kLeastBatch = 8, kLeastTokens = 64, kLeastWidth = 32;

double step_flops(const RunOptions& o) {
  return flops_per_step(o.model,
                        {.sequences = o.batch_size * o.grad_accum, .tokens = o.model.seq_len, .target_tokens = o.model.seq_len});
}

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

}  // namespace

Twin twin_within(const RunOptions& options, double most, bool may_shorten) {
  Twin twin{.options = options};
  RunOptions& o = twin.options;
  const auto large = [&] { return step_flops(o) > most; };
  if (large() && o.grad_accum > 1) o.grad_accum = 1;
  while (large() && o.batch_size > kLeastBatch) o.batch_size = std::max(kLeastBatch, o.batch_size / 2);
  while (large() && may_shorten && o.model.seq_len > kLeastTokens) o.model.seq_len = std::max(kLeastTokens, o.model.seq_len / 2);
  while (large() && o.model.d_model % 2 == 0 && o.model.d_model / 2 >= kLeastWidth) halve_width(o.model);
  std::string told;
  const auto tell = [&](const char* what, std::size_t now, std::size_t asked) {
    if (now != asked) told += concat(told.empty() ? "" : ", ", what, " ", now, " (of ", asked, ")");
  };
  tell("d_model", o.model.d_model, options.model.d_model);
  tell("batch_size", o.batch_size * o.grad_accum, options.batch_size * options.grad_accum);
  tell("seq_len", o.model.seq_len, options.model.seq_len);
  twin.told = told;
  return twin;
}

}  // namespace addnorm
