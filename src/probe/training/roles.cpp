#include "probe/training/roles.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "probe/measures/measures.h"

namespace addnorm {
namespace {

struct Sums {
  double gradient = 0, change = 0, weight = 0;  // of squares
};

double squares(const Tensor& x, std::size_t first, std::size_t count) {
  double sum = 0;
  dispatch(x.dtype(), [&](auto zero) { sum = sum_of_squares(x.data<decltype(zero)>() + first, count); });
  return sum;
}

double squared_distance(const Tensor& a, const Tensor& b, std::size_t first, std::size_t count) {
  double sum = 0;
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *x = a.data<T>() + first, *y = b.data<T>() + first;
    double even = 0, odd = 0;
    const auto square = [&](std::size_t i) {
      const double d = static_cast<double>(x[i]) - static_cast<double>(y[i]);
      return d * d;
    };
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
      even += square(i);
      odd += square(i + 1);
    }
    sum = even + odd + (i < count ? square(i) : 0);
  });
  return sum;
}

}  // namespace

void RoleProbe::before_update(Model& model) {
  before_.clear();
  std::map<Role, double> gradients;
  for_each_parameter(model, [&](Parameter& p) {
    before_.push_back(p.value.value().clone());
    for_each_role(p, [&](Role role, std::size_t first, std::size_t count) {
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
    for_each_role(p, [&](Role role, std::size_t first, std::size_t count) {
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
