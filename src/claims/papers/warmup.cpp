// Warm-up: where post-LN needs it, why, and optimizers that do without.
#include <algorithm>

#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab {

namespace {

// ---- The runs that C6, C34 and C35 share: encoder-decoders of 6 and 6 layers at three rates.

constexpr double kGridRates[] = {1e-3, 3e-3, 5e-3};
constexpr std::int64_t kGridWarmup = 150;  // of 500 steps

/// One kind of run of the grid.
struct GridLine {
  std::string name;
  std::string arrangement = "post-ln";
  OptimizerKind optimizer = OptimizerKind::adam;
  std::int64_t warmup = 0;
  double rate_factor = 1;  ///< on every rate: steps of another optimizer have another unit
  double update_clip = 1;
};

/// "Adam, warm-up at 0.003": where losses of a line stand in samples. The rate is that of the grid, without the factor.
std::string grid_name(const std::string& line, double rate) { return concat(line, " at ", rate); }

/// Losses and shares that trained, at every rate.
void add_line(Samples& samples, const GridLine& line, const ClaimContext& context) {
  for (const double rate : kGridRates) {
    SmallRun run = seq2seq_run(context, line.arrangement, 6, 6);
    run.optimizer = line.optimizer;
    run.warmup = line.warmup;
    run.rate = rate * line.rate_factor;
    run.update_clip = line.update_clip;
    run.steps = context.steps(run.steps);
    add_losses(samples, grid_name(line.name, rate), run, run_seeds(run, context));
  }
}

/// "Adam, warm-up: 0.5 ± 0.1 (3 of 3 seeds trained) at 0.001, ..."
std::string line_text(const Samples& samples, const std::string& line) {
  std::string text = line + ": ";
  for (const double rate : kGridRates) {
    const std::string name = grid_name(line, rate);
    text += concat(rate == kGridRates[0] ? "" : ", ", run_text(samples, name), " at ", rate);
  }
  return text;
}

}  // namespace

// ---- C6: post-LN needs warm-up or RAdam where pre-LN needs neither, in an encoder-decoder.

