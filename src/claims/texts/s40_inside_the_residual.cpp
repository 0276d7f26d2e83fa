// S40: pre-norm stands before the sub-layer and inside the residual connection.
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s40 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(scale(random_var({4, 32}, seed), 3), Var(Tensor::full({4, 32}, 1)));
    const Var w = scale(random_var({32, 32}, seed + 3), 0.2);
    Var read, f;
    const Var y = ResidualUnit("pre-ln", 32)(x, [&](const Var& u) {
      read = u;
      return f = linear(u, w);
    });
    s.add("sub-layer reads LN(x)", largest_difference(read.value(), normed(x).value()));
    s.add("skip passes x", relative_distance(sub(y, f).value(), x.value()));
    s.add("skip passes LN(x)", relative_distance(sub(y, f).value(), normed(x).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("largest difference between what the sub-layer reads and LN(x) ",
                                  s.text("sub-layer reads LN(x)"), "; distance of what came over the skip from x ",
                                  s.text("skip passes x"), ", from LN(x) ", s.text("skip passes LN(x)"));
  const bool right = s.most("sub-layer reads LN(x)") < 1e-5 && s.most("skip passes x") < 1e-5;
  return right && s.least("skip passes LN(x)") > 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S40",
          .statement = "Pre-norm norms what the sub-layer reads, inside the residual connection: the skip itself is not normed.",
          .source = "text 002, second paragraph",
          .expected = "the sub-layer reads LN(x), the skip passes x: both within 1e-5",
          .start = "no rule: one made-up branch",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s40
