// Learning rates over the steps of a run.
#pragma once

#include <cstdint>

namespace addnorm {

enum class ScheduleKind : unsigned char { constant, linear, cosine, inverse_sqrt };

/// With s the step from 1 on, W warm-up steps, S all steps, r the rate and m the least one:
///
///   s <= W          r s / W                      from near 0, reaching r at W
///   constant        r
///   linear          m + (r - m) (S - s) / (S - W)
///   cosine          m + (r - m) (1 + cos(pi (s - W) / (S - W))) / 2
///   inverse_sqrt    r sqrt(max(W, 1) / s)        Vaswani 2017 with r = d_model^-1/2 W^-1/2; S plays no part
struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double rate = 1e-3;       ///< highest, >= 0
  double least = 0;         ///< 0 ... rate: linear and cosine end there
  std::int64_t warmup = 0;  ///< steps, >= 0
  std::int64_t steps = 1;   ///< of the whole run, >= 1

  /// The rate of update `step`, counted from 1; beyond `steps` it stays what it was there.
  double at(std::int64_t step) const;
  bool depends_on_steps() const { return kind == ScheduleKind::linear || kind == ScheduleKind::cosine; }
};
/// A UsageError names the field, its value and what is allowed.
void check(const Schedule& schedule);

}  // namespace addnorm
