// S37: the mean in bold type.
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s37 {
namespace {

constexpr std::size_t kWidth = 32;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({kWidth}, seed, DType::f64);
    const Tensor y = normed(Var(x), 0).value();
    const auto moved = [&](const Tensor& by) { return relative_distance(normed(add(Var(x), Var(by)), 0).value(), y); };
    // What a mean takes out cannot be seen: one number for all features, or a number for each.
    s.add("one number added to all", moved(Tensor::full({kWidth}, 3, DType::f64)));
    s.add("a vector added", moved(random_tensor({kWidth}, seed + 70, DType::f64)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("change of the normed vector when one number is added to all features ",
                                  s.text("one number added to all"), ", when a vector is added ", s.text("a vector added"));
  return s.most("a vector added") < 1e-9 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S37",
      .statement = "The mean that is subtracted is a vector (printed bold).",
      .source = "text 002, formula",
      .expected = "then adding any vector would change nothing (below 1e-9); a scalar mean takes out one number per token only",
      .start = "no weights: norms of made-up vectors",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s37
