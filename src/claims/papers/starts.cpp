// Starts without instability: how much a step changes the model, by start, and what trains by them.
#include <cmath>
#include <functional>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/train/objective.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

namespace {

/// ||change of the logits|| over the rate, by one step of SGD of those parameters. The model is moved by it.
double moved_by_a_step(Model& model, const Batch& batch, double rate, const std::function<bool(const Parameter&)>& moves) {
  const Var before = batch_logits(model, batch, {});
  const Tensor logits = before.value();
  backward(cross_entropy(before, batch.labels, {.ignore_index = kIgnoredLabel}));
  for_each_parameter(model, [&](Parameter& p) {
    if (!moves(p) || !p.value.grad().defined()) return;
    const Tensor moved = sub(p.value.detach(), scale(Var(p.value.grad()), rate)).value();
    p.value.value() = moved;
  });
  const NoGrad no_grad;
  return length(sub(batch_logits(model, batch, {}), Var(logits)).value()) / rate;
}

}  // namespace

// ---- C10: how much a small change of all weights changes the output, against depth.

namespace c10 {
namespace {

constexpr const char* kStacks[] = {"post-ln", "pre-ln", "admin", "deepnorm"};
constexpr std::size_t kWidth = 48;
constexpr double kChange = 1e-3;

/// Its β is on both matrices of a branch, of which a made-up one has only the second.
std::vector<double> deepnorm_gains(const ClaimContext& context, const StackShape& shape) {
  const double beta = value_of(depth_rule_named("deepnorm-beta"), shape, {});
  const double deviation = start_deviation(context, Role::ffn_out, shape, "deepnorm");
  return std::vector(shape.units(), beta * deviation * std::sqrt(static_cast<double>(shape.width)));
}

double output_change(const ClaimContext& context, const char* name, std::size_t units, std::uint64_t seed) {
  const NoGrad no_grad;
  const StackShape shape = units_of(units, kWidth);
  const auto residual = make_residual(name, shape);
  const std::vector<double> gains =
      std::string_view(name) == "deepnorm" ? deepnorm_gains(context, shape) : branch_gains(context, shape);
  std::vector<double> small = gains;
  for (double& gain : small) gain *= kChange;
  const LinearBranches branches(shape, seed, gains), noise(shape, seed + 500, small);
  const Var x = normed(random_var({16, kWidth}, seed));
  residual->calibrate([&](StreamObserver* observer) { run_units(*residual, x, branches, {.train = true}, observer); });
  const Var before = run_units(*residual, x, branches);
  const Var after = run_units(*residual, x, [&](const Unit& u, const Var& v) { return add(branches(u, v), noise(u, v)); });
  return std::pow(rms(sub(after, before).value()) / kChange, 2);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::vector<double> depths{4, 8, 16, 32, 64};
  std::vector<double> logs;
  for (const double n : depths) logs.push_back(std::log(n));
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      std::vector<double> changes;
      for (const double n : depths) changes.push_back(output_change(context, name, static_cast<std::size_t>(n), seed));
      s.add(concat(name, ", power"), fitted_power(depths, changes));
      s.add(concat(name, ", R2 against ln n"), fitted_line(logs, changes).r2);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "square of the output's change under a change of all weights goes with the number of units (4 to 64) to the power:";
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(concat(name, ", power")));
  text += concat("; R² of a line against ln n: pre-ln ", s.text("pre-ln, R2 against ln n"), ", admin ",
                 s.text("admin, R2 against ln n"));
  const bool post = std::abs(s.mean("post-ln, power") - 1) < 0.2;
  const bool logarithm = s.mean("pre-ln, R2 against ln n") > 0.95 && s.mean("admin, R2 against ln n") > 0.95 &&
                         s.mean("pre-ln, power") < 0.6 && s.mean("admin, power") < 0.6;
  const bool flat = s.mean("deepnorm, power") < 0.1;
  if (post && logarithm && flat) return holds(text);
  return post || logarithm ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C10",
      .statement = "A small change of the parameters is amplified like n in post-LN and like log n in pre-LN and Admin.",
      .source = "Liu et al. 2020, arXiv 2004.08249",
      .expected =
          "power of n: post-LN 1 ± 0.2; pre-LN and Admin below 0.6 and straight against ln n (R² > 0.95); DeepNorm does not grow",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights the branches are too weak for depth to count: post-LN, pre-LN and Admin are alike"},
      .compares = true,
      .start =
          "branches are made up of one matrix each, drawn by the rule as W_2 would be; DeepNorm's times the β of its formula",
      .measure = measure,
      .judge = judge};
}

}  // namespace c10

