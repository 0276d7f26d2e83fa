// Admin's profiling pass (Liu L. et al. 2020): the skip's coefficients from the variances of one forward pass.
#include <cmath>
#include <optional>

#include "residual/streams/slot_stream.h"

namespace addnorm {
namespace {

/// Over every element, in double and two passes.
double variance(const Tensor& values) {
  double mean = 0, squares = 0;
  const auto n = static_cast<double>(values.elements());
  dispatch(values.dtype(), [&](auto zero) {
    for (const auto v : values.values<decltype(zero)>()) mean += static_cast<double>(v) / n;
    for (const auto v : values.values<decltype(zero)>())
      squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  });
  return squares / n;
}

void fill(Tensor& values, double value) {
  dispatch(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.elements(); ++i) values.data<T>()[i] = static_cast<T>(value);
  });
}

class StreamProfile final : public StreamObserver {
 public:
  StreamProfile(const Residual& residual, std::vector<Var> omegas)
      : residual_(residual), omegas_(std::move(omegas)), seen_(omegas_.size()) {}

  void on_stream(const Unit* unit, const Var& x) override {
    x_ = x.value();
    if (!unit) omega_ = 1;
  }
  void on_branch(const Unit& unit, const Var& f) override {
    seen_[unit.index] = true;
    if (!omegas_[unit.index].defined() || not_finite_at_) return;
    fill(omegas_[unit.index].value(), omega_);
    omega_ = std::sqrt(omega_ * omega_ * variance(x_) + variance(f.value()));
    if (!std::isfinite(omega_))
      not_finite_at_ = unit.index;  // reported when the pass is over: this is inside the caller's forward pass
  }
  void require_measured() const {
    if (not_finite_at_)
      throw NumericsError(concat("calibrate: the variances at unit ", *not_finite_at_, " of stack '", residual_.shape().name,
                                 "' are not finite; the batch or the initial weights hold NaN or are far too large"));
    for (std::size_t i = 0; i < seen_.size(); ++i)
      require(seen_[i], "calibrate: unit ", i, " of stack '", residual_.shape().name,
              "' did not run; one forward pass must go through all ", seen_.size(), " units with the observer given to open()");
  }

 private:
  const Residual& residual_;
  std::vector<Var> omegas_;  // of each unit; undefined where it is not profiled
  std::vector<bool> seen_;
  Tensor x_;          // what the next unit reads
  double omega_ = 1;  // of the next profiled unit
  std::optional<std::size_t> not_finite_at_;
};

}  // namespace

bool SlotResidual::needs_calibration() const {
  for (const Slots& slots : units_)
    if (slots.row.a.profiled) return true;
  return false;
}

void SlotResidual::calibrate(const std::function<void(StreamObserver*)>& run) {
  if (!needs_calibration()) return;
  std::vector<Var> omegas;
  std::vector<Tensor> before;
  for (const Slots& slots : units_) {
    omegas.push_back(slots.row.a.profiled ? slots.a : Var());
    before.push_back(slots.row.a.profiled ? slots.a.value().clone() : Tensor());
  }
  StreamProfile profile(*this, omegas);
  try {
    run(&profile);
    profile.require_measured();
  } catch (...) {
    for (std::size_t i = 0; i < omegas.size(); ++i)
      if (omegas[i].defined()) omegas[i].value() = before[i];
    throw;
  }
}

}  // namespace addnorm
