#include "probe/xray/stream_xray.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "probe/measures/attention_scores.h"
#include "probe/xray/kept_pass.h"

namespace addnorm {

StreamXray::StreamXray(const StackShape& shape)
    : shape_(shape), places_(shape.units() + 1), units_(shape.units()), layers_(shape.layers) {}

void StreamXray::begin(const std::vector<std::int32_t>& ids, const std::vector<std::size_t>& lengths) {
  ids_ = &ids;
  lengths_ = &lengths;
}

void StreamXray::add_skips(const std::vector<double>& squares) {
  skips_known_ = true;
  for (std::size_t i = 0; i < squares.size(); ++i) units_.at(i).skip += squares[i];
}

void StreamXray::on_stream(const Unit* unit, const Var& x) {
  if (!unit) {
    const bool sequences = x.shape().rank() == 3;
    rows_ = sequences ? rows_within(*lengths_, x.shape()[1]) : RowMask();
    length_ = sequences ? x.shape()[1] : 1;
  }
  Place& place = places_.at(unit ? unit->index + 1 : 0);
  const double so_far = place.squares;
  measure(x.value(), place);
  squares_before_ = place.squares - so_far;
  if (unit) {
    units_[unit->index].cosine += cosines(before_, x.value(), rows_);
    if (unit->last_in_layer) layers_[unit->layer] += cosines(layer_input_, x.value(), rows_);
  }
  before_ = x.value();
  if (!unit || unit->last_in_layer) layer_input_ = x.value();
}

void StreamXray::measure(const Tensor& x, Place& place) const {
  const std::size_t width = x.shape().back(), count = x.elements() / width;
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t r = 0; r < count; ++r) {
      if (!rows_.empty() && !rows_[r]) continue;
      const T* row = x.data<T>() + r * width;
      place.squares += sum_of_squares(row, width);
      place.elements += static_cast<double>(width);
      for (std::size_t i = 0; i < width; ++i) {
        place.magnitudes.add(static_cast<float>(row[i]));
        if (!(std::abs(static_cast<double>(row[i])) > std::abs(place.peak.value))) continue;
        place.peak = {.value = static_cast<double>(row[i]), .feature = i, .position = r % length_};
        if (r < ids_->size()) place.peak.token = (*ids_)[r];
      }
    }
  });
}

void StreamXray::on_branch(const Unit& unit, const Var& added) {
  OfUnit& of = units_.at(unit.index);
  const std::size_t width = added.shape().back(), count = added.value().elements() / width;
  dispatch(added.value().dtype(), [&](auto zero) {
    for (std::size_t r = 0; r < count; ++r)
      if (rows_.empty() || rows_[r]) of.branch += sum_of_squares(added.value().data<decltype(zero)>() + r * width, width);
  });
  of.before += squares_before_;
}

void StreamXray::on_attention(const Unit& unit, const AttentionScores& scores) {
  OfUnit& of = units_.at(unit.index);
  const AttentionSeen seen = look_at(scores, *lengths_);
  of.attends = true;
  if (seen.rows > 0) of.entropy += {seen.entropy * seen.rows, seen.rows};
  of.max_logit = std::isnan(seen.max_logit) ? kNotMeasured : std::max(of.max_logit, seen.max_logit);
}

void StreamXray::write_to(StackXray& stack) const {
  const auto root = [](double sum, double over) { return over > 0 ? std::sqrt(sum / over) : kNotMeasured; };
  for (const Place& place : places_) {
    stack.stream_rms.push_back(root(place.squares, place.elements));
    stack.peaks.push_back(place.peak);
    const double median = place.magnitudes.median();
    stack.peaks.back().over_median = median > 0 ? std::abs(place.peak.value) / median : kNotMeasured;
  }
  bool attends = false;
  for (const OfUnit& of : units_) {
    stack.branch_rms.push_back(root(of.branch, places_.front().elements));
    stack.update_ratio.push_back(root(of.branch, of.before));
    if (skips_known_) stack.branch_share.push_back(of.skip + of.branch > 0 ? of.branch / (of.skip + of.branch) : kNotMeasured);
    stack.cosine.push_back(of.cosine.value());
    stack.attention_entropy.push_back(of.entropy.value());
    stack.max_logit.push_back(of.attends ? of.max_logit : kNotMeasured);
    attends = attends || of.attends;
  }
  if (!attends) stack.attention_entropy.clear(), stack.max_logit.clear();
  for (const RunningMean& layer : layers_) stack.block_influence.push_back(1 - layer.value());
}

namespace {

/// A parameter's path without what is the same in all of them: "encoder.residual.layers.0.self.in.weight" -> "layers.0.self.in".
std::string name_in(std::string path, const std::string& stack) {
  const auto drop = [&](const std::string& beginning) {
    if (path.starts_with(beginning)) path.erase(0, beginning.size());
  };
  drop(stack + ".");
  drop("residual.");
  return path.substr(0, path.rfind('.'));
}

/// Which unit of the stack this place is; the first of that kind in its layer.
std::optional<std::size_t> unit_at(const Place& place, const StackShape& shape) {
  if (!place.layer || !place.sub_layer) return std::nullopt;
  const auto found = std::ranges::find(shape.sub_layers, *place.sub_layer);
  if (found == shape.sub_layers.end()) return std::nullopt;
  return *place.layer * shape.sub_layers.size() + static_cast<std::size_t>(found - shape.sub_layers.begin());
}

struct Extent {
  double rms = 0, least = 0, most = 0;
};
Extent extent_of(const Tensor& values, double plus) {
  const Tensor all = values.to(DType::f64);
  Extent extent{0, plus + all.data<double>()[0], plus + all.data<double>()[0]};
  for (const double stored : all.values<double>()) {
    const double v = plus + stored;
    extent.rms += v * v / static_cast<double>(all.elements());
    extent.least = std::min(extent.least, v);
    extent.most = std::max(extent.most, v);
  }
  extent.rms = std::sqrt(extent.rms);
  return extent;
}

}  // namespace

std::vector<NormGains> norm_gains(Model& model) {
  const bool plus = norm_of(model.config()).gain_is_one_plus, plus_of_heads = qk_norm_of(model.config()).gain_is_one_plus;
  const std::vector<Stack*> stacks = stacks_to_look_into(model);
  std::vector<NormGains> all;
  std::map<std::string, double> biases;
  for_each_parameter(model, [&](Parameter& p) {
    if (p.role != Role::norm_gain && p.role != Role::norm_bias) return;
    if (p.path.ends_with(".alpha")) return;  // of dyt: what stands before the tanh
    const bool second = stacks.size() > 1 && p.place.stack && std::string_view(p.place.stack) == "decoder";
    const StackShape& shape = stacks[second ? 1 : 0]->residual().shape();
    NormGains norm{.stack = shape.name, .name = name_in(p.path, shape.name), .unit = unit_at(p.place, shape)};
    norm.slot = norm.name.substr(norm.name.rfind('.') + 1);
    const bool of_heads = norm.slot.ends_with("_norm");
    if (p.role == Role::norm_bias) {
      biases[norm.stack + norm.name] = extent_of(p.value.value(), 0).rms;
      return;
    }
    const Extent gains = extent_of(p.value.value(), (of_heads ? plus_of_heads : plus) ? 1 : 0);
    norm.rms = gains.rms, norm.least = gains.least, norm.most = gains.most;
    all.push_back(std::move(norm));
  });
  for (NormGains& norm : all) {
    const auto found = biases.find(norm.stack + norm.name);
    norm.bias_rms = found == biases.end() ? kNotMeasured : found->second;
  }
  return all;
}

}  // namespace addnorm
