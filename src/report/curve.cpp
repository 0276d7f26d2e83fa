#include "report/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "report/numbers.h"

namespace addnorm {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// What one line says, whichever kind it is of.
struct MetricsLine {
  std::optional<std::uint64_t> step{};
  StepMetrics metrics{0, kNone, kNone, kNone, kNone, kNone};
  double validation_loss = kNone;
  bool has_loss = false, has_validation = false, rolled_back = false;
  std::optional<std::string> stopped{};
};

MetricsLine line_of(const RecordLine& record) {
  MetricsLine line;
  for (const auto& [name, value] : record.fields()) {
    if (name == "step") {
      line.step = skimmed_whole(value);
    } else if (name == "loss") {
      line.has_loss = true;
      line.metrics.loss = skimmed_number(value);
    } else if (name == "gradient_norm") {
      line.metrics.gradient_norm = skimmed_number(value);
    } else if (name == "learning_rate") {
      line.metrics.learning_rate = skimmed_number(value);
    } else if (name == "seconds") {
      line.metrics.seconds = skimmed_number(value);
    } else if (name == "tokens") {
      line.metrics.tokens = skimmed_number(value);
    } else if (name == "validation_loss") {
      line.has_validation = true;
      line.validation_loss = skimmed_number(value);
    } else if (name == "rolled_back_from") {
      line.rolled_back = true;
    } else if (name == "stopped") {
      line.stopped = text_of_value(value);
    }
  }
  line.metrics.step = line.step.value_or(0);
  return line;
}

void drop_from(Metrics& all, std::uint64_t step) {
  while (!all.steps.empty() && all.steps.back().step >= step) all.steps.pop_back();
  while (!all.validation_steps.empty() && all.validation_steps.back() >= step) {
    all.validation_steps.pop_back();
    all.validation_losses.pop_back();
  }
}

void add(Metrics& all, const MetricsLine& line) {
  if (!line.step) return;
  if (line.stopped) all.stopped = *line.stopped;
  if (line.rolled_back) drop_from(all, *line.step + 1);
  if (line.has_validation) {
    if (!all.validation_steps.empty() && all.validation_steps.back() >= *line.step) drop_from(all, *line.step + 1);
    all.validation_steps.push_back(*line.step);
    all.validation_losses.push_back(line.validation_loss);
  }
  if (!line.has_loss) return;
  drop_from(all, *line.step);  // a run that went on from a checkpoint has its own word
  all.steps.push_back(line.metrics);
}

}  // namespace

Metrics read_metrics(const std::filesystem::path& file) {
  Metrics all;
  all.flaws = each_record(file, [&](const RecordLine& record) { add(all, line_of(record)); });
  return all;
}

std::vector<std::uint64_t> block_ends(const Metrics& metrics, std::size_t most) {
  std::vector<std::uint64_t> ends;
  const std::size_t every = (metrics.steps.size() + most - 1) / most;
  for (std::size_t i = 0; i < metrics.steps.size(); i += every)
    ends.push_back(metrics.steps[std::min(i + every, metrics.steps.size()) - 1].step);
  return ends;
}

Json by_block(const Metrics& metrics, const std::vector<std::uint64_t>& ends, double StepMetrics::*field, Of of) {
  Json all = Json::array();
  auto at = metrics.steps.begin();
  for (const std::uint64_t end : ends) {
    double sum = 0, least = std::numeric_limits<double>::infinity(), most = -least, count = 0;
    for (; at != metrics.steps.end() && at->step <= end; ++at, ++count) {
      const double value = (*at).*field;
      sum += value;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const bool known = count > 0 && std::isfinite(sum);  // one NaN makes a sum of NaN
    const double value = of == Of::mean ? sum / count : of == Of::least ? least : most;
    all.push_back(known ? rounded(value) : Json());
  }
  return all;
}

std::vector<std::uint64_t> ends_of(const Json& curve) {
  std::vector<std::uint64_t> ends;
  for (const Json& step : items_in(curve, "step")) {
    if (!step.is_unsigned() || (!ends.empty() && step.whole() <= ends.back())) return {};
    ends.push_back(step.whole());
  }
  return ends;
}

Json shorter_curve(const Json& curve, std::size_t most) {
  const std::vector<std::uint64_t> ends = ends_of(curve);
  const Json::Array& losses = items_in(curve, "loss");
  Json steps = Json::array(), means = Json::array();
  if (ends.size() != losses.size()) return Json{{"step", steps}, {"loss", means}};
  const std::size_t every = std::max<std::size_t>(1, (ends.size() + most - 1) / most);
  for (std::size_t i = 0; i < ends.size(); i += every) {
    double sum = 0, weight = 0;
    const std::size_t end = std::min(i + every, ends.size());
    for (std::size_t k = i; k < end; ++k) {
      const auto here = static_cast<double>(ends[k] - (k == 0 ? 0 : ends[k - 1]));
      sum += here * (losses[k].is_number() ? losses[k].number() : std::numeric_limits<double>::quiet_NaN());
      weight += here;
    }
    steps.push_back(ends[end - 1]);
    means.push_back(rounded(sum / weight));
  }
  return Json{{"step", steps}, {"loss", means}};
}

void put_curves(const Metrics& metrics, const std::vector<std::uint64_t>& ends, bool with_loss, Json& run) {
  const auto recorded = [&](double StepMetrics::*field) {
    return std::ranges::any_of(metrics.steps, [&](const StepMetrics& one) { return std::isfinite(one.*field); });
  };
  if (with_loss) {
    run["curve"] = Json{{"step", Json(ends)}, {"loss", by_block(metrics, ends, &StepMetrics::loss)}};
    if (ends.size() < metrics.steps.size()) {
      run["curve"]["least"] = by_block(metrics, ends, &StepMetrics::loss, Of::least);
      run["curve"]["most"] = by_block(metrics, ends, &StepMetrics::loss, Of::most);
    }
  }
  if (recorded(&StepMetrics::gradient_norm)) run["gradient_curve"] = by_block(metrics, ends, &StepMetrics::gradient_norm);
  if (recorded(&StepMetrics::learning_rate)) run["rate_curve"] = by_block(metrics, ends, &StepMetrics::learning_rate);
}

}  // namespace addnorm
