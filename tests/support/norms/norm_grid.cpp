#include "support/norms/norm_grid.h"

#include "support/every_target.h"
#include "support/norms/norm_case.h"

namespace addnorm::test {
namespace {

std::array<ValuePair, 6> pairs_of(const NormChoice& c) {
  return {ValuePair{0, c.mean, 1, c.deviation}, {0, c.mean, 2, c.width},     {0, c.mean, 3, c.rows},
          {1, c.deviation, 2, c.width},         {1, c.deviation, 3, c.rows}, {2, c.width, 3, c.rows}};
}

}  // namespace

std::vector<NormChoice> allowed_choices(std::size_t most_elements) {
  std::vector<NormChoice> all;
  for (std::size_t w = 0; w < kWidths.size(); ++w)
    for (std::size_t r = 0; r < kRowCounts.size(); ++r)
      for (std::size_t m = 0; m < kMeans.size(); ++m)
        for (std::size_t s = 0; s < kDeviations.size(); ++s)
          if (const NormChoice c{m, s, w, r}; c.elements() <= most_elements) all.push_back(c);
  return all;
}

std::set<ValuePair> pairs_of(const std::vector<NormChoice>& choices) {
  std::set<ValuePair> pairs;
  for (const NormChoice& c : choices)
    for (const ValuePair& pair : pairs_of(c)) pairs.insert(pair);
  return pairs;
}

std::vector<NormChoice> pairwise_choices(std::size_t most_elements) {
  const std::vector<NormChoice> all = allowed_choices(most_elements);
  std::set<ValuePair> missing = pairs_of(all);
  std::vector<NormChoice> chosen;
  while (!missing.empty()) {
    const NormChoice* best = nullptr;
    std::size_t best_new = 0;
    for (const NormChoice& c : all) {
      std::size_t fresh = 0;
      for (const ValuePair& pair : pairs_of(c)) fresh += missing.count(pair);
      if (fresh > best_new || (fresh == best_new && fresh > 0 && c.elements() < best->elements())) {
        best = &c;
        best_new = fresh;
      }
    }
    for (const ValuePair& pair : pairs_of(*best)) missing.erase(pair);
    chosen.push_back(*best);
  }
  return chosen;
}

void expect_grid_exact(std::size_t most_elements) {
  for (const NormChoice& choice : pairwise_choices(most_elements)) {
    NormCase c(kRowCounts[choice.rows], kWidths[choice.width], kMeans[choice.mean], kDeviations[choice.deviation]);
    for (const bool layer : {true, false}) {
      c.layer = layer;
      const ExactNorm exact = exact_results(c);
      for (const int64_t target : targets_here()) {
        SCOPED_TRACE(
            concat(hwy::TargetName(target), ", mean ", kMeans[choice.mean], ", deviation ", kDeviations[choice.deviation]));
        hwy::SetSupportedTargetsForTest(target);
        c.run();
        expect_forward_exact(c, exact);
        expect_backward_exact(c, exact);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace addnorm::test
