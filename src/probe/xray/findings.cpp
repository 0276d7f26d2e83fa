// Numbers as sentences. Each is said only where the numbers bear it out, and holds them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "addnorm/core/error.h"
#include "addnorm/probe/xray.h"
#include "core/figures.h"

namespace addnorm {
namespace {

// Sun et al. 2024 (arXiv 2402.17762) call an activation massive from 100 and about 1,000 medians on.
constexpr double kMassiveValue = 100, kMassiveRatio = 1000, kOutlierRatio = 100;
constexpr double kSteady = 1.5;        // a stream whose largest and smallest RMS are no further apart keeps its size
constexpr double kWorthSaying = 0.05;  // of the whole: less is not worth a name
constexpr double kNoticeable = 0.01;   // of the loss: less is no difference
constexpr std::size_t kMostNames = 4;

/// Three digits, "2,411" from a thousand on.
std::string figure(double value) {
  const bool grouped = std::abs(value) >= 1000 && std::abs(value) < 999999;
  std::string digits = grouped ? fixed(value, 0) : significant(value, 3);
  if (grouped) digits.insert(digits.size() - 3, ",");
  return digits;
}

/// "a, b and 3 more".
std::string listed_names(const std::vector<std::string>& names) {
  const std::size_t shown = names.size() > kMostNames ? kMostNames - 1 : names.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += concat(i == 0 ? "" : last ? " and " : ", ", names[i]);
  }
  return shown < names.size() ? concat(text, " and ", names.size() - shown, " more") : text;
}

std::size_t place_of_most(const std::vector<double>& values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] > values[best] || std::isnan(values[best])) best = i;
  return best;
}

std::size_t place_of_least(const std::vector<double>& values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] < values[best] || std::isnan(values[best])) best = i;
  return best;
}

bool all_finite(const std::vector<double>& values) {
  return !values.empty() && std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

/// Says something of one stack; its name stands before it where there are two.
class StackFindings {
 public:
  StackFindings(const XrayResult& result, const StackXray& stack, std::vector<std::string>& all)
      : r_(result), s_(stack), all_(all), by_loss_(result.measure != XrayMeasure::embedding) {}

  void stream() const;
  void idle_units() const;
  void peak() const;
  void by_passes() const;
  void depth() const;
  void attribution() const;
  void layers() const;
  void attention() const;

 private:
  template <class... Parts>
  void say(const Parts&... parts) const {
    all_.push_back(concat(r_.stacks.size() > 1 ? s_.name + ": " : "", parts...));
  }
  std::string place(std::size_t i) const { return i == 0 ? "the input" : s_.units[i - 1]; }
  std::string cost(double value) const { return by_loss_ ? figure(value) + " nats" : "a cosine distance of " + figure(value); }

  const XrayResult& r_;
  const StackXray& s_;
  std::vector<std::string>& all_;
  bool by_loss_;
};

void StackFindings::stream() const {
  const std::vector<double>& rms = s_.stream_rms;
  if (!all_finite(rms) || !(*std::ranges::min_element(rms) > 0))
    return say("the stream is not finite, or 0, somewhere: nothing can be said of its size");
  const double least = *std::ranges::min_element(rms), most = *std::ranges::max_element(rms);
  if (most < kSteady * least)
    return say("the stream keeps its size: its RMS stays between ", figure(least), " and ", figure(most));
  const auto later = std::ranges::minmax_element(rms.begin() + 1, rms.end());
  const bool held = std::ranges::any_of(r_.norms, [&](const NormGains& n) { return n.stack == s_.name && n.slot == "post"; });
  if (held && *later.max < kSteady * *later.min)
    return say("norms hold the stream: after the first unit its RMS stays between ", figure(*later.min), " and ",
               figure(*later.max), " (", figure(rms.front()), " at the input)");
  std::vector<double> steps;
  for (std::size_t i = 1; i < rms.size(); ++i) steps.push_back(rms[i] / rms[i - 1]);
  const std::size_t largest = place_of_most(steps);
  const double growth = rms.back() / rms.front();
  const std::string range = concat("from an RMS of ", figure(rms.front()), " to ", figure(rms.back()));
  if (growth >= kSteady)
    say("the stream grows ", figure(growth), "x, ", range, "; the largest step is ", figure(steps[largest]), "x at ",
        s_.units[largest]);
  else if (growth <= 1 / kSteady)
    say("the stream shrinks to ", figure(growth), " of its size, ", range);
  else
    say("the stream goes ", range, ", between ", figure(least), " (", place(place_of_least(rms)), ") and ", figure(most), " (",
        place(place_of_most(rms)), ")");
}

void StackFindings::idle_units() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < s_.branch_rms.size(); ++i)
    if (s_.branch_rms[i] == 0) names.push_back(s_.units[i]);
  if (!names.empty()) say(listed_names(names), names.size() == 1 ? " adds" : " add", " nothing: what is written is 0");
}

