#include "probe/measures/frozen_norm.h"

#include <algorithm>
#include <cmath>

namespace addnorm {
namespace {

/// A parameter as doubles: one per feature, also of one number for all.
std::vector<double> by_feature(const Var& parameter, std::size_t width, double without) {
  std::vector<double> values(width, without);
  if (!parameter.defined()) return values;
  const Tensor all = parameter.value().to(DType::f64);
  for (std::size_t i = 0; i < width; ++i) values[i] = all.data<double>()[all.elements() == 1 ? 0 : i];
  return values;
}

/// 1 / (what a row is divided by).
double over_size(const NormKindOptions& o, const double* row, std::size_t width) {
  std::size_t measured = width;
  if (o.formula == NormFormula::partial_rms) measured = static_cast<std::size_t>(std::ceil(o.part * static_cast<double>(width)));
  double mean = 0, squares = 0;
  if (o.formula == NormFormula::layer)
    for (std::size_t i = 0; i < width; ++i) mean += row[i] / static_cast<double>(width);
  for (std::size_t i = 0; i < measured; ++i) squares += (row[i] - mean) * (row[i] - mean);
  const auto eps = static_cast<double>(o.eps);
  if (o.formula == NormFormula::scale || o.formula == NormFormula::l2) return 1 / std::max(std::sqrt(squares), eps);
  const double mean_square = squares / static_cast<double>(measured);
  return o.eps_place == EpsPlace::inside_root ? 1 / std::sqrt(mean_square + eps) : 1 / (std::sqrt(mean_square) + eps);
}

}  // namespace

FrozenNorm::FrozenNorm(const Norm& norm, const std::vector<double>& y, std::size_t width) : width_(width) {
  const NormKindOptions& o = norm.options();
  identity_ = norm.is_identity();
  if (identity_) return;
  gain_ = by_feature(norm.gamma(), width, 1);
  if (norm.gamma().defined() && o.gain_is_one_plus)
    for (double& g : gain_) g += 1;
  bias_ = by_feature(norm.beta(), width, 0);
  centred_ = o.formula == NormFormula::layer;
  if (o.formula == NormFormula::batch)
    freeze_batch(norm);
  else if (o.formula == NormFormula::dyt)
    freeze_dyt(norm, y);
  else
    freeze_rows(norm, y);
}

void FrozenNorm::freeze_rows(const Norm& norm, const std::vector<double>& y) {
  for (std::size_t r = 0; r < y.size() / width_; ++r) of_row_.push_back(over_size(norm.options(), y.data() + r * width_, width_));
}

void FrozenNorm::freeze_dyt(const Norm& norm, const std::vector<double>& y) {
  const double alpha = norm.alpha().value().to(DType::f64).item();
  of_element_.reserve(y.size());
  for (const double v : y) of_element_.push_back(v == 0 ? alpha : std::tanh(alpha * v) / v);
}

void FrozenNorm::freeze_batch(const Norm& norm) {
  const Tensor mean = norm.running_mean().to(DType::f64), var = norm.running_var().to(DType::f64);
  for (std::size_t i = 0; i < width_; ++i) {
    gain_[i] /= std::sqrt(var.data<double>()[i] + static_cast<double>(norm.options().eps));
    bias_[i] -= gain_[i] * mean.data<double>()[i];
  }
}

void FrozenNorm::take_part(std::vector<double>& c) const {
  if (identity_) return;
  for (std::size_t r = 0; r < c.size() / width_; ++r) {
    double* row = c.data() + r * width_;
    double mean = 0;
    if (centred_)
      for (std::size_t i = 0; i < width_; ++i) mean += row[i];
    mean /= static_cast<double>(width_);
    const double factor = of_row_.empty() ? 1 : of_row_[r];
    for (std::size_t i = 0; i < width_; ++i) row[i] = (row[i] - mean) * (factor * gain_[i]);
    if (!of_element_.empty())
      for (std::size_t i = 0; i < width_; ++i) row[i] *= of_element_[r * width_ + i];
  }
}

void FrozenNorm::add_bias(std::vector<double>& to) const {
  if (identity_) return;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += bias_[i % width_];
}

}  // namespace addnorm
