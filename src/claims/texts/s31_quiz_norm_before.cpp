// S31: question 8: which of the two norms what the sub-layer reads?
#include "addnorm/residual/unit.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s31 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 32}, seed);
    for (const char* name : {"pre-ln", "post-ln"}) {
      const auto read = [&](double factor) {  // what the sub-layer is given when the stream is so much larger
        Var seen;
        ResidualUnit(name, 32)(scale(x, factor), [&](const Var& u) { return seen = u; });
        return seen.value();
      };
      s.add(name, relative_distance(read(10), read(1)));
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("change of what the sub-layer reads when the stream grows tenfold: pre-LN ", s.text("pre-ln"),
                                  ", post-LN ", s.text("post-ln"));
  return s.most("pre-ln") < 1e-3 && s.least("post-ln") > 1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S31",
          .statement = "Question 8: of pre-LN and post-LN, pre-LN applies the norm before the sub-layer (answer B).",
          .source = "text 001, question 8",
          .expected = "ten times the stream changes nothing after a norm (below 1e-3), and everything without (above 1)",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s31
