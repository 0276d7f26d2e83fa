#include <cmath>
#include <utility>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/norm/batch_norm.h"

namespace addnorm {
namespace {

/// Per column, in float64. count: rows the statistics are taken over; 0 when they are fixed (eval, or no row counts).
struct ColumnStatistics {
  Tensor mean, var;
  std::size_t count = 0;
};

using Padding = std::vector<unsigned char>;
const unsigned char* data_or_null(const Padding& padding) { return padding.empty() ? nullptr : padding.data(); }

ColumnStatistics statistics_of_batch(const Tensor& x, const Padding& padding) {
  const auto [rows, width] = as_rows(x.shape());
  ColumnStatistics s{Tensor({width}, DType::f64), Tensor({width}, DType::f64), 0};
  Tensor scratch({kernels::batch_norm_scratch(rows, width)}, DType::f64);
  s.count = dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    return kernels::batch_statistics(x.data<decltype(zero)>(), data_or_null(padding), rows, width, scratch.data<double>(),
                                     s.mean.data<double>(), s.var.data<double>());
  });
  return s;
}

/// running = (1 - momentum) * running + momentum * batch, the variance divided by count - 1; with one row there is none.
void update_running(const ColumnStatistics& batch, double momentum, Tensor& running_mean, Tensor& running_var) {
  const auto n = static_cast<double>(batch.count);
  const auto update = [momentum](Tensor& running, const Tensor& value, double factor) {
    dispatch(running.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t j = 0; j < running.elements(); ++j) {
        T& r = running.data<T>()[j];
        r = static_cast<T>((1 - momentum) * static_cast<double>(r) + momentum * factor * value.data<double>()[j]);
      }
    });
  };
  update(running_mean, batch.mean, 1.0);
  if (batch.count > 1) update(running_var, batch.var, n / (n - 1));
}

Tensor reciprocal_deviation(const Tensor& var, float eps) {
  Tensor rstd(var.shape(), DType::f64);
  for (std::size_t j = 0; j < var.elements(); ++j)
    rstd.data<double>()[j] = 1.0 / std::sqrt(var.data<double>()[j] + static_cast<double>(eps));
  return rstd;
}

/// rstd * gain.
Tensor scale_of(const Tensor& rstd, const Var& gamma, bool gain_is_one_plus_gamma) {
  if (!gamma.defined()) return rstd;
  Tensor scale = gamma.value().to(DType::f64).clone();
  for (std::size_t j = 0; j < scale.elements(); ++j) {
    double& s = scale.data<double>()[j];
    s = (s + (gain_is_one_plus_gamma ? 1.0 : 0.0)) * rstd.data<double>()[j];
  }
  return scale;
}

struct BatchNormSaved {
  Tensor x, rstd, scale;
  ColumnStatistics statistics;
  Padding padding;
};

/// What the statistics, as functions of x, take out of dx: offset + (x - mean) * slope. Zero when they are fixed.
void through_statistics(const BatchNormSaved& s, const Tensor& sum_dy, const Tensor& sum_dy_xhat, Tensor& offset, Tensor& slope) {
  const double share = s.statistics.count == 0 ? 0.0 : 1.0 / static_cast<double>(s.statistics.count);
  for (std::size_t j = 0; j < offset.elements(); ++j) {
    offset.data<double>()[j] = share * sum_dy.data<double>()[j];
    slope.data<double>()[j] = share * sum_dy_xhat.data<double>()[j] * s.rstd.data<double>()[j];
  }
}

