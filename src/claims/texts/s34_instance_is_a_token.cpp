// S34: what an instance is: a sequence, or one position of it?
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s34 {
namespace {

constexpr std::size_t kTokens = 8, kWidth = 32;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({1, kTokens, kWidth}, seed);
    Tensor others = x.clone();  // every token but the first is another one
    for (std::size_t i = kWidth; i < x.elements(); ++i) others.data<float>()[i] = 3 * others.data<float>()[i] + 1;
    const auto first = [](const Tensor& y) { return Tensor::of({kWidth}, y.values<float>().first(kWidth)); };
    s.add("statistics of the token", relative_distance(first(normed(Var(others)).value()), first(normed(Var(x)).value())));
    const auto whole = [](const Tensor& t) { return normed(reshape(Var(t), {1, kTokens * kWidth})).value(); };
    s.add("statistics of the sequence", relative_distance(first(whole(others)), first(whole(x))));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "change of a token's normed vector when all other tokens of its sequence change: ", s.text("statistics of the token"),
      "; it would be ", s.text("statistics of the sequence"), " if the statistics were of the sequence");
  const bool token = s.most("statistics of the token") == 0;
  if (token && s.most("statistics of the sequence") == 0) return holds(text);
  if (token) return holds_if("an instance is one position of one sequence: its features, not its neighbours", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S34",
      .statement = "In Transformers the statistics of layer norm are calculated for every instance.",
      .source = "text 002, first paragraph",
      .expected = "nothing else than the instance matters; whether other tokens of the same sequence do says what an instance is",
      .start = "no weights: norms of made-up sequences",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s34
