#include "probe/training/drift.h"

#include <cmath>

namespace addnorm {
namespace {

double length(const std::vector<double>& a) {
  double sum = 0;
  for (const double v : a) sum += v * v;
  return std::sqrt(sum);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

void DriftProbe::begin(std::int64_t step, std::vector<std::size_t> lengths) {
  before_ = std::move(now_);
  step_before_ = step_;
  now_.clear();
  step_ = step;
  lengths_ = std::move(lengths);
}

void DriftProbe::on_read(const Unit&, const Var& u) {
  now_.push_back(feature_moments(u.value(), u.shape().rank() == 3 ? rows_within(lengths_, u.shape()[1]) : RowMask()));
}

void DriftProbe::write_to(StackRecord& record) {
  if (before_.size() != now_.size() || step_ <= step_before_) return;
  const auto steps = static_cast<double>(step_ - step_before_);
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const double scale = length(before_[i].deviation) * steps;
    record.drift_mean.push_back(scale > 0 ? distance(now_[i].mean, before_[i].mean) / scale : kNotMeasured);
    record.drift_deviation.push_back(scale > 0 ? distance(now_[i].deviation, before_[i].deviation) / scale : kNotMeasured);
  }
}

}  // namespace addnorm
