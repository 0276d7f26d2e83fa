// Preflight's answer for a row of a grid, and the file by which another process is asked for it.
#include <algorithm>

#include "addnorm/lab/grid_run.h"
#include "core/file.h"
#include "core/json/record.h"
#include "lab/grid/files.h"

namespace addnorm {

Prediction predict(std::string_view options, std::uint64_t first_seed, std::size_t seeds, const std::filesystem::path& cache,
                   const FieldWords& words) {
  PreflightRequest request{.given = run_options_from_json(options, "options", words)};
  request.given.options.seed = first_seed;
  request.given.given.insert("seed");
  request.seeds = seeds;
  request.advice = false;
  request.brief = true;
  request.cache = cache;
  const PreflightResult found = preflight(request);
  return {.forecast = found.forecast,
          .confidence = found.confidence,
          .clear = found.clear,
          .reason = found.reason,
          .skip_gain_measured = found.skip_gain_measured,
          .twin = found.twin,
          .horizon = found.horizon,
          .seconds = found.seconds};
}

void write_question(const std::filesystem::path& file, const GridRow& row, const std::filesystem::path& cache) {
  replace_text(file, Json{{"options", parsed(row.options, row.place)},
                          {"first_seed", row.first_seed},
                          {"seeds", std::max(row.seeds, PreflightRequest{}.seeds)},  // one trial alone says too little
                          {"cache", cache.string()}}
                         .dump());
}

void answer_question(const std::filesystem::path& question, const std::filesystem::path& answer, const FieldWords& words) {
  const std::string where = question.string();
  const JsonAt at{where, ""};
  const Json asked = parsed(small_text(question, "a question"), where);
  if (!asked.is_object()) at.fail("an object is expected");
  std::size_t seeds = 1, first = 1;
  std::string cache;
  read(asked.at("seeds"), seeds, at.inside("seeds"));
  read(asked.at("first_seed"), first, at.inside("first_seed"));
  read(asked.at("cache"), cache, at.inside("cache"));
  replace_text(answer, to_json(predict(asked.at("options").dump(), first, seeds, cache, words)) + "\n");
}

}  // namespace addnorm
