// C24: with Fixup's initialisation one step of SGD changes the function by the same amount at any depth.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c24 {
namespace {

/// Fixup for branches of two matrices: the first times B^-1/2, the second 0. (Its scalars do not move the first step.)
void start_as_fixup(Model& model) {
  const double scale_in = 1 / std::sqrt(static_cast<double>(model.config().layers));
  for_each_parameter(model, [&](Parameter& p) {
    if (p.role == Role::ffn_in) p.value.value() = scale(p.value.detach(), scale_in).value();
    if (p.role == Role::ffn_out) p.value.value() = Tensor::zeros(p.value.shape());
  });
}

/// ||change of the logits|| over the rate, by one step of SGD.
double change(const ClaimContext& context, std::size_t units, bool fixup, std::uint64_t seed) {
  constexpr double kRate = 1e-5;
  SmallRun run = mixture_run(context, "residual", units);
  if (fixup) run.model.init = {.rule = "xavier"};
  run.model.bias = false;  // as in Fixup: a bias in each branch would move the output by their number
  const auto model = started(run.model, seed);
  if (fixup) start_as_fixup(*model);
  const Batch batch = data_of(run, seed)->batch(0, 64);
  const Var before = batch_logits(*model, batch, {});
  const Tensor logits = before.value();
  backward(cross_entropy(before, batch.labels));
  for_each_parameter(*model, [&](Parameter& p) {
    if (!p.value.grad().defined()) return;
    const Tensor moved = sub(p.value.detach(), scale(Var(p.value.grad()), kRate)).value();
    p.value.value() = moved;
  });
  const NoGrad no_grad;
  return length(sub(batch_logits(*model, batch, {}), Var(logits)).value()) / kRate;
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

}  // namespace addnorm::lab::c24
