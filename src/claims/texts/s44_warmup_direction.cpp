// S44: which way the rate goes during warm-up.
#include "addnorm/train/schedule.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s44 {
namespace {

Samples measure(const ClaimContext&) {
  Samples s;
  for (const ScheduleKind kind :
       {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::inverse_sqrt}) {
    const Schedule schedule{.kind = kind, .rate = 1e-3, .warmup = 100, .steps = 1000};
    double down = 0;
    for (std::int64_t step = 2; step <= 100; ++step) down += schedule.at(step) < schedule.at(step - 1) ? 1 : 0;
    s.add("steps of the warm-up in which the rate falls", down);
    s.add("first rate over highest", schedule.at(1) / schedule.rate);
    s.add("rate at the end of the warm-up over highest", schedule.at(100) / schedule.rate);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("steps of 100 warm-up steps in which the rate falls, in four schedules: ",
             s.text("steps of the warm-up in which the rate falls"), "; it begins at ", s.text("first rate over highest"),
             " of its highest value and ends at ", s.text("rate at the end of the warm-up over highest"));
  return s.least("steps of the warm-up in which the rate falls") > 50 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S44",
          .statement = "During warm-up the learning rate is at first decreased.",
          .source = "text 002, on warm-up",
          .expected = "the rate falls from step to step in most of the warm-up; a warm-up starts near 0 and rises",
          .start = "no weights: schedules alone",
          .seeds = 1,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s44
