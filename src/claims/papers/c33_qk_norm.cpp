// C33: norms of queries and keys at high rates.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "probe/measures/attention_scores.h"

namespace addnorm::lab::c33 {
namespace {

constexpr const char* kNames[] = {"without", "with"};
constexpr double kRates[] = {1e-2, 3e-2, 1e-1};
constexpr std::int64_t kEvery = 25;

struct Scores : StreamObserver {
  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit*, const Var&) override {}
  void on_attention(const Unit&, const AttentionScores& scores) override {
    const AttentionSeen seen = look_at(scores);
    most = std::max(most, seen.max_logit);
    entropy = std::min(entropy, seen.entropy);
  }
  double most = 0, entropy = 1;  ///< over layers
};

Scores look(const Model& model, const Batch& batch) {
  const NoGrad no_grad;
  Scores scores;
  batch_logits(model, batch, {}, {.stream = &scores});
  return scores;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::string name : kNames)
    for (const double rate : kRates)
      for (const std::uint64_t seed : context.seeds) {
        SmallRun run = short_run(context, "pre-ln", 50);
        run.steps = context.steps(run.steps);
        run.model.qk_norm = name == "with" ? "rmsnorm" : "none";
        run.rate = rate;
        run.seed = seed;
        const Batch batch = data_of(run, 6000 + seed)->batch(0, 4);
        Scores last = look(*started(run.model, seed), batch);
        double most = last.most;
        const TrainedModel done = train_small(run, context, [&](const Model& model, std::int64_t step) {
          if (step % kEvery != 0 && step != run.steps) return;
          last = look(model, batch);
          most = std::max(most, last.most);
        });
        const std::string at = concat(name, " at ", rate);
        const RunSummary summary{.losses = done.losses, .broke_off = done.broke_off};
        add_losses(s, at, run, {summary});
        s.add(at + ", largest score", most);
        s.add(at + ", lowest entropy", done.broke_off ? kNotMeasured : last.entropy);
      }
  return s;
}

/// At how many of the rates one seed trains.
double trained_rates(const Samples& s, const char* name, std::size_t seed) {
  double sum = 0;
  for (const double rate : kRates) sum += s.of(concat(name, " at ", rate, ", trained"))[seed];
  return sum;
}

/// Seeds that train at more of the rates with it than without.
std::size_t seeds_that_stand_more(const Samples& s, std::size_t seeds) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < seeds; ++i) count += trained_rates(s, "with", i) > trained_rates(s, "without", i) ? 1u : 0u;
  return count;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "6 pre-LN layers; largest attention score on the way, lowest entropy of a layer at the end, seeds that trained:";
  for (const double rate : kRates) {
    text += concat(rate == kRates[0] ? " at " : "; at ", rate);
    for (const char* name : kNames) {
      const std::string at = concat(name, " at ", rate);
      text += concat(name == kNames[0] ? " without " : ", with QK-norm ", s.text(at + ", largest score"), ", ",
                     s.text(at + ", lowest entropy"), ", ", s.seeds_text(at + ", trained"));
    }
  }
  const std::string high = concat(kRates[std::size(kRates) - 1]);
  const bool bounded = s.most("with at " + high + ", largest score") < 0.5 * s.least("without at " + high + ", largest score") &&
                       s.least("with at " + high + ", lowest entropy") >= 0.05;
  const std::size_t seeds = s.of("with at " + high + ", trained").size();
  const std::size_t more = seeds_that_stand_more(s, seeds);
  const bool stands_more = 2 * more > seeds;
  text += concat("; ", more, " of ", seeds, " seeds train at more rates with it");
  if (bounded && stands_more) return holds(text);
  return bounded || stands_more ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C33",
      .statement = "Norms of queries and keys stop the growth of attention scores, and the model trains at higher rates.",
      .source = "Dehghani et al. 2023, arXiv 2302.05442; Wortsman et al. 2023, arXiv 2309.14322",
      .expected =
          "at 0.1 the largest score in every seed less than half of any without, and no layer's entropy below 0.05 in any; most "
          "seeds train at more of the rates 0.01, 0.03 and 0.1 than without; mixed: one of the two",
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c33
