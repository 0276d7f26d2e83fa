#include "probe/measures/frozen_norm.h"

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

}  // namespace

FrozenNorm::FrozenNorm(const Norm& norm, const std::vector<double>& y, std::size_t width) : width_(width) {
  identity_ = norm.is_identity();
  if (identity_) return;
  form_.gain = by_feature(norm.gamma(), width, 1);
  if (norm.gamma().defined() && norm.options().gain_is_one_plus)
    for (double& g : form_.gain) g += 1;
  form_.bias = by_feature(norm.beta(), width, 0);
  norm_kind(norm.options().formula).freeze(norm.options(), norm.state(), y, width, form_);
}

void FrozenNorm::take_part(std::vector<double>& c) const {
  if (identity_) return;
  for (std::size_t r = 0; r < c.size() / width_; ++r) {
    double* row = c.data() + r * width_;
    double mean = 0;
    if (form_.centred)
      for (std::size_t i = 0; i < width_; ++i) mean += row[i];
    mean /= static_cast<double>(width_);
    const double factor = form_.of_row.empty() ? 1 : form_.of_row[r];
    for (std::size_t i = 0; i < width_; ++i) row[i] = (row[i] - mean) * (factor * form_.gain[i]);
    if (!form_.of_element.empty())
      for (std::size_t i = 0; i < width_; ++i) row[i] *= form_.of_element[r * width_ + i];
  }
}

void FrozenNorm::add_bias(std::vector<double>& to) const {
  if (identity_) return;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += form_.bias[i % width_];
}

}  // namespace addnorm
