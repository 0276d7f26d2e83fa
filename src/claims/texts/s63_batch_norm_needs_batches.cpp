// S63: batch norm takes features across the batch, and so depends on its size.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::s63 {
namespace {

constexpr std::size_t kWidth = 32, kBatches = 40;

/// Standard deviation of one vector's normed features over the batches it could be in.
double wobble(std::size_t size, bool batch, std::uint64_t seed) {
  const Tensor x = random_tensor({kWidth}, seed);
  std::vector<std::vector<double>> seen(kWidth);
  for (std::size_t b = 0; b < kBatches; ++b) {
    Tensor rows = random_tensor({size, kWidth}, seed * 1000 + b + 1);
    std::ranges::copy(x.values<float>(), rows.values<float>().begin());
    Tensor mean = Tensor::zeros({kWidth}), var = Tensor::full({kWidth}, 1);
    const Tensor y = batch ? batch_norm(Var(rows), Var(), Var(), mean, var).value() : normed(Var(rows)).value();
    for (std::size_t c = 0; c < kWidth; ++c) seen[c].push_back(static_cast<double>(y.values<float>()[c]));
  }
  double squares = 0;
  for (const auto& values : seen) squares += std::pow(deviation_of(values), 2) / kWidth;
  return std::sqrt(squares);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    std::vector<double> sizes, wobbles;
    for (const std::size_t size : {4u, 16u, 64u}) {
      sizes.push_back(static_cast<double>(size));
      wobbles.push_back(wobble(size, true, seed));
    }
    s.add("batch norm, batch of 4", wobbles.front());
    s.add("batch norm, batch of 64", wobbles.back());
    s.add("batch norm, power of the size", fitted_power(sizes, wobbles));
    s.add("layer norm, batch of 4", wobble(4, false, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("standard deviation of one vector's output over the batches it may be in: batch norm ",
                                  s.text("batch norm, batch of 4"), " in batches of 4, ", s.text("batch norm, batch of 64"),
                                  " in batches of 64 (power ", s.text("batch norm, power of the size"),
                                  " of the size); layer norm ", s.text("layer norm, batch of 4"));
  const bool depends = s.most("batch norm, power of the size") < -0.3 && s.least("batch norm, batch of 4") > 0.1;
  return depends && s.most("layer norm, batch of 4") == 0 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S63",
          .statement = "Batch norm normalises each feature across the batch, which makes what it does depend on the batch size.",
          .source = "text 003, Layer Normalization",
          .expected =
              "its output wobbles with the batch, above 0.1 in batches of 4, less in larger ones (power below -0.3); layer "
              "norm's not at all",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s63