// ---- C13: DeepNorm at 100 and 200 layers, and how much one step changes the model.

namespace c13 {
namespace {

/// DeepNorm as it was published, with its small weights; post-LN by the rule.
SmallRun deep(const ClaimContext& context, std::string_view name, std::size_t layers) {
  const SmallRun run = thin_run(context, name, layers);
  return name == "deepnorm" ? as_published(run) : run;
}

/// By a step of the layers' matrices, of which the paper's bound speaks, or of norms and biases too.
double change(const ClaimContext& context, const char* name, std::size_t layers, bool all, std::uint64_t seed) {
  constexpr double kRate = 1e-2;  // small against the weights, large against rounding in 128 layers
  const SmallRun run = deep(context, name, layers);
  const auto model = started(run.model, seed);
  const Batch batch = data_of(run, seed)->batch(0, run.batch);
  return moved_by_a_step(*model, batch, kRate, [&](const Parameter& p) { return p.place.layer && (all || is_matrix(p.role)); });
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::size_t layers : {100u, 200u})
    for (const char* name : {"deepnorm", "post-ln"}) {
      SmallRun run = deep(context, name, layers);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context))
        s.add(concat(name, " ", layers), baselines_of(run).unigram - summary.last());
    }
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"deepnorm", "post-ln"})
      for (const bool all : {false, true}) {
        context.check();
        std::vector<double> depths, changes;
        for (const std::size_t layers : {8u, 16u, 32u, 64u, 128u}) {
          depths.push_back(static_cast<double>(layers));
          changes.push_back(change(context, name, layers, all, seed));
        }
        s.add(concat(name, all ? ", power with norms and biases" : ", power"), fitted_power(depths, changes));
      }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "nats below what frequencies alone give, after 200 steps at 1e-3 (d = 32): 100 layers DeepNorm ", s.text("deepnorm 100"),
      ", post-LN ", s.text("post-ln 100"), "; 200 layers DeepNorm ", s.text("deepnorm 200"), ", post-LN ", s.text("post-ln 200"),
      "; change of the logits by one SGD step of the layers' matrices goes with depth (8 to 128) to the power: DeepNorm ",
      s.text("deepnorm, power"), ", post-LN ", s.text("post-ln, power"), "; with norms and biases ",
      s.text("deepnorm, power with norms and biases"), " and ", s.text("post-ln, power with norms and biases"));
  const bool falls = s.least("deepnorm 100") > 0.1 && s.least("deepnorm 200") > 0.1;
  const bool stuck = s.most("post-ln 100") < 0.05 && s.most("post-ln 200") < 0.05;
  const bool constant = std::abs(s.mean("deepnorm, power")) < 0.2;
  if (!falls) return fails(text);
  if (!stuck)
    return undecided(concat(text, ". Not every run of post-LN fails: nothing to hold DeepNorm against",
                            constant ? ", though it trains, and its step does not depend on depth" : ""));
  return constant ? holds(text) : mixed(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C13",
      .statement =
          "DeepNorm trains at depths of 100 and 200 layers where post-LN does not, and one step of its matrices changes the "
          "model by an amount "
          "that does not depend on depth.",
      .source = "Wang et al. 2022, arXiv 2203.00555",
      .expected =
          "in every seed and at both depths DeepNorm ends more than 0.1 nats below what frequencies alone give, post-LN less "
          "than 0.05; the change by one step of matrices goes with depth to a power between -0.2 and 0.2. Mixed: only the "
          "losses. "
          "Not decided: DeepNorm trains, and so does some run of post-LN",
      .changed =
          "The step was one of all parameters in the layers. A try with one seed and a tenth of the training gave the power 0.88 "
          "for "
          "DeepNorm (post-LN 0.58); the paper's bound is on the weights of branches, while norms and biases add up with their "
          "number. "
          "They are now told apart, and the line is the same. Where post-LN trains too it was not seen, as with GPT-2's weights, "
          "also if all that is said of DeepNorm itself was",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights, whose output matrices shrink with depth, post-LN trains at 100 layers too, and in most "
                  "seeds at 200: there is nothing that DeepNorm is needed for"},
      .compares = true,
      .start = "DeepNorm starts as it was published under either rule, post-LN by the rule",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c13

