// S09: the boosting view: every unit lowers the error of what could be read off so far.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::s09 {
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
      .source = "text 000, comment at the end (BoostResNet, arXiv 1706.04964)",
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

}  // namespace addnorm::lab::s09
