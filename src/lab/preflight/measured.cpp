#include "lab/preflight/rule.h"

#include "addnorm/core/error.h"
#include "core/figures.h"

namespace addnorm {
namespace {

/// What tools/draw_held_out.py draws, and so what the hit rate speaks of.
constexpr std::size_t kMeasuredLayers = 12, kMeasuredWidth = 72, kMeasuredTokens = 64, kMeasuredBatch = 40;
constexpr double kLeastTokens = 0.02, kMostTokens = 0.5, kLeastBranches = 0.2;

struct Rates {
  double least, most;
};
Rates measured_rates(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adam:
      return {2e-5, 4e-3};
    case OptimizerKind::adafactor:
      return {5e-4, 2e-2};
    case OptimizerKind::sgd:
      return {0.01, 0.2};
    default:
      return {1e-4, 4e-3};
  }
}

bool is_measured_rule(const InitOptions& init) { return init.by_arrangement() || init.rule == "xavier" || init.rule == "gpt2"; }

/// How weights start that was not drawn.
std::string start_beyond(const InitOptions& init, const FieldWords& words) {
  const auto field = [&](const char* name) { return called(words, name); };
  if (!is_measured_rule(init)) return concat("started by the rule ", init.rule);
  if (init.deviation) return concat("had weights from an ", field("init_std"));
  if (init.position_std) return concat("had positions from a ", field("position_std"));
  if (init.embedding_std.value_or(kMostTokens) > kMostTokens)
    return concat("had an ", field("embedding_std"), " above ", kMostTokens);
  if (init.embedding_std.value_or(kMostTokens) < kLeastTokens)
    return concat("had an ", field("embedding_std"), " below ", kLeastTokens);
  if (init.branch_scale > 1) return concat("had a ", field("branch_scale"), " above 1");
  if (init.branch_scale < kLeastBranches) return concat("had a ", field("branch_scale"), " below ", kLeastBranches);
  return "";
}

}  // namespace

double measured_confidence(Forecast forecast) {
  const auto expected = [](double right, double said) { return (right + 1) / (said + 2); };
  switch (forecast) {
    case Forecast::trains:
      return expected(66, 70);
    case Forecast::needs_warmup:
      return expected(13, 17);
    default:
      return expected(24, 29);
  }
}

std::string beyond_measured(const RunOptions& o) {
  const ModelConfig& m = o.model;
  if (m.model == ModelKind::encoder) return "was a masked language model, which leaves the plateau late";
  if (m.model != ModelKind::lm) return concat("was ", with_article(m.model));
  const auto [least, most] = measured_rates(o.optimizer.kind);
  const std::size_t batch = o.batch_size * o.grad_accum * m.seq_len;
  if (o.lr < least) return concat("had a rate below ", short_figure(least));
  if (o.lr > most) return concat("had a rate above ", short_figure(most));
  if (m.layers > kMeasuredLayers) return concat("had more than ", kMeasuredLayers, " layers");
  if (m.d_model > kMeasuredWidth) return concat("was wider than ", kMeasuredWidth);
  if (m.seq_len > kMeasuredTokens) return concat("had more than ", kMeasuredTokens, " tokens in a sequence");
  if (batch < kMeasuredBatch) return concat("had fewer than ", kMeasuredBatch, " tokens in a batch");
  return start_beyond(m.init, o.words);
}

}  // namespace addnorm
