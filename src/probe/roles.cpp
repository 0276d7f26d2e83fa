#include "probe/roles.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "probe/measures.h"

namespace addnorm {
namespace {

struct Sums {
  double gradient = 0, change = 0, weight = 0;  // of squares
};

/// see(role, first element, elements) for every part of a parameter.
template <class See>
void for_each_part(const Parameter& parameter, See&& see) {
  const Shape& shape = parameter.value.shape();
  const std::size_t rows = shape.rank() == 0 ? 1 : shape[0];
  const std::size_t row = rows ? parameter.value.value().elements() / rows : 0;
  for (const Part& part : parameter.parts) see(part.role, part.first * row, part.rows * row);
}

double squares(const Tensor& x, std::size_t first, std::size_t count) {
  double sum = 0;
  dispatch(x.dtype(), [&](auto zero) {
    for (const auto v : x.values<decltype(zero)>().subspan(first, count)) sum += static_cast<double>(v) * static_cast<double>(v);
  });
  return sum;
}

double squared_distance(const Tensor& a, const Tensor& b, std::size_t first, std::size_t count) {
  double sum = 0;
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = first; i < first + count; ++i) {
      const double d = static_cast<double>(a.data<T>()[i]) - static_cast<double>(b.data<T>()[i]);
      sum += d * d;
    }
  });
  return sum;
}

}  // namespace

void RoleProbe::before_update(Model& model) {
  before_.clear();
  std::map<Role, double> gradients;
  for_each_parameter(model, [&](Parameter& p) {
    before_.push_back(p.value.value().clone());
    for_each_part(p, [&](Role role, std::size_t first, std::size_t count) {
      double& sum = gradients[role];
      if (p.value.grad().defined()) sum += squares(p.value.grad(), first, count);
    });
  });
  records_.clear();
  for (const auto& [role, sum] : gradients) records_.push_back({.role = name_of(role), .gradient_norm = std::sqrt(sum)});
}

std::vector<RoleRecord> RoleProbe::after_update(Model& model) {
  std::map<Role, Sums> sums;
  std::size_t at = 0;
  for_each_parameter(model, [&](Parameter& p) {
    const Tensor& before = before_[at++];
    for_each_part(p, [&](Role role, std::size_t first, std::size_t count) {
      sums[role].change += squared_distance(p.value.value(), before, first, count);
      sums[role].weight += squares(before, first, count);
    });
  });
  std::size_t i = 0;
  for (const auto& [role, sum] : sums)
    records_[i++].update_to_weight = sum.weight > 0 ? std::sqrt(sum.change / sum.weight) : kNotMeasured;
  before_.clear();
  return std::move(records_);
}

}  // namespace addnorm