void StackFindings::peak() const {
  std::vector<double> ratios;
  for (const StreamPeak& peak : s_.peaks) ratios.push_back(peak.over_median);
  const std::size_t at = place_of_most(ratios);
  const StreamPeak& peak = s_.peaks.at(at);
  if (!std::isfinite(peak.over_median)) return;
  if (peak.over_median < kOutlierRatio) return say("no element of the stream exceeds ", figure(peak.over_median), " medians");
  const bool massive = peak.over_median >= kMassiveRatio && std::abs(peak.value) >= kMassiveValue;
  say("feature ", peak.feature, massive ? " is massive: " : " stands out: ", figure(peak.value), ", ", figure(peak.over_median),
      " medians, at position ", peak.position, peak.text.empty() ? "" : concat(" (", peak.text, ")"), " after ", place(at));
}

void StackFindings::by_passes() const {
  if (!all_finite(s_.bypass_change)) return;
  const std::vector<std::size_t>& could_go = s_.expendable.units;
  std::vector<std::string> names;
  for (const std::size_t unit : could_go) names.push_back(s_.units[unit]);
  const std::size_t most = place_of_most(s_.bypass_change), least = place_of_least(s_.bypass_change);
  if (by_loss_ && s_.bypass_change[least] < -kNoticeable * r_.loss)
    say("without ", s_.units[least], " the loss would be ", figure(-s_.bypass_change[least]), " nats lower: it does harm here");
  if (names.empty())
    say("every unit counts: the least, ", s_.units[least], ", costs ", cost(s_.bypass_change[least]), " when it is by-passed");
  else if (names.size() == 1)
    say("unit ", names[0], " can be by-passed for ", cost(s_.bypass_change[could_go[0]]));
  else {
    double worst = s_.bypass_change[could_go[0]];
    for (const std::size_t unit : could_go) worst = std::max(worst, s_.bypass_change[unit]);
    say("units ", listed_names(names), " can be by-passed for at most ", cost(std::max(0.0, worst)), " each, all ", names.size(),
        " at once for ", cost(s_.expendable.together));
  }
  if (!std::ranges::count(could_go, most))
    say("the model needs ", s_.units[most], " most: ", cost(s_.bypass_change[most]), " without it");
}

/// How early the stream could be read.
void StackFindings::depth() const {
  const std::vector<double>& lens = s_.lens;
  if (!all_finite(lens)) return;
  const std::size_t best = place_of_least(lens);
  const double gained = lens.front() - lens.back();
  if (by_loss_ && best + 1 < lens.size() && lens[best] < (1 - kNoticeable) * lens.back())
    return say("the loss would be lower if the stack ended after ", place(best), ": ", figure(lens[best]), " instead of ",
               figure(lens.back()));
  if (!(gained > 0)) return;
  std::size_t half = 0;
  while (lens[half] > lens.back() + gained / 2) ++half;
  const std::string where = half == s_.units.size() ? "only after the last unit"
                                                    : concat("after ", place(half), ", unit ", half, " of ", s_.units.size());
  if (by_loss_)
    say("read as if the stack ended there, the loss falls from ", figure(lens.front()), " at the input to ", figure(lens.back()),
        "; half of that is reached ", where);
  else
    say("half of the way from the input to the final embedding (", figure(lens.front()), " in cosine distance) is gone ", where);
}

