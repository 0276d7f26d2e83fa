#include "train/run/records.h"

#include <cmath>

#include "addnorm/core/version.h"
#include "core/json/record.h"

namespace addnorm {

template <class Io>
static void fields(Io& io, RunProgress& s) {
  io("fingerprint", s.fingerprint);
  io("best", s.best);
  io("best_step", s.best_step);
  io("measured", s.measured);
}

std::string packed(const RunRecords& records) {
  RunProgress state = records.run;
  JsonWriter run;
  fields(run, state);
  return Json{{"version", version()},
              {"trainer", parsed(records.trainer, "the trainer's record")},
              {"run", run.object},
              {"options", records.options}}
      .dump();
}

RunRecords unpacked(const std::string& record, const std::string& where) {
  const Json json = parsed(record, where);
  const JsonAt at{where, ""};
  for (const char* part : {"version", "trainer", "run", "options"})
    if (!json.is_object() || !json.contains(part))
      at.fail("the checkpoint's record has no \"", part, "\"; was it written by 'addnorm train'?");
  RunRecords records{.trainer = json.at("trainer").dump(), .run = {}, .options = json.at("options"), .version = {}};
  read(json.at("version"), records.version, at.inside("version"));
  read(json.at("run"), records.run, at.inside("run"));
  return records;
}

std::string metrics_line(const StepRecord& r) {
  Json line{{"step", r.step},     {"loss", r.loss},      {"learning_rate", r.learning_rate}, {"gradient_norm", r.gradient_norm},
            {"labels", r.labels}, {"seconds", r.seconds}};
  if (r.tokens > 0) line["tokens"] = r.tokens;
  if (r.outcome == StepOutcome::skipped) line["outcome"] = "skipped";
  if (!r.problem.empty()) line["problem"] = r.problem;
  return line.dump();
}

std::string rollback_line(std::int64_t step, const StepRecord& r) {
  return Json{{"step", step}, {"rolled_back_from", r.step}, {"problem", r.problem}}.dump();
}

std::string stopped_line(std::int64_t step, const std::string& why) { return Json{{"step", step}, {"stopped", why}}.dump(); }

std::string metrics_line(std::int64_t step, const Evaluation& v, bool pairs) {
  Json line{{"step", step}, {"validation_loss", v.loss}, {"validation_labels", v.labels}, {"validation_accuracy", v.accuracy()}};
  if (pairs) line["validation_exact_match"] = v.exact_match();
  if (std::isfinite(v.bits_per_byte())) line["validation_bits_per_byte"] = v.bits_per_byte();
  return line.dump();
}

}  // namespace addnorm
