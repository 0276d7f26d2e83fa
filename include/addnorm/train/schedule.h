// Learning rates over the steps of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "addnorm/core/names.h"

namespace addnorm {

enum class ScheduleKind : unsigned char { constant, linear, cosine, inverse_sqrt };
const char* name_of(ScheduleKind kind);                ///< "constant", "linear", "cosine", "inverse-sqrt"
std::span<const std::string> schedule_names();         ///< in the order of the kinds
ScheduleKind schedule_named(const std::string& name);  ///< an unknown one is a UsageError with the nearest

/// With s the step from 1 on, W warm-up steps, S all steps, r the rate and m the least one:
///
///   s <= W          r s / W                      from near 0, reaching r at W
///   constant        r
///   linear          m + (r - m) (1 - q)          q = (s - 1 - W) / (S - W): r at step W + 1, and m would be that of step S + 1,
///   cosine          m + (r - m) (1 + cos(pi q)) / 2        so no update is wasted at rate 0
///   inverse_sqrt    r sqrt(max(W, 1) / s)        Vaswani 2017, see noam(); S plays no part
struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double rate = 1e-3;       ///< highest, >= 0
  double least = 0;         ///< 0 ... rate: linear and cosine fall towards it
  std::int64_t warmup = 0;  ///< steps, >= 0; where it is longer than the run, the run ends while the rate rises
  std::int64_t steps = 1;   ///< of the whole run, >= 1

  /// The rate of update `step`, counted from 1 (below: that of 1). Beyond `steps`, linear and cosine stay what they were there.
  double at(std::int64_t step) const;
  bool depends_on_steps() const { return kind == ScheduleKind::linear || kind == ScheduleKind::cosine; }
};
/// A UsageError names the field, its value and what is allowed.
void check(const Schedule& schedule, const FieldWords& words = nullptr);

/// Vaswani 2017: factor d_model^-1/2 min(s^-1/2, s warmup^-3/2). warmup >= 1.
Schedule noam(std::size_t d_model, std::int64_t warmup, double factor = 1);

}  // namespace addnorm