void StackFindings::attribution() const {
  if (!all_finite(s_.attribution) || !std::isfinite(r_.attributed)) return;
  const auto name = [&](std::size_t i) {
    return i == 0 ? "the embedding" : i <= s_.units.size() ? s_.units[i - 1] : std::string("biases");
  };
  std::vector<std::size_t> order(s_.attribution.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return s_.attribution[a] > s_.attribution[b]; });
  std::string most;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()) && s_.attribution[order[i]] > 0; ++i)
    most += concat(i == 0 ? "" : ", ", name(order[i]), " ", figure(s_.attribution[order[i]]));
  if (most.empty()) return;
  const std::size_t last = order.back();
  const bool counts = s_.attribution[last] < -kWorthSaying * std::abs(r_.attributed);
  const std::string against = counts ? concat("; against it: ", name(last), " ", figure(s_.attribution[last])) : "";
  say(by_loss_ ? concat("of the label's logit, ", figure(std::abs(r_.attributed)), r_.attributed < 0 ? " below" : " above",
                        " the mean, most is brought by ")
               : "of the embedding (1 in all) most is brought by ",
      most, against);
}

void StackFindings::layers() const {
  if (s_.layers < 2 || !all_finite(s_.block_influence)) return;
  const std::size_t most = place_of_most(s_.block_influence), least = place_of_least(s_.block_influence);
  say("of whole layers, layers.", most, " turns the stream most (block influence ", figure(s_.block_influence[most]),
      "), layers.", least, " least (", figure(s_.block_influence[least]), ")");
}

void StackFindings::attention() const {
  std::size_t sharpest = s_.units.size(), widest = s_.units.size();
  for (std::size_t i = 0; i < s_.attention_entropy.size(); ++i) {
    const double h = s_.attention_entropy[i];
    if (!std::isfinite(h)) continue;
    if (sharpest == s_.units.size() || h < s_.attention_entropy[sharpest]) sharpest = i;
    if (widest == s_.units.size() || h > s_.attention_entropy[widest]) widest = i;
  }
  if (sharpest == widest) return;
  const double least = s_.attention_entropy[sharpest], most = s_.attention_entropy[widest];
  if (most - least < kWorthSaying)
    return say("attention is about equally wide in all units: entropies from ", figure(least), " to ", figure(most),
               " of the most possible");
  say("attention is sharpest in ", s_.units[sharpest], " (entropy ", figure(s_.attention_entropy[sharpest]),
      " of the most possible) and widest in ", s_.units[widest], " (", figure(s_.attention_entropy[widest]), ")");
}

/// What guessing costs, every answer alike; NaN where it is not the loss that is measured.
double guess_of(const XrayResult& r) {
  const ModelConfig& c = r.config;
  const bool classes = c.model == ModelKind::classifier || c.model == ModelKind::mlp;
  const std::size_t target = c.model == ModelKind::seq2seq && c.target_vocab > 0 ? c.target_vocab : c.vocab;
  const std::size_t answers = classes ? c.classes : target;
  if (r.measure == XrayMeasure::embedding || answers < 2) return std::numeric_limits<double>::quiet_NaN();
  return std::log(static_cast<double>(answers));
}

void add_gains(const XrayResult& r, std::vector<std::string>& all) {
  if (r.norms.empty()) return;
  const auto largest = std::ranges::max_element(r.norms, {}, [](const NormGains& n) { return n.most / n.rms; });
  const auto smallest = std::ranges::min_element(r.norms, {}, &NormGains::rms),
             widest = std::ranges::max_element(r.norms, {}, &NormGains::rms);
  const auto named = [&](const NormGains& n) { return r.stacks.size() > 1 ? n.stack + " " + n.name : n.name; };
  std::string text = concat("gains of norms have an RMS between ", figure(smallest->rms), " (", named(*smallest), ") and ",
                            figure(widest->rms), " (", named(*widest), ")");
  if (largest->most > 5 * largest->rms) text += concat("; a single one of ", named(*largest), " reaches ", figure(largest->most));
  all.push_back(std::move(text));
}

}  // namespace

std::vector<std::string> findings_of(const XrayResult& result) {
  std::vector<std::string> all = result.warnings;
  const double guess = guess_of(result);
  const bool knows = !(result.loss >= guess);
  if (!knows)
    all.push_back(concat("the loss, ", figure(result.loss), ", is no better than guessing (", figure(guess),
                         "): what units cost says nothing of this model with this text"));
  for (const StackXray& stack : result.stacks) {
    const StackFindings found(result, stack, all);
    found.stream();
    found.idle_units();
    found.peak();
    if (knows) found.by_passes();
    if (knows) found.depth();
    if (knows) found.attribution();
    found.layers();
    found.attention();
  }
  add_gains(result, all);
  all.insert(all.end(), result.notes.begin(), result.notes.end());
  return all;
}

}  // namespace addnorm
