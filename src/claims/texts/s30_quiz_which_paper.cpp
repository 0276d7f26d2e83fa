// S30: question 7: which paper introduced residual connections? Looked up, not measured.
#include <algorithm>

#include "addnorm/residual/catalogue.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s30 {
namespace {

Samples measure(const ClaimContext&) {
  Samples s;
  double earliest = 1e9;
  for (const Arrangement& row : arrangements()) {
    const bool skips = !row.is_row() || row.unit.skip != Skip::none;
    if (skips && row.name != "residual") earliest = std::min(earliest, static_cast<double>(row.year));
  }
  const Arrangement& residual = arrangement_named("residual");
  s.add("year of He et al.", residual.year);
  s.add("is arXiv 1512.03385", residual.source.find("1512.03385") != std::string::npos ? 1 : 0);
  s.add("earliest other with a skip", earliest);
  s.add("Attention Is All You Need", arrangement_named("post-ln").year);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "not a measurement: years as typed into our own catalogue: identity skip of arXiv 1512.03385 ", s.text("year of He et al."),
      ", the next arrangement with a skip ", s.text("earliest other with a skip"), ", \"Attention Is All You Need\" ",
      s.text("Attention Is All You Need"), ". Gated skips (Highway networks, arXiv 1505.00387) are some months older");
  return s.mean("is arXiv 1512.03385") == 1 && s.mean("year of He et al.") < s.mean("earliest other with a skip") ? holds(text)
                                                                                                                  : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S30",
          .statement =
              "Question 7: residual connections were introduced by \"Deep Residual Learning for Image Recognition\" (answer B).",
          .source = "text 001, question 7",
          .expected = "a catalogue entry, not a measurement: no arrangement with a skip is older in the table of this program",
          .start = "no weights: years of the catalogue",
          .seeds = 1,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s30
