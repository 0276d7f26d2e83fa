// What norms do for a network: stable activations, faster training, less drift.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab {

// ---- S32: layer norm stabilises and accelerates training.

namespace s32 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"residual", "without"}, {"pre-ln", "with"}})
    for (const std::size_t units : {4u, 20u, 56u}) {
      SmallRun run = mixture_run(context, stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(concat(name, ", ", units, " units"), summary.last());
        s.add(concat(name, ", ", units, " units, steps to 0.5"), summary.steps_to(0.5));
      }
    }
  for (const auto& [stack, name] : {std::pair{"residual", "without, decoder"}, {"pre-ln", "with, decoder"}}) {
    SmallRun run = short_run(context, stack);
    run.steps = context.steps(run.steps);
    for (const RunSummary& summary : run_seeds(run, context)) s.add(name, summary.last());
  }
  return s;
}

/// Every run with norms ended, and each below any without. Those that broke off without one ended nowhere, which is no better.
bool ends_lower(const Samples& s, const std::string& with, const std::string& without) {
  return std::ranges::all_of(s.of(without),
                             [&](double loss) { return s.most(with) < loss || (std::isnan(loss) && !std::isnan(s.most(with))); });
}
/// In fewer steps in the mean, or at all where a run without norms broke off before.
bool sooner(const Samples& s, const std::string& with, const std::string& without) {
  const double steps = s.mean(with + ", steps to 0.5");
  const double other = s.mean(without + ", steps to 0.5");
  return steps < other || (std::isnan(other) && !std::isnan(steps));
}

/// "4 units and 6 decoder layers"
std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += concat(all.empty() ? "" : " and ", name);
  return all;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "loss of skips without and with layer norm (steps until it is below 0.5):";
  const auto loss_and_steps = [&](const std::string& name) {
    return concat(s.text(name), " (", figure_text(s.mean(name + ", steps to 0.5")), ")");
  };
  std::vector<std::string> better, others;
  for (const char* units : {"4", "20", "56"}) {
    const std::string without = concat("without, ", units, " units");
    const std::string with = concat("with, ", units, " units");
    text += concat(units == std::string_view("4") ? " " : "; ", units, " units ", loss_and_steps(without), " and ",
                   loss_and_steps(with));
    (ends_lower(s, with, without) && sooner(s, with, without) ? better : others).push_back(concat(units, " units"));
  }
  text += concat("; 6 decoder layers at 5e-3 ", s.text("without, decoder"), " and ", s.text("with, decoder"));
  (ends_lower(s, "with, decoder", "without, decoder") ? better : others).emplace_back("6 decoder layers");
  if (others.empty()) return holds(text);
  if (better.empty()) return fails(text);
  return holds_if(concat("the stack is one of ", listed(better), "; not so with ", listed(others)), text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S32",
      .statement = "Layer norm stabilises and accelerates the training of a network.",
      .source = concat(kClassicalTransformer, ", first paragraph; ", kLecture, ", Layer Normalization"),
      .expected =
          "at the same rate every seed ends lower with norms and gets below a loss of 0.5 in fewer steps in the mean, at 4, 20 "
          "and 56 units "
          "(and ends lower in a 6-layer decoder). True only if: in some of the four",
      .changed =
          "the feed-forward stacks were chosen after 6 decoder layers had shown no benefit of a norm; both are reported now. "
          "The condition used to name 4 units and 6 decoder layers whichever of them had failed (both had)",
      .earlier = {"true only if the stack is one of 20 units and 56 units; not so with 4 units and 6 decoder layers",
                  "with GPT-2's weights deep stacks without norms do not blow up, and train nearly as well"},
      .compares = true,
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace s32

// ---- S62: internal covariate shift: how the distribution of what units read drifts while the network learns.

namespace s62 {
namespace {

constexpr std::size_t kUnits = 12;
constexpr std::int64_t kEvery = 10;

/// Mean and standard deviation of each feature at each place, over one batch that stays the same.
struct Statistics {
  std::vector<std::vector<double>> mean, deviation;
};
Statistics look(const Model& model, const Batch& batch) {
  const NoGrad no_grad;
  Watch watch;
  batch_logits(model, batch, {}, {.stream = &watch});
  Statistics all;
  for (const Var& x : watch.streams) {
    const std::size_t width = x.shape().back(), rows = x.value().elements() / width;
    const std::vector<double> values = values_of(x.value());
    std::vector<double> mean(width), square(width);
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean[i % width] += values[i] / static_cast<double>(rows);
      square[i % width] += values[i] * values[i] / static_cast<double>(rows);
    }
    for (std::size_t c = 0; c < width; ++c) square[c] = std::sqrt(std::max(square[c] - mean[c] * mean[c], 0.0));
    all.mean.push_back(mean);
    all.deviation.push_back(square);
  }
  return all;
}

/// RMS over features of the change of mean and deviation, in deviations, mean over all places but the input.
double drift(const Statistics& from, const Statistics& to) {
  double sum = 0;
  for (std::size_t p = 1; p < from.mean.size(); ++p) {
    double change = 0, size = 0;
    for (std::size_t c = 0; c < from.mean[p].size(); ++c) {
      change += std::pow(to.mean[p][c] - from.mean[p][c], 2) + std::pow(to.deviation[p][c] - from.deviation[p][c], 2);
      size += std::pow(from.deviation[p][c], 2);
    }
    sum += std::sqrt(change / size) / static_cast<double>(from.mean.size() - 1);
  }
  return sum;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"residual", "without norm"}, {"post-ln", "with layer norm"}})
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = mixture_run(context, stack, kUnits);
      run.steps = context.steps(200);
      run.seed = seed;
      const Batch fixed = data_of(run, 8000)->batch(0, 128);
      Statistics last = look(*started(run.model, seed), fixed);
      double sum = 0, count = 0;
      train_small(run, context, [&](const Model& model, std::int64_t step) {
        if (step % kEvery != 0) return;
        const Statistics now = look(model, fixed);
        sum += drift(last, now);
        last = now;
        ++count;
      });
      s.add(name, sum / count);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("drift of a feature's mean and deviation per 10 steps, in deviations, over the inputs of 12 units: without norm ",
             s.text("without norm"), ", with layer norm ", s.text("with layer norm"));
  return s.most("with layer norm") < s.least("without norm") ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S62",
          .statement = "Norms mitigate internal covariate shift, the drift of activations' distribution while parameters change.",
          .source = concat(kLecture, ", Layer Normalization"),
          .expected = "less drift with layer norm in every seed, at the same rate and skips",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s62

