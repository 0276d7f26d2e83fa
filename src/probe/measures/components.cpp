#include "probe/measures/components.h"

#include <algorithm>
#include <cmath>

namespace addnorm {
namespace {

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

}  // namespace addnorm
