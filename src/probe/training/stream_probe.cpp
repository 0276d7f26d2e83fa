#include "probe/training/stream_probe.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "addnorm/core/error.h"
#include "probe/measures/attention_scores.h"

namespace addnorm {
namespace {

/// Values of a unit may come in any order, and not at all.
void put(std::vector<double>& values, std::size_t at, double value) {
  if (values.size() <= at) values.resize(at + 1, kNotMeasured);
  values[at] = value;
}

}  // namespace

/// What happens while it lives counts as the probe's time.
class StreamProbe::Timed {
 public:
  explicit Timed(StreamProbe& probe) : probe_(probe) {}
  ~Timed() { probe_.seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  StreamProbe& probe_;
  Clock::time_point begin_ = Clock::now();
};

void StreamProbe::begin(std::vector<std::size_t> lengths) {
  record_ = {.name = record_.name};
  seconds_ = 0;
  lengths_ = std::move(lengths);
  rows_.clear();
  streams_.clear();
  parts_.clear();
}

/// Units are numbered as they run: a layer that is left out has no place.
std::size_t StreamProbe::place_of(const Unit& unit) {
  const std::string path = concat("layers.", unit.layer, ".", unit.sub_layer);
  if (record_.units.empty() || record_.units.back() != path) record_.units.push_back(path);
  return record_.units.size() - 1;
}

void StreamProbe::on_stream(const Unit* unit, const Var& x) {
  const Timed timed(*this);
  if (!unit) rows_ = x.shape().rank() == 3 ? rows_within(lengths_, x.shape()[1]) : RowMask();
  const Moments m = moments(x.value(), rows_);
  if (unit) put(record_.cosine, place_of(*unit), mean_cosine(streams_.back().value(), x.value(), rows_));
  record_.stream_rms.push_back(m.rms);
  record_.stream_mean.push_back(m.mean);
  record_.spread.push_back(m.spread);
  stream_norm_ = m.rms;
  streams_.push_back(x);
  if (x.requires_grad()) streams_.back().retain_grad();
}

void StreamProbe::on_branch(const Unit& unit, const Var& added) {
  const Timed timed(*this);
  const std::size_t at = place_of(unit);
  const double size = rms(added.value(), rows_);
  put(record_.branch_rms, at, size);
  put(record_.update_ratio, at, stream_norm_ > 0 ? size / stream_norm_ : kNotMeasured);
}

void StreamProbe::on_parting(const Unit& unit, const Var&, const Var& skip, const Var& branch) {
  if (!skip.requires_grad()) return;
  parts_.push_back({place_of(unit), skip, branch});
  parts_.back().skip.retain_grad();
  parts_.back().branch.retain_grad();
}

void StreamProbe::on_output(const Var& y) {
  const Timed timed(*this);
  record_.output_spread = moments(y.value(), rows_).spread;
}

void StreamProbe::on_attention(const Unit& unit, const AttentionScores& scores) {
  const Timed timed(*this);
  const AttentionSeen seen = look_at(scores, lengths_);
  put(record_.attention_entropy, place_of(unit), seen.entropy);
  put(record_.max_logit, place_of(unit), seen.max_logit);
}

void StreamProbe::read_gradients() {
  const Timed timed(*this);
  const auto gradient = [](const Var& x) {
    if (!x.requires_grad() || !x.grad().defined()) return kNotMeasured;
    const double size = norm(x.grad());
    return std::isfinite(size) ? size : std::numeric_limits<double>::infinity();  // NaN is what was not measured
  };
  bool any = false;
  for (const Var& x : streams_) {
    record_.gradient_norm.push_back(gradient(x));
    any = any || !std::isnan(record_.gradient_norm.back());
  }
  if (!any) record_.gradient_norm.clear();
  for (const Parts& part : parts_) {
    put(record_.gradient_skip, part.unit, gradient(part.skip));
    put(record_.gradient_branch, part.unit, gradient(part.branch));
  }
  // Lists that have something have a value for every unit.
  const auto fill = [&](std::vector<double>& values) {
    if (!values.empty()) values.resize(record_.units.size(), kNotMeasured);
  };
  for (auto* values : {&record_.gradient_skip, &record_.gradient_branch, &record_.attention_entropy, &record_.max_logit})
    fill(*values);
  streams_.clear();
  parts_.clear();
}

}  // namespace addnorm