void give_gradients(const Tensor& dy, const BatchNormSaved& s, Grads& grads) {
  const auto [rows, width] = as_rows(s.x.shape());
  Tensor sum_dy({width}, DType::f64), sum_dy_xhat({width}, DType::f64);
  Tensor scratch({kernels::batch_norm_scratch(rows, width)}, DType::f64);
  dispatch(dy.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::batch_norm_sums(dy.data<T>(), s.x.data<T>(), s.statistics.mean.data<double>(), s.rstd.data<double>(), rows, width,
                             scratch.data<double>(), sum_dy.data<double>(), sum_dy_xhat.data<double>());
    if (!grads.wanted(0)) return;
    Tensor dx(s.x.shape(), s.x.dtype()), offset({width}, DType::f64), slope({width}, DType::f64);
    through_statistics(s, sum_dy, sum_dy_xhat, offset, slope);
    kernels::batch_norm_dx(dy.data<T>(), s.x.data<T>(), data_or_null(s.padding), s.statistics.mean.data<double>(),
                           s.scale.data<double>(), offset.data<double>(), slope.data<double>(), rows, width, dx.data<T>());
    grads.give(0, std::move(dx));
  });
  if (grads.wanted(1)) grads.give(1, sum_dy_xhat.to(dy.dtype()));
  if (grads.wanted(2)) grads.give(2, sum_dy.to(dy.dtype()));
}

/// The running statistics move in place: nothing else may be in their memory.
void check_apart(const char* name, const Tensor& running, const char* other_name, const Tensor& other) {
  require(!running.shares_with(other), "batch_norm: ", name, " and ", other_name, " are one buffer; ", name,
          " moves in place and needs its own (clone())");
}

void check(const Var& x, const Var& gamma, const Var& beta, const Tensor& running_mean, const Tensor& running_var,
           std::span<const unsigned char> padding, const BatchNormOptions& options) {
  detail::require_defined("batch_norm", "x", x);
  const std::size_t rows = as_rows(x.shape()).rows;
  detail::require_vector_or_none("batch_norm", "gamma", gamma, x);
  detail::require_vector_or_none("batch_norm", "beta", beta, x);
  detail::require_vector("batch_norm", "running_mean", running_mean, x);
  detail::require_vector("batch_norm", "running_var", running_var, x);
  check_apart("running_mean", running_mean, "running_var", running_var);
  for (const auto& [name, running] : {std::pair("running_mean", &running_mean), std::pair("running_var", &running_var)}) {
    check_apart(name, *running, "x", x.value());
    if (gamma.defined()) check_apart(name, *running, "gamma", gamma.value());
    if (beta.defined()) check_apart(name, *running, "beta", beta.value());
  }
  require(padding.empty() || padding.size() == rows, "batch_norm: padding marks ", padding.size(), " rows, x is ", x.shape(),
          " and has ", rows);
  detail::require_eps("batch_norm", options.eps);
  require(options.momentum >= 0 && options.momentum <= 1, "batch_norm: momentum is ", options.momentum, "; allowed is 0 to 1");
}

}  // namespace

Var batch_norm(const Var& x, const Var& gamma, const Var& beta, Tensor& running_mean, Tensor& running_var,
               const BatchNormOptions& options, std::span<const unsigned char> padding) {
  check(x, gamma, beta, running_mean, running_var, padding, options);

  BatchNormSaved s;
  s.x = x.value();
  s.padding.assign(padding.begin(), padding.end());
  if (options.train) s.statistics = statistics_of_batch(s.x, s.padding);
  if (s.statistics.count == 0) s.statistics = {running_mean.to(DType::f64), running_var.to(DType::f64), 0};
  if (s.statistics.mean.shares_with(running_mean))
    s.statistics.mean = running_mean.clone();  // float64: it may move before backward
  s.rstd = reciprocal_deviation(s.statistics.var, options.eps);
  s.scale = scale_of(s.rstd, gamma, options.gain_is_one_plus_gamma);

  Tensor y(x.shape(), x.dtype());
  const auto [rows, width] = as_rows(x.shape());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::batch_norm(x.data<T>(), s.statistics.mean.data<double>(), s.scale.data<double>(),
                        beta.defined() ? beta.data<T>() : nullptr, rows, width, y.data<T>());
  });
  if (s.statistics.count > 0 && !options.replay && !replaying())
    update_running(s.statistics, static_cast<double>(options.momentum), running_mean, running_var);

  return record("batch_norm", {x, gamma, beta}, std::move(y),
                [s = std::move(s)](const Tensor& dy, Grads& grads) { give_gradients(dy, s, grads); });
}

}  // namespace addnorm
