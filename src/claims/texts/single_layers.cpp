// One layer of a stack: ignored, added, bypassed, and what it adds to those below.
#include "addnorm/autograd/tape.h"
#include "addnorm/core/error.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

// ---- S09: the boosting view: every unit lowers the error of what could be read off so far.

namespace s09 {
namespace {

/// The loss if the stack ended at each place: final norm and head on the stream there.
std::vector<double> losses_by_depth(Model& model, const Batch& batch) {
  Var gamma, beta, table;
  for_each_parameter(model, [&](Parameter& p) {
    if (p.role == Role::norm_gain && !p.place.layer) gamma = p.value;
    if (p.role == Role::norm_bias && !p.place.layer) beta = p.value;
    if (p.role == Role::token_embedding) table = p.value;
  });
  const NoGrad no_grad;
  Watch watch;
  batch_logits(model, batch, {}, {.stream = &watch});
  std::vector<double> losses;
  for (const Var& x : watch.streams)
    losses.push_back(cross_entropy(linear(layer_norm(x, gamma, beta), table), batch.labels).value().item());
  return losses;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    SmallRun run = short_run(context, "pre-ln");
    run.rate = 1e-3;
    run.steps = context.steps(150);
    run.seed = seed;
    const TrainedModel trained = train_small(run, context);
    const std::vector<double> losses = losses_by_depth(*trained.model, data_of(run, 5000 + seed)->batch(0, 32));
    std::vector<double> depth;
    for (std::size_t i = 0; i < losses.size(); ++i) depth.push_back(static_cast<double>(i));
    s.add("at the bottom", losses.front());
    s.add("half way", losses[losses.size() / 2]);
    s.add("at the top", losses.back());
    s.add("rank correlation with depth", spearman(depth, losses));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("loss of a trained 6-layer pre-LN decoder read off at the bottom ", s.text("at the bottom"),
                                  ", half way ", s.text("half way"), ", at the top ", s.text("at the top"),
                                  "; rank correlation of loss and depth ", s.text("rank correlation with depth"));
  return s.most("rank correlation with depth") < -0.8 && s.mean("at the top") < s.mean("at the bottom") - 0.3 ? holds(text)
                                                                                                              : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S09",
      .statement = "A residual network is related to boosting: unit by unit the error of a readout falls.",
      .source = concat(kBeforeStudying, ", comment at the end (BoostResNet, arXiv 1706.04964)"),
      .expected = "rank correlation of the readout's loss with depth below -0.8, and at least 0.3 nats from bottom to top",
      .see =
          {{"C21",
            "there blocks are trained one after another, and the error is at its floor after four of them: it falls, but not "
            "with every block, and not geometrically. Here all units are trained together, and the readout is only looked at"}},
      .start = "Xavier's weights; nothing is compared that starts in another way",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace s09

// ---- S57: a layer that is ignored by making its output zero.

namespace s57 {
namespace {

/// How far the stream after layer 1 is from that before it, when the last matrices of its sub-layers are 0.
double change(const ClaimContext& context, const char* name, std::uint64_t seed) {
  ModelConfig config = bench_model(context, name, 3);
  config.d_model = 32;
  config.scale_embedding = true;
  const auto model = started(config, seed);
  for_each_parameter(*model, [](Parameter& p) {
    const bool last = p.role == Role::attention_out || p.role == Role::ffn_out;
    if (last && p.place.layer == std::size_t{1}) p.value.value() = Tensor::zeros(p.value.shape());
  });
  Watch watch;
  const NoGrad no_grad;
  batch_logits(*model, random_batch(config, 2, seed), {}, {.stream = &watch});
  return relative_distance(watch.streams[4].value(), watch.streams[2].value());
}

/// The same of the first unit, whose input is no norm's output.
double first_change(const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(1, 32);
  const Var x = scale(random_var({8, 32}, seed), 2);
  Watch watch;
  run_units(*make_residual(name, shape), x, silent, {}, &watch);
  return relative_distance(watch.streams[1].value(), x.value());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("pre-LN", change(context, "pre-ln", seed));
    s.add("post-LN", change(context, "post-ln", seed));
    s.add("pre-LN, first unit", first_change("pre-ln", seed));
    s.add("post-LN, first unit", first_change("post-ln", seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("change of the stream by a layer with zero output: x + F(LN(x)) ", s.text("pre-LN"), ", Add & Norm ",
             s.text("post-LN"), "; by such a unit at the bottom, where x is not normed yet: ", s.text("pre-LN, first unit"),
             " and ", s.text("post-LN, first unit"));
  const bool sum = s.most("pre-LN") == 0 && s.most("pre-LN, first unit") == 0;
  const bool inner = s.most("post-LN") < 1e-3, first = s.most("post-LN, first unit") < 1e-3;
  if (sum && inner && first) return holds(text);
  if (sum && inner)
    return holds_if(
        "no norm stands after the sum, or the input is already normed and the norm has no gain yet: Add & Norm gives LN(x)",
        text);
  if (sum) return holds_if("no norm stands after the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S57",
          .statement = "A layer can be ignored by making its output zero: the skip then passes the input on unchanged.",
          .source = concat(kLecture, ", Skip Connections, core idea"),
          .expected = "stream unchanged, bit for bit without a norm and within 1e-3 with Add & Norm",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace s57

// ---- S58: a new layer does no harm: as a function, and as training finds it.

namespace s58 {
namespace {

/// Loss of a trained stack of 4 units, and of the same with a fifth one that adds zero on top.
std::pair<double, double> with_silent_layer(const SmallRun& run, const ClaimContext& context) {
  const TrainedModel four = train_small(run, context);
  ModelConfig longer = run.model;
  longer.layers = run.model.layers + 1;
  const auto five = started(longer, run.seed);
  std::vector<std::pair<std::string, Tensor>> from;
  for_each_parameter(*four.model, [&](Parameter& p) { from.emplace_back(p.path, p.value.value()); });
  for_each_parameter(*five, [&](Parameter& p) {
    if (p.place.layer == run.model.layers && is_matrix(p.role)) p.value.value() = Tensor::zeros(p.value.shape());
    for (const auto& [path, value] : from)
      if (path == p.path) p.value.value() = value.clone();
  });
  const NoGrad no_grad;
  const Batch batch = data_of(run, 9000 + run.seed)->batch(0, 256);
  return {batch_loss(*four.model, batch, {}).value().item(), batch_loss(*five, batch, {}).value().item()};
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    SmallRun run = mixture_run(context, "pre-ln", 4);
    run.steps = context.steps(run.steps);
    run.seed = seed;
    const auto [before, after] = with_silent_layer(run, context);
    s.add("change by a layer that adds zero", after - before);
  }
  for (const auto& [stack, name] : {std::pair{"post-ln", "Add & Norm"}, {"pre-ln", "pre-LN"}})
    for (const std::size_t units : {4u, 56u}) {
      SmallRun run = mixture_run(context, stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) s.add(concat(name, ", ", units, " units"), summary.last());
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("loss changes by ", s.text("change by a layer that adds zero"),
                                  " when a layer that adds zero is put on a trained "
                                  "stack; trained from the start with 4 and 56 units: Add & Norm ",
                                  s.text("Add & Norm, 4 units"), " and ", s.text("Add & Norm, 56 units"), ", pre-LN ",
                                  s.text("pre-LN, 4 units"), " and ", s.text("pre-LN, 56 units"));
  const bool expressible = s.most("change by a layer that adds zero") == 0 && s.least("change by a layer that adds zero") == 0;
  const bool harmless = s.least("Add & Norm, 56 units") <= s.most("Add & Norm, 4 units");
  if (expressible && harmless) return holds(text);
  if (expressible) return holds_if("it is said of what the larger network can express; what training finds gets worse", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S58",
          .statement = "With skips a new layer can at worst do no harm.",
          .source = concat(kLecture, ", Skip Connections, core idea"),
          .expected = "loss unchanged to the bit by a layer that adds zero, and no worse in training with 56 units than with 4",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s58

// ---- S59: the by-pass makes the system more robust: what a trained network loses with one of its layers.

namespace s59 {
namespace {

constexpr std::size_t kUnits = 8;

/// Share of held-out points named right.
double accuracy(const Model& model, const Dataset& data) { return evaluate(model, data, 512, 128).accuracy(); }

/// The model without its layer k: the layers above move down by one.
std::unique_ptr<Model> without(const Model& model, std::size_t k) {
  ModelConfig shorter = model.config();
  --shorter.layers;
  std::unique_ptr<Model> left = make_model(shorter);
  for_each_parameter(*left, [&](Parameter& to) {
    std::string path = to.path;
    if (to.place.layer && *to.place.layer >= k) {
      const std::string now = concat("layers.", *to.place.layer, "."), was = concat("layers.", *to.place.layer + 1, ".");
      path.replace(path.find(now), now.size(), was);
    }
    for_each_parameter(const_cast<Model&>(model), [&](Parameter& from) {
      if (from.path == path) to.value.value() = from.value.value().clone();
    });
  });
  return left;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"plain-ln", "without skips"}, {"pre-ln", "with skips"}})
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = mixture_run(context, stack, kUnits);
      run.steps = context.steps(run.steps);
      run.seed = seed;
      const TrainedModel trained = train_small(run, context);
      const auto data = data_of(run, 7000 + seed);
      std::vector<double> left;
      for (std::size_t k = 0; k < kUnits; ++k) left.push_back(accuracy(*without(*trained.model, k), *data));
      s.add(concat(name, ", whole"), accuracy(*trained.model, *data));
      s.add(concat(name, ", one layer less"), median_of(left));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of points named right by 8 trained units, and in the middle case when one is taken out: without skips ",
             s.text("without skips, whole"), " and ", s.text("without skips, one layer less"), "; with skips ",
             s.text("with skips, whole"), " and ", s.text("with skips, one layer less"));
  const double with = s.mean("with skips, whole") - s.mean("with skips, one layer less");
  const double without = s.mean("without skips, whole") - s.mean("without skips, one layer less");
  if (s.mean("with skips, whole") > 0.5 && s.mean("without skips, whole") < 0.5)
    return undecided(text + ". Without skips it does not train: nothing to take a layer out of");
  return with < 0.1 && without > 3 * with && without > 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S59",
          .statement = "Skips make a network more robust: an item can go past a station that it does not need.",
          .source = concat(kLecture, ", Skip Connections, analogy"),
          .expected =
              "taking one of 8 layers out costs less than 0.1 of the accuracy with skips and three times as much without. "
              "Not decided: without skips fewer than half of the points are named right by the whole",
          .changed = "with GPT-2's weights, with which 8 units without skips do not train, it was first false",
          .earlier = {"true", "with GPT-2's weights 8 units without skips do not train: there is nothing to take a layer out of"},
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace s59

}  // namespace addnorm::lab
