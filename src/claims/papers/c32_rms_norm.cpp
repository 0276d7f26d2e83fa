// C32: RMSNorm against layer norm: loss, and time of the kernels.
#include <chrono>

#include "addnorm/kernels/add_norm.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c32 {
namespace {

constexpr std::size_t kRows = 256, kWidth = 512;  // half a megabyte an array: in the cache, where arithmetic counts
constexpr int kRepetitions = 41;

/// Forward and backward of one norm, all gradients.
class Kernels {
 public:
  explicit Kernels(std::uint64_t seed)
      : x_(random_tensor({kRows, kWidth}, seed)),
        dy_(random_tensor({kRows, kWidth}, seed + 1)),
        gamma_(Tensor::full({kWidth}, 1)) {}

  double seconds(bool layer) {
    const auto start = std::chrono::steady_clock::now();
    const AddNorm forward{.rows = kRows,
                          .width = kWidth,
                          .x = x_.data<float>(),
                          .gamma = gamma_.data<float>(),
                          .beta = layer ? beta_.data<float>() : nullptr,
                          .y = y_.data<float>(),
                          .mean = layer ? mean_.data() : nullptr,
                          .rstd = rstd_.data<float>()};
    const AddNormGrad backward{.rows = kRows,
                               .width = kWidth,
                               .dy = dy_.data<float>(),
                               .sum = x_.data<float>(),
                               .mean = layer ? mean_.data() : nullptr,
                               .rstd = rstd_.data<float>(),
                               .gamma = gamma_.data<float>(),
                               .dx = dx_.data<float>(),
                               .dgamma = dgamma_.data<float>(),
                               .dbeta = layer ? dbeta_.data<float>() : nullptr};
    layer ? add_layer_norm(forward) : add_rms_norm(forward);
    layer ? add_layer_norm_grad(backward) : add_rms_norm_grad(backward);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  Tensor x_, dy_, gamma_;
  Tensor beta_ = Tensor::zeros({kWidth}), y_ = Tensor::zeros({kRows, kWidth}), dx_ = Tensor::zeros({kRows, kWidth});
  Tensor rstd_ = Tensor::zeros({kRows}), dgamma_ = Tensor::zeros({kWidth}), dbeta_ = Tensor::zeros({kWidth});
  std::vector<double> mean_ = std::vector<double>(kRows);
};

/// Median over pairs of one run each, one right after the other: what else the machine does meets both.
double time_ratio(std::uint64_t seed) {
  Kernels kernels(seed);
  std::vector<double> ratios;
  for (int i = 0; i < kRepetitions + 3; ++i) {
    const bool layer_first = i % 2 == 0;
    const double first = kernels.seconds(layer_first), second = kernels.seconds(!layer_first);
    if (i >= 3) ratios.push_back(layer_first ? second / first : first / second);  // the first ones warm up
  }
  return median_of(ratios);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::string norm : {"layernorm", "rmsnorm"}) {
    SmallRun run = comparison_run(context, "pre-ln");
    run.steps = context.steps(run.steps);
    run.model.norm = norm;
    add_held_out(s, norm, run, context);
  }
  for (const std::uint64_t seed : context.seeds) s.add("time", time_ratio(seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference gap = difference(s, "rmsnorm", "layernorm");
  const std::string text = concat("held-out loss of 6 pre-LN layers at 3e-3 after 300 steps: layer norm ", s.text("layernorm"),
                                  ", RMSNorm ", s.text("rmsnorm"), "; difference ", gap.text(),
                                  "; time of our RMSNorm over our layer norm, forward and backward of 256 "
                                  "rows of 512 ",
                                  s.text("time"));
  const bool faster = s.mean("time") < 0.93;
  const bool as_good = gap.no_higher();
  if (as_good && faster) return holds(text);
  return as_good || gap.open() || faster ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C32",
      .statement = "RMSNorm is as good as layer norm, and takes 7 to 64 % less time.",
      .source = "Zhang and Sennrich 2019, arXiv 1910.07467",
      .expected =
          "held-out loss not above layer norm's by 0.05 nats, with all of the 95 % interval; kernel time at least 7 % less (a "
          "ratio below 0.93). Mixed: one of them, or the loss is not decided",
      .earlier = {"mixed", "with GPT-2's weights losses spread less, and the difference is decided: RMSNorm is as good"},
      .compares = true,
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c32
