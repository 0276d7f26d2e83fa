#include "addnorm/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "addnorm/core/error.h"

namespace addnorm {

void check(const Schedule& s) {
  require(std::isfinite(s.rate) && s.rate >= 0, "schedule: the rate is ", s.rate, "; it must be a number from 0 on");
  require(s.least >= 0 && s.least <= s.rate, "schedule: the least rate is ", s.least, "; it must be 0 ... ", s.rate);
  require(s.warmup >= 0, "schedule: warm-up is ", s.warmup, " steps; it must be 0 or more");
  require(s.steps >= 1, "schedule: there are ", s.steps, " steps; there must be at least 1");
}

double Schedule::at(std::int64_t step) const {
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup), all = static_cast<double>(steps);
  if (step <= warmup) return rate * s / w;
  const double done = all > w ? std::min((s - w) / (all - w), 1.0) : 1.0;
  switch (kind) {
    case ScheduleKind::constant:
      return rate;
    case ScheduleKind::linear:
      return least + (rate - least) * (1 - done);
    case ScheduleKind::cosine:
      return least + (rate - least) * (1 + std::cos(std::numbers::pi * done)) / 2;
    case ScheduleKind::inverse_sqrt:
      return rate * std::sqrt(std::max(w, 1.0) / s);
  }
  return rate;
}

}  // namespace addnorm
