#include "addnorm/autograd/gradcheck.h"

#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/rng.h"

namespace addnorm {
namespace {

/// sum_k sum(fn(inputs)[k] * dys[k]), without recording.
double projected(const GradcheckFn& fn, const std::vector<Tensor>& inputs, const std::vector<Tensor>& dys) {
  const NoGrad no_grad;
  std::vector<Var> vars;
  for (const Tensor& input : inputs) vars.emplace_back(input);
  const std::vector<Var> ys = fn(vars);
  double total = 0;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    const auto y = ys[k].value().values<double>();
    const auto dy = dys[k].values<double>();
    for (std::size_t i = 0; i < y.size(); ++i) total += y[i] * dy[i];
  }
  return total;
}

std::vector<Tensor> random_upstream(const std::vector<Var>& ys, std::uint64_t seed) {
  std::vector<Tensor> dys;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    const RandomKey key = RandomKey(seed).with("upstream").with(k);
    Tensor dy(ys[k].shape(), DType::f64);
    for (std::size_t i = 0; i < dy.elements(); ++i) dy.data<double>()[i] = static_cast<double>(normal_at(key, i));
    dys.push_back(std::move(dy));
  }
  return dys;
}

}  // namespace

GradcheckResult gradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs, GradcheckOptions options) {
  std::vector<Var> vars;
  for (const Tensor& input : inputs) {
    require(input.dtype() == DType::f64, "gradcheck: inputs must be float64; differences in float32 prove little");
    vars.emplace_back(input.clone(), true);
  }
  const std::vector<Var> ys = fn(vars);
  const std::vector<Tensor> dys = random_upstream(ys, options.seed);
  backward(ys, dys);

  GradcheckResult result{.ok = true, .worst = 0, .message = ""};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor analytic = vars[i].grad().defined() ? vars[i].grad() : Tensor::zeros(inputs[i].shape(), DType::f64);
    for (std::size_t e = 0; e < inputs[i].elements(); ++e) {
      std::vector<Tensor> moved = inputs;
      moved[i] = inputs[i].clone();
      const double at = inputs[i].data<double>()[e];
      moved[i].data<double>()[e] = at + options.h;
      const double above = projected(fn, moved, dys);
      moved[i].data<double>()[e] = at - options.h;
      const double below = projected(fn, moved, dys);

      const double numeric = (above - below) / (2 * options.h);
      const double got = analytic.data<double>()[e];
      const double off = std::abs(got - numeric) / (options.atol + options.rtol * std::abs(numeric));
      if (off > result.worst || std::isnan(off)) {
        result.worst = off;
        result.message = concat("input ", i, " element ", e, " of ", inputs[i].shape(), ": analytic ", got, ", numeric ", numeric,
                                ", ", off, " times the allowance");
      }
      if (!(off <= 1)) result.ok = false;
    }
  }
  return result;
}

}  // namespace addnorm
