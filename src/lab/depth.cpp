#include "addnorm/lab/depth.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "addnorm/core/machine.h"
#include "core/json/record.h"
#include "lab/grid/spec_json.h"

namespace addnorm {
namespace {

std::string layers_in_words(std::size_t layers) { return concat(layers, layers == 1 ? " layer" : " layers"); }

/// Embeddings only where they are asked for: by a rule they may depend on the depth.
std::string start_in_words(const StartText& start, const InitOptions& asked) {
  std::string text = start.weights_in_label;
  if (asked.embedding_std) text += concat(", embeddings ", *asked.embedding_std);
  if (asked.position_std) text += concat(", positions ", *asked.position_std);
  return text;
}

std::string in_words(const RowResult& row) {
  const RunOptions o = run_options_from_json(row.options, "options").options;
  const std::size_t warmup = o.warmup_steps.value_or(0);
  return concat(o.model.arrangement, ", ", start_in_words(row.start, o.model.init), ", width ", o.model.d_model, ", ",
                name_of(o.optimizer.kind), " at ", o.lr, ", ", warmup == 0 ? "no warm-up" : concat(warmup, " warm-up steps"),
                ", ", o.steps, " steps");
}

class DepthSearch {
 public:
  DepthSearch(const DepthRequest& request, GridObserver& observer) : request_(request), observer_(observer) {
    require(request.most >= 1, called(words(), "most"), " is 0; it must be at least 1 layer");
    const int granted = request.grid.threads > 0 ? request.grid.threads : granted_threads();
    const int at_once = request.grid.at_once > 0 ? request.grid.at_once : granted;
    together_ = static_cast<std::size_t>(std::clamp(at_once, 1, 4));
  }

  DepthResult search() {
    std::size_t guess = request_.grid.predict ? forecast_depth() : std::min<std::size_t>(8, request_.most);
    while (good_ && !is_found()) {
      try_depths(next_depths(guess));
      guess = 0;
    }
    DepthResult result{.configuration = configuration_,
                       .deepest = deepest_,
                       .fails = fails_,
                       .problem = problem_,
                       .finished = good_,
                       .words = words()};
    for (const auto& [layers, tried] : tried_) result.tried.push_back(tried);
    return result;
  }

 private:
  const FieldWords& words() const { return request_.grid.spec.words; }

  bool is_found() const {
    if (deepest_ >= request_.most || fails_ == 1) return true;
    return fails_ > 0 && deepest_ > 0 && fails_ - deepest_ <= std::max<std::size_t>(1, deepest_ / 20);
  }

  GridSpec spec_of(const std::vector<std::size_t>& depths) const {
    const Json grid{
        {"base", parsed(request_.options, "options")}, {"grid", Json{{"layers", Json(depths)}}}, {"seeds", request_.seeds}};
    GridSpec spec = grid_of(grid, "options", words());
    for (std::size_t i = 0; i < spec.rows.size(); ++i) spec.rows[i].place = concat("with ", layers_in_words(depths[i]));
    return spec;
  }

  GridResult run(const std::vector<std::size_t>& depths, bool only_predict) {
    GridRequest one = request_.grid;
    one.spec = spec_of(depths);
    one.predict = only_predict;
    one.run = !only_predict;
    one.confirm = false;
    one.result_file.clear();
    GridResult result = run_grid(one, observer_);
    good_ = result.finished;
    configuration_ = in_words(result.rows.front());
    return result;
  }

  /// The deepest of 1, 2, 4, ... and the greatest before the first that preflight says no to.
  std::size_t forecast_depth() {
    std::vector<std::size_t> depths;
    for (std::size_t layers = 1; layers < request_.most; layers *= 2) depths.push_back(layers);
    depths.push_back(request_.most);
    const GridResult result = run(depths, true);
    std::size_t best = 1;
    bool trains = true;
    for (std::size_t i = 0; i < depths.size(); ++i) {
      const auto& prediction = result.rows[i].prediction;
      if (prediction) forecasts_[depths[i]] = name_of(prediction->forecast);
      trains = trains && prediction && prediction->forecast == Forecast::trains;
      if (trains) best = depths[i];
    }
    return best;
  }

