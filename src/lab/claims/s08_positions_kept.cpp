// S08: what the stream still knows of positions.
#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/linear_probe.h"

namespace addnorm::lab::s08 {
namespace {

constexpr std::size_t kLayers = 6, kSequences = 96, kTokens = 16;
constexpr double kChance = 1.0 / kTokens;
constexpr const char* kStacks[] = {"plain", "plain-ln", "post-ln", "pre-ln"};

/// How often a linear probe names a token's position right. Even rows teach and odd ones are asked: the second half of the
/// sequences lies between the rows of the first.
double accuracy(const Tensor& x) {
  const std::size_t width = x.shape().back(), rows = x.elements() / width;
  Tensor mixed(x.shape());
  std::vector<std::size_t> positions(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t from = (r % 2) * (rows / 2) + r / 2;
    positions[r] = from % kTokens;
    for (std::size_t c = 0; c < width; ++c) mixed.data<float>()[r * width + c] = x.values<float>()[from * width + c];
  }
  return probe_accuracy(mixed, positions, kTokens);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      ModelConfig config = bench_model(name, kLayers);
      config.model = ModelKind::encoder;  // no causal mask that would tell positions by itself
      config.d_model = 48;
      config.d_ff = 96;
      config.seq_len = kTokens;
      config.positions = PositionKind::sinusoidal;
      config.scale_embedding = true;
      const auto model = started(config, seed);
      Watch watch;
      const NoGrad no_grad;
      batch_logits(*model, random_batch(config, kSequences, seed), {}, {.stream = &watch});
      if (name == kStacks[0]) s.add("input", accuracy(watch.streams.front().value()));
      s.add(name, accuracy(watch.streams.back().value()));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = concat("positions (of 16, chance 0.06) that a linear probe reads right: from the embeddings ",
                            s.text("input"), "; from the top of 6 untrained encoder layers:");
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(name));
  const auto kept = [&](const char* name) { return (s.mean(name) - kChance) / (s.mean("input") - kChance); };
  const bool lost = kept("plain") < 0.1 && kept("plain-ln")<0.1, pre = kept("pre-ln")> 0.25, post = kept("post-ln") > 0.25;
  if (lost && pre && post) return holds(text);
  if (lost && (pre || post)) return holds_if(pre ? "no norm stands on the skip" : "a norm stands behind the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S08",
          .statement = "Residual connections preserve what the position embeddings put into the stream.",
          .source = "text 000, paragraph behind the formula",
          .expected =
              "of what the probe reads from the embeddings, above chance, more than a quarter is left with skips, less than a "
              "tenth without",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s08
