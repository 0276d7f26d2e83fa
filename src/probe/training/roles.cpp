#include "probe/training/roles.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
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

namespace {

template <class T>
std::vector<T> piece(const std::vector<T>& all, std::size_t sequences, std::size_t first, std::size_t count) {
  const std::size_t each = all.size() / sequences;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * each);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * each)};
}

/// The model without gradients; what it had comes back, the very same tensors.
class GradientsAside {
 public:
  explicit GradientsAside(Model& model) : model_(model) {
    for_each_parameter(model, [&](Parameter& p) {
      kept_.push_back(p.value.grad());
      p.value.clear_grad();
    });
  }
  ~GradientsAside() {
    std::size_t at = 0;
    for_each_parameter(model_, [&](Parameter& p) { p.value.grad() = std::move(kept_[at++]); });
  }
  GradientsAside(const GradientsAside&) = delete;
  GradientsAside& operator=(const GradientsAside&) = delete;

 private:
  Model& model_;
  std::vector<Tensor> kept_;
};

double squares_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

/// Gradients of several parts of a batch, as far as their mean and their distance from it need them.
class PartGradients {
 public:
  /// Those that the model has now; it has none afterwards.
  void take(Model& model) {
    std::size_t at = 0;
    for_each_parameter(model, [&](Parameter& p) {
      if (sums_.size() <= at) sums_.emplace_back(p.value.value().elements(), 0.0);
      std::vector<double>& sum = sums_[at++];
      if (!p.value.grad().defined()) return;
      const Tensor gradient = p.value.grad().to(DType::f64);
      const std::span<const double> g = gradient.values<double>();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += g[i];
      for_each_role(p, [&](Role role, std::size_t first, std::size_t count) {
        of_parts_[name_of(role)] += squares_of(g.subspan(first, count));
      });
      p.value.clear_grad();
    });
  }

  /// sum over k of ||g_k - G||^2 = sum of ||g_k||^2 - n ||G||^2.
  std::map<std::string, double> ratios(Model& model, double n) {
    std::map<std::string, double> means, ratio;  // means: ||G||^2
    std::size_t at = 0;
    for_each_parameter(model, [&](Parameter& p) {
      const std::span<const double> sum = sums_[at++];
      for_each_role(p, [&](Role role, std::size_t first, std::size_t count) {
        means[name_of(role)] += squares_of(sum.subspan(first, count)) / (n * n);
      });
    });
    for (const auto& [role, mean] : means) {
      const double noise = std::max(0.0, of_parts_[role] - n * mean) / (n * (n - 1));
      ratio[role] = noise > 0 ? std::max(0.0, mean - noise) / noise : kNotMeasured;
    }
    return ratio;
  }

 private:
  std::vector<std::vector<double>> sums_;   // of g_k, by parameter
  std::map<std::string, double> of_parts_;  // sum over k of ||g_k||^2, by role
};

}  // namespace

Batch sequences_of(const Batch& batch, std::size_t first, std::size_t count) {
  Batch some{.first = batch.first + first, .sequences = count};
  const auto take = [&](auto Batch::*field) { some.*field = piece(batch.*field, batch.sequences, first, count); };
  take(&Batch::ids);
  take(&Batch::lengths);
  take(&Batch::target_ids);
  take(&Batch::target_lengths);
  take(&Batch::features);
  take(&Batch::labels);
  return some;
}

std::map<std::string, double> gradient_snr(Model& model, const Batch& batch) {
  const std::size_t parts = std::min(kMostNoiseParts, batch.sequences), each = batch.sequences / std::max<std::size_t>(1, parts);
  if (parts < 2) return {};
  const GradientsAside aside(model);
  PartGradients gradients;
  for (std::size_t k = 0; k < parts; ++k) {
    const ArenaScope scope;
    backward(batch_loss(model, sequences_of(batch, k * each, each), {}));
    gradients.take(model);
  }
  std::map<std::string, double> ratios = gradients.ratios(model, static_cast<double>(parts));
  const double left_over = static_cast<double>(batch.sequences) / static_cast<double>(parts * each);
  for (auto& [role, ratio] : ratios) ratio *= left_over;
  return ratios;
}

}  // namespace addnorm
