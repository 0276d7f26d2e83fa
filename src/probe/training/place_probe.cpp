#include "probe/training/place_probe.h"

#include <algorithm>
#include <cmath>

#include "probe/measures/position_probe.h"
#include "probe/measures/spectrum.h"
#include "probe/measures/token_measures.h"

namespace addnorm {

void PlaceProbe::on_stream(const Unit* unit, const Var& x) {
  if (!unit) rows_ = x.shape().rank() == 3 ? rows_within(lengths_, x.shape()[1]) : RowMask();
  seen_.max_over_median.push_back(max_over_median(x.value(), rows_));
  seen_.kurtosis.push_back(kurtosis(x.value(), rows_));
  seen_.token_similarity.push_back(token_similarity(x.value(), rows_));
  const Ranks both = ranks(x.value(), rows_);
  seen_.stable_rank.push_back(both.stable);
  seen_.effective_rank.push_back(both.effective);
  seen_.position_accuracy.push_back(position_accuracy(x.value(), rows_));
}

void PlaceProbe::write_to(StackRecord& record) const {
  record.max_over_median = seen_.max_over_median;
  record.kurtosis = seen_.kurtosis;
  record.token_similarity = seen_.token_similarity;
  record.stable_rank = seen_.stable_rank;
  record.effective_rank = seen_.effective_rank;
  // A batch of one sequence, and rows of numbers, have no positions to distinguish.
  if (!std::ranges::all_of(seen_.position_accuracy, [](double v) { return std::isnan(v); }))
    record.position_accuracy = seen_.position_accuracy;
}

}  // namespace addnorm
