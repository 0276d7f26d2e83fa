// C30: batch norm in the place of layer norm, on text, by batch size.
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::c30 {
namespace {

constexpr const char* kNorms[] = {"layernorm", "batchnorm"};
constexpr std::size_t kSizes[] = {2, 8, 32};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* norm : kNorms)
    for (const std::size_t size : kSizes) {
      SmallRun run = comparison_run(context, "pre-ln");
      run.steps = context.steps(run.steps);
      run.model.norm = norm;
      run.batch = size;
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(concat(norm, ", batches of ", size), summary.held_out);
        s.add(concat(norm, ", gap, batches of ", size), summary.held_out - summary.last());
      }
    }
  return s;
}

/// By how much more the gap is in batches of 2 than in batches of 32, seed by seed.
void add_growth(Samples& to, const char* norm, const Samples& s) {
  const auto& small = s.of(concat(norm, ", gap, batches of 2"));
  const auto& large = s.of(concat(norm, ", gap, batches of 32"));
  for (std::size_t i = 0; i < small.size(); ++i) to.add(norm, small[i] - large[i]);
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "pre-LN, 6 layers at 3e-3 after 300 steps, batches of 2, 8 and 32, held-out loss (less the last training losses):";
  for (const char* norm : kNorms) {
    text += norm == kNorms[0] ? " layer norm" : "; batch norm";
    for (const std::size_t size : kSizes)
      text += concat(size == kSizes[0] ? " " : ", ", s.text(concat(norm, ", batches of ", size)), " (",
                     s.text(concat(norm, ", gap, batches of ", size)), ")");
  }
  const Difference worse = difference(s, "batchnorm, batches of 8", "layernorm, batches of 8");
  Samples growth;
  for (const char* norm : kNorms) add_growth(growth, norm, s);
  const Difference batch = difference_from_zero(growth, "batchnorm");
  const Difference more = difference(growth, "batchnorm", "layernorm");
  text += concat("; batch norm less layer norm in batches of 8 ", worse.text(),
                 "; growth of the gap from 32 to 2 with batch norm ", batch.text(), ", less that with layer norm ", more.text());
  const bool gap_grows = batch.above() && more.above();
  if (worse.above() && gap_grows) return holds(text);
  return worse.above() || gap_grows ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C30",
      .statement =
          "On text batch norm does worse than layer norm, and its held-out loss lies further above its training loss the smaller "
          "batches are (the part on batch norm; PowerNorm is not built here).",
      .source = "Shen et al. 2020, arXiv 2003.07845",
      .expected =
          "batch norm's held-out loss above layer norm's in batches of 8, and its gap to the training loss larger in batches of "
          "2 than of 32, by more than layer norm's; no 95 % interval with 0 in it. Mixed: one of the two",
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c30
