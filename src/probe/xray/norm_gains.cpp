#include "probe/xray/norm_gains.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "probe/measures/measures.h"
#include "probe/xray/kept_pass.h"

namespace addnorm {
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