// ---- C23: T-Fixup: neither norm nor warm-up.

namespace c23 {
namespace {

constexpr const char* kStacks[] = {"t-fixup", "residual", "post-ln"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::string name : kStacks) {
    SmallRun run = deep_run(context, name);
    run.warmup = 0;
    if (name == "t-fixup") run = as_published(run);  // its weights at the start are all that it is
    add_run(s, name, run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("16 decoder layers at 1e-3 without warm-up: T-Fixup ", run_text(s, "t-fixup"),
                                  ", the same skips without norm and without its weights ", run_text(s, "residual"), ", post-LN ",
                                  run_text(s, "post-ln"));
  switch (seeds_trained(s, "t-fixup")) {
    case SeedsTrained::none:
      return fails(text);
    case SeedsTrained::some:
      return undecided(text + ". Seeds of T-Fixup disagree");
    case SeedsTrained::all:
      break;
  }
  return none_trains(s, "residual") ? holds(text) : mixed(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C23",
      .statement =
          "With T-Fixup's initial weights a deep Transformer trains without norm and without warm-up; with usual ones (Xavier's "
          "there) it does not.",
      .source = "Huang et al. 2020, ICML (T-Fixup); there an encoder-decoder of 6 and 6 layers",
      .expected =
          "every seed of 16 layers trains with T-Fixup and none with weights by the rule, neither with norm; mixed: some of the "
          "latter train too. Not decided: seeds of T-Fixup disagree",
      .changed = "first fewer than half with weights by the rule; the verdicts were the same",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights 16 layers train without norm and without T-Fixup's weights, and so does post-LN"},
      .compares = true,
      .start = "T-Fixup starts as it was published under either rule, the others by the rule",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c23

// ---- C24: with Fixup's initialisation one step of SGD changes the function by the same amount at any depth.

namespace c24 {
namespace {

/// Fixup for branches of two matrices: the first times B^-1/2, the second 0. (Its scalars do not move the first step.)
void start_as_fixup(Model& model) {
  const double scale_in = 1 / std::sqrt(static_cast<double>(model.config().layers));
  for_each_parameter(model, [&](Parameter& p) {
    if (p.role == Role::ffn_in) p.value.value() = scale(p.value.detach(), scale_in).value();
    if (p.role == Role::ffn_out) p.value.value() = Tensor::zeros(p.value.shape());
  });
}

double change(const ClaimContext& context, std::size_t units, bool fixup, std::uint64_t seed) {
  constexpr double kRate = 1e-5;
  SmallRun run = mixture_run(context, "residual", units);
  if (fixup) run.model.init = {.rule = "xavier"};
  run.model.bias = false;  // as in Fixup: a bias in each branch would move the output by their number
  const auto model = started(run.model, seed);
  if (fixup) start_as_fixup(*model);
  return moved_by_a_step(*model, data_of(run, seed)->batch(0, 64), kRate, [](const Parameter&) { return true; });
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const bool fixup : {true, false}) {
      context.check();
      std::vector<double> depths, changes;
      for (const std::size_t units : {4u, 8u, 16u, 32u}) {
        depths.push_back(static_cast<double>(units));
        changes.push_back(change(context, units, fixup, seed));
      }
      s.add(fixup ? "Fixup" : "rule", fitted_power(depths, changes));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("change of the outputs by one SGD step goes with the number of branches (4 to 32) to the power: Fixup ",
             s.text("Fixup"), ", weights by the rule ", s.text("rule"));
  const bool flat = std::abs(s.mean("Fixup")) < 0.15;
  const bool grows = s.mean("rule") > 0.5;
  if (flat && grows) return holds(text);
  return flat || grows ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C24",
          .statement = "With Fixup one SGD step changes the function by an amount of the order of the rate, whatever the depth.",
          .source = "Zhang et al. 2019, arXiv 1901.09321",
          .expected = "power of the number of branches 0 ± 0.15; above 0.5 with weights by the rule and no norm",
          .changed =
              "first with a bias in each branch, which Fixup does not have: power 0.14 (4 to 32 branches) and 0.37 (8 to 64, not "
              "seen)",
          .earlier = {"seen at this scale", "with GPT-2's weights a stack without Fixup's rule is safe as well"},
          .compares = true,
          .start = "Fixup starts by Xavier's rule with its own factors under either rule, what it is compared with by the rule",
          .measure = measure,
          .judge = judge};
}

}  // namespace c24

}  // namespace addnorm::lab