  /// The guess and what would show that it is right; or as many points between what trains and what fails as run at once.
  std::vector<std::size_t> next_depths(std::size_t guess) const {
    std::vector<std::size_t> depths;
    if (guess > 0) {
      depths = {guess, std::min(2 * guess, request_.most)};
    } else if (fails_ == 0) {
      depths = {std::min(2 * deepest_, request_.most), std::min(4 * deepest_, request_.most)};
    } else if (deepest_ == 0) {
      depths = {fails_ / 2, fails_ / 4};
    } else {
      for (std::size_t i = 1; i <= together_; ++i) depths.push_back(deepest_ + (fails_ - deepest_) * i / (together_ + 1));
    }
    std::erase_if(depths, [&](std::size_t layers) { return layers < 1 || tried_.contains(layers); });
    if (depths.empty()) depths.push_back(std::max<std::size_t>(1, (deepest_ + (fails_ > 0 ? fails_ : request_.most)) / 2));
    std::ranges::sort(depths);
    depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
    depths.resize(std::min(depths.size(), together_));
    return depths;
  }

  void try_depths(const std::vector<std::size_t>& depths) {
    const GridResult result = run(depths, false);
    for (std::size_t i = 0; i < depths.size(); ++i) {
      const RowResult& row = result.rows[i];
      for (const std::size_t run : row.runs)
        if (result.runs[run].state == RunState::failed)
          problem_ = concat("a run failed, ", depths[i], " layers: ", result.runs[run].problem);
      if (row.done < row.runs.size()) {
        good_ = false;
        continue;
      }
      DepthTried& tried = tried_[depths[i]];
      tried = {.layers = depths[i],
               .trains = row.happened == Happened::trains,
               .too_short = row.happened == Happened::too_short,
               .slow = row.slow(),
               .loss = row.loss.mean,
               .outcome = row.outcome_text(),
               .forecast = forecasts_[depths[i]]};
      if (tried.too_short) {
        problem_ =
            concat("runs of ", result.runs[row.runs.front()].steps, " steps are too short to tell (those of a warm-up count ",
                   "half, and ", kStepsToTell, " are needed); 300 are usual: ", called(words(), "steps"), " 300");
        good_ = false;
        continue;
      }
      if (!tried.trains && (fails_ == 0 || depths[i] < fails_)) fails_ = depths[i];
    }
    deepest_ = 0;
    for (const auto& [layers, tried] : tried_)
      if (tried.trains && (fails_ == 0 || layers < fails_)) deepest_ = layers;
  }

  const DepthRequest& request_;
  GridObserver& observer_;
  std::size_t together_ = 1, deepest_ = 0, fails_ = 0;
  std::map<std::size_t, DepthTried> tried_;
  std::map<std::size_t, std::string> forecasts_;
  std::string problem_, configuration_;
  bool good_ = true;
};

}  // namespace

std::string DepthResult::text() const {
  if (!problem.empty()) return concat("not found: ", problem);
  if (!finished) return concat("stopped; so far ", deepest > 0 ? concat(layers_in_words(deepest), " train") : "no depth trains");
  if (fails == 0) return concat(layers_in_words(deepest), " train, the most that was asked for");
  const auto first = std::ranges::find(tried, fails, &DepthTried::layers);
  const bool slow = first != tried.end() && first->slow;
  const std::string why =
      slow ? with_fields_called(", not stuck: the loss still falls; more {steps} or a larger {lr} may be enough", words) : "";
  if (deepest == 0) return slow ? concat("even one layer is slow", why) : "not even one layer trains";
  const std::string to = fails == deepest + 1 ? "" : concat(" to ", layers_in_words(fails - 1));
  return concat("the deepest stack that trains has ", to.empty() ? layers_in_words(deepest) : std::to_string(deepest), to,
                slow ? concat("; with ", fails, " it is slow", why) : "");
}

DepthResult find_depth(const DepthRequest& request, GridObserver& observer) { return DepthSearch(request, observer).search(); }

std::string to_json(const DepthResult& result) {
  Json tried = Json::array();
  for (const DepthTried& one : result.tried)
    tried.push_back(Json{{"layers", one.layers},
                         {"trains", one.too_short ? Json() : Json(one.trains)},
                         {"slow", one.slow},
                         {"loss", one.loss},
                         {"outcome", one.outcome},
                         {"forecast", one.forecast.empty() ? Json() : Json(one.forecast)}});
  return Json{{"configuration", result.configuration},
              {"deepest", result.deepest},
              {"fails", result.fails > 0 ? Json(result.fails) : Json()},
              {"text", result.text()},
              {"finished", result.finished},
              {"tried", tried}}
      .dump();
}

}  // namespace addnorm
