// S64: sequences of different lengths in one batch.
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s64 {
namespace {

constexpr std::size_t kTokens = 8, kWidth = 32;

/// The first sequence, normed beside a second one of so many tokens; padding is zeros, and said to be padding or not.
Tensor first_sequence(std::size_t other, bool batch, bool told, std::uint64_t seed) {
  Tensor x = random_tensor({2, kTokens, kWidth}, seed);
  std::vector<unsigned char> padding(2 * kTokens);
  for (std::size_t t = other; t < kTokens; ++t) {
    padding[kTokens + t] = 1;
    for (std::size_t c = 0; c < kWidth; ++c) x.data<float>()[(kTokens + t) * kWidth + c] = 0;
  }
  Tensor mean = Tensor::zeros({kWidth}), var = Tensor::full({kWidth}, 1);
  const Var y =
      batch ? batch_norm(Var(x), Var(), Var(), mean, var, {}, told ? padding : std::vector<unsigned char>()) : normed(Var(x));
  return Tensor::of({kTokens, kWidth}, y.value().values<float>().first(kTokens * kWidth));
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const auto change = [&](bool batch, bool told) {
      return relative_distance(first_sequence(2, batch, told, seed), first_sequence(kTokens, batch, told, seed));
    };
    s.add("batch norm", change(true, false));
    s.add("batch norm that knows the padding", change(true, true));
    s.add("layer norm", change(false, false));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("change of a sequence's normed vectors when its neighbour in the batch has 2 tokens instead of 8: batch norm ",
             s.text("batch norm"), ", batch norm that leaves out padding ", s.text("batch norm that knows the padding"),
             ", layer norm ", s.text("layer norm"));
  return s.least("batch norm") > 0.01 && s.least("batch norm that knows the padding") > 0.01 && s.most("layer norm") == 0
             ? holds(text)
             : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S64",
      .statement = "Batch norm suits sequences of variable length less than layer norm does.",
      .source = "text 003, Layer Normalization, and question 3",
      .expected =
          "lengths of other sequences change its output by more than 1 %, with padding left out too; layer norm's not by a bit",
      .start = "no weights: norms of made-up sequences",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s64
