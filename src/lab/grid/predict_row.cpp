// Preflight's answer for a row of a grid.
#include "addnorm/lab/grid_result.h"

namespace addnorm {

Prediction predict(std::string_view options, std::uint64_t first_seed, std::size_t seeds, const std::filesystem::path& cache) {
  PreflightRequest request{.given = run_options_from_json(options, "options")};
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

}  // namespace addnorm
