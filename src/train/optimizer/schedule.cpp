#include "addnorm/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"

namespace addnorm {
namespace {
const std::vector<std::string> kScheduleNames{"constant", "linear", "cosine", "inverse-sqrt"};
}

const char* name_of(ScheduleKind kind) { return kScheduleNames.at(static_cast<std::size_t>(kind)).c_str(); }
std::span<const std::string> schedule_names() { return kScheduleNames; }
ScheduleKind schedule_named(const std::string& name) {
  const auto found = std::find_if(kScheduleNames.begin(), kScheduleNames.end(),
                                  [&](const std::string& known) { return folded(known) == folded(name); });
  require(found != kScheduleNames.end(), unknown_name("schedule", name, kScheduleNames));
  return static_cast<ScheduleKind>(found - kScheduleNames.begin());
}

void check(const Schedule& s, const FieldWords& words) {
  const auto called = [&](const char* field) { return words ? words(field) : concat("schedule: ", field); };
  require_one_of("schedule", "kind", s.kind, "ScheduleKind", {"constant", "linear", "cosine", "inverse_sqrt"});
  require(std::isfinite(s.rate) && s.rate >= 0, called("rate"), " is ", s.rate, "; it must be a number from 0 on");
  require(s.least >= 0 && s.least <= s.rate, called("least"), " is ", s.least, "; it must be 0 ... ", s.rate, " (",
          addnorm::called(words, "rate"), ")");
  require(s.warmup >= 0, "schedule: warm-up is ", s.warmup, " steps; it must be 0 or more");
  require(s.steps >= 1, "schedule: there are ", s.steps, " steps; there must be at least 1");
}

double Schedule::at(std::int64_t step) const {
  step = std::max<std::int64_t>(depends_on_steps() ? std::min(step, steps) : step, 1);
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup);
  if (step <= warmup) return rate * (s / w);
  const double q = depends_on_steps() ? (s - 1 - w) / (static_cast<double>(steps) - w) : 0;
  switch (kind) {
    case ScheduleKind::constant:
      return rate;
    case ScheduleKind::linear:
      return least + (rate - least) * (1 - q);
    case ScheduleKind::cosine:
      return least + (rate - least) * (1 + std::cos(std::numbers::pi * q)) / 2;
    case ScheduleKind::inverse_sqrt:
      return rate * std::sqrt(std::max(w, 1.0) / s);
  }
  return rate;
}

Schedule noam(std::size_t d_model, std::int64_t warmup, double factor) {
  require(d_model >= 1, "noam: d_model is ", d_model, "; it must be at least 1");
  require(warmup >= 1, "noam: warm-up is ", warmup, " steps; it must be at least 1");
  const Schedule made{.kind = ScheduleKind::inverse_sqrt,
                      .rate = factor / std::sqrt(static_cast<double>(d_model)) / std::sqrt(static_cast<double>(warmup)),
                      .warmup = warmup};
  check(made);
  return made;
}

}  // namespace addnorm
