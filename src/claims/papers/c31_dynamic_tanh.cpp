// C31: DyT in the place of layer norm, and the curve from what a trained layer norm reads to what it gives.
#include <algorithm>
#include <cmath>
#include <functional>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c31 {
namespace {

/// What no c * g(x) explains of y, as a share of y's squares: c by least squares.
double left_by(const std::vector<double>& x, const std::vector<double>& y, const std::function<double(double)>& g) {
  double gg = 0, gy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = g(x[i]);
    gg += value * value;
    gy += value * y[i];
    yy += y[i] * y[i];
  }
  return 1 - gy * gy / (gg * yy);
}

/// What the best tanh leaves over what the best line leaves: below 1 where the curve is an S.
double tanh_over_line(const Var& stream) {
  const std::vector<double> x = values_of(stream.value()), y = values_of(normed(stream).value());
  const double line = left_by(x, y, [](double v) { return v; }), size = rms(stream.value());
  double best = line;
  for (int i = 0; i < 16; ++i) {
    const double alpha = 0.05 * std::pow(1.3, i) / size;  // up to 2.6
    best = std::min(best, left_by(x, y, [&](double v) { return std::tanh(alpha * v); }));
  }
  return best / line;
}

/// What the norms of a pre-LN stack read, in the order of units; the last is the exit norm's.
std::vector<Var> norm_inputs(const Model& model, const Batch& batch) {
  const NoGrad no_grad;
  Watch watch;
  batch_logits(model, batch, {}, {.stream = &watch});
  return watch.streams;
}

/// Rank correlation over all norms of α and 1 / deviation of what they read.
double alpha_tracks(Model& model, const std::vector<Var>& inputs) {
  std::vector<double> alpha, inverse;
  for_each_parameter(model, [&](Parameter& p) {
    if (!p.path.ends_with("alpha")) return;
    const std::size_t unit =
        p.place.layer ? 2 * *p.place.layer + (p.place.sub_layer == SubLayer::ffn ? 1 : 0) : inputs.size() - 1;
    alpha.push_back(p.value.value().item());
    inverse.push_back(1 / std::sqrt(variance(inputs.at(unit).value())));
  });
  return spearman(alpha, inverse);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* norm : {"layernorm", "dyt"})
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = comparison_run(context, "pre-ln");
      run.steps = context.steps(run.steps);
      run.model.norm = norm;
      run.seed = seed;
      const TrainedModel done = train_small(run, context);
      const auto data = data_of(run, 6000 + seed);
      s.add(norm, done.broke_off ? std::nan("") : evaluate(*done.model, *data, 256, 32).loss);
      const std::vector<Var> inputs = norm_inputs(*done.model, data->batch(0, 16));
      if (run.model.norm == "dyt") {
        s.add("rank correlation of alpha", alpha_tracks(*done.model, inputs));
        continue;
      }
      double curved = 0;
      for (const Var& x : inputs) curved += tanh_over_line(x) < 0.9 ? 1 : 0;
      s.add("share of norms with an S", curved / static_cast<double>(inputs.size()));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference gap = difference(s, "dyt", "layernorm");
  const std::string text = concat(
      "held-out loss of 6 pre-LN layers at 3e-3 after 300 steps: layer norm ", s.text("layernorm"), ", DyT ", s.text("dyt"),
      "; difference ", gap.text(), "; share of trained layer norms whose curve a tanh fits better than a line by a tenth ",
      s.text("share of norms with an S"), "; rank correlation of DyT's alpha with 1 / deviation of what it reads ",
      s.text("rank correlation of alpha"));
  const bool matches = gap.no_higher();
  const bool curved = s.mean("share of norms with an S") >= 0.5, tracks = s.mean("rank correlation of alpha") > 0.5;
  const int seen = matches + curved + tracks;
  return seen == 3 ? holds(text) : seen > 0 || gap.open() ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C31",
          .statement =
              "DyT, a tanh with a learned slope, does as well as layer norm; trained layer norms look like a tanh, and the slope "
              "follows "
              "the inverse deviation of what is read.",
          .source = "Zhu et al. 2025, arXiv 2503.10622",
          .expected =
              "held-out loss not above layer norm's by 0.05 nats, with all of the 95 % interval; in at least half of the norms a "
              "tanh leaves less than 0.9 of what a line leaves; rank correlation of alpha with 1 / deviation above 0.5. Mixed: "
              "some of the three, or the loss is not decided",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c31
