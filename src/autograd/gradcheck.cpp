#include "addnorm/autograd/gradcheck.h"

#include <cmath>
#include <utility>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/rng.h"

namespace addnorm {
namespace {

/// sum_k sum(fn(inputs)[k] * dys[k]), without recording.
double projected(const GradcheckFn& fn, const std::vector<Tensor>& inputs, const std::vector<Tensor>& dys) {
  const NoGrad no_grad;
  std::vector<Var> vars;
  vars.reserve(inputs.size());
  for (const Tensor& input : inputs) vars.emplace_back(input);
  const std::vector<Var> ys = fn(vars);
  require(ys.size() == dys.size(), "gradcheck: the function gave ", dys.size(), " results, and ", ys.size(), " when run again");
  double total = 0;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    require(ys[k].shape() == dys[k].shape(), "gradcheck: result ", k, " is ", dys[k].shape(), ", and ", ys[k].shape(),
            " when run again");
    const auto y = ys[k].value().values<double>();
    const auto dy = dys[k].values<double>();
    for (std::size_t i = 0; i < y.size(); ++i) total += y[i] * dy[i];
  }
  return total;
}

Tensor normal(const Shape& shape, RandomKey key) {
  Tensor t(shape, DType::f64);
  for (std::size_t i = 0; i < t.elements(); ++i) t.data<double>()[i] = static_cast<double>(normal_at(key, i));
  return t;
}

std::vector<Tensor> random_upstream(const std::vector<Var>& ys, std::uint64_t seed) {
  std::vector<Tensor> dys;
  std::size_t elements = 0;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    require(ys[k].defined(), "gradcheck: result ", k, " is an undefined Var");
    dys.push_back(normal(ys[k].shape(), RandomKey(seed).with("upstream").with(k)));
    elements += dys[k].elements();
  }
  require(elements > 0, "gradcheck: nothing to compare: the function gave ", ys.size(), " results without any element");
  return dys;
}

/// A random vector of length 1 in the shape of input i.
Tensor random_direction(const Shape& shape, std::uint64_t seed, std::size_t i, std::size_t number) {
  Tensor v = normal(shape, RandomKey(seed).with("direction").with(i).with(number));
  double squares = 0;
  for (const double d : v.values<double>()) squares += d * d;
  for (double& d : v.values<double>()) d /= std::sqrt(squares);
  return v;
}

class Comparison {
 public:
  Comparison(const GradcheckFn& fn, const std::vector<Tensor>& inputs, const GradcheckOptions& options)
      : fn_(fn), inputs_(inputs), options_(options) {
    std::vector<Var> vars;
    for (const Tensor& input : inputs) {
      require(input.dtype() == DType::f64, "gradcheck: inputs must be float64; differences in float32 prove little");
      vars.emplace_back(input.clone(), true);
    }
    const std::vector<Var> ys = fn(vars);
    dys_ = random_upstream(ys, options.seed);
    backward(ys, dys_);
    for (const Var& var : vars) gradients_.push_back(var.grad().defined() ? var.grad() : Tensor::zeros(var.shape(), DType::f64));
  }

  void every_element(std::size_t i) {
    for (std::size_t e = 0; e < inputs_[i].elements(); ++e) {
      const auto move = [e](double by) { return [e, by](Tensor& x) { x.data<double>()[e] += by; }; };
      compare(i, "element", e, gradients_[i].data<double>()[e], slope(i, move));
    }
  }

  void one_direction(std::size_t i, std::size_t number) {
    if (inputs_[i].elements() == 0) return;
    const Tensor v = random_direction(inputs_[i].shape(), options_.seed, i, number);
    const auto move = [&v](double by) {
      return [&v, by](Tensor& x) {
        for (std::size_t e = 0; e < x.elements(); ++e) x.data<double>()[e] += by * v.data<double>()[e];
      };
    };
    double along = 0;
    for (std::size_t e = 0; e < v.elements(); ++e) along += gradients_[i].data<double>()[e] * v.data<double>()[e];
    compare(i, "direction", number, along, slope(i, move));
  }

  GradcheckResult result() const {
    require(compared_ > 0, "gradcheck: nothing to compare: ", inputs_.size(), " inputs without any element");
    const bool ok = agreed_ == compared_;
    return {ok, compared_, worst_,
            concat(agreed_, " of ", compared_, " derivatives agree; ", ok ? "the worst: " : "the worst that does not: ", text_)};
  }

 private:
  /// (f(x + h) - f(x - h)) / 2h; move(by)(x) goes that far along what is examined.
  template <class Move>
  double slope(std::size_t i, const Move& move) const {
    const auto at = [&](double by) {
      std::vector<Tensor> moved = inputs_;
      moved[i] = inputs_[i].clone();
      move(by)(moved[i]);
      return projected(fn_, moved, dys_);
    };
    return (at(options_.h) - at(-options_.h)) / (2 * options_.h);
  }

  void compare(std::size_t i, const char* along, std::size_t number, double analytic, double numeric) {
    const double apart = std::abs(analytic - numeric);  // NaN between infinities: they never agree
    const double off = apart == 0 ? 0 : apart / (options_.atol + options_.rtol * std::abs(numeric));
    ++compared_;
    agreed_ += off <= 1 ? 1 : 0;
    if (!(off > worst_) && compared_ > 1 && !std::isnan(off)) return;
    if (std::isnan(worst_)) return;
    worst_ = off;
    text_ = concat("input ", i, " ", along, " ", number, " of ", inputs_[i].shape(), ": analytic ", analytic, ", numeric ",
                   numeric, ", ", off, " times the allowance");
  }

  const GradcheckFn& fn_;
  const std::vector<Tensor>& inputs_;
  const GradcheckOptions& options_;
  std::vector<Tensor> dys_, gradients_;
  std::size_t compared_ = 0, agreed_ = 0;
  double worst_ = 0;
  std::string text_;
};

}  // namespace

GradcheckResult gradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs, GradcheckOptions options) {
  require(fn != nullptr, "gradcheck: the function is empty");
  require(options.h > 0 && std::isfinite(options.h), "gradcheck: h is ", options.h, "; it must be finite and above 0");
  for (const auto& [name, value] : {std::pair("rtol", options.rtol), std::pair("atol", options.atol)})
    require(value >= 0 && std::isfinite(value), "gradcheck: ", name, " is ", value, "; it must be finite and not negative");
  Comparison comparison(fn, inputs, options);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (options.directions == 0) comparison.every_element(i);
    for (std::size_t number = 0; number < options.directions; ++number) comparison.one_direction(i, number);
  }
  return comparison.result();
}

}  // namespace addnorm
