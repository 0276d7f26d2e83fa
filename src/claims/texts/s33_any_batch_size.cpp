// S33: statistics of each instance by itself: the batch does not matter.
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s33 {
namespace {

constexpr std::size_t kWidth = 64, kMost = 32;

/// Row 0 normed in a batch of so many rows.
Tensor first_row(const Tensor& rows, std::size_t count, bool batch) {
  const std::span<const float> values = rows.values<float>().first(count * kWidth);
  const Var x(Tensor::of({count, kWidth}, values));
  Tensor mean = Tensor::zeros({kWidth}), var = Tensor::full({kWidth}, 1);
  const Var y = batch ? batch_norm(x, Var(), Var(), mean, var) : normed(x);
  return Tensor::of({kWidth}, y.value().values<float>().first(kWidth));
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor rows = random_tensor({kMost, kWidth}, seed);
    double same = 0, sizes = 0, batch = 0;
    for (const std::size_t count : {2u, 3u, 8u, 32u}) {
      same += same_bits(first_row(rows, count, false), first_row(rows, 1, false)) ? 1 : 0;
      batch = std::max(batch, relative_distance(first_row(rows, count, true), first_row(rows, kMost, true)));
      ++sizes;
    }
    s.add("layer norm, batch sizes with the same bits", same / sizes);
    s.add("batch norm, change", batch);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "one vector in batches of 1, 2, 3, 8 and 32: share of sizes at which layer norm gives the same bits ",
      s.text("layer norm, batch sizes with the same bits"), "; largest change by batch norm ", s.text("batch norm, change"));
  return s.least("layer norm, batch sizes with the same bits") == 1 && s.least("batch norm, change") > 0.01 ? holds(text)
                                                                                                            : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S33",
          .statement = "Layer norm takes its statistics from each instance by itself, so that any batch size will do.",
          .source = "text 002, first paragraph",
          .expected = "the same bits in every batch; batch norm changes by more than 1 %",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s33
