// S36: the formula as printed has no epsilon.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s36 {
namespace {

double bad_share(const Tensor& t) {
  double bad = 0;
  for (const double v : values_of(t)) bad += std::isfinite(v) ? 0 : 1;
  return bad / static_cast<double>(t.elements());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const double value = values_of(random_tensor({1}, seed))[0];
    const Var constant(Tensor::full({16}, value)), varied = random_var({16}, seed);
    s.add("constant vector, no eps", bad_share(normed(constant, 0).value()));
    s.add("constant vector, eps 1e-5", bad_share(normed(constant).value()));
    s.add("other vector, no eps", bad_share(normed(varied, 0).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("share of outputs that are not numbers: constant vector without eps ",
                                  s.text("constant vector, no eps"), ", with eps = 1e-5 ", s.text("constant vector, eps 1e-5"),
                                  "; other vectors without eps ", s.text("other vector, no eps"));
  if (s.most("constant vector, no eps") == 0 && s.most("other vector, no eps") == 0) return holds(text);
  if (s.most("other vector, no eps") == 0)
    return holds_if("the features differ; a constant vector needs an epsilon under the root", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S36",
          .statement = "The normed vector is (e - m) divided by the root of v alone.",
          .source = "text 002, formula",
          .expected = "it gives numbers for every vector",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s36
