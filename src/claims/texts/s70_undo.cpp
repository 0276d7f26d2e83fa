// S70: can gain and bias undo the normalisation?
#include "claims/bench/experiment.h"
#include "claims/bench/linear_probe.h"
#include "claims/list.h"

namespace addnorm::lab::s70 {
namespace {

constexpr std::size_t kRows = 256, kWidth = 16;

/// Rows whose own mean and scale differ: what a norm takes away.
Tensor rows(std::uint64_t seed) {
  Tensor x = random_tensor({kRows, kWidth}, seed);
  const Tensor scales = random_tensor({kRows, 2}, seed + 1);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kWidth; ++c) {
      float& v = x.data<float>()[r * kWidth + c];
      v = v * (1.5f + scales.values<float>()[2 * r] / 4) + scales.values<float>()[2 * r + 1];
    }
  return x;
}

/// What is left of x after the best gain and bias per feature, as a share of its variance: 0 where it is got back.
double left_over(const Tensor& y, const Tensor& x) {
  double off = 0, all = 0;
  for (std::size_t c = 0; c < kWidth; ++c) {
    const auto column = [&](const Tensor& t) {
      std::vector<double> values;
      for (std::size_t r = 0; r < kRows; ++r) values.push_back(static_cast<double>(t.values<float>()[r * kWidth + c]));
      return Tensor::of({kRows}, std::span<const double>(values));
    };
    const Tensor from = column(y), to = column(x);
    const double my = mean_value(from), mx = mean_value(to), vy = variance(from), vx = variance(to);
    const double both = dot(from, to) / kRows - my * mx;
    off += vx - both * both / vy;
    all += vx;
  }
  return off / all;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = rows(seed);
    s.add("layer norm", left_over(normed(Var(x)).value(), x));
    Tensor mean = Tensor::full({kWidth}, 0.1), var = Tensor::full({kWidth}, 2);
    s.add("batch norm, running statistics", left_over(batch_norm(Var(x), Var(), Var(), mean, var, {.train = false}).value(), x));
    const Var moved = add(scale(Var(x), 3), Var(Tensor::full(x.shape(), 2)));
    s.add("LN(3x + 2) from LN(x)", relative_distance(normed(moved).value(), normed(Var(x)).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the input's variance that no gain and bias bring back: layer norm ", s.text("layer norm"),
             ", batch norm with running statistics ", s.text("batch norm, running statistics"),
             "; distance of LN(3x + 2) from LN(x) ", s.text("LN(3x + 2) from LN(x)"));
  if (s.most("layer norm") < 1e-3) return holds(text);
  return fails(s.most("batch norm, running statistics") < 1e-3
                   ? concat(text, ". It is true of batch norm; layer norm takes each token's mean and scale away for good")
                   : text);
}

}  // namespace

Claim claim() {
  return {.id = "S70",
          .statement = "Gamma and beta let the network undo layer norm where that is better.",
          .source = "text 003, why gamma and beta matter, and question 4",
          .expected = "some gain and bias give the input back: less than 0.1 % of its variance left over",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s70
