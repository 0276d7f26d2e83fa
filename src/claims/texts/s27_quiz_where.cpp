// S27: question 4: where are the residual connections?
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s27 {
namespace {

/// Units of each kind whose output minus what was added gives the stream before: those that have a skip.
struct Count : Watch {
  void on_branch(const Unit& unit, const Var& added) override {
    Watch::on_branch(unit, added);
    kinds.push_back(unit.sub_layer);
  }
  std::vector<SubLayer> kinds;
};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    ModelConfig config = bench_model(context, "pre-ln", 3);
    config.d_model = 32;
    const auto model = started(config, seed);
    Count count;
    batch_logits(*model, random_batch(config, 2, seed), {}, {.stream = &count});
    double attention = 0, ffn = 0;
    for (std::size_t i = 0; i < count.kinds.size(); ++i) {
      const Var before = sub(count.streams[i + 1].detach(), count.branches[i].detach());
      if (relative_distance(before.value(), count.streams[i].value()) > 1e-4) continue;
      (count.kinds[i] == SubLayer::ffn ? ffn : attention) += 1.0 / 3;
    }
    s.add("around attention", attention);
    s.add("around feed-forward", ffn);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("skips found per layer of a decoder: around attention ", s.text("around attention"),
                                  ", around the feed-forward part ", s.text("around feed-forward"));
  const auto one = [&](const char* name) { return std::abs(s.least(name) - 1) < 1e-9 && std::abs(s.most(name) - 1) < 1e-9; };
  return one("around attention") && one("around feed-forward") ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S27",
          .statement = "Question 4: residual connections stand after both attention and feed-forward part (answer C).",
          .source = "text 001, question 4",
          .expected = "one skip per layer around each of the two",
          .start = "Xavier's weights: sums are counted, which no rule changes",
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s27
