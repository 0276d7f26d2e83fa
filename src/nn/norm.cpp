#include "addnorm/nn/norm.h"

#include <cmath>

#include "addnorm/core/names.h"

namespace addnorm {
namespace {

bool has_gain(const NormKindOptions& o) {
  switch (o.formula) {
    case NormFormula::layer:
    case NormFormula::rms:
    case NormFormula::partial_rms:
    case NormFormula::batch:
    case NormFormula::dyt:
      return o.gain;
    case NormFormula::scale:
      return true;
    case NormFormula::none:
    case NormFormula::l2:
      break;
  }
  return false;
}
bool has_bias(const NormKindOptions& o) {
  return o.bias && (o.formula == NormFormula::layer || o.formula == NormFormula::batch || o.formula == NormFormula::dyt);
}

void check(const NormKindOptions& o, std::size_t width) {
  require_one_of("Norm", "formula", o.formula, "NormFormula",
                 {"none", "layer", "rms", "partial_rms", "scale", "batch", "dyt", "l2"});
  require(width > 0, "Norm: width is 0; a row needs at least one feature");
  require(o.eps >= 0 && std::isfinite(o.eps), "Norm: eps is ", o.eps, "; it must be finite and not negative");
  require(o.part > 0 && o.part <= 1, "Norm: part is ", o.part, "; it must be above 0 and at most 1");
  require(std::isfinite(o.alpha), "Norm: alpha is ", o.alpha, "; it must be finite");
}

}  // namespace

Var times(const Var& x, const Factor& factor) {
  if (!factor.learned.defined()) return factor.constant == 1 ? x : scale(x, factor.constant);
  return factor.learned.value().elements() == 1 && x.shape().back() != 1 ? mul_scalar(x, factor.learned)
                                                                         : mul_row(x, factor.learned);
}

Var dropped(const Var& f, const DropoutSpec& d) { return d.p == 0 ? f : dropout(f, d.p, RandomKey::of_bits(d.key), d.first_row); }

Var residual_sum(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& d) {
  return addnorm::add(times(x, a), times(dropped(f, d), b));
}

Norm::Norm(const NormKindOptions& options, std::size_t width) : options_(options), width_(width) {
  check(options, width);
  const double one = options.gain_is_one_plus ? 0 : 1;
  if (options.formula == NormFormula::scale)
    gamma_ = Var(Tensor::full({1}, std::sqrt(static_cast<double>(width)) - (options.gain_is_one_plus ? 1 : 0)), true);
  else if (has_gain(options))
    gamma_ = Var(Tensor::full({width}, one), true);
  if (has_bias(options)) beta_ = Var(Tensor::zeros({width}), true);
  if (options.formula == NormFormula::dyt) alpha_ = Var(Tensor::full({1}, options.alpha), true);
  if (options.formula == NormFormula::batch) {
    running_mean_ = Tensor::zeros({width});
    running_var_ = Tensor::full({width}, 1);
  }
}

Var Norm::operator()(const Var& x, const Pass& pass) const {
  const NormKindOptions& o = options_;
  const NormOptions norm{.eps = o.eps, .gain_is_one_plus_gamma = o.gain_is_one_plus, .eps_place = o.eps_place};
  switch (o.formula) {
    case NormFormula::none:
      return x;
    case NormFormula::layer:
      return layer_norm(x, gamma_, beta_, norm);
    case NormFormula::rms:
      return rms_norm(x, gamma_, norm);
    case NormFormula::partial_rms: {
      const auto measured = static_cast<std::size_t>(std::ceil(o.part * static_cast<double>(width_)));
      return partial_rms_norm(x, gamma_, measured, norm);
    }
    case NormFormula::scale:
      return scale_norm(x, gamma_, o.eps, o.gain_is_one_plus);
    case NormFormula::batch:
      return batch_norm(x, gamma_, beta_, running_mean_, running_var_,
                        {.eps = o.eps, .train = pass.train, .gain_is_one_plus_gamma = o.gain_is_one_plus}, pass.padding);
    case NormFormula::dyt:
      return dyt(x, alpha_, gamma_, beta_, o.gain_is_one_plus);
    case NormFormula::l2:
      return l2_norm(x, o.eps);
  }
  refuse("Norm: formula is ", static_cast<int>(o.formula), ", which is none of NormFormula's");
}

/// Kinds that one kernel adds and norms at once.
static bool is_fused(NormFormula formula) { return formula == NormFormula::layer || formula == NormFormula::rms; }

SumAndNormed Norm::fused(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout_spec) const {
  AddNormOptions options;
  options.eps = options_.eps;
  options.gain_is_one_plus_gamma = options_.gain_is_one_plus;
  options.eps_place = options_.eps_place;
  options.a = a;
  options.b = b;
  options.dropout = dropout_spec;
  if (options_.formula == NormFormula::layer) return add_layer_norm(x, f, gamma_, beta_, options);
  return add_rms_norm(x, f, gamma_, options);
}

SumAndNormed Norm::add(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout_spec,
                       const Pass& pass) const {
  if (is_fused(options_.formula)) return fused(x, f, a, b, dropout_spec);
  const Var sum = residual_sum(x, f, a, b, dropout_spec);
  return {sum, (*this)(sum, pass)};
}

Var Norm::sum(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout_spec) const {
  return is_fused(options_.formula) ? fused(x, f, a, b, dropout_spec).sum : residual_sum(x, f, a, b, dropout_spec);
}

void Norm::visit(Visitor& visitor) {
  visitor.parameter("weight", gamma_, Role::norm_gain);
  visitor.parameter("bias", beta_, Role::norm_bias);
  visitor.parameter("alpha", alpha_, Role::norm_gain);
  visitor.buffer("running_mean", running_mean_);
  visitor.buffer("running_var", running_var_);
}

}  // namespace addnorm