// ---- S72: does Add & Norm have the benefits of both of its parts?

namespace s72 {
namespace {

constexpr std::size_t kWidth = 64;

/// What is left at the bottom of a gradient of length 1 at the top: by all paths, or by the skips alone, where branches pass
/// none.
double gradient_left(const ClaimContext& context, std::size_t units, bool skips_alone, std::uint64_t seed) {
  const StackShape shape = units_of(units, kWidth);
  const LinearBranches branches(shape, seed, branch_gains(context, shape));
  const Var x = Var(normed(random_var({8, kWidth}, seed)).value(), true);
  const Var y = run_units(*make_residual("post-ln", shape), x,
                          [&](const Unit& u, const Var& v) { return skips_alone ? branches(u, v).detach() : branches(u, v); });
  return gradient_passed(y, random_tensor(y.shape(), seed + 3), x);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    for (const std::size_t units : {2u, 12u, 24u, 48u})
      s.add(concat("skips alone, ", units, " units"), gradient_left(context, units, true, seed));
    s.add("all paths, 48 units", gradient_left(context, 48, false, seed));
    const StackShape shape = units_of(24, kWidth);
    const LinearBranches branches(shape, seed, branch_gains(context, shape));
    const Var y = run_units(*make_residual("post-ln", shape), scale(random_var({8, kWidth}, seed), 3), branches);
    s.add("output RMS after 24 units", rms(y.value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("gradient at the bottom over that at the top of untrained Add & Norm: by the skips alone past 2 units ",
             s.text("skips alone, 2 units"), ", 12 ", s.text("skips alone, 12 units"), ", 24 ", s.text("skips alone, 24 units"),
             ", 48 ", s.text("skips alone, 48 units"), "; by skips and branches together past 48 units ",
             s.text("all paths, 48 units"), "; output RMS after 24 units ", s.text("output RMS after 24 units"));
  const bool stable = std::abs(s.mean("output RMS after 24 units") - 1) < 0.01;
  const bool flows = s.least("all paths, 48 units") > 0.1 && s.most("all paths, 48 units") < 10;
  if (!stable || !flows) return fails(text);
  if (s.least("skips alone, 48 units") > 0.1) return holds(text);
  return holds_if("the flow is that of skips and branches together: each norm divides what the skips carry by themselves", text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S72",
      .statement =
          "Add & Norm has both benefits: gradient flow and identity mapping of the skip, stable activations of the norm.",
      .source = concat(kLecture, ", section 3"),
      .expected =
          "output RMS within 1 % of 1; past 48 units between a tenth and ten times of the gradient by all paths, and more than a "
          "tenth by the skips alone. True only if: not so by the skips alone",
      .changed =
          "first by the skips alone, 8.26e-08 past 48 units, read as if a deep stack passed no gradient (true only if the stack "
          "is "
          "shallow). It does, in its branches, before the first step",
      .earlier =
          {.verdict = "true only if the stack is shallow: activations stay stable at any depth, but each norm takes "
                      "some of the skip's gradient",
           .why = "what the skips carry by themselves was read as all of the gradient; before the first step the branches carry "
                  "the rest, and with GPT-2's weights the skips lose nothing",
           .since = VerdictSince::asked_otherwise},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace s72

// ---- S73: layer norm stabilises the activations.

namespace s73 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(24, 64);
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"residual", "post-ln"}) {
      Watch watch;
      run_units(*make_residual(name, shape), random_var({8, 64}, seed), LinearBranches(shape, seed, branch_gains(context, shape)),
                {}, &watch);
      s.add(name, rms(watch.streams.back().value()) / rms(watch.streams.front().value()));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("RMS of the stream after 24 units over that of its input: without norms ", s.text("residual"),
                                  ", with Add & Norm ", s.text("post-ln"));
  const auto stays = [&](const char* name) { return s.most(name) < 1.2 && s.least(name) > 0.8; };
  if (stays("residual") && stays("post-ln")) return undecided(text + ". It is stable without norms too: nothing to test it on");
  return s.least("residual") > 100 && stays("post-ln") ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S73",
      .statement = "Layer norm stabilises the activations.",
      .source = concat(kLecture, ", section 3 and takeaways"),
      .expected =
          "without norms the stream grows more than a hundredfold in 24 units, with them it stays within 20 %. Not decided: it "
          "stays so without them too",
      .changed = "with GPT-2's weights, which make branches weak, it was first false: the stream does not grow without norms",
      .earlier = {"true", "with GPT-2's weights the stream does not grow without norms either"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace s73

}  // namespace addnorm::lab