namespace c06 {
namespace {

std::vector<GridLine> lines() {
  std::vector<GridLine> all;
  for (const auto& [stack, name] : {std::pair{"post-ln", "post-LN"}, {"pre-ln", "pre-LN"}}) {
    all.push_back({.name = name, .arrangement = stack});
    all.push_back({.name = concat(name, " with warm-up"), .arrangement = stack, .warmup = kGridWarmup});
    all.push_back({.name = concat(name, " with RAdam"), .arrangement = stack, .optimizer = OptimizerKind::radam});
  }
  return all;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const GridLine& line : lines()) add_line(s, line, context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "loss of 6 + 6 layers that turn words round, after 500 steps at a constant rate";
  for (const GridLine& line : lines()) text += concat("; ", line_text(s, line.name));
  bool needed = false, open = false, rescued = false;
  for (const double rate : kGridRates) {
    const auto at = [&](const char* line) { return seeds_trained(s, grid_name(line, rate)); };
    const Help warmup = help(at("post-LN"), at("post-LN with warm-up"));
    const SeedsTrained pre = at("pre-LN"), pre_warm = at("pre-LN with warm-up");
    if (warmup == Help::fails || warmup == Help::no_need || pre == SeedsTrained::none || pre_warm == SeedsTrained::none) continue;
    if (warmup == Help::undecided || pre == SeedsTrained::some || pre_warm == SeedsTrained::some) {
      open = true;
      continue;
    }
    needed = true;
    rescued = rescued || (at("post-LN with RAdam") == SeedsTrained::all && at("pre-LN with RAdam") == SeedsTrained::all);
  }
  if (needed) return rescued ? holds(text) : mixed(text);
  return open ? undecided(text + ". There is no such rate, but one at which seeds disagree") : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C6",
      .statement =
          "Post-LN fails without warm-up where pre-LN trains with and without it, and RAdam in place of Adam makes up for the "
          "warm-up.",
      .source = "Xiong et al. 2020, arXiv 2002.04745",
      .expected =
          "a rate out of 1e-3, 3e-3, 5e-3 at which no seed of post-LN trains without warm-up (loss below half of what "
          "frequencies alone give), and all with 150 steps of warm-up and all of pre-LN with and without; and at such a rate "
          "all train with RAdam without warm-up. Mixed: RAdam does not. Not decided: no such rate, but one at which seeds "
          "disagree",
      .changed = "first fewer than half of the seeds of post-LN without warm-up; with Xavier's weights it was not seen",
      .earlier = {.verdict = "mixed",
                  .why = "at 3e-3, where post-LN without warm-up fails, one of three seeds trains with it now and every one did "
                         "before, with Xavier's weights both times. With GPT-2's it is the other way round: pre-LN fails there "
                         "without warm-up, and post-LN trains",
                  .since = VerdictSince::measured_again},
      .see = {{"S43",
               "there 6 layers of a decoder are asked, and pre-LN does without warm-up with either weights. Here, in an "
               "encoder-decoder of twice the depth, it does so at every rate with Xavier's weights only; with GPT-2's it trains "
               "at 3e-3 and 5e-3 with warm-up and not without"}},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c06

// ---- C12: in post-LN runs that fail, Adam's updates are even across layers although gradients are not.

namespace c12 {
namespace {

double unevenness(const std::vector<double>& by_layer) {
  const auto [least, most] = std::ranges::minmax(by_layer);
  return most / least;
}

/// ||g|| / ||W_2|| of each layer before the first step.
double gradients(const SmallRun& run) {
  const auto model = started(run.model, run.seed);
  profile_of(*model, data_of(run, run.seed)->batch(0, run.batch));
  std::vector<double> by_layer;
  for (const Var& p : parameters_of(*model, Role::ffn_out)) by_layer.push_back(gradient_length(p) / length(p.value()));
  return unevenness(by_layer);
}

/// ||change|| / ||W_2|| of each layer by the first steps.
double updates(SmallRun run, const ClaimContext& context) {
  run.steps = 10;
  const auto before = started(run.model, run.seed);
  const TrainedModel after = train_small(run, context);
  const std::vector<Var> from = parameters_of(*before, Role::ffn_out), to = parameters_of(*after.model, Role::ffn_out);
  std::vector<double> by_layer;
  for (std::size_t i = 0; i < from.size(); ++i) by_layer.push_back(relative_distance(to[i].value(), from[i].value()));
  return unevenness(by_layer);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  SmallRun run = deep_run(context, "post-ln");
  run.model.layers = 18;
  add_run(s, "loss", run, context);
  for (const std::uint64_t seed : context.seeds) {
    run.seed = seed;
    s.add("gradients", gradients(run));
    s.add("updates", updates(run, context));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("18 post-LN layers at 1e-3 with 100 steps of warm-up end at ", run_text(s, "loss"),
                                  "; largest over smallest of all layers, relative to W_2: gradient before the first step ",
                                  s.text("gradients"), ", change by the first 10 steps of Adam ", s.text("updates"));
  const bool uneven = s.least("gradients") > 4, even = s.most("updates") < 2;
  if (!none_trains(s, "loss"))
    return undecided(text +
                     (all_train(s, "loss") ? ". It trains: nothing to test it on" : ". Seeds disagree: nothing to test it on"));
  if (even && uneven) return holds(text);
  return even ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C12",
      .statement =
          "Post-LN fails although no layer is starved of updates: Adam evens out the gradients' differences between layers.",
      .source = "Liu et al. 2020, arXiv 2004.08249",
      .expected =
          "no seed trains at 18 layers, while W_2 of all layers changes alike in the first 10 steps (largest "
          "below twice the smallest) and gradients differ by more than 4 times. Mixed: updates are even, but so are gradients. "
          "Not decided: some seeds train. "
          "It shows that starved layers are not the cause, not what is",
      .changed = "first fewer than half of the seeds; the verdicts were the same",
      .earlier = {"mixed", "with GPT-2's weights 18 layers of post-LN train: there is no failure to explain"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c12

// ---- C34: RAdam without warm-up against Adam with it, on the grid of C6.

namespace c34 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  add_line(s, {.name = "Adam"}, context);
  add_line(s, {.name = "Adam with warm-up", .warmup = kGridWarmup}, context);
  add_line(s, {.name = "RAdam", .optimizer = OptimizerKind::radam}, context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("loss of 6 + 6 post-LN layers that turn words round, after 500 steps at a constant rate; ",
                                  line_text(s, "Adam"), "; ", line_text(s, "Adam with warm-up"), "; ", line_text(s, "RAdam"));
  int decides = 0, as_good = 0, open = 0;  // rates at which warm-up decides, and at which RAdam does without it, or may
  for (const double rate : kGridRates) {
    if (help(s, grid_name("Adam", rate), grid_name("Adam with warm-up", rate)) != Help::works) continue;
    ++decides;
    const SeedsTrained radam = seeds_trained(s, grid_name("RAdam", rate));
    as_good += radam == SeedsTrained::all;
    open += radam == SeedsTrained::some;
  }
  if (decides == 0) return undecided(text + ". There is no rate at which warm-up decides: nothing to test it on");
  if (as_good == decides) return holds(text);
  if (as_good > 0) return mixed(text);
  return open > 0 ? undecided(text + ". Seeds of RAdam disagree where warm-up decides") : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C34",
      .statement = "RAdam, which holds early adaptive steps back, trains post-LN without warm-up as Adam does with it.",
      .source = "Liu et al. 2019, arXiv 1908.03265",
      .expected =
          "at every rate out of 1e-3, 3e-3, 5e-3 where warm-up decides for Adam (no seed trains without, all with 150 steps of "
          "it) all seeds train with RAdam without warm-up. Mixed: at some. Not decided: there is none, or seeds disagree. That "
          "the "
          "variance of early steps is the reason is not measured",
      .changed = "first fewer than half of the seeds without; the verdicts were the same",
      .earlier = {.verdict = "not seen",
                  .why = "there is no rate at which warm-up decides: at 3e-3 one of three seeds trains with it now and every one "
                         "did before, with Xavier's weights both times; with GPT-2's all train without",
                  .since = VerdictSince::measured_again},
      .see = {{"S50",
               "there RAdam is held against Adam without warm-up alone, at 5e-3 in a decoder of 6 layers, and trains where Adam "
               "does not. So held it does better here too, at the higher rates with Xavier's weights, and worse at 1e-3 with "
               "either. "
               "Whether it makes up for the "
               "warm-up is not decided: there is no rate at which that decides in every seed"}},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c34

// ---- C35: Adafactor's clipped updates in place of warm-up, on the grid of C6.

namespace c35 {
namespace {

/// Adafactor's rate is relative to the RMS of a parameter: with this factor, one over that of square matrices at the start, its
/// steps begin as large as Adam's.
double same_steps(const ClaimContext& context) { return 1 / start_deviation(context, Role::q, {.width = 32, .layers = 6}); }
constexpr double kNeverClips = 1e6;

Samples measure(const ClaimContext& context) {
  Samples s;
  add_line(s, {.name = "Adam"}, context);
  add_line(s, {.name = "Adam with warm-up", .warmup = kGridWarmup}, context);
  const GridLine adafactor{.name = "Adafactor", .optimizer = OptimizerKind::adafactor, .rate_factor = same_steps(context)};
  add_line(s, adafactor, context);
  GridLine unclipped = adafactor;
  unclipped.name = "Adafactor without clipping";
  unclipped.update_clip = kNeverClips;
  add_line(s, unclipped, context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "loss of 6 + 6 post-LN layers that turn words round, after 500 steps at a constant rate (Adafactor's relative rate "
      "gives first steps of the same size); ",
      line_text(s, "Adam"), "; ", line_text(s, "Adam with warm-up"), "; ", line_text(s, "Adafactor"), "; ",
      line_text(s, "Adafactor without clipping"));
  bool needed = false, converges = false, by_clipping = false, open = false;
  for (const double rate : kGridRates) {
    const auto at = [&](const char* line) { return seeds_trained(s, grid_name(line, rate)); };
    if (help(at("Adam"), at("Adam with warm-up")) != Help::works) continue;
    needed = true;
    open = open || at("Adafactor") == SeedsTrained::some;
    if (at("Adafactor") != SeedsTrained::all) continue;
    converges = true;
    by_clipping = by_clipping || at("Adafactor without clipping") == SeedsTrained::none;
  }
  if (!needed) return undecided(text + ". There is no rate at which warm-up decides: nothing to test it on");
  if (converges && by_clipping) return holds(text);
  if (converges) return mixed(text);
  return open ? undecided(text + ". Seeds of Adafactor disagree where warm-up decides") : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C35",
      .statement = "Clipping the RMS of Adafactor's updates at 1 removes the instability that otherwise needs warm-up.",
      .source = "Shazeer and Stern 2018, arXiv 1804.04235",
      .expected =
          "a rate out of 1e-3, 3e-3, 5e-3 where post-LN needs warm-up with Adam (no seed trains without, all with 150 steps of "
          "it) "
          "and all train with clipped Adafactor without warm-up, none with Adafactor that is not clipped. Mixed: some train "
          "there "
          "without clipping too. Not decided: there is no rate at which Adam needs it, or seeds disagree",
      .changed = "first fewer than half of the seeds without; the verdicts were the same",
      .earlier = {.verdict = "not seen",
                  .why = "there is no rate at which warm-up decides: at 3e-3 one of three seeds trains with it now and every one "
                         "did before, with Xavier's weights both times; with GPT-2's all train without",
                  .since = VerdictSince::measured_again},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace c35

}  // namespace addnorm::lab
