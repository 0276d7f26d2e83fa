// S32: layer norm stabilises and accelerates training.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s32 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"residual", "without"}, {"pre-ln", "with"}})
    for (const std::size_t units : {4u, 20u, 56u}) {
      SmallRun run = mixture_run(stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(concat(name, ", ", units, " units"), summary.broke_off ? 1e9 : summary.last());
        s.add(concat(name, ", ", units, " units, steps to 0.5"), static_cast<double>(summary.steps_to(0.5)));
      }
    }
  for (const auto& [stack, name] : {std::pair{"residual", "without, decoder"}, {"pre-ln", "with, decoder"}}) {
    SmallRun run = short_run(stack);
    run.steps = context.steps(run.steps);
    for (const RunSummary& summary : run_seeds(run, context)) s.add(name, summary.last());
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "loss of skips without and with layer norm (steps until it is below 0.5):";
  const auto told = [&](const std::string& name) {
    return concat(s.text(name), " (", figure_text(s.mean(name + ", steps to 0.5")), ")");
  };
  bool everywhere = true, deep = true;
  for (const char* units : {"4", "20", "56"}) {
    const std::string without = concat("without, ", units, " units"), with = concat("with, ", units, " units");
    text += concat(units == std::string_view("4") ? " " : "; ", units, " units ", told(without), " and ", told(with));
    const bool better = s.most(with) < s.least(without) && s.mean(with + ", steps to 0.5") < s.mean(without + ", steps to 0.5");
    everywhere = everywhere && better;
    if (units != std::string_view("4")) deep = deep && better;
  }
  text += concat("; 6 decoder layers at 5e-3 ", s.text("without, decoder"), " and ", s.text("with, decoder"));
  everywhere = everywhere && s.most("with, decoder") < s.least("without, decoder");
  if (everywhere) return holds(text);
  if (deep) return holds_if("the stack is deep; 4 units, or 6 decoder layers, train as well without a norm", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S32",
      .statement = "Layer norm stabilises and accelerates the training of a network.",
      .source = "text 002, first paragraph; text 003, Layer Normalization",
      .expected =
          "at the same rate every seed ends lower with norms and gets below a loss of 0.5 in fewer steps, at 4, 20 and 56 units "
          "and in a 6-layer decoder",
      .changed = "the feed-forward stacks were chosen after 6 decoder layers had shown no benefit of a norm; both are told now",
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s32
