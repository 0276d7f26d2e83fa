#include "probe/measures/components.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "nn/norms/norm_kind_info.h"

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

/// A norm with its scale held fixed: linear in x, so that it can be taken of every component of a sum by itself.
///
/// N(y) = sum over components of part(c) + bias, for components that add up to y. By the kind of norm:
///
///   layer                     gamma * (c - mean c) / sigma(y)            beta
///   rms, partial_rms, l2, scale   gamma * c / size(y)                    -
///   batch, not training       gamma * c / sigma                          beta - gamma * mean / sigma, running statistics
///   dyt                       gamma * c * tanh(alpha y) / y              beta
///
/// In double. y [rows, width]; the frozen sizes are those of y, eps included.
class FrozenNorm {
 public:
  FrozenNorm(const Norm& norm, const std::vector<double>& y, std::size_t width);

  void take_part(std::vector<double>& c) const;  ///< c [rows, width] becomes its part of N(y)
  void add_bias(std::vector<double>& to) const;  ///< what N adds to every row, whatever y is

 private:
  std::size_t width_;
  bool identity_ = false;
  FrozenForm form_;
};

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

using Values = Components::Values;

Values doubles_of(const Tensor& x) {
  const Tensor all = x.to(DType::f64);
  const auto values = all.values<double>();
  return {values.begin(), values.end()};
}

void multiply(Values& x, const Factor& factor, std::size_t width) {
  if (!factor.learned.defined()) {
    if (factor.constant == 1) return;
    for (double& v : x) v *= factor.constant;
    return;
  }
  const Values by = doubles_of(factor.learned.value());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= by[by.size() == 1 ? 0 : i % width];
}

void add_to(Values& to, const Values& what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

/// see(value) for the elements of rows that count.
template <class See>
void for_counted(const Values& x, const RowMask& rows, std::size_t width, See&& see) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (rows.empty() || rows[i / width]) see(x[i]);
}

double squared_norm(const Values& x, const RowMask& rows, std::size_t width) {
  double sum = 0;
  for_counted(x, rows, width, [&](double v) { sum += v * v; });
  return sum;
}

double variance_of(const Values& x, const RowMask& rows, std::size_t width) {
  double sum = 0, n = 0, squares = 0;
  for_counted(x, rows, width, [&](double v) {
    sum += v;
    squares += v * v;
    ++n;
  });
  return n > 0 ? std::max(0.0, squares / n - (sum / n) * (sum / n)) : 0;
}

}  // namespace

Components::Components(const SlotResidual& residual, const std::vector<std::size_t>& lengths, bool with_dependency)
    : residual_(residual), lengths_(lengths), with_dependency_(with_dependency) {}

void Components::begin(const Var& x) {
  shape_ = x.shape();
  dtype_ = x.dtype();
  rows_ = shape_.rank() == 3 ? rows_within(lengths_, shape_[1]) : RowMask();
  parts_.assign(residual_.shape().units() + 2, Values());
  parts_.front() = doubles_of(x.value());
  parts_.back() = Values(shape_.elements(), 0.0);
  dependency_.clear();
  skip_share_.clear();
  skip_squares_.clear();
}

void Components::on_branch(const Unit&, const Var& added) { branch_ = doubles_of(added.value()); }

void Components::on_stream(const Unit* unit, const Var& x) {
  if (unit)
    add_branch(*unit);
  else
    begin(x);
  x_ = doubles_of(x.value());
  if (with_dependency_) measure();
}

/// x_ becomes the sum, and then its norm. It follows the components, so that sizes are those of the very sum.
void Components::add_branch(const Unit& unit) {
  const SlotResidual::Slots& slots = residual_.slots(unit);
  const std::size_t width = shape_.back();
  if (slots.row.skip == Skip::normed) through(slots.in);
  const bool skipped = slots.row.skip != Skip::none;
  for (Values& part : parts_) multiply(part, skipped ? residual_.a(unit) : Factor{.constant = 0}, width);
  multiply(x_, skipped ? residual_.a(unit) : Factor{.constant = 0}, width);
  const double skip = squared_norm(x_, rows_, width);
  skip_squares_.push_back(skip);
  parts_[1 + unit.index] = branch_;
  add_to(x_, branch_);
  const double whole = squared_norm(x_, rows_, width);
  skip_share_.push_back(whole > 0 ? std::sqrt(skip / whole) : kNotMeasured);
  through(slots.post);
}

void Components::through(const Norm& norm) {
  const FrozenNorm frozen(norm, x_, shape_.back());
  for (Values& part : parts_) frozen.take_part(part);
  frozen.add_bias(biases());
  frozen.take_part(x_);
  frozen.add_bias(x_);
}

void Components::take_exit() { through(residual_.exit()); }

void Components::measure() {
  std::vector<double> shares;
  double sum = 0;
  for (const Values& part : parts_) {
    shares.push_back(variance_of(part, rows_, shape_.back()));
    sum += shares.back();
  }
  for (double& share : shares) share = sum > 0 ? share / sum : kNotMeasured;
  dependency_.push_back(std::move(shares));
}

void for_each_contribution(const Model& model, const Batch& batch, const Components& components,
                           const std::function<void(std::size_t component, const Tensor& logits)>& see) {
  const NoGrad no_grad;
  const ArenaScope scope;
  const Var bias = head_logits(model, batch, Var(Tensor::zeros(components.shape(), components.dtype())));
  const auto& parts = components.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor part = parts[i].empty() ? Tensor::zeros(components.shape(), components.dtype())
                                         : Tensor::of(components.shape(), parts[i]).to(components.dtype());
    see(i, sub(head_logits(model, batch, Var(part)), bias).value());
  }
  see(parts.size(), bias.value());
}

RunningMean label_margins(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  const std::size_t classes = logits.shape().back(), rows = logits.elements() / classes;
  RunningMean all;
  dispatch(logits.dtype(), [&](auto zero) {
    for (std::size_t r = 0; r < labels.size(); ++r) {
      if (labels[r] == kIgnoredLabel) continue;
      const auto* row = logits.data<decltype(zero)>() + (rows == 1 ? 0 : r) * classes;
      double sum = 0;
      for (std::size_t c = 0; c < classes; ++c) sum += static_cast<double>(row[c]);
      all += {static_cast<double>(row[labels[r]]) - sum / static_cast<double>(classes), 1};
    }
  });
  return all;
}

std::vector<double> logit_attribution(const Model& model, const Batch& batch, const Components& components) {
  std::vector<double> margins;
  for_each_contribution(model, batch, components, [&](std::size_t component, const Tensor& logits) {
    const double margin = label_margins(logits, batch.labels).value();
    if (component < components.parts().size())
      margins.push_back(margin);
    else
      margins.back() += margin;
  });
  return margins;
}

}  // namespace addnorm
